# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Drives the outlets of rocescope send, for tests/send_outlets.test and tests/send_ends.test."""
import ctypes
import json
import os
import signal
import struct
import subprocess

from .monitored import own_namespace, run
from .patience import PATIENCE, until
from .project import ROCESCOPE, ROOT
from .tap import Tap

DRIVE = os.path.join(ROOT, "build/tests/outlet_drive")
LIVE = os.path.join(ROOT, "build/bench/live")
ETHERTYPE = 0x88b5
CLONE_NEWNS = 0x00020000
PATTERN = 1 << 20
SIZES = (60, 61, 62, 63, 64, 100, 113, 1500, 3408, 3409, 4095, 4096, 4097, 8192, 8193, 9000)
pattern = bytes(k * 2654435761 % 2**32 >> 24 for k in range(PATTERN)) * 2


def frame(n, size):
    """Builds the frames that tests/support/outlet_drive.c describes, independently of it."""
    headers = min(54, size - 5)
    offset = n * 4093 % PATTERN
    head = b"\xff" * 6 + bytes((2, 0, 0, 0, 0, 0)) + struct.pack("!HIII", ETHERTYPE, n, offset, size)
    return head.ljust(54, b"\0")[:headers] + pattern[offset:offset + size - headers - 5] + b"\xff" * 5


def wrong(frames, count, sizes):
    """The first difference from the expected frames, or None."""
    for n, got in enumerate(frames):
        if got != frame(n, sizes[n % len(sizes)]):
            return f"frame {n} of {len(got)} bytes: {got[:64].hex()}"
    return None if len(frames) == count else f"{len(frames)} frames of {count}"


def drive(*arguments, **how):
    return subprocess.run([DRIVE, *map(str, arguments)], capture_output=True, timeout=PATIENCE, **how)


def report(done):
    return json.loads(done.stdout) if done.stdout else {}


def text(sizes):
    return ",".join(map(str, sizes))


def one_line(done):
    return len(done.stderr.decode().splitlines()) == 1


def wait_for_packets(interface, count):
    def sent():
        with open(f"/sys/class/net/{interface}/statistics/tx_packets") as f:
            return int(f.read())
    until(lambda: sent() >= count)


def live_drop():
    """An XDP program on the peer that drops everything; None: the kernel has none."""
    drop = subprocess.Popen([LIVE, "drop", "wireB"], stderr=subprocess.PIPE, text=True)
    return drop if "watching" in drop.stderr.readline() else None


def end(drop):
    drop.send_signal(signal.SIGINT)
    drop.wait()
    drop.stderr.close()


def rocescope_send(*arguments):
    return subprocess.Popen([ROCESCOPE, "send", "wireA", "--src", "10.9.0.1", "--dst", "10.9.0.2", "--dst-mac", "02:00:00:00:00:02",
                             "--qps", "4", "--op", "uc-write-imm", "--message", "64", "--mtu", "1024", *arguments],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def main(tests):
    """Runs tests(t) with interfaces of its own, as root."""
    if not os.geteuid():
        own_namespace()  # starts this program again
    with Tap() as t:
        if os.geteuid():
            t.skip_all("needs root")
        if ctypes.CDLL(None).unshare(CLONE_NEWNS):
            t.skip_all("needs a mount namespace")
        run("mount", "--make-rprivate", "/")
        run("mount", "-t", "sysfs", "sysfs", "/sys")  # a sysfs that shows this namespace's interfaces
        tests(t)
