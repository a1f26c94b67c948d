#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Sends and receives heaps of SPEAD by the library spead2, over UDP or TCP: both ends of the comparison's rows of SPEAD. Each end
prints a JSON object.

    spead_stream.py recv --udp|--tcp ADDRESS PORT SIZE --payload BYTES [--rcvbuf BYTES] [--readers N] [--unordered] [--sink]
    spead_stream.py send --udp|--tcp ADDRESS PORT SIZE --payload BYTES --duration SECONDS [--rate BIT/S] [--mss BYTES]
                    [--first N --step N --wait]

SIZE is that of a heap. The receiver drops each heap. It ends after a SIGTERM, when no more packets come: a packet that says so
could be lost, and then spead2 would wait for ever. With --readers its stream has that many sources, each at a port of its own from
PORT on. Their senders count heaps from --first by --step, and with --wait begin at a SIGTERM and end at another: the end of one
connection would end spead2's stream. With --sink TCP's bytes are read, and are no heaps.
"""
import argparse
import asyncio
import collections
import glob
import json
import os
import signal
import socket
import struct
import sys
import threading
import time

# both ends wait for it; threads that numpy begins must not take it
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
# what `make deps` installs; another machine has its own
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[1:1] = glob.glob(os.path.join(ROOT, "build/venv/lib/python3*/site-packages"))
try:
    import numpy
    import spead2.recv
    import spead2.send.asyncio
except ImportError as missing:
    sys.exit(f"spead2 cannot be loaded ({missing}): run make deps (on another machine: pip install spead2 there)")

# Bytes of a packet before its payload: the header, heap counter, heap length, offset, payload length, and the pointer to the
# heap's only item, 8 bytes each (spead2's src/send_packet.cpp).
HEADERS = 48
ITEM = 0x1000           # the first id that is free for users
SO_RCVBUFFORCE = 33     # asm-generic/socket.h
TCPI_TOTAL_RETRANS = 100    # its place in struct tcp_info (linux/tcp.h)
SINK_READ = 1 << 20     # bytes
QUIET_S = 0.3           # no packet for so long: all have come
SPARE_HEAPS = 5         # beside those that arrive and those in the ring: ours, and 4 on their way (spead2's doc/perf.rst)


def receive(options):
    """spead2's own statistics of the stream, and how many heaps came whole."""
    ring, several = spead2.recv.RingStreamConfig(), spead2.recv.StreamConfig()
    several.allow_out_of_order = options.unordered
    several.substreams = options.readers    # max_heaps is that of each; a heap's is its number modulo substreams
    buffers = several.max_heaps * options.readers + ring.heaps + SPARE_HEAPS
    several.memory_allocator = spead2.MemoryPool(options.size, options.size, buffers, buffers)
    stream = spead2.recv.Stream(spead2.ThreadPool(), several, ring)
    for number in range(options.readers):
        with receiving_socket(options, options.port + number) as sock:
            # spead2 keeps a copy of the socket
            (stream.add_tcp_reader if options.tcp else stream.add_udp_reader)(sock, max_size=options.payload + HEADERS)
    heaps = 0

    def drop():
        nonlocal heaps
        for _ in stream:
            heaps += 1

    dropping = threading.Thread(target=drop, daemon=True)
    dropping.start()
    print("ready", file=sys.stderr, flush=True)
    signal.sigwait({signal.SIGTERM})
    before = -1
    while before != (now := stream.stats["packets"]):
        before = now
        time.sleep(QUIET_S)
    stream.stop()
    dropping.join()
    return {**dict(stream.stats.items()), "complete_heaps": heaps}


def sink(options):
    """How many bytes came, of all that one sender sends over TCP."""
    count, room = 0, bytearray(SINK_READ)
    with receiving_socket(options, options.port) as listening:
        print("ready", file=sys.stderr, flush=True)
        sock, _ = listening.accept()
    with sock:
        while got := sock.recv_into(room):
            count += got
    return {"bytes": count}


