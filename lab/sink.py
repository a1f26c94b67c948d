#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
sink.py ADDRESS PORT: a UDP socket that is never read. Where DPDK reads a copy of each frame, the kernel drops its own at this
socket's full buffer, and does not answer that nobody listens.
"""
import signal
import socket
import sys

address, port = sys.argv[1], int(sys.argv[2])
with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as sink:
    sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    sink.bind((address, port))
    print("ready", flush=True)
    signal.pause()
