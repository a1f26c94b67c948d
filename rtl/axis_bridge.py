# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Frames into and out of a core that cocotb simulates: what axis_bridge.h does for Verilator (docs/rtl.md).

    IN=in.pcap OUT=out.pcap make -f $(cocotb-config --makefiles)/Makefile.sim \\
        SIM=icarus TOPLEVEL=icrc_insert VERILOG_SOURCES=icrc_insert.v COCOTB_TEST_MODULES=axis_bridge

The test at the end runs the frames of IN through any core with the ports of icrc_insert.v. A test of your own uses Source and
Sink in the same way. Byte 0 of a frame is the lowest byte of tdata; every beat but the last of a frame is full.
"""
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
ORDERS = {b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\xa1\xb2\x3c\x4d": ">"}    # of pcap


class CaptureIn:
    """The frames of a pcap file, whatever its byte order; "-": standard input. Not pcapng."""

    def __init__(self, path):
        self.ended = False
        self.file = sys.stdin.buffer if path == "-" else open(path, "rb")
        self.order = ORDERS.get(self.file.read(24)[:4])
        if not self.order:
            raise ValueError(f"{path}: not a pcap file")

    def read(self):
        """The next frame; None: there is none now."""
        head = self.file.read(16)
        if len(head) < 16:
            self.ended = True
            return None
        _, _, captured, length = struct.unpack(self.order + "IIII", head)
        if captured < length:
            raise ValueError(f"the capture cut a frame of {length} bytes to {captured}")
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


class Port:
    """The signals PREFIX_tdata, _tkeep, _tvalid, _tready and _tlast of a core."""

    def __init__(self, dut, prefix):
        for name in ("tdata", "tkeep", "tvalid", "tready", "tlast"):
            setattr(self, name, getattr(dut, f"{prefix}_{name}"))
        self.bytes = len(self.tkeep)
        self.idle = 0       # cycles since the last beat
        self.frames = 0


class Source(Port):
    """Drives an input. Once tvalid is high, the beat stays until tready takes it."""

    def __init__(self, dut, prefix, frames_in, pause=0.0, cut=0, seed=1):
        super().__init__(dut, prefix)
        self.frames_in, self.pause, self.cut, self.draw = frames_in, pause, cut, random.Random(seed)
        self.stuck = 0      # cycles since tready is low
        self.tvalid.value = 0

    async def run(self, clock):
        while True:
            frame = self.frames_in.read()
            if frame is None:
                self.idle += 1
                await RisingEdge(clock)
                continue
            frame = frame[:len(frame) - self.cut]
            for at in range(0, len(frame), self.bytes):
                await self.beat(clock, frame[at:at + self.bytes], at + self.bytes >= len(frame))
            self.frames += 1

    async def beat(self, clock, data, last):
        while self.draw.random() < self.pause:
            await RisingEdge(clock)
        self.tdata.value = int.from_bytes(data.ljust(self.bytes, b"\xa5"), "little")
        self.tkeep.value = (1 << len(data)) - 1
        self.tlast.value = last
        self.tvalid.value = 1
        while True:
            await RisingEdge(clock)     # what is read here is from before the edge
            if int(self.tready.value):
                break
            self.stuck += 1
        self.idle = self.stuck = 0
        self.tvalid.value = 0


class Sink(Port):
    """Takes an output."""

    def __init__(self, dut, prefix, frames_out, pause=0.0, seed=2):
        super().__init__(dut, prefix)
        self.frames_out, self.pause, self.draw = frames_out, pause, random.Random(seed)
        self.tready.value = 0

    async def run(self, clock, now):
        frame = b""
        while True:
            ready = self.draw.random() >= self.pause
            self.tready.value = int(ready)
            await RisingEdge(clock)
            self.idle += 1
            if not ready or not int(self.tvalid.value):
                continue
            self.idle = 0
            keep = int(self.tkeep.value)
            last = int(self.tlast.value)
            count = keep.bit_length()
            assert keep and keep & (keep + 1) == 0 and (last or count == self.bytes), \
                f"tkeep {keep:#x}: lanes from 0 on, without a gap, are asked for (frame {self.frames + 1})"
            frame += int(str(self.tdata.value)[-8 * count:], 2).to_bytes(count, "little")   # lanes that are not kept may be X
            if last:
                self.frames_out.write(frame, now())
                self.frames += 1
                frame = b""


@cocotb.test()
async def bridge(dut):
    """Environment: IN and OUT (a pcap file, - or tap:NAME), PAUSE (a part of the cycles), CUT (bytes at a frame's end)."""
    pause = float(os.environ.get("PAUSE", 0))
    source = Source(dut, "s_axis", open_in(os.environ["IN"]), pause, int(os.environ.get("CUT", 0)))
    sink = Sink(dut, "m_axis", open_out(os.environ["OUT"]), pause)
    cocotb.start_soon(Clock(dut.clk, 4, "ns").start())
    dut.rst.value = 1
    for _ in range(8):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    cocotb.start_soon(source.run(dut.clk))
    cocotb.start_soon(sink.run(dut.clk, lambda: get_sim_time("ns")))
    while min(source.idle, sink.idle) < PATIENCE or not source.frames_in.ended:
        await RisingEdge(dut.clk)
        assert source.stuck < PATIENCE, "the core takes no more: s_axis_tready is low"
    dut._log.info("%d frames in, %d out", source.frames, sink.frames)
