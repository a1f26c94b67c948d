# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
An observer that misses packets, as behind an oversubscribed mirror port: a whole capture, less a random part of its RC packets.

    mirror.judge(t, "RC WRITE", capture)
"""
import dataclasses
import os
import random
import subprocess

from . import oracle
from .pcap_file import write_pcap
from .project import ROOT
from .send_runs import analyzed, stream_key

REPLAY = os.path.join(ROOT, "build", "tests", "xdp_replay")
MISSED = 1 / 20     # of the packets


@dataclasses.dataclass
class Requests:
    """What is true of a stream of requests. PSNs are counted from the first one of the connection."""
    sent: set = dataclasses.field(default_factory=set)      # on the wire
    seen: set = dataclasses.field(default_factory=set)      # of these, by the observer
    told: list = dataclasses.field(default_factory=list)    # the number behind each acknowledgement that it sees

    @property
    def hidden(self):
        """Those that it missed, each time they were sent. It cannot know of any behind the last one that it saw."""
        return {n for n in self.sent - self.seen if n < max(self.seen)}

    @property
    def unseen(self):
        """How many of them are acknowledged twice."""
        told = min(self.told[-2:]) if len(self.told) > 1 else 0
        return sum(n < told for n in self.hidden)

    @property
    def lost(self):
        return len(self.hidden) - self.unseen


class Mirror:
    """Writes the rest to `path`. The capture has connection management (perftest -R), and neither READs nor atomics."""

    def __init__(self, capture, path, seed):
        self.path, self._pairs = path, oracle.pairs(capture)
        r, self._packets, rest = random.Random(seed), [], []
        for time, wire, frame in oracle.read_pcap(capture):
            p = oracle.parse(frame)
            connected = p and p["service"] == "RC" and oracle.icrc_ok(frame, p)
            seen = not connected or r.random() >= MISSED
            if connected:
                self._packets.append((p, seen))
            if seen:
                rest.append((time, wire, frame))
        write_pcap(path, [(frame, wire) for _, wire, frame in rest], times=[time for time, _, _ in rest])

    def requests(self):
        """{the stream's key: Requests} of those whose pair is known."""
        found = {}
        for p, seen in self._packets:
            key = oracle.key(p)[:3]
            if p["response"] and key in self._pairs:
                key = p["dst"], p["src"], self._pairs[key][0]
            if key not in self._pairs:
                continue
            requests = found.setdefault((*key, "request"), Requests())
            number = ((p["acks"] if p["response"] else p["psn"]) - self._pairs[key][1]) % 2**24
            if not p["response"]:
                requests.sent.add(number)
            if seen:
                (requests.told.append if p["response"] else requests.seen.add)(number)
        return {key: requests for key, requests in found.items() if requests.seen}


def judge(t, name, capture, seed=1):
    """Compares what is made of a Mirror with the truth. The capture is whole: what was lost was sent again in it."""
    mirror = Mirror(capture, capture.replace(".pcap", "-mirror.pcap"), seed)
    truth, figures = mirror.requests(), oracle.streams(mirror.path)
    whole, rest = ({stream_key(s): s for s in analyzed(path)["streams"]} for path in (capture, mirror.path))
    t.equal({k: (whole[k]["psn_unseen"], whole[k]["psn_lost"]) for k in truth}, dict.fromkeys(truth, (0, 0)),
            f"{name}: of what was lost and sent again, nothing counts as not seen")
    hidden, unseen = (sum(n) for n in zip(*((len(r.hidden), r.unseen) for r in truth.values())))
    got = {k: (rest[k]["psn_unseen"], rest[k]["psn_lost"]) for k in truth}
    t.ok(unseen > hidden / 2 and got == {k: (r.unseen, r.lost) for k, r in truth.items()},
         f"{name}: of {hidden} PSNs that are taken out, {unseen} are acknowledged twice: just these were not seen", got)
    odd = [(k, n, rest[k][n], f[n]) for k, f in figures.items() for n in f if n.startswith("psn_") and rest[k][n] != f[n]]
    t.ok(not odd, f"{name}: oracle.py says the same of the rest", odd)
    replay = subprocess.run([REPLAY, "-q", "--way", "frags", mirror.path], capture_output=True, text=True)
    t.ok(replay.returncode == 0, f"{name}: so does the kernel", replay)
