# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Frames into and out of a core that cocotb simulates: what axis_bridge.h does for Verilator (docs/rtl.md).

    IN=in.pcap OUT=out.pcap make -f $(cocotb-config --makefiles)/Makefile.sim \\
        SIM=icarus TOPLEVEL=icrc_insert VERILOG_SOURCES=icrc_insert.v COCOTB_TEST_MODULES=axis_bridge

The test at the end runs the frames of IN through any core with the ports of icrc_insert.v. A test of your own uses Source and
Sink in the same way. Byte 0 of a frame is the lowest byte of tdata; every beat but the last of a frame is full.
"""
import collections
import fcntl
import os
import random
import struct
import sys

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotb.utils import get_sim_time

PATIENCE = 10_000   # cycles without a beat after which nothing more will come
ENDLESS = 50_000    # cycles, while the sink does not pause, in which a core sends and takes nothing: it never stops
LONGEST = 262_144   # bytes; no frame is longer
ORDERS = {b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\xa1\xb2\x3c\x4d": ">"}    # of pcap


class CaptureIn:
    """The frames of a pcap file, whatever its byte order; "-": standard input. Not pcapng."""

    def __init__(self, path):
        self.ended = False
        self.file = sys.stdin.buffer if path == "-" else open(path, "rb")
        self.order = ORDERS.get(self.file.read(24)[:4])
        if not self.order:
            raise ValueError(f"{path}: not a pcap file (of pcapng, editcap -F pcap makes one)")

    def read(self):
        """The next frame; None: there is none now."""
        head = self.file.read(16)
        if len(head) < 16:
            self.ended = True
            return None
        _, _, captured, length = struct.unpack(self.order + "IIII", head)
        if captured < length or captured > LONGEST:
            raise ValueError(f"the capture cut a frame of {length} bytes to {captured}: capture whole frames (tcpdump -s 0)")
        return self.file.read(captured)


class CaptureOut:
    """A pcap file; "-": standard output."""

    def __init__(self, path):
        self.file = sys.stdout.buffer if path == "-" else open(path, "wb")
        self.file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, 1))

    def write(self, frame, ns):
        self.file.write(struct.pack("<IIII", *divmod(int(ns), 10**9), len(frame), len(frame)) + frame)
        self.file.flush()


class Tap:
    """A tap interface that `ip tuntap add NAME mode tap` has made, and that is up. Its frames never end."""

    ended = False

    def __init__(self, name):
        self.fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.fd, 0x400454ca, struct.pack("16sH22x", name.encode(), 0x1002))    # TUNSETIFF: IFF_TAP | IFF_NO_PI

    def read(self):
        try:
            return os.read(self.fd, 65536)
        except BlockingIOError:
            return None

    def write(self, frame, ns):
        os.write(self.fd, frame)


def open_in(place):
    return Tap(place[4:]) if place.startswith("tap:") else CaptureIn(place)


def open_out(place):
    return Tap(place[4:]) if place.startswith("tap:") else CaptureOut(place)


class Trimmed:
    """
    Takes bytes off both ends of each frame on its way into the core. The first `skip` ones come back in front of what leaves it:
    the n-th frame out gets those of the n-th frame in.
    """

    def __init__(self, frames_in, frames_out, skip=0, cut=0):
        self.frames_in, self.frames_out, self.skip, self.cut = frames_in, frames_out, skip, cut
        self.heads = collections.deque()

    @property
    def ended(self):
        return self.frames_in.ended

    def read(self):
        frame = self.frames_in.read()
        if frame is None:
            return None
        if len(frame) <= self.skip + self.cut:
            raise ValueError(f"a frame of {len(frame)} bytes: no {self.skip + self.cut} bytes can be left out")
        if self.skip:
            self.heads.append(frame[:self.skip])
        return frame[self.skip:len(frame) - self.cut]

    def write(self, frame, ns):
        if self.skip and not self.heads:
            raise AssertionError("more frames came out than went in: SKIP has no header to put in front of this one")
        self.frames_out.write((self.heads.popleft() if self.skip else b"") + frame, ns)


class Port:
    """The signals PREFIX_tdata, _tkeep, _tvalid, _tready and _tlast of a core."""

    def __init__(self, dut, prefix, clock):
        for name in ("tdata", "tkeep", "tvalid", "tready", "tlast"):
            setattr(self, name, getattr(dut, f"{prefix}_{name}"))
        self.bytes = len(self.tkeep)
        self.prefix, self.clock = prefix, clock
        self.cycle = 0      # since it runs
        self.idle = 0       # cycles since the last beat
        self.frames = 0     # whole ones
        self.beats = 0      # of the frame that is not whole yet

    async def edge(self):
        """What is read behind it is from before the edge."""
        await RisingEdge(self.clock)
        self.cycle += 1
        self.idle += 1

    def level(self, name):
        value = getattr(self, name).value
        if not value.is_resolvable:
            raise self.wrong(f"{name} is {value}: reset has to set it")
        return int(value)

    def wrong(self, what):
        return AssertionError(f"{self.prefix}: frame {self.frames + 1}, beat {self.beats + 1}, cycle {self.cycle}: {what}")


class Source(Port):
    """Drives an input. Once tvalid is high, the beat stays until tready takes it. gap: idle cycles between frames, at least."""

    def __init__(self, dut, prefix, clock, frames_in, pause=0.0, gap=0, seed=1):
        super().__init__(dut, prefix, clock)
        self.frames_in, self.pause, self.gap, self.draw = frames_in, pause, gap, random.Random(seed)
        self.stuck = False      # the core does not take the beat
        self.tvalid.value = 0

    async def run(self):
        while True:
            frame = self.frames_in.read()
            if frame is None:
                await self.edge()
                continue
            for at in range(0, len(frame), self.bytes):
                await self.beat(frame[at:at + self.bytes], at + self.bytes >= len(frame))
                self.beats += 1
            self.frames += 1
            self.beats = 0
            for _ in range(self.gap):
                await self.edge()

    async def beat(self, data, last):
        while self.draw.random() < self.pause:
            await self.edge()
        self.tdata.value = int.from_bytes(data.ljust(self.bytes, b"\xa5"), "little")
        self.tkeep.value = (1 << len(data)) - 1
        self.tlast.value = last
        self.tvalid.value = 1
        while True:
            await self.edge()
            self.stuck = not self.level("tready")
            if not self.stuck:
                break
        self.idle = 0
        self.tvalid.value = 0


class Sink(Port):
    """Takes an output, and judges it by the rules of AXI-Stream. shortest: bytes; a shorter frame is none."""

    def __init__(self, dut, prefix, clock, frames_out, pause=0.0, seed=2, shortest=14):
        super().__init__(dut, prefix, clock)
        self.frames_out, self.pause, self.draw, self.shortest = frames_out, pause, random.Random(seed), shortest
        self.frame = bytearray()
        self.tready.value = 0

    async def run(self, now):
        offered = None      # a beat that was not taken: the core has to hold it
        while True:
            ready = self.draw.random() >= self.pause
            self.tready.value = int(ready)
            await self.edge()
            beat = self.beat() if self.level("tvalid") else None
            if offered and beat != offered:
                raise self.wrong("tvalid fell, or the beat changed, before tready took it: hold it until tready is high")
            offered = None if ready else beat
            if beat and ready:
                self.idle = 0
                self.take(*beat, now())

    def beat(self):
        keep = self.level("tkeep")
        return keep, self.level("tlast"), str(self.tdata.value)[-8 * keep.bit_length():]    # lanes that are not kept may be X

    def take(self, keep, last, data, now):
        count = keep.bit_length()
        if not keep:
            raise self.wrong("tkeep is 0: a beat has one byte at least; tlast belongs to the last beat with bytes")
        if keep & (keep + 1):
            raise self.wrong(f"tkeep {keep:#x}: lanes from 0 on, without a gap, are asked for")
        if not last and count < self.bytes:
            raise self.wrong(f"tkeep {keep:#x} in a beat that is not the frame's last: fill it, or set tlast")
        self.frame += int(data, 2).to_bytes(count, "little")
        if len(self.frame) > LONGEST:
            raise self.wrong(f"{len(self.frame)} bytes, and no tlast: set it in the last beat of each frame")
        if not last:
            self.beats += 1
            return
        if len(self.frame) < self.shortest:
            raise self.wrong(f"tlast ends a frame of {len(self.frame)} bytes, less than an Ethernet header: "
                             "is it high for one beat a frame?")
        self.frames_out.write(bytes(self.frame), now)
        self.frames += 1
        self.frame, self.beats = bytearray(), 0


def moves(source, sink):
    """Whether a run goes on: frames are left, or beats came in the last cycles. AssertionError: it would go on for ever."""
    idle = min(source.idle, sink.idle)
    if source.stuck and idle > PATIENCE:
        raise source.wrong(f"the core takes no more: tready is low since {source.idle} cycles")
    if (source.stuck or source.frames_in.ended) and source.idle * (1 - sink.pause) > ENDLESS:
        raise sink.wrong(f"the core goes on sending, though it took nothing in the last {source.idle} cycles")
    return idle < PATIENCE or not source.frames_in.ended


@cocotb.test()
async def bridge(dut):
    """
    Environment: IN and OUT (a pcap file, - or tap:NAME), PAUSE_IN and PAUSE_OUT, or PAUSE for both (a part of the cycles), SEED,
    GAP (idle cycles between frames), SKIP and CUT (bytes at a frame's begin and end).
    """
    given = {name: float(os.environ.get(name, 0)) for name in ("PAUSE", "GAP", "SKIP", "CUT")}
    pause_in, pause_out = (float(os.environ.get(name, given["PAUSE"])) for name in ("PAUSE_IN", "PAUSE_OUT"))
    seed, skip = int(os.environ.get("SEED", 1)), int(given["SKIP"])
    frames = Trimmed(open_in(os.environ["IN"]), open_out(os.environ["OUT"]), skip, int(given["CUT"]))
    source = Source(dut, "s_axis", dut.clk, frames, pause_in, int(given["GAP"]), seed)
    sink = Sink(dut, "m_axis", dut.clk, frames, pause_out, seed + 1, max(14 - skip, 1))
    cocotb.start_soon(Clock(dut.clk, 4, "ns").start())
    dut.rst.value = 1
    for _ in range(8):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    cocotb.start_soon(source.run())
    cocotb.start_soon(sink.run(lambda: get_sim_time("ns")))
    while moves(source, sink):
        await RisingEdge(dut.clk)
    dut._log.info("%d frames in, %d out", source.frames, sink.frames)
    if sink.beats:
        raise AssertionError(f"m_axis: frame {sink.frames + 1}, beat {sink.beats}: it has no end: {len(sink.frame)} bytes, and no tlast")
    if source.frames and not sink.frames:
        raise AssertionError(f"m_axis: no beat until cycle {sink.cycle}: the core took {source.frames} frames and sent none: "
                             "does it wait for a start, an address or a QP that nobody gave it?")