def receiving_socket(options, port):
    """As spead2 makes it: it asks for a buffer of its own size, and the kernel gives net.core.rmem_max at most."""
    kind, usual = ((socket.SOCK_STREAM, spead2.recv.Stream.DEFAULT_TCP_BUFFER_SIZE) if options.tcp else
                   (socket.SOCK_DGRAM, spead2.recv.Stream.DEFAULT_UDP_BUFFER_SIZE))
    sock = socket.socket(family(options), kind)
    if options.rcvbuf:
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, options.rcvbuf)
    else:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, usual)
    if options.tcp:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((options.address, port))
    if options.tcp:
        sock.listen(1)
    return sock


def family(options):
    return socket.AF_INET6 if ":" in options.address else socket.AF_INET


async def send(options):
    """How many heaps were handed to the kernel, in how many seconds, from when on."""
    whole = options.payload + HEADERS
    config = spead2.send.StreamConfig(max_packet_size=whole, rate=options.rate / 8 * whole / options.payload)
    sock = None
    if options.tcp:
        sock = socket.socket(family(options), socket.SOCK_STREAM)
        if options.mss:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, options.mss)
        sock.connect((options.address, options.port))
        stream = spead2.send.asyncio.TcpStream(spead2.ThreadPool(), sock, config)
    else:
        stream = spead2.send.asyncio.UdpStream(spead2.ThreadPool(), [(options.address, options.port)], config)
    stream.set_cnt_sequence(options.first, options.step)
    heap = spead2.send.Heap()
    heap.repeat_pointers = True     # all packets have the same headers, so the same size
    zeros = numpy.zeros(options.size, numpy.uint8)
    heap.add_item(spead2.Item(ITEM, "data", "zeros", zeros.shape, zeros.dtype, value=zeros))
    if options.wait:
        print("ready", file=sys.stderr, flush=True)
        signal.sigwait({signal.SIGTERM})
    pending, heaps, began, begun = collections.deque(), 0, time.time(), time.monotonic()
    while time.monotonic() < begun + options.duration:
        if len(pending) == config.max_heaps:
            await pending.popleft()
        pending.append(stream.async_send_heap(heap))
        heaps += 1
    for each in pending:
        await each
    seconds = time.monotonic() - begun
    if options.wait:
        print("sent", file=sys.stderr, flush=True)
        signal.sigwait({signal.SIGTERM})
    return {"heaps": heaps, "began": began, "seconds": seconds, "spead2": spead2.__version__, "retransmitted": retransmitted(sock)}


def retransmitted(sock):
    """Segments that TCP sent again. None: it is not TCP."""
    if not sock:
        return None
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCPI_TOTAL_RETRANS + 4)
    return struct.unpack_from("=I", info, TCPI_TOTAL_RETRANS)[0]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("end", choices=("send", "recv"))
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("size", type=int)
    transport = parser.add_mutually_exclusive_group(required=True)
    transport.add_argument("--udp", action="store_true")
    transport.add_argument("--tcp", action="store_true")
    parser.add_argument("--payload", type=int, required=True)
    for option in ("--rcvbuf", "--mss", "--rate", "--duration"):
        parser.add_argument(option, type=float if option in ("--rate", "--duration") else int, default=0)
    for option, usual in (("--first", 1), ("--step", 1), ("--readers", 1)):
        parser.add_argument(option, type=int, default=usual)
    for option in ("--wait", "--sink"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--unordered", action="store_true", help="a heap's packets may come out of order, or without the first")
    return parser.parse_args()


def main():
    options = arguments()
    try:
        if options.end == "send":
            done = asyncio.run(send(options))
        else:
            done = sink(options) if options.sink else receive(options)
        print(json.dumps(done))
    except OSError as error:
        sys.exit(f"spead_stream: {error}")


main()
