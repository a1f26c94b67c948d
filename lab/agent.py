#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The first and only program of a guest: takes commands from a virtio serial port and sends their output back.

The port is not the measured NIC, since DPDK takes that NIC from the guest's kernel. There are few imports: under
emulation each costs a tenth of a second. In a namespace of this machine, the argument is a socket in place of the port.
"""
import json
import os
import resource
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[0] = ROOT
from lab import frames                      # noqa: E402
from lab.commands import Commands           # noqa: E402

PORT_NAME = "lab.control"


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
    if sys.argv[1:]:
        port = int(sys.argv[1])
    else:
        # RDMA programs pin their buffers.
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        port = open_port()
    writer = frames.Writer(lambda data: os.write(port, data))
    commands = Commands(writer.send)
    writer.send(frames.HELLO, 0, json.dumps({"kernel": os.uname().release}).encode())
    with open(port, "rb", buffering=frames.CHUNK) as stream:
        while frame := frames.read(stream):
            commands.handle(*frame)


main()
