# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
A right --expect FILE for a capture, made from its packets by other code than the project's, and whether doctor is less sure with it:
no finding may lose certainty, packets or its place, and none may come that the packets do not show without it.
"""
import json
import socket
import struct
import subprocess

from support.project import ROCESCOPE

PORT, RESPONSES = 4791, range(0x0d, 0x13)
CONNECTED = (0, 1, 5)  # RC, UC, XRC: the upper three bits of the opcode
SPARE_QPN = 0xabc000   # of ends that do not show
PATH_MTUS = (256, 512, 1024, 2048, 4096)
FULL = {0x00: 0, 0x01: 0, 0x06: 16, 0x07: 0, 0x0d: 4, 0x0e: 0}     # First and Middle opcodes: bytes between BTH and payload


def records(file):
    """The frames of a pcap file's bytes."""
    at = 24
    while at + 16 <= len(file):
        length = struct.unpack_from("<I", file, at + 8)[0]
        yield file[at + 16:at + 16 + length]
        at += 16 + length


def transport(frame):
    """(src, dst, BTH and all behind it) of a RoCEv2 packet, or None."""
    at, kind = 14, frame[12:14]
    while kind in (b"\x81\x00", b"\x88\xa8"):
        at, kind = at + 4, frame[at + 2:at + 4]
    if kind == b"\x08\x00" and frame[at + 9:at + 10] == b"\x11":
        src, dst, udp = frame[at + 12:at + 16], frame[at + 16:at + 20], at + 4 * (frame[at] & 15)
    elif kind == b"\x86\xdd" and frame[at + 6:at + 7] == b"\x11":
        src, dst, udp = frame[at + 8:at + 24], frame[at + 24:at + 40], at + 40
    else:
        return None
    if len(frame) < udp + 20 or frame[udp + 2:udp + 4] != struct.pack("!H", PORT):
        return None
    text = [socket.inet_ntop(socket.AF_INET if len(a) == 4 else socket.AF_INET6, a) for a in (src, dst)]
    return (*text, frame[udp + 8:])


class Streams:
    """By (src, dst, destination QPN): PSNs of requests, and of their answers with the syndrome; sizes of First and Middle packets."""

    def __init__(self, file):
        self.requests, self.answers, self.full = {}, {}, {}
        for frame in records(file):
            found = transport(frame)
            if not found:
                continue
            src, dst, bth = found
            if len(bth) < 16 or bth[0] >> 5 not in CONNECTED:
                continue
            qpn, psn = int.from_bytes(bth[5:8], "big"), int.from_bytes(bth[9:12], "big")
            if qpn < 2:
                continue
            if bth[0] & 31 in FULL:
                size = len(bth) - 16 - FULL[bth[0] & 31] - (bth[1] >> 4 & 3)
                self.full.setdefault((src, dst, qpn), set()).add(size)
            if bth[0] & 31 in RESPONSES:
                self.answers.setdefault((src, dst, qpn), []).append((psn, bth[12] if bth[0] & 31 == 0x11 else 0))
            else:
                self.requests.setdefault((src, dst, qpn), []).append(psn)

    def answered_by(self, stream):
        """The answers of these requests; None: nothing tells."""
        src, dst, _ = stream
        back = [key for key in self.answers if key[:2] == (dst, src)]
        if len(back) == 1 and len([key for key in self.requests if key[:2] == (src, dst)]) == 1:
            return back[0]
        sent = set(self.requests[stream])
        fit = [key for key in back if {psn for psn, _ in self.answers[key]} <= sent]
        others = [key for key in self.requests if key[:2] == (src, dst) and key != stream and sent & set(self.requests[key])]
        return fit[0] if len(fit) == 1 and not others else None

    def path_mtu(self, *streams):
        """The size of all First and Middle packets of both directions, if it is a path MTU, else None."""
        sizes = set().union(*(self.full.get(stream, ()) for stream in streams))
        return sizes.pop() if len(sizes) == 1 and sizes <= {*PATH_MTUS} else None

    def first(self, stream):
        """The first PSN that the receiver expects: the one it asks for, or the one sent first; None: its packets are in disorder."""
        psns, answers = self.requests[stream], self.answers.get(self.answered_by(stream), [])
        ahead = [(psn - psns[0] + (1 << 23)) % (1 << 24) - (1 << 23) for psn in psns + [psn for psn, _ in answers[:1]]]
        if answers and all(syndrome == 0x60 for _, syndrome in answers) and not 0 <= ahead.pop() <= max(ahead):
            return answers[0][0]
        return None if any(-70000 < off < 0 for off in ahead[:len(psns)]) else psns[0]


