#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
sink.py ADDRESS PORT...: UDP sockets that are never read. Where DPDK reads a copy of each frame, the kernel drops its own at
their full buffers, and does not answer that nobody listens.
"""
import signal
import socket
import sys

address, *ports = sys.argv[1:]
sinks = [socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) for _ in ports]
for sink, port in zip(sinks, ports):
    sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    sink.bind((address, int(port)))
print("ready", flush=True)
signal.pause()
