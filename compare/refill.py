#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
refill.py IFACE MAC: sends 4096 small frames to a NIC, so that it takes new receive buffers.

virtio_net drops a packet of more than about 3.5 KiB that comes in a buffer which was filled before an XDP program was attached:
there is no room in front of it (drivers/net/virtio_net.c, mergeable_xdp_get_buf()). The frames are ARP replies of nobody to
nobody: no counter takes them for a loss.
"""
import socket
import struct
import sys

FRAMES, ARP, IPV4 = 4096, 0x0806, 0x0800


def main():
    interface, mac = sys.argv[1], bytes.fromhex(sys.argv[2].replace(":", ""))
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as wire:
        wire.bind((interface, 0))
        own = wire.getsockname()[4]
        reply = struct.pack("!HHBBH6s4s6s4s", 1, IPV4, 6, 4, 2, own, bytes(4), mac, bytes(4))
        for _ in range(FRAMES):
            wire.send(mac + own + struct.pack("!H", ARP) + reply)


main()
