#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Prints how many packets the kernel's sockets of a running program dropped because a ring was full, as JSON: {"packet": n} of its
packet sockets, {"xdp": n} of its AF_XDP sockets; one that it does not have is missing. DPDK's drivers do not report these.
PACKET_STATISTICS is counted anew from each reading on.

    ring_drops.py PROGRAM
"""
import ctypes
import json
import os
import socket
import struct
import sys

PIDFD_GETFD = 438                               # Linux 5.6; the same number on all machines
SO_DOMAIN = 39
SOL_PACKET, PACKET_STATISTICS = 263, 6          # linux/if_packet.h: packets, drops
SOL_XDP, AF_XDP, XDP_STATISTICS = 283, 44, 7    # linux/if_xdp.h: rx_dropped, two more, rx_ring_full, two more


def processes(name):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
                if file.read().strip() == name[:15]:
                    yield int(pid)
        except OSError:
            pass    # it ended meanwhile


def sockets(pid):
    """Copies of the sockets of a process."""
    libc, process = ctypes.CDLL(None, use_errno=True), os.pidfd_open(pid)
    for fd in map(int, os.listdir(f"/proc/{pid}/fd")):
        if not os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:"):
            continue
        copy = libc.syscall(PIDFD_GETFD, process, fd, 0)
        if copy < 0:
            raise OSError(ctypes.get_errno(), f"socket of process {pid}: {os.strerror(ctypes.get_errno())}")
        # Python would ask getsockname() for the family, which AF_XDP does not have
        with socket.socket(socket.AF_UNIX, socket.SOCK_RAW, 0, fileno=copy) as found:
            yield found


def drops(found):
    """(kind, packets), or None."""
    family = found.getsockopt(socket.SOL_SOCKET, SO_DOMAIN)
    if family == socket.AF_PACKET:
        return "packet", struct.unpack("2I", found.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]
    if family == AF_XDP:
        figures = struct.unpack("6Q", found.getsockopt(SOL_XDP, XDP_STATISTICS, 48))
        return "xdp", figures[0] + figures[3]
    return None


def main():
    total = {}
    for pid in processes(sys.argv[1]):
        for kind, n in filter(None, map(drops, sockets(pid))):
            total[kind] = total.get(kind, 0) + n
    print(json.dumps(total))


main()
