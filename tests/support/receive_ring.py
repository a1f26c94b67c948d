# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
A ring of blocks that 2,000 QPs fill, for tests of the library for programs: what `rocescope send` sends to it, what a receiver that
misses nothing has then (receive_oracle.py), and the example program that reads it.
"""
import contextlib
import json
import os
import re
import signal
import subprocess

from . import oracle, receive_oracle as ro
from .patience import PATIENCE, until
from .project import ROCESCOPE, ROOT

BUILD = os.path.join(ROOT, "build")
PEER, OWN = "10.9.0.1", "10.9.0.2"
FIRST_QPN, RKEY, VA, MTU = 0x100, 0x1234, 0x7f0000000000, 1024
QPS = 2000
IN_BLOCK = 16       # messages
CHUNK = 2 << 20
MASKS = [bytes(i ^ (n * 37 + 11) & 0xff for i in range(256)) for n in range(256)]


# ---- frames ----

class Shape:
    """A ring of blocks of 16 messages, which 2,000 QPs fill in turn: QP k writes message k of 2,000, then message 2,000 + k."""

    def __init__(self, message, rounds, laps):
        self.message, self.rounds, self.messages = message, rounds, rounds * laps
        self.block, self.count = IN_BLOCK * message, QPS * rounds // IN_BLOCK
        self.packets = -(-message // MTU)

    def place(self, qp, m):
        """Number of the block, and first byte in it, of the m-th message of a QP."""
        number = m * QPS + qp
        return number // IN_BLOCK, number % IN_BLOCK * self.message

    def plan(self, folder):
        path = os.path.join(folder, "plan")
        with open(path, "w", encoding="ascii") as f:
            f.write(f"op uc-write-imm\nqps {QPS}\nmessage {self.message}\nmtu {MTU}\nmessages {self.messages * QPS}\nsrc {PEER}\n"
                    f"dst {OWN}\nregions {self.rounds}\nregion-bytes {QPS * self.message}\n")
            for k in range(QPS):
                f.write(f"qp qpn={FIRST_QPN + k:#x},psn=0,rkey={RKEY:#x},va={VA + k * self.message:#x}\n")
        return path


def masked(frame, p):
    """The frame with a payload that differs between neighbouring QPs. An ICRC stays right or wrong."""
    good = oracle.icrc_ok(frame, p)
    end = p["end"] - 4 - p["pad"]
    begin = end - p["payload"]
    frame = frame[:begin] + frame[begin:end].translate(MASKS[p["dqpn"] % 256]) + frame[end:]
    return frame[:p["end"] - 4] + oracle.icrc(frame, p) + frame[p["end"]:] if good else frame


def same(frame, _):
    return frame


def write_pcap(source, target, change, each):
    """Copies the capture, with frames as change(frame, p) makes them. Calls each(frame, p)."""
    with open(source, "rb") as f:
        head = f.read(24)
    with open(target, "wb") as f:
        f.write(head)
        for _, wire, frame in oracle.read_pcap(source):
            p = oracle.parse(frame)
            frame = change(frame, p) if p else frame
            f.write(bytes(8) + len(frame).to_bytes(4, "little") + wire.to_bytes(4, "little") + frame)
            each(frame, p)


def read_truth(path):
    with open(path, encoding="ascii") as f:
        return json.load(f)


def send(folder, name, *words):
    path = os.path.join(folder, name)
    subprocess.run([ROCESCOPE, "send", "-w", path + ".raw", "--truth", path + ".truth", *words], check=True, capture_output=True)
    return path


class Sent:
    """The payload of each message as it was sent, and the frames with faults, which are in the capture `path`, too."""

    def __init__(self, folder, shape, faults, change=masked):
        plan = ["--plan", shape.plan(folder)]
        self.payload = {}
        whole = send(folder, "whole", *plan)
        write_pcap(whole + ".raw", whole, change, self._whole)
        self.path = send(folder, "faulty", *plan, *(word for f in faults for word in ("--fault", f)))
        self.frames = []
        write_pcap(self.path + ".raw", self.path, change, lambda frame, p: self.frames.append(frame))
        self.truth = read_truth(self.path + ".truth")

    def _whole(self, frame, p):
        end = p["end"] - 4 - p["pad"]
        self.payload[p["dqpn"] - FIRST_QPN, p["psn"]] = frame[end - p["payload"]:end]

    def message(self, shape, qp, m):
        return b"".join(self.payload[qp, m * shape.packets + i] for i in range(shape.packets))


# ---- what is right ----

class Perfect:
    """What a receiver that misses nothing tells of the frames. untouched: what its memory is filled with in the beginning."""

    def __init__(self, shape, sent, untouched=ro.UNTOUCHED):
        self.shape = shape
        size = -(-shape.block * shape.count // CHUNK) * CHUNK
        self.receiver = ro.Receiver(own=OWN, first_qpn=FIRST_QPN, memory=size, block=shape.block)
        self.receiver.memory = bytearray([untouched]) * size
        self.receiver.regions.append(ro.Region(rkey=RKEY, va=VA, at=0, size=size, index=0))
        for k in range(QPS):
            self.receiver.qps[k] = ro.Qp(peer=PEER, mtu=MTU, service="UC", endless=True)
        self.frames = len(sent.frames)
        for frame in sent.frames:
            self.receiver.frame(frame)
        self.blocks = shape.messages * QPS // IN_BLOCK
        self.file = bytearray(self.blocks * shape.block)
        came = bytearray(self.blocks * shape.block)
        for record in self.receiver.records:
            qp, _, at, _, _, placed, first_psn = record[:7]
            if at == ro.NOWHERE:
                continue
            m = first_psn // shape.packets
            number, first = shape.place(qp, m)
            begin = number * shape.block + first
            self.file[begin:begin + placed] = sent.message(shape, qp, m)[:placed]
            came[begin:begin + placed] = b"\1" * placed
        self.missing = {n: [(g.start(), g.end() - g.start()) for g in
                            re.finditer(b"\0+", came[n * shape.block:(n + 1) * shape.block])] for n in range(self.blocks)}

    def unfinished(self):
        """Blocks with a message of which no end came, and so no completion."""
        return {self.shape.place(k, q.message.first // self.shape.packets)[0] for k, q in self.receiver.qps.items()
                if q.message and q.message.at != ro.NOWHERE}


# ---- the example ----

@contextlib.contextmanager
def example(name, path, shape):
    process = subprocess.Popen([os.path.join(BUILD, "examples", "blocks"), name, path, str(shape.block), str(shape.count)],
                               stdout=subprocess.PIPE, text=True)
    try:
        until(lambda: os.path.exists(path) or process.poll() is not None)
        yield process
    finally:
        process.kill()
        process.wait()


def end_example(process):
    """Ends it as Ctrl-C does. Returns its exit status and its lines."""
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    return process.returncode, out.splitlines()


def overwritten(lines):
    """The blocks of which the example says so."""
    return {int(line.split()[1]) for line in lines if line.endswith("overwritten")}


def judge_example(t, what, perfect, status, lines, file):
    missing = {n: [] for n in range(perfect.blocks)}
    torn = overwritten(lines)
    for line in lines:
        found = re.fullmatch(r"block (\d+) lacks bytes (\d+)\.\.(\d+)", line)
        if found:
            number, first, last = map(int, found.groups())
            missing[number].append((first, last + 1 - first))
    t.equal(status, 0, f"{what}: the example ends well")
    wrong = {n: (missing[n], perfect.missing[n]) for n in missing if missing[n] != perfect.missing[n]}
    t.ok(not wrong, f"{what}: it flags what a perfect receiver lacks", wrong)
    t.ok(torn <= perfect.unfinished(), f"{what}: nothing was overwritten but what has no end", torn - perfect.unfinished())
    with open(file, "rb") as f:
        got = f.read().ljust(len(perfect.file), b"\0")
    t.ok(got == perfect.file, f"{what}: its file is that of a perfect receiver, {len(got)} bytes",
         next((i for i, (a, b) in enumerate(zip(got, perfect.file)) if a != b), len(got)))
    t.equal(lines[-1], "0 completions lost, 0 too late", f"{what}: it has lost nothing")


# ---- the sender's truth ----

def judge_truth(t, what, perfect, sent):
    """The sender's truth, by stream: messages that a receiver takes whole, and packets that were lost or spoilt."""
    complete = {s["dqpn"] - FIRST_QPN: s["messages"] for s in sent.truth["streams"]}
    t.equal({k: q.messages for k, q in perfect.receiver.qps.items()}, complete, f"{what}: as many whole messages as the sender's truth has")
    whole = sum(not missing for missing in perfect.missing.values())
    t.ok(0 < whole < perfect.blocks, f"{what}: {whole} of {perfect.blocks} blocks are whole")
