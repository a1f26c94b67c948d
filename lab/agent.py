#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The first and only program of a guest: takes commands from a virtio serial port and sends their output back.

The port is not the measured NIC, since DPDK takes that NIC from the guest's kernel. There are few imports: under
emulation each costs a tenth of a second. In a namespace of this machine, the argument is a socket in place of the port; on a
machine as it is, "-" is standard input and output.
"""
import contextlib
import json
import os
import resource
import signal
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[0] = ROOT
from lab import frames                      # noqa: E402
from lab.commands import Commands           # noqa: E402

PORT_NAME = "lab.control"
SILENCE_S = 60      # on a machine as it is: the end of the connection may never be told


def open_port():
    ports = "/sys/class/virtio-ports"
    for port in os.listdir(ports):
        with open(f"{ports}/{port}/name", encoding="ascii") as name:
            if name.read().strip() == PORT_NAME:
                return os.open(f"/dev/{port}", os.O_RDWR)
    sys.exit(f"agent: no virtio port {PORT_NAME}")


def main():
    os.environ.update(PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME="/root",
                      LANG="C.UTF-8")
    end = sys.argv[1] if sys.argv[1:] else None
    if end in (None, "-"):
        # RDMA programs pin their buffers. A container may not be allowed this.
        with contextlib.suppress(ValueError):
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    port, out = (0, 1) if end == "-" else (int(end),) * 2 if end else (open_port(),) * 2
    if end == "-":
        signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
        signal.alarm(SILENCE_S)
    writer = frames.Writer(lambda data: os.write(out, data))
    commands = Commands(writer.send)
    writer.send(frames.HELLO, 0, json.dumps({"kernel": os.uname().release}).encode())
    with open(port, "rb", buffering=frames.CHUNK) as stream:
        while frame := frames.read(stream):
            if end == "-":
                signal.alarm(SILENCE_S)
            commands.handle(*frame)
    os._exit(0)


main()