def lines(file, more):
    """
    A line for each connection of whose requests it is known who answers them, or that nobody does. more: with the first PSNs and the
    path MTU.
    """
    streams, made = Streams(file), {}

    def end(address, qpn, stream):
        first = streams.first(stream) if more and stream in streams.requests else None
        return f"{address} qpn {qpn}{'' if first is None else f' psn {first}'}"

    for spare, key in enumerate(streams.requests):
        src, dst, qpn = key
        back = streams.answered_by(key)
        if not back and any(answers[:2] == (dst, src) for answers in streams.answers):
            continue  # it is answered, and nothing tells to which QPN
        own = back[2] if back else SPARE_QPN + spare
        ends = sorted([(src, own, key), (dst, qpn, (dst, src, own))])
        mtu = streams.path_mtu(key, (dst, src, own)) if more else None
        made[tuple(ends)] = " <-> ".join(end(*e) for e in ends) + (f" mtu {mtu}" if mtu else "") + "\n"
    return list(made.values())


def told(o):
    """What is told, in its order: (kind, certainty, packets with those below other findings), and those below. A habit is no finding."""
    below = {}
    for f in o["findings"]:
        for b in f.get("explains", []):
            below[b["kind"]] = below.get(b["kind"], 0) + b["packets"]
    return [(f["kind"], f["certainty"], f["packets"] + below.get(f["kind"], 0)) for f in o["findings"] if f["certainty"] != "habit"], below


def weaker(without, with_it):
    """What is less sure, in words."""
    (before, below_before), (after, below) = told(without), told(with_it)
    places = [kind for kind, _, _ in after]
    # packets of tests have an MSN that does not count from where the connection begins, which only FILE tells
    wrong = [f"{kind} comes: {certainty}, {packets} packets" for kind, certainty, packets in after
             if kind not in {k for k, _, _ in before} | set(below_before) | {"ack-msn"}]
    at = -1
    for kind, certainty, packets in before:
        if kind not in places:
            if below.get(kind, 0) < packets:
                wrong.append(f"{kind} is gone: {packets} packets")
            continue
        _, now, count = after[places.index(kind)]
        if (certainty, now) == ("finding", "candidate") or count < packets:
            wrong.append(f"{kind}: {certainty} of {packets} packets becomes {now} of {count}")
        if places.index(kind) < at:
            wrong.append(f"{kind} leaves its place: {places}")
        at = places.index(kind)
    return wrong


class Kept:
    """Captures with findings, looked at again with their --expect at the end. every: all of them, not only those with new kinds."""

    def __init__(self, every=False):
        self.every, self.kinds, self.captures = every, set(), []

    def take(self, path, o, more=()):
        kinds = {f["kind"] for f in o["findings"]}
        if not kinds or "--expect" in more or not (self.every or kinds - self.kinds):
            return
        with open(path, "rb") as f:
            file = f.read()
        if file[:4] != b"\xd4\xc3\xb2\xa1" and file[:4] != b"\x4d\x3c\xb2\xa1":
            return
        self.kinds |= kinds
        self.captures.append((file, {"findings": list(o["findings"])}, more))

    def check(self, t, path):
        wrong, looked = [], 0
        for file, o, more in self.captures:
            for all_of_it in (False, True):
                expect = lines(file, all_of_it)
                if not expect or (all_of_it and expect == lines(file, False)):
                    continue
                with open(path, "wb") as f:
                    f.write(file)
                with open(f"{path}.right", "w", encoding="utf-8") as f:
                    f.writelines(expect)
                ran = subprocess.run([ROCESCOPE, "doctor", path, "-j", "--expect", f"{path}.right", *more], capture_output=True, text=True,
                                     timeout=60)
                looked += 1
                found = [ran.stderr] if ran.returncode else weaker(o, json.loads(ran.stdout))
                wrong += [f"{told(o)[0]} with {''.join(expect)}: {w}" for w in found]
        t.ok(looked and not wrong, f"a right --expect makes none of {len(self.kinds)} findings less sure, {looked} times", "\n".join(wrong))
