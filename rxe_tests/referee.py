# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the tests with real SoftRoCE traffic share: a referee on the wire, and perftest between the guests."""
import json
import os
import signal
import time

from support.project import ROOT
from support import oracle, schema

ROCESCOPE = os.path.join(ROOT, "build", "rocescope")
REPLAY = os.path.join(ROOT, "build", "tests", "xdp_replay")
# A killed sender's last packets are still on their way, and tcpdump does not drain its ring when it is interrupted.
QUIET_S = 1.5
FIGURES = ("psn_gaps", "psn_skipped", "psn_recovered", "psn_lost", "psn_duplicates", "psn_resyncs", "icrc_bad")
RXE_COUNTERS = "/sys/class/infiniband/rxe0/ports/1/hw_counters"


class Referee:
    """
    with Referee(lab, "name") as r: traffic...; afterwards r.snapshot is the monitor's last word on guest A's port, and
    r.capture a file with every frame of that port, both directions: each frame on the wire once.
    """

    def __init__(self, lab, name):
        self.lab = lab
        self.capture = os.path.join(lab.share, f"{name}.pcap")
        self.snapshot = None

    def __enter__(self):
        port = self.lab.port("A")
        self._tcpdump = self.lab.start("wire", ["tcpdump", "-Z", "root", "-i", port, "-B", "65536", "-s", "8192", "--immediate-mode",
                                                "-U", "-w", self.capture, "udp", "port", "4791"])
        self._monitor = self.lab.start("wire", [ROCESCOPE, "monitor", port, "--direction", "both", "-j",
                                                "--interval", "3600"])
        for process, word in ((self._tcpdump, "listening on"), (self._monitor, "watching")):
            if not process.expect(word):
                raise RuntimeError(f"the referee did not start: {process.stderr}")
        return self

    def __exit__(self, kind, *_):
        time.sleep(QUIET_S)
        for process in (self._monitor, self._tcpdump):
            process.kill(signal.SIGINT)
        lines = self._monitor.wait(20).stdout.splitlines()
        self.captured = self._tcpdump.wait(20).stderr
        if kind is None:
            self.snapshot = json.loads(lines[-1])
            schema.validate("snapshot", self.snapshot)


def perftest(lab, tool, *options, seconds=60):
    """Client on A, server on B. Returns (whether both ended well, what they said); killed after so many seconds."""
    common = [tool, "-d", "rxe0", "-x", "1", "-F", *options]
    server = lab.start("B", common, timeout=seconds)
    # perftest says nothing when it listens on its TCP port
    lab.exec("B", ["sh", "-c", "for i in $(seq 100); do grep -q ':4853 ' /proc/net/tcp* && exit; sleep 0.1; done"], 20)
    client = lab.exec("A", [*common, lab.address("B")], timeout=seconds)
    if client.rc:
        server.kill()
    served = server.wait()
    said = "\n".join((client.stdout, client.stderr, served.stdout, served.stderr))
    return client.rc == 0 and served.rc == 0, said


def rxe_counters(lab, end):
    """rxe's own hw_counters of a guest, by name."""
    said = lab.check(end, ["sh", "-c", f"cd {RXE_COUNTERS} && grep . *"], timeout=20)
    return {name: int(value) for name, value in (line.split(":") for line in said.splitlines())}


def compare_streams(t, name, referee):
    """Every stream that the monitor or the independent script knows. Returns the script's figures."""
    seen = {stream_key(s): {f: s[f] for f in FIGURES} for s in referee.snapshot["streams"]}
    want = {key: {f: figures[f] for f in FIGURES} for key, figures in oracle.streams(referee.capture).items()}
    differing = {key: (seen.get(key), want.get(key)) for key in {*seen, *want} if seen.get(key) != want.get(key)}
    t.equal(differing, {}, f"{name}: all {len(want)} streams as the script counts them")
    return want


def stream_key(stream):
    """As tests/oracle.py names streams."""
    if stream["service"] == "UD":
        return (stream["src"], stream["sqpn"])
    return (stream["src"], stream["dst"], stream["dqpn"], stream["side"])
