# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Capture files of every format and link type, made with struct, and the expected result for each of their frames."""
import struct
import zlib

from . import roce_frames as rf

ETHERNET, RAW, IPV4, IPV6, NULL, LOOP, SLL, SLL2, INFINIBAND, USER0, WIFI = 1, 101, 228, 229, 0, 108, 113, 276, 247, 147, 105
ERF, MPLS = 197, 219
START = 1763724000  # seconds


class Frame:
    """A frame in the form of a link type, and the expected form."""

    def __init__(self, raw, made, dropped=0, added=0, no_icrc=False, is_ip=False, interface=None, interface_bytes=8):
        """
        The first `dropped` bytes of raw became the first `added` ones of made. is_ip: the IP version gives the Ethertype.
        interface: that of the link header's first `interface_bytes`.
        """
        self.raw, self.made, self.dropped, self.added = raw, made, dropped, added
        self.no_icrc, self.is_ip, self.interface, self.interface_bytes = no_icrc, is_ip, interface, interface_bytes

    def cut(self, captured):
        """The first bytes of the file's form, in the expected form."""
        if captured < self.dropped:
            return b""
        if self.is_ip and captured == self.dropped:
            return bytes(14)
        return self.made[:captured - self.dropped + self.added]


def ethernet(ethertype, source=bytes(6)):
    return bytes(6) + source + ethertype


def grh(length):
    """Without addresses."""
    return struct.pack("!IHBB", 6 << 28, length, 0x1b, 0) + bytes(32)


def lrh(following, length):
    """following: 3 a GRH, 2 a BTH; length: of everything after this header, with ICRC."""
    return struct.pack("!BBHHH", 0, following, 5, (8 + length) // 4, 6)


def erf(kind, frame, pad=b""):
    """The frame, already in another form, in a record of that type: with 0 to 2 extension headers, and filled up to eight bytes."""
    extensions = zlib.crc32(frame.raw) % 3
    head = struct.pack("<Q", 7 << 32) + struct.pack("!BB", kind | (0x80 if extensions else 0), 4 | 1)
    more = b"".join(bytes([0x80 if i < extensions - 1 else 0]) + bytes(7) for i in range(extensions)) + pad
    length = 16 + len(more) + len(frame.raw)
    fill = -length % 8
    return Frame(head + struct.pack("!HHH", length + fill, 0, len(frame.raw)) + more + frame.raw + bytes(fill), frame.made,
                 16 + len(more) + frame.dropped, frame.added, frame.no_icrc, interface=1, interface_bytes=16)


def of_link(link, frame, mac=rf.MAC_A):
    """An Ethernet or RoCEv1 frame in the form of another link type."""
    ethertype, packet = frame[12:14], frame[14:]
    bare = ethernet(ethertype)
    if link == ETHERNET:
        return Frame(frame, frame)
    if link in (RAW, IPV4, IPV6, 12, 14):
        return Frame(packet, bare + packet, 0, 14, is_ip=True)
    if link == SLL:
        return Frame(struct.pack("!HHH6s2s2s", 0, 1, 6, mac, b"\0\0", ethertype) + packet,
                     ethernet(ethertype, mac) + packet, 16, 14)
    if link == SLL2:
        return Frame(struct.pack("!2sHIHBB6s2s", ethertype, 0, 3, 1, 4, 6, mac, b"\0\0") + packet,
                     ethernet(ethertype, mac) + packet, 20, 14, interface=3)
    if link in (NULL, LOOP):
        return Frame(struct.pack("<I" if link == NULL else ">I", 2 if ethertype == b"\x08\x00" else 10) + packet,
                     bare + packet, 4, 14, is_ip=True)
    if link == INFINIBAND and ethertype == b"\x89\x15":
        return Frame(lrh(3, len(packet)) + packet + b"VC", bare + packet + b"VC", 8, 14, True)
    if link == INFINIBAND:
        transport = packet[28:]
        return Frame(lrh(2, len(transport)) + transport + b"VC",
                     ethernet(b"\x89\x15") + grh(len(transport)) + transport + b"VC", 8, 54, True)
    if link == MPLS:
        return Frame(struct.pack("!I", 7 << 12 | 1 << 8 | 64) + packet, ethernet(b"\x88\x47") + struct.pack("!I", 7 << 12 | 1 << 8 | 64) + packet, 0, 14)
    if link == ERF:
        return erf((2, 11, 16, 20)[zlib.crc32(frame) % 4], of_link(ETHERNET, frame), bytes(2))
    return Frame(frame, b"", len(frame) + 1)


def bare(transport, icrc):
    """The frame from the BTH on; icrc: its four bytes, or none."""
    made = ethernet(b"\x89\x15") + grh(len(transport) + 4) + transport + (icrc or bytes(4))
    return Frame(transport + icrc, made, 0, 54, True)


class File:
    """
    data: the file; frames: (end offset, its fields as capture_dump prints them); ends: further offsets at which it may end.
    """

    def __init__(self):
        self.data, self.frames, self.ends = bytearray(), [], set()

    def put(self, frame, captured, wire, time, interface, head, tail=b""):
        raw = frame.raw[:captured]
        made = frame.cut(len(raw))
        if frame.interface is not None and captured >= frame.interface_bytes:
            interface = frame.interface
        self.data += head + raw + tail
        wire = max(wire, len(raw))
        if made or len(raw) >= frame.dropped and frame.made:
            grown = len(frame.made) - len(frame.raw) + (frame.dropped - frame.added)  # an ICRC that the frame did not have
            if wire == len(raw):
                made = frame.made
            wire += frame.added - frame.dropped + grown
        self.frames.append((len(self.data), f"{len(made)} {wire} {time} {interface} {int(frame.no_icrc)} {zlib.crc32(made):08x}"))
        self.ends.add(len(self.data))

    def lines(self, length=None):
        """The lines of capture_dump for the file's first bytes."""
        return [f"{i + 1} {fields}\n" for i, (end, fields) in enumerate(self.frames) if length is None or end <= length]


class Pcap(File):
    def __init__(self, link=ETHERNET, order="<", magic=0xa1b2c3d4, snaplen=65535):
        super().__init__()
        self.order, self.unit, self.more = order, 1 if magic == 0xa1b23c4d else 1000, bytes(8 * (magic == 0xa1b2cd34))
        self.data += struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, link)
        self.ends.add(24)
        self.first = 24

    def add(self, frame, captured=None, wire=None, second=START, fraction=0):
        captured = len(frame.raw) if captured is None else captured
        wire = len(frame.raw) if wire is None else wire
        self.put(frame, captured, wire, second * 10**9 + fraction * self.unit, 0,
                 struct.pack(self.order + "IIII", second, fraction, captured, wire) + self.more)
        return self


