# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Frames in the tunnels that switches use for mirroring, made without any code of the project:

    wrap(frame, "erspan2", outer="ipv6", vlans=(7,), keep=128)      keep: the mirror cuts the frame to that many bytes
"""
import socket
import struct

from . import roce_frames as rf

GRE, UDP = 47, 17


def _gre(protocol, key=None, sequence=None, checksum=False):
    """RFC 2784 and 2890. The checksum may be wrong, because only receivers of the tunnel check it."""
    flags = (checksum and 0x8000) | (0x2000 if key is not None else 0) | (0x1000 if sequence is not None else 0)
    return struct.pack("!HH", flags, protocol) + (bytes(4) if checksum else b"") + \
        b"".join(struct.pack("!I", word) for word in (key, sequence) if word is not None)


def _erspan2(session=5, vlan=7, cut=False):
    return struct.pack("!HHI", 1 << 12 | vlan, 3 << 11 | cut << 10 | session, 0x12)


def _erspan3(session=5, vlan=7, cut=False, platform=False):
    return struct.pack("!HHIHH", 2 << 12 | vlan, cut << 10 | session, 123456, 0, 1 << 15 | 3 << 4 | 2 << 1 | platform) + \
        (b"\x40" + bytes(7) if platform else b"")


# name: (IP protocol, the bytes between IP and the frame)
KINDS = {
    "gre": lambda cut: (GRE, _gre(0x6558)),
    "gre-key": lambda cut: (GRE, _gre(0x6558, key=0x00123401)),  # NVGRE (RFC 7637)
    "gre-all": lambda cut: (GRE, _gre(0x6558, key=1, sequence=2, checksum=True)),
    "erspan1": lambda cut: (GRE, _gre(0x88be)),
    "erspan2": lambda cut: (GRE, _gre(0x88be, sequence=77) + _erspan2(cut=cut)),
    "erspan3": lambda cut: (GRE, _gre(0x22eb, sequence=77) + _erspan3(cut=cut)),
    "erspan3-platform": lambda cut: (GRE, _gre(0x22eb, sequence=77) + _erspan3(cut=cut, platform=True)),
    "vxlan": lambda cut: (UDP, struct.pack("!II", 0x08 << 24, 4096 << 8)),
}


def ip(protocol, payload, outer="ipv4", options=b""):
    if outer == "ipv6":
        return struct.pack("!IHBB", 6 << 28, len(payload), protocol, 64) + \
            socket.inet_pton(socket.AF_INET6, "fd77::1") + socket.inet_pton(socket.AF_INET6, "fd77::2") + payload
    head = bytearray(rf.ipv4("10.77.0.1", "10.77.0.2", len(payload), options))
    head[9] = protocol
    head[10:12] = bytes(2)
    head[10:12] = struct.pack("!H", rf.internet_checksum(head))
    return bytes(head) + payload


def wrap(frame, kind, outer="ipv4", vlans=(), options=b"", keep=None):
    """Short frames are padded, as Ethernet requires."""
    protocol, headers = KINDS[kind](keep is not None and keep < len(frame))
    payload = headers + frame[:keep]
    if protocol == UDP:
        payload = struct.pack("!HHHH", 51234, 4789, 8 + len(payload), 0) + payload
    whole = rf.ethernet(0x86dd if outer == "ipv6" else 0x0800, vlans) + ip(protocol, payload, outer, options)
    return whole + bytes(max(0, 60 - len(whole)))
