# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Frames in the tunnels that switches use for mirroring, and in those of overlays, made without any code of the project:

    wrap(frame, "erspan2", outer="ipv6", vlans=(7,), keep=128)      keep: the mirror cuts the frame to that many bytes
"""
import socket
import struct
import zlib

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


def _mirror():
    """The header of NVIDIA's switches, of which nothing but the length is public."""
    return bytes(range(22))


def _udp(port, headers):
    """Headers before the frame; the checksum is left out."""
    return lambda inner: struct.pack("!HHHH", 51234, port, 8 + len(headers) + len(inner), 0) + headers + inner


def _geneve(frame, options):
    """RFC 8926, with so many bytes of options."""
    return struct.pack("!BBHI", options // 4, 0, 0x6558, 77 << 8) + bytes(zlib.crc32(frame) >> 3 * i & 255 for i in range(options))


def _some(frame, most):
    """0 to `most`, another number for another frame."""
    return zlib.crc32(frame) % (most + 1)


def packet(frame):
    """The IP packet of a frame, without Ethernet header and tags."""
    at = 12
    while frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8", b"\x91\x00", b"\x92\x00"):
        at += 4
    return frame[at + 2:]


def carries_ip(frame):
    """Whether tunnels for IP packets can carry it."""
    inner = packet(frame)
    return frame[len(frame) - len(inner) - 2:len(frame) - len(inner)] == {4: b"\x08\x00", 6: b"\x86\xdd"}.get(inner[0] >> 4 if inner else 0) \
        and len(inner) >= 40


def _labels(count, control_word=b""):
    return b"".join(struct.pack("!I", (1000 + i) << 12 | (i == count - 1) << 8 | 64) for i in range(count)) + control_word


def _srh(following, segments):
    """A segment routing header (RFC 8754)."""
    return struct.pack("!BBBBBBH", following, 2 * segments, 4, segments - 1, segments - 1, 0, 0) + bytes(16 * segments)


# name: (IP protocol, what is behind the IP header, from the frame). `cut`: the mirror has cut it.
KINDS = {
    "gre": lambda frame, cut: (GRE, _gre(0x6558) + frame),
    "gre-key": lambda frame, cut: (GRE, _gre(0x6558, key=0x00123401) + frame),  # NVGRE (RFC 7637)
    "gre-all": lambda frame, cut: (GRE, _gre(0x6558, key=1, sequence=2, checksum=True) + frame),
    "erspan1": lambda frame, cut: (GRE, _gre(0x88be) + frame),
    "erspan2": lambda frame, cut: (GRE, _gre(0x88be, sequence=77) + _erspan2(cut=cut) + frame),
    "erspan3": lambda frame, cut: (GRE, _gre(0x22eb, sequence=77) + _erspan3(cut=cut) + frame),
    "erspan3-platform": lambda frame, cut: (GRE, _gre(0x22eb, sequence=77) + _erspan3(cut=cut, platform=True) + frame),
    "vxlan": lambda frame, cut: (UDP, _udp(4789, struct.pack("!II", 0x08 << 24, 4096 << 8))(frame)),
    "mirror": lambda frame, cut: (GRE, _gre(0x8949) + _mirror() + frame),
    "geneve": lambda frame, cut: (UDP, _udp(6081, _geneve(frame, 4 * _some(frame, 15)))(frame)),
    "mpls-in-ip": lambda frame, cut: (137, _labels(1 + _some(frame, 2), bytes(4) * _some(frame, 1)) + frame),
    "mpls-in-gre": lambda frame, cut: (GRE, _gre(0x8847) + _labels(1 + _some(frame, 2)) + frame),
}

# The same for tunnels of IP packets, from the packet.
IP_KINDS = {
    "ip-in-ip": lambda inner, cut: (4 if inner[0] >> 4 == 4 else 41, inner),
    "ip-in-gre": lambda inner, cut: (GRE, _gre(0x0800 if inner[0] >> 4 == 4 else 0x86dd) + inner),
    "ip-in-mpls-in-ip": lambda inner, cut: (137, _labels(1 + _some(inner, 7)) + inner),
}

# Behind Ethernet, without IP: (Ethertype, what is behind it)
BARE_KINDS = {
    "mirror-ethertype": lambda frame, cut: (0x8949, _mirror() + frame),
    "mpls-ethernet": lambda frame, cut: (0x8847, _labels(1 + _some(frame, 7)) + frame),
    "mpls-control-word": lambda frame, cut: (0x8847, _labels(1 + _some(frame, 7), bytes(4)) + frame),
}
BARE_IP_KINDS = {
    "mpls": lambda inner, cut: (0x8847, _labels(1 + _some(inner, 7)) + inner),
}

# Over IPv6 only: (next header, what is behind the IP header)
SRV6_KINDS = {
    "srv6": lambda frame, cut: (43, _srh(143, 1 + _some(frame, 1)) + frame),
    "srv6-reduced": lambda frame, cut: (143, frame),
}
ALL = (*KINDS, *IP_KINDS, *BARE_KINDS, *BARE_IP_KINDS, *SRV6_KINDS)


def kinds_for(frame, whole=False):
    """The kinds of tunnels that can carry it. whole: with its Ethernet header."""
    return [kind for kind in ALL if kind not in IP_KINDS and kind not in BARE_IP_KINDS or not whole and carries_ip(frame)]


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
    """Short frames are padded, as Ethernet requires. keep: counts from the frame's first byte, whether the tunnel carries it or not."""
    cut, inner = keep is not None and keep < len(frame), frame
    if kind in IP_KINDS or kind in BARE_IP_KINDS:
        inner = packet(frame)
    inner = inner[:max(0, keep - (len(frame) - len(inner)))] if keep is not None else inner
    if kind in BARE_KINDS or kind in BARE_IP_KINDS:
        ethertype, payload = {**BARE_KINDS, **BARE_IP_KINDS}[kind](inner, cut)
    else:
        protocol, payload = {**KINDS, **IP_KINDS, **SRV6_KINDS}[kind](inner, cut)
        outer = "ipv6" if kind in SRV6_KINDS else outer
        ethertype, payload = 0x86dd if outer == "ipv6" else 0x0800, ip(protocol, payload, outer, options)
    whole = rf.ethernet(ethertype, vlans) + payload
    return whole + bytes(max(0, 60 - len(whole)))


def nested(r, frame, depth, whole=False, **how):
    """In that many tunnels, each of any kind, as random.Random r says. whole: with its Ethernet header."""
    for i in range(depth):
        frame = wrap(frame, r.choice(kinds_for(frame, whole and not i)), r.choice(("ipv4", "ipv6")), **how if i == depth - 1 else {})
    return frame