class Several(File):
    """Joins files as cat does."""

    def __init__(self, *files):
        super().__init__()
        self.first = files[0].first
        for f in files:
            base = len(self.data)
            self.frames += [(base + end, fields) for end, fields in f.frames]
            self.ends |= {base + end for end in f.ends}
            self.data += f.data


class Pcapng(File):
    def __init__(self, order="<"):
        super().__init__()
        self.interfaces, self.before, self.latest = [], 0, 0
        self.section(order)
        self.first = len(self.data)

    def block(self, kind, body, length=None):
        body += bytes(-len(body) % 4)
        length = struct.pack(self.order + "I", len(body) + 12)
        self.data += struct.pack(self.order + "I", kind) + length + body + length
        self.ends.add(len(self.data))
        return self

    def section(self, order="<"):
        self.order = order
        self.before += len(self.interfaces)
        self.interfaces = []
        return self.block(0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1))

    def option(self, code, value):
        return struct.pack(self.order + "HH", code, len(value)) + value + bytes(-len(value) % 4)

    def interface(self, link=ETHERNET, snaplen=0, resolution=None, offset=None, words=None):
        """resolution: the option's byte; 0x80 + n: 2^-n. words: if_filter, in words."""
        options = self.option(2, b"eth0")
        if resolution is not None:
            options += self.option(9, bytes([resolution]))
        if offset is not None:
            options += self.option(14, struct.pack(self.order + "q", offset))
        if words is not None:
            options += self.option(11, b"\0" + words)
        resolution = 6 if resolution is None else resolution
        second = 2**(resolution & 0x7f) if resolution & 0x80 else 10**resolution
        self.interfaces.append((snaplen, second, offset or 0))
        return self.block(1, struct.pack(self.order + "HHI", link, 0, snaplen) + options + self.option(0, b""))

    def _packet(self, frame, interface, units, captured, wire, kind, options):
        captured = len(frame.raw) if captured is None else captured
        wire = len(frame.raw) if wire is None else wire
        _, second, offset = self.interfaces[interface]
        time = (units // second + offset) * 10**9 + units % second * 10**9 // second
        self.latest = max(self.latest, time)
        tail = bytes(-captured % 4) + options
        length = struct.pack(self.order + "I", 28 + captured + len(tail) + 4)
        which = struct.pack(self.order + ("I" if kind == 6 else "HH"), interface, *([] if kind == 6 else [7]))
        head = struct.pack(self.order + "I", kind) + length + which + struct.pack(self.order + "IIII", units >> 32, units & 0xffffffff,
                                                                                 captured, wire)
        self.put(frame, captured, wire, time, self.before + interface, head, tail + length)
        return self

    def add(self, frame, interface=0, units=START * 10**6, captured=None, wire=None, options=b""):
        return self._packet(frame, interface, units, captured, wire, 6, options)

    def obsolete(self, frame, interface=0, units=START * 10**6, captured=None, wire=None, options=b""):
        return self._packet(frame, interface, units, captured, wire, 2, options)

    def simple(self, frame):
        """Uses the latest time so far."""
        snaplen = self.interfaces[0][0]
        captured = min(len(frame.raw), snaplen or len(frame.raw))
        tail = bytes(-captured % 4)
        length = struct.pack(self.order + "I", 12 + captured + len(tail) + 4)
        self.put(frame, captured, len(frame.raw), self.latest, self.before,
                 struct.pack(self.order + "I", 3) + length + struct.pack(self.order + "I", len(frame.raw)), tail + length)
        return self


# ---- samples: small, together of every kind ----

def _frames():
    return [rf.uc_write(1, bytes(32)), rf.roce(rf.bth(0x11, 17, 1) + rf.aeth(0)), rf.roce(rf.bth(4, 17, 2) + bytes(24), src="fd00::1", dst="fd00::2"),
            rf.rocev1(rf.bth(4, 17, 3) + bytes(16))]


def _bare():
    write = rf.bth(0x2a, 17, 1) + rf.reth(0, 7, 32) + bytes(range(32))
    first = rf.bth(0x26, 17, 2) + rf.reth(0, 7, 300) + bytes(256)
    last = rf.bth(0x28, 17, 3) + bytes(44)
    ack = rf.bth(0x11, 17, 4) + rf.aeth(0)
    read = rf.bth(0x0c, 17, 5) + rf.reth(0, 7, 4096)
    cnp = rf.bth(0x81, 17, 0) + bytes(16)
    return [write, first, last, ack, read, cnp, last]


def samples():
    """(name, --link, File): each with a few frames, one of them cut by the snap length, one empty."""
    for order in "<>":
        for magic in (0xa1b2c3d4, 0xa1b23c4d, 0xa1b2cd34):
            f = Pcap(ETHERNET, order, magic, snaplen=64)
            for i, frame in enumerate(_frames()):
                f.add(of_link(ETHERNET, frame), fraction=999999 - i)
            yield f"pcap-{magic & 0xffff:x}-{'be' if order == '>' else 'le'}", "file", f.add(of_link(ETHERNET, _frames()[0]), captured=60).add(Frame(b"", b""))
    for link in (RAW, 12, 14, IPV4, IPV6, NULL, LOOP, SLL, SLL2, INFINIBAND, ERF, MPLS):
        f = Pcap(link)
        for frame in _frames():
            if frame[12:14] != b"\x89\x15" or link in (SLL, SLL2, INFINIBAND, ERF):
                f.add(of_link(link, frame))
        if link == ERF:
            f.add(erf(21, of_link(INFINIBAND, _frames()[0]))).add(erf(21, of_link(INFINIBAND, _frames()[3])))
            f.add(erf(22, of_link(RAW, _frames()[0]))).add(erf(23, of_link(RAW, _frames()[2])))
            record = erf(27, of_link(ETHERNET, _frames()[0])).raw  # metadata
            f.add(Frame(record, b"", len(record) + 1))
        if link == INFINIBAND:  # the BTH is at this place only with IPv4
            f = Pcap(link).add(of_link(link, _frames()[0])).add(of_link(link, _frames()[3]))
        for captured in (0, 3, 8, 15, 17, 19, 30, 50):
            f.add(of_link(link, _frames()[0]), captured=captured)
        yield f"pcap-link{link}", "file", f
    for icrc in (b"", b"ICRC"):
        f = Pcap(USER0)
        for transport in _bare():
            f.add(bare(transport, icrc))
        yield f"pcap-bth{len(icrc)}", "bth", f.add(bare(_bare()[0], icrc), captured=40)
    yield "pcap-as-ip", "ip", Pcap(USER0).add(of_link(RAW, _frames()[0])).add(of_link(RAW, _frames()[2]))
    yield "pcap-as-ethernet", "ethernet", Pcap(USER0).add(of_link(ETHERNET, _frames()[0]))
    a, b = (Pcap(ETHERNET, order, magic).add(of_link(ETHERNET, _frames()[0])).add(of_link(ETHERNET, _frames()[1]), fraction=5)
            for order, magic in (("<", 0xa1b2c3d4), (">", 0xa1b23c4d)))
    old, raw, empty = Pcap(magic=0xa1b2cd34).add(of_link(ETHERNET, _frames()[2])), Pcap(RAW).add(of_link(RAW, _frames()[0])), Pcap()
    yield "pcap-several", "file", Several(a, b, empty, old, raw, a, Pcap(order=">"))
    yield from (("pcapng-" + name, "file", f) for name, f in pcapng_samples())


def pcapng_samples():
    frames = _frames()
    for order in "<>":
        f = Pcapng(order).interface().interface(resolution=9, offset=-3600)
        for i, frame in enumerate(frames):
            f.add(of_link(ETHERNET, frame), i % 2, (START * 10**9 if i % 2 else START * 10**6) + i)
        f.block(0x0bae, bytes(50)).add(of_link(ETHERNET, frames[0]), captured=33, options=f.option(1, b"comment") + f.option(0, b""))
        yield ("be" if order == ">" else "le"), f.block(5, bytes(12)).block(4, bytes(4))
    f = Pcapng().interface(ETHERNET, 48).simple(of_link(ETHERNET, frames[0])).simple(of_link(ETHERNET, frames[1][:41]))
    f.obsolete(of_link(ETHERNET, frames[0])).simple(of_link(ETHERNET, frames[2])).add(Frame(b"", b""))
    yield "simple-obsolete", f
    f = Pcapng().interface(words=b"rocescope capture --reason psn").interface()
    for i, words in enumerate((b"reason=before fault=1: x", b"reason=psn-gap expected=0x000003 seen=0x000005 skipped=2: x")):
        f.add(of_link(ETHERNET, frames[0]), options=f.option(2, bytes(4)) + f.option(1, words) + f.option(0, b""))
        f.add(of_link(ETHERNET, frames[1]), i).simple(of_link(ETHERNET, frames[0]))
    yield "selection", f.block(5, bytes(12) + f.option(1, b"reason=left-out count=7") + f.option(0, b""))
    f = Pcapng()
    links = (RAW, ETHERNET, SLL, SLL2, NULL, INFINIBAND, WIFI)
    for link in links:
        f.interface(link)
    for i, link in enumerate(links):
        f.add(of_link(link, frames[0]), i, START * 10**6 + i)
    yield "links", f.simple(of_link(RAW, frames[1])).simple(of_link(RAW, frames[2]))
    f = Pcapng("<").interface().add(of_link(ETHERNET, frames[0])).section(">").interface(RAW, resolution=3)
    f.add(of_link(RAW, frames[0]), units=START * 1000 + 7).section("<").interface(SLL).interface(ETHERNET)
    yield "sections", f.add(of_link(ETHERNET, frames[1]), 1).add(of_link(SLL, frames[2]), 0)
    f = Pcapng()
    resolutions = (0, 3, 6, 9, 12, 19, 0x80, 0x80 + 10, 0x80 + 20, 0x80 + 30, 0x80 + 33)
    for resolution in resolutions:
        f.interface(resolution=resolution, offset=100)
    for i, r in enumerate(resolutions):
        second = 2**(r & 0x7f) if r & 0x80 else 10**r
        for fraction in (0, second // 3, second - 1):
            seconds = START if START * second < 2**63 else 0
            f.add(Frame(b"x" * 14, b"x" * 14), i, seconds * second + fraction)
    yield "resolutions", f
