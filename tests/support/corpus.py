# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Writes frames of every kind, with the right ICRC verdict for each, using only struct and zlib:

    python3 -m support.corpus all|tunnels|lengths|streams FILE.pcap FILE.truth [--seed N] [--count N]

all      opcodes x shapes (IPv4 with options, IPv6 with extension headers, RoCEv1; VLAN tags) x sizes x faults, and flows
         with lost, late, repeated and broken packets, READs, acknowledgements, CM datagrams, and UDP streams to UDP_PORT
tunnels  the same in tunnels of all kinds, some in two, a quarter of them cut by the mirror; the verdict is on the inner frame
lengths  every payload length from 0 to `count`: one frame with a right ICRC, one with a flipped bit
streams  `count` streams of three packets each
The truth file has a line for each frame: good, bad, unchecked (too long), other (not a RoCE packet by docs/rules.md), - (depends on
how far into a frame headers are looked for). The same seed gives the same files.
"""
import argparse
import operator
import random
import struct
import sys
import zlib

from . import oracle, roce_frames as rf, tunnels

UDP_PORT = 7471
# Every length around the places where the ICRC's code takes another branch: the shortest frames, the end of the parsed window,
# the shortest folded ones, the largest linear buffer, path MTUs, the longest frames.
SIZES = sorted({*range(0, 21), *range(100, 141), *range(180, 201), *range(255, 258), *range(290, 311), *range(390, 461),
                *range(1000, 1031), 1408, *range(2046, 2051), *range(3440, 3531), *range(4000, 4201), *range(8990, 9001)})
V4, V6, GID = ("10.9.0.1", "10.9.0.2"), ("fd00::1", "fd00::2"), ("fe80::1", "fe80::2")
OTHER, GOOD, BAD, UNCHECKED, UNKNOWN = "other", "good", "bad", "unchecked", "-"
FRAME_MAX = 9280  # longer ones are not verified
# IP packets with published ICRCs: scapy's UC SEND Only (test/contrib/roce.uts), a ConnectX-4 Lx's congestion notification
PUBLISHED = [bytes.fromhex(text) for text in (
    "4501004004784000401100 00 c0a80007 c0a80007 c00012b7002c0000 2460ffff000000d300cf1710"
    "4630818be28935d90e9a95505401be885e500000 78f353f3",
    "45c2003c718c4000401100 00 0a001101 0a001201 000012b700280000 8100ffff4000011800000000 00000000000000000000000000000000 82fd002a")]


def ipv6_extensions(*lengths, atomic_fragment=False):
    """Destination options of these sizes, optionally with a fragment header of an unfragmented packet. ("first", bytes)"""
    kinds = [60] * len(lengths) + [44] * atomic_fragment + [17]
    body = b""
    for following, length in zip(kinds[1:], lengths):
        body += struct.pack("!BBBB", following, length // 8 - 1, 1, length - 4) + bytes(length - 4)
    return kinds[0], body + (struct.pack("!BBHI", 17, 0, 0, 7) if atomic_fragment else b"")


class Shape:
    """The headers before the BTH."""

    def __init__(self, kind, tags=0, options=b"", extensions=(17, b"")):
        self.kind, self.tags, self.options, self.extensions = kind, tags, options, extensions
        self.addresses = {"ipv4": V4, "ipv6": V6, "grh": GID}[kind]

    def ethernet(self):
        tags = {0: b"", 1: b"\x81\x00\x60\x05", 2: b"\x88\xa8\x20\x06\x81\x00\x00\x07"}[self.tags]
        return rf.MAC_B + rf.MAC_A + tags + {"ipv4": b"\x08\x00", "ipv6": b"\x86\xdd", "grh": b"\x89\x15"}[self.kind]

    def ip(self, r, length, addresses):
        """Fields that the ICRC does not cover are random."""
        if self.kind == "grh":
            return rf.grh(*addresses, length, r.randrange(256), r.randrange(1 << 20), r.randrange(1, 256))
        if self.kind == "ipv4":
            ip = bytearray(rf.ipv4(*addresses, length, self.options, r.randrange(256), r.randrange(1, 256),
                                   r.randrange(65536)))
            ip[10:12] = r.randbytes(2)
            return ip
        first, extensions = self.extensions
        ip = bytearray(rf.ipv6(*addresses, length, extensions))
        ip[0:4] = struct.pack("!I", 6 << 28 | r.randrange(1 << 28))
        ip[6:8] = bytes([first, r.randrange(1, 256)])
        return ip


SHAPES = [Shape(kind, tags, **more) for tags in (0, 1, 2) for kind, more in (
    ("ipv4", {}), ("ipv4", {"options": b"\x01" * 4}), ("ipv4", {"options": b"\x01" * (40 - 4 * tags)}), ("ipv6", {}),
    ("ipv6", {"extensions": ipv6_extensions(8)}),
    ("ipv6", {"extensions": ipv6_extensions(8, atomic_fragment=True) if tags < 2 else ipv6_extensions(atomic_fragment=True)}),
    ("grh", {}))]
PLAIN = [Shape("ipv4"), Shape("ipv6"), Shape("grh"), Shape("ipv4", 1)]


class Packet:
    """A frame in parts, so that each part can be made wrong."""

    def __init__(self, r, shape, transport, reverse=False):
        self.shape, self.transport = shape, bytearray(transport)
        self.transport[4] = r.randrange(256) & 0xc0  # FECN, BECN
        addresses = shape.addresses[::-1] if reverse else shape.addresses
        length = len(transport) + 4
        self.ethernet, self.udp = shape.ethernet(), b""
        if shape.kind != "grh":
            length += 8
            self.udp = bytearray(struct.pack("!HHH", 49152 + r.randrange(16), 4791, length) + r.randbytes(2))
        self.ip = bytearray(shape.ip(r, length, addresses))
        self.seal()

    def seal(self):
        self.icrc = rf.icrc(self.ip, self.udp, self.transport)

    def __bytes__(self):
        return b"".join((self.ethernet, self.ip, self.udp, self.transport, self.icrc))


def headers(r, opcode, dma_length=None, sqpn=2, syndrome=None, immediate=None):
    """The extension headers of an opcode. Fields with a meaning are chosen, the others are random."""
    size, low, service = oracle.EXTENSION.get(opcode, 0), opcode & 31, opcode >> 5
    data = bytearray(r.randbytes(size))
    if opcode in (0x64, 0x65):
        data[:8] = rf.deth(sqpn)
    has_reth = low in (6, 10, 11, 12, 0x1c, 0x1d) and service in (0, 1, 2, 5)
    has_imm = low in (3, 5, 9, 11) and service in (0, 1, 2, 5) or opcode == 0x65
    if has_imm and immediate is not None:
        data[size - 4:] = rf.immediate(immediate)
    if has_reth:
        end = size - 4 * has_imm
        data[end - 4:end] = struct.pack("!I", dma_length if dma_length is not None else r.randrange(1 << 16))
    if low in (13, 15, 16, 17, 18) and service in (0, 2, 5) and syndrome is not None:
        data[4 * (service == 2)] = syndrome
    return bytes(data)


def transport(r, opcode, size, qpn=17, psn=0, pad=None, **fields):
    pad = -size % 4 if pad is None else pad
    return rf.bth(opcode, qpn, psn, pad) + headers(r, opcode, **fields) + r.randbytes(size) + bytes(pad)


# ---- frames one by one ----

class Psn:
    """PSNs of streams that appear again and again, mostly in order."""

    def __init__(self, r):
        self._r, self._next = r, {}

    def __call__(self, *stream):
        step = self._r.choice((*[1] * 40, 2, 3, 0, -1, -3, 700, -900, 70000))
        psn = self._next[stream] = self._next.get(stream, self._r.choice((5, 0xfffff0))) + step & 0xffffff
        return psn


def some(r, grid, part):
    """All of the grid, or so large a part of it, each time another one."""
    return grid if part == 1 else r.sample(grid, max(1, round(len(grid) * part)))


def opcodes(r, psn, part=1):
    for opcode in range(256):
        for shape in SHAPES:
            for size in some(r, (0, r.randrange(1, 70), r.choice((64, 255, 256, 1024))), part):
                yield bytes(Packet(r, shape, transport(r, opcode, size, r.randrange(2, 10), psn(shape.kind, opcode)))), GOOD


COMMON = (0x00, 0x02, 0x04, 0x06, 0x07, 0x08, 0x0a, 0x0d, 0x0e, 0x10, 0x20, 0x26, 0x27, 0x29, 0x2a, 0x2b, 0x47, 0x64, 0x65,
          0xa6, 0xa7, 0xff)


def broken_icrc(r, packet):
    """A wrong ICRC of some kind."""
    kind = r.randrange(6)
    right = packet.icrc
    if kind == 0:
        packet.icrc = flipped(r, packet.icrc)
    elif kind == 1:
        packet.icrc = r.randbytes(4)
    elif kind == 2:
        packet.icrc = bytes(4)
    elif kind == 3:
        packet.icrc = right[::-1]  # the wrong byte order
    elif kind == 4:  # nothing masked
        packet.icrc = struct.pack("<I", zlib.crc32(b"\xff" * 8 + packet.ip + packet.udp + packet.transport))
    else:  # a flipped bit that the ICRC covers and that does not change how the packet is read
        i = r.randrange(12 + 28, len(packet.transport)) if len(packet.transport) > 40 else 11
        packet.transport[i] ^= 1 << r.randrange(8)
    return bytes(packet), BAD if kind == 5 or packet.icrc != right else GOOD


def flipped(r, data):
    data = bytearray(data)
    data[r.randrange(len(data))] ^= 1 << r.randrange(8)
    return bytes(data)


def sizes(r, psn, part=1):
    for size in SIZES:
        for shape in some(r, SHAPES, part):
            opcode, qpn = r.choice(COMMON), r.randrange(2, 6)
            pad = None if r.random() < 0.7 else r.randrange(4)
            data = transport(r, opcode, size, qpn, psn(shape.kind, opcode, qpn), pad)
            packet = Packet(r, shape, data)
            good = r.random() < 0.6
            yield (bytes(packet), GOOD) if good else broken_icrc(r, packet)


def jumbo(r, psn):
    """Around the longest frame whose ICRC is verified."""
    for length in (*range(FRAME_MAX - 20, FRAME_MAX + 20), 12000, 16000):
        for shape in PLAIN:
            head = len(bytes(Packet(r, shape, transport(r, 0x27, 0))))
            frame = bytes(Packet(r, shape, transport(r, 0x27, length - head, 7, psn("jumbo", shape), 0)))
            yield frame, GOOD if len(frame) <= FRAME_MAX else UNCHECKED


def published(r, _):
    for packet in PUBLISHED:
        for _ in range(20):
            frame = rf.MAC_B + rf.MAC_A + b"\x08\x00" + packet
            yield frame, GOOD
            yield frame[:35] + flipped(r, frame[35:36]) + frame[36:], BAD  # in the UDP source port


# ---- faults: each function takes a whole packet and yields (frame, verdict) ----

def trailing(r, packet):
    """Adds bytes after the IP datagram: Ethernet padding, a kept FCS, anything."""
    return bytes(packet) + r.choice((bytes(r.randrange(1, 47)), r.randbytes(4), r.randbytes(r.randrange(1, 400)))), GOOD


def cut(r, packet):
    frame = bytes(packet)
    frame = frame[:r.randrange(14, len(frame))]
    return frame, by_oracle(frame)


def masked_bits(r, packet):
    """Changes the fields that a router may change."""
    ip = packet.ip
    if packet.shape.kind == "ipv4":
        ip[r.choice((1, 8, 10, 11))] ^= 1 << r.randrange(8)
    else:
        ip[0:4] = struct.pack("!I", 6 << 28 | r.randrange(1 << 28))
        ip[7] ^= 1 << r.randrange(8)
    if packet.udp:
        packet.udp[6:8] = r.randbytes(2)
    packet.transport[4] ^= 1 << r.randrange(8)
    return bytes(packet), GOOD


def ip_length(r, packet):
    """A wrong length field, which decides where the packet ends."""
    ip = packet.ip
    at = 2 if packet.shape.kind == "ipv4" else 4
    length, = struct.unpack_from("!H", ip, at)
    change = r.choice((1, 2, 4, 60, 2000, -1, -2, -4, -8, -60))
    struct.pack_into("!H", ip, at, max(0, length + change))
    frame = bytes(packet) + (bytes(change) if r.random() < 0.5 and change > 0 else b"")
    return frame, by_oracle(frame)


def udp_length(r, packet):
    if packet.udp:
        struct.pack_into("!H", packet.udp, 4, r.randrange(65536))
        packet.seal()
    return bytes(packet), GOOD


def fragment(r, packet):
    ip, kind = packet.ip, packet.shape.kind
    if kind == "ipv4":
        struct.pack_into("!H", ip, 6, r.choice((0x2000, 0x0001, 0x2010, 0x6000)))
    elif kind == "ipv6":
        length, = struct.unpack_from("!H", ip, 4)
        struct.pack_into("!H", ip, 4, length + 8)
        ip += struct.pack("!BBHI", 17, 0, r.choice((1, 8, 9)), 5)
        ip[6] = 44
    else:
        ip[6] = r.choice((0, 6, 17, 44, 59))  # no BTH behind the GRH
    packet.seal()
    return bytes(packet), OTHER


def another_header(r, packet):
    """A wrong IP version, header length, protocol or port."""
    kind = packet.shape.kind
    fault = r.randrange(3 if packet.udp else 1)
    if fault == 0:
        packet.ip[0] = packet.ip[0] & 15 | r.choice((0, 5, 7, 15)) << 4
    elif fault == 1:
        struct.pack_into("!H", packet.udp, 2, r.choice((4790, 4792, 53, 0xb712)))
    else:
        packet.ip[9 if kind == "ipv4" else 6] = r.choice((1, 6, 50, 255))
    packet.seal()
    return bytes(packet), by_oracle(bytes(packet))


def pads(r, packet):
    """Any pad count, including those that do not fit the payload."""
    packet.transport[1] = packet.transport[1] & 0xcf | r.randrange(4) << 4
    packet.seal()
    return bytes(packet), by_oracle(bytes(packet))


def damaged(r, packet):
    frame = bytearray(bytes(packet))
    for _ in range(r.randrange(1, 4)):
        frame[r.randrange(12, min(len(frame), 100))] = r.randrange(256)
    return bytes(frame), by_oracle(frame)


def many_tags(r, packet):
    frame = bytes(packet)
    return frame[:12] + b"\x81\x00\x00\x09" * (4 - packet.shape.tags) + frame[12:], OTHER


def by_oracle(frame):
    packet = oracle.parse(bytes(frame))
    verdict = oracle.icrc_ok(bytes(frame), packet) if packet else None
    return OTHER if not packet else UNCHECKED if verdict is None else GOOD if verdict else BAD


FAULTS = (broken_icrc, trailing, cut, masked_bits, ip_length, udp_length, fragment, another_header, pads, damaged, many_tags)


def faults(r, psn):
    for fault in FAULTS:
        for shape in SHAPES:
            for size in (0, 1, 2, 3, 4, r.randrange(5, 60), r.randrange(60, 200), r.randrange(200, 1500), 1024, 4096):
                opcode, qpn = r.choice(COMMON), r.randrange(2, 6)
                yield fault(r, Packet(r, shape, transport(r, opcode, size, qpn, psn(shape.kind, opcode, qpn))))


def long_headers(r, psn):
    """Extension headers up to the limit that is read, and beyond."""
    for tags in (0, 1, 2):
        for count in range(1, 7):
            for length in (8, 16, 24, 40):
                shape = Shape("ipv6", tags, extensions=ipv6_extensions(*[length] * count, atomic_fragment=length == 16))
                for opcode in COMMON:
                    yield bytes(Packet(r, shape, transport(r, opcode, r.randrange(100), 7, psn("long", opcode)))), UNKNOWN


# ---- flows ----

def read(r, psn, mtu):
    """A READ request and its response, which uses the same PSNs."""
    length = r.choice((1, mtu, mtu + 1, 5 * mtu, 7 * mtu - 3, 20 * mtu))
    packets = -(-length // mtu)
    yield psn, 0x0c, 0, {"dma_length": length}, False
    for i in range(packets):
        first, last = i == 0, i == packets - 1
        opcode = 0x10 if first and last else 0x0d if first else 0x0f if last else 0x0e
        yield psn + i, opcode, length - i * mtu if last else mtu, {"syndrome": 0}, True
    return psn + packets


def message(r, base, psn, mtu, immediate):
    """A SEND or WRITE of several packets."""
    packets, send, imm = r.choice((1, 1, 2, 3, 9)), r.random() < 0.5, r.random() < 0.7
    rest = r.randrange(1, mtu + 1)
    for i in range(packets):
        first, last = i == 0, i == packets - 1
        if send:
            low = (5 if imm else 4) if first and last else 0 if first else (3 if imm else 2) if last else 1
        else:
            low = (11 if imm else 10) if first and last else 6 if first else (9 if imm else 8) if last else 7
        yield psn + i, base + low, rest if last else mtu, \
            {"dma_length": (packets - 1) * mtu + rest, "immediate": immediate}, False
    return psn + packets


def flow(r, service, count):
    """Packets of one QP: [PSN, opcode, payload bytes, fields, whether it goes in the other direction]."""
    base = {"RC": 0x00, "UC": 0x20, "RD": 0x40, "XRC": 0xa0}.get(service, 0)
    psn, mtu, immediate = r.choice((0, 100, 0xffff00)), r.choice((256, 256, 512, 1024)), r.randrange(1 << 32)
    packets = []

    def take(generator):
        while True:
            try:
                packets.append(next(generator))
            except StopIteration as end:
                return end.value

    while len(packets) < count:
        if service == "UD":
            cm = r.random() < 0.2  # a MAD to QP 1: class 7, methods Send, attributes REQ, REP, RTU, DREQ (IBTA 12.6)
            packets.append((psn, 0x64, 256 if cm else r.randrange(300), {"sqpn": 1 if cm else 9, "cm": cm}, False))
            psn += 1
            continue
        if service == "RC" and r.random() < 0.3:
            psn = take(read(r, psn, mtu))
        else:
            psn = take(message(r, base, psn, mtu, immediate & 0xffffffff))
            immediate += 1
        if service != "UC" and r.random() < 0.5:
            packets.append((psn - 1, base + 0x11, 0, {"syndrome": r.choice((0, 0, 31, 0x20, 0x60, 0x61, 0x62, 0x63))}, True))
        if r.random() < 0.05:
            packets.append((0, 0x81, 16, {}, True))
        if r.random() < 0.02:
            psn += r.choice((70000, 1 << 22, 1 << 23))  # the QP is reused
    return packets


def disordered(r, packets):
    """Loses, repeats and delays packets, by a few places or by hundreds."""
    late, out = [], []
    for i, packet in enumerate(packets):
        fate = r.random()
        if fate < 0.02:
            continue
        if fate < 0.04:
            late.append((i + r.choice((1, 2, 30, 400, 1100)), packet))
            continue
        out.append(packet)
        if fate < 0.06:
            late.append((i + r.choice((1, 5, 1200)), packet))
        out += [p for at, p in late if at <= i]
        late = [(at, p) for at, p in late if at > i]
        if fate > 0.995:
            out += out[-r.randrange(1, 40):]  # go back and send again
    return out


def cm_mad(r):
    return struct.pack("!BBBBHHQHHI", 1, 7, 2, 3, 0, 0, r.randrange(1 << 64), r.choice((0x10, 0x13, 0x14, 0x15)), 0, 0) + \
        r.randbytes(232)


def flows(r, _):
    """Several flows at once, their packets mixed."""
    queues = []
    for qpn, service in enumerate(("RC", "UC", "UD", "XRC", "RD") * 4, 100):
        shape = r.choice(PLAIN)
        queues.append((qpn, shape, iter(disordered(r, flow(r, service, 900)))))
    while queues:
        qpn, shape, packets = queue = r.choice(queues)
        for psn, opcode, size, fields, reverse in (p for _, p in zip(range(r.randrange(1, 30)), packets)):
            fields = dict(fields)
            data = transport(r, opcode, size, 1 if fields.pop("cm", False) else qpn, psn & 0xffffff, **fields)
            if fields.get("sqpn") == 1:
                data = data[:20] + cm_mad(r)
            packet = Packet(r, shape, data, reverse)
            yield broken_icrc(r, packet) if r.random() < 0.02 else (bytes(packet), GOOD)
        if not operator.length_hint(packets):
            queues.remove(queue)


def udp_streams(r, _):
    """Datagrams of the stream programs (roce/datagram/stream_header.h), and foreign ones to the same port."""
    number = {}
    for _ in range(1500):
        f = r.randrange(4)
        number[f] = n = number.get(f, 0) + r.choice((*[1] * 20, 2, -1, 1000, -2000, 1 << 40)) & (1 << 64) - 1
        data = struct.pack("!IBBHIIQQIIQ", 0x52435353, 1, r.random() < 0.01, f, 7 if r.random() < 0.99 else 8, 1472, n, n,
                           0, 1, 0) + r.randbytes(r.randrange(100))
        if r.random() < 0.1:
            data = r.randbytes(r.randrange(100))
        yield rf.datagram(data, UDP_PORT), OTHER


def everything(r, part=1):
    """part: how much of the two largest grids, which are most of it. Each opcode and each size is there in any case."""
    psn = Psn(r)
    for kind in (published, opcodes, sizes, jumbo, faults, long_headers, flows, udp_streams):
        yield from kind(r, psn, part) if kind in (opcodes, sizes) else kind(r, psn)


# ---- others ----

def verdict_inside(frame, verdict, keep):
    """
    The verdict on a frame in a tunnel of which the mirror left that many bytes: the rest, up to the IP length, is its cut.
    """
    kind, packet = oracle.classify(frame)[0], oracle.parse(frame)
    if packet and keep < packet["end"]:
        return UNKNOWN if verdict == UNKNOWN else UNCHECKED
    lying = kind in ("malformed", "rocev1", "headless") and not packet  # a length beyond the frame may be the mirror's cut here
    return UNKNOWN if lying or keep < len(frame) and not packet else verdict


def tunnelled(r, frames):
    for frame, verdict in frames:
        keep = r.randrange(160, len(frame)) if r.random() < 0.25 and len(frame) > 160 else len(frame)
        outer = r.choice(("ipv4", "ipv6"))
        whole = verdict == OTHER  # it may have a tag too many
        inner = tunnels.nested(r, frame, r.choice((0, 0, 1)), whole) if keep == len(frame) else frame
        yield (tunnels.wrap(inner, r.choice(tunnels.kinds_for(inner, whole and inner is frame)), outer, r.choice(((), (5,), (6, 7))),
                            b"\x01" * 4 * r.choice((0, 0, 1, 10)), keep if inner is frame else None),
               verdict_inside(frame, verdict, keep))


def lengths(r, longest, of=None):
    """Each payload length (or those in `of`) with a right ICRC, and with one bit of header, payload or ICRC flipped."""
    noise = r.randbytes(longest + 1)
    for size in of or range(longest + 1):
        shape = PLAIN[size % len(PLAIN)]
        packet = Packet(r, shape, rf.bth(0x27, 17, size, -size % 4) + noise[:size] + bytes(-size % 4))
        yield bytes(packet), GOOD
        frame = bytearray(bytes(packet))
        begin = len(packet.ethernet + packet.ip + packet.udp)
        # not in the BTH's first eight bytes: one is masked, others would change the kind of packet
        frame[r.randrange(begin + 8, len(frame))] ^= 1 << r.randrange(8)
        yield bytes(frame), BAD


def many_streams(r, count):
    """Packets in order, then a gap. First all streams once, then in another order."""
    order = list(range(count))
    for psn in (1, 5):
        for n in order:
            source = f"10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}" if n % 2 else f"fd00::{n >> 16:x}:{n & 0xffff:x}"
            yield rf.roce(rf.bth(0x24, 1000 + n % 7, psn) + bytes(4 * (n % 3)), source,
                          "10.255.0.1" if n % 2 else "fd00::ffff:0:1"), GOOD
        r.shuffle(order)


def write(frames, pcap, truth):
    """The number of frames of each verdict."""
    found = {}
    with open(pcap, "wb") as p, open(truth, "w") as t:
        p.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1))
        for n, (frame, verdict) in enumerate(frames):
            p.write(struct.pack("<IIII", n // 10**6, n % 10**6, len(frame), len(frame)) + frame)
            t.write(verdict + "\n")
            found[verdict] = found.get(verdict, 0) + 1
    return found


def generate(what, pcap, truth, seed=3, count=None):
    """Writes both files. The module's comment describes `what` and `count`. Returns the number of frames of each verdict."""
    r = random.Random(seed)
    frames = {"all": lambda: everything(r), "tunnels": lambda: tunnelled(r, everything(r)),
              "lengths": lambda: lengths(r, count or 9000),
              "streams": lambda: many_streams(r, count or 70000)}[what]()
    return write(frames, pcap, truth)


def main():
    parser = argparse.ArgumentParser(description="writes generated frames and the right verdicts on them")
    parser.add_argument("what", choices=("all", "tunnels", "lengths", "streams"))
    parser.add_argument("pcap")
    parser.add_argument("truth")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--count", type=int)
    a = parser.parse_args()
    found = generate(a.what, a.pcap, a.truth, a.seed, a.count)
    print(", ".join(f"{n} {verdict}" for verdict, n in sorted(found.items())), file=sys.stderr)


if __name__ == "__main__":
    main()
