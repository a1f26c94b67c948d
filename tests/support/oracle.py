# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An independent judge of captures: struct, zlib and sets, and nothing of the engine's code.

Written from the InfiniBand specification and docs/rules.md, slowly and obviously; whole captures are held in memory.

    for ns, wire_len, frame in oracle.read_pcap(path): ...
    oracle.parse(frame)     a RoCE packet as a dict, or None
    oracle.icrc_ok(frame)   True, False, or None where it cannot be told
    oracle.streams(path)    {key: figures}; key = (src, dst, dqpn, side), for UD (src, sqpn)
    oracle.pairs(path)      {(src, dst, dqpn): (peer QPN, first PSN, path MTU)} that the capture's CM packets tell
    oracle.totals(path)     what kinds of frames there are
    oracle.lints(path)      {key: {lint: packets}}, those that a packet shows by itself
"""
import bisect
import collections
import functools
import ipaddress
import operator
import struct
import sys
import zlib

ROCE_PORT = 4791
WINDOW = 1024       # a larger gap is believed when a second packet proves it
REACH = 65536 + 1024  # every skipped PSN this far back is remembered
NEAR = 65536        # packets of another sequence are so near each other
GOES_BACK = 2**22   # nobody sends again what is farther back
LONGEST_RUN = 2**20
NEVER = -2**62     # before all numbers
ENOUGH = 16         # packets that prove another sequence
ASKED = 16 + 128    # ranges of READs and atomics of a stream that are remembered for its responses
GAP_MAX = 65535     # a longer jump is no loss

# Bytes of the extension headers behind the BTH, IBTA volume 1 tables 38ff. and annexes A14, A17, A19.
RDETH, DETH, XRCETH, FETH, RETH, ATOMIC, AETH, ATOMICACK, IMM, IETH = 4, 8, 4, 4, 16, 28, 4, 8, 4, 4
_RC = {0: 0, 1: 0, 2: 0, 3: IMM, 4: 0, 5: IMM, 6: RETH, 7: 0, 8: 0, 9: IMM, 10: RETH, 11: RETH + IMM,
       12: RETH, 13: AETH, 14: 0, 15: AETH, 16: AETH, 17: AETH, 18: AETH + ATOMICACK, 19: ATOMIC, 20: ATOMIC}
VLANS = (0x8100, 0x88a8, 0x9100, 0x9200)
UNPARSED = (*VLANS, 0x8847, 0x8848, 0x8864, 0x88e5)   # MPLS, PPPoE, MACsec
_RESPONSES = set(range(13, 19))
EXTENSION = {**_RC, 0x16: IETH, 0x17: IETH, 0x1c: FETH + RETH, 0x1d: RETH, 0x64: DETH, 0x65: DETH + IMM, 0x81: 0,
             0x55: RDETH + DETH}
EXTENSION.update({0x20 + op: n for op, n in _RC.items() if op < 12})
EXTENSION.update({0x40 + op: n + RDETH + (0 if op in _RESPONSES else DETH) for op, n in _RC.items()})
EXTENSION.update({0xa0 + op: n + (0 if op in _RESPONSES else XRCETH) for op, n in _RC.items()})
EXTENSION.update({0xb6: XRCETH + IETH, 0xb7: XRCETH + IETH})
EXTENSION.update({base + op: n + extra for base, extra in ((0x40, RDETH + DETH), (0xa0, XRCETH))
                  for op, n in ((0x1c, FETH + RETH), (0x1d, RETH))})

SERVICES = {0: "RC", 1: "UC", 2: "RD", 3: "UD", 4: "CNP", 5: "XRC"}
_FIRST_OR_ONLY = {0, 4, 5, 6, 10, 11, 12, 13, 16, 18, 19, 20, 0x17, 0x1c, 0x1d}
_LAST_OR_ONLY = {2, 3, 4, 5, 8, 9, 10, 11, 12, 15, 16, 18, 19, 20, 0x16, 0x17, 0x1c, 0x1d}


def read_pcap(path):
    """(ns since 1970, length on the wire, bytes) of each frame. An incomplete last record ends the file."""
    with open(path, "rb") as f:
        head = f.read(24)
        magic = head[:4]
        order = "<" if magic in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
        scale = 1 if struct.unpack(order + "I", magic)[0] == 0xa1b23c4d else 1000
        assert struct.unpack(order + "I", magic)[0] in (0xa1b2c3d4, 0xa1b23c4d), f"{path}: no pcap"
        assert struct.unpack(order + "I", head[20:24])[0] & 0xffff == 1, f"{path}: not Ethernet"
        while len(record := f.read(16)) == 16:
            seconds, fraction, captured, wire = struct.unpack(order + "IIII", record)
            data = f.read(captured)
            if len(data) < captured:
                return
            yield seconds * 10**9 + fraction * scale, wire, data


@functools.lru_cache
def _address(octets):
    return str(ipaddress.ip_address(octets))


def _ipv6_extensions(frame, at, protocol):
    """Skips extension headers; (offset, protocol, is it a fragment)."""
    fragment = False
    for _ in range(4):
        if protocol not in (0, 43, 44, 60, 135, 139, 140):
            break
        if len(frame) < at + 8:
            return at, None, fragment
        if protocol == 44:
            fragment |= bool(struct.unpack_from("!H", frame, at + 2)[0] & 0xfff9)
        protocol, at = frame[at], at + (8 if protocol == 44 else 8 * (frame[at + 1] + 1))
    return at, protocol, fragment


def classify(frame, wire_len=None):
    """
    (kind, packet or None); kind: other, rocev1, fragment, malformed, roce, headless (cut before the end of its BTH). A frame that is
    shorter than its IP length, though nobody says that it was cut, is a packet with "short", its length: short_is_cut() judges it.
    """
    wire_len = max(wire_len or 0, len(frame))
    at, tags, vlan = 12, 0, None
    if len(frame) < 14:
        return "other", None
    ethertype, = struct.unpack_from("!H", frame, at)
    while ethertype in VLANS and tags < 3:
        if len(frame) < at + 6:
            return "other", None
        tags, at = tags + 1, at + 4
        vlan, ethertype = struct.unpack_from("!HH", frame, at - 2)
        vlan &= 0xfff
    l3 = at + 2
    v1 = ethertype == 0x8915
    if ethertype == 0x0800:
        if len(frame) < l3 + 20 or frame[l3] >> 4 != 4 or frame[l3] & 15 < 5:
            return "other", None
        length, _, flags = struct.unpack_from("!HHH", frame, l3 + 2)
        protocol, end, l4 = frame[l3 + 9], l3 + length, l3 + 4 * (frame[l3] & 15)
        src, dst, fragment = frame[l3 + 12:l3 + 16], frame[l3 + 16:l3 + 20], bool(flags & 0x3fff)
    elif ethertype == 0x86dd or v1:  # a GRH has the form of IPv6's header
        if len(frame) < l3 + 40 or frame[l3] >> 4 != 6:
            return "rocev1" if v1 else "other", None
        length, = struct.unpack_from("!H", frame, l3 + 4)
        src, dst, end = frame[l3 + 8:l3 + 24], frame[l3 + 24:l3 + 40], l3 + 40 + length
        l4, protocol, fragment = _ipv6_extensions(frame, l3 + 40, frame[l3 + 6])
    else:
        return "other", None
    if v1:
        if protocol != 0x1b:
            return "rocev1", None
        kind, p = _transport(frame, wire_len, l3, l4, None, l4, end, src, dst, vlan)
        return "rocev1 headless" if kind == "headless" else "rocev1", p
    if protocol != 17:
        return "other", None
    if fragment:
        return "fragment", None
    if len(frame) < l4 + 8:
        return "other", None
    sport, dport = struct.unpack_from("!HH", frame, l4)
    if dport != ROCE_PORT:
        return "other", None
    return _transport(frame, wire_len, l3, l4, sport, l4 + 8, end, src, dst, vlan)


def _transport(frame, wire_len, l3, l4, sport, bth, end, src, dst, vlan):
    """Parses from the BTH on, as classify()."""
    wrong = frame[l3] >> 4 == 4 and _ones_sum(frame[l3:l3 + 4 * (frame[l3] & 15)]) != 0xffff
    # nobody says that it was cut: only the UDP length, and an IP header that is right
    lies = wrong or sport is not None and l4 + struct.unpack_from("!H", frame, l4 + 4)[0] <= wire_len
    if end > wire_len and lies or bth + 12 + 4 > end:
        return "malformed", None
    short = wire_len if end > wire_len and sport is not None else None
    if len(frame) < bth + 12:
        return "headless", {"short": short, "lacks": end - wire_len}
    opcode, flags, pkey, dqpn, psn = struct.unpack_from("!BBHII", frame, bth)
    dqpn, psn = dqpn & 0xffffff, psn & 0xffffff  # the bits above them are reserved, or AckReq
    pad, extension = flags >> 4 & 3, EXTENSION.get(opcode, 0)
    if bth + 12 + extension + pad + 4 > end:
        return "malformed", None
    service, low = SERVICES.get(opcode >> 5, "?"), opcode & 31
    known = opcode in EXTENSION
    connected = known and service in ("RC", "RD", "XRC")
    p = {
        "src": _address(src), "dst": _address(dst), "vlan": vlan, "sport": sport,
        "opcode": opcode, "service": service, "known": known, "pkey": pkey, "dqpn": dqpn, "psn": psn, "pad": pad,
        "tos": frame[l3 + 1] if frame[l3] >> 4 == 4 else (frame[l3] << 4 | frame[l3 + 1] >> 4) & 0xff,
        "id": int.from_bytes(frame[l3 + 4:l3 + 6], "big") if frame[l3] >> 4 == 4 else 0,
        "way": (bytes(frame[:12]), (l3 - 14) // 4, vlan, frame[l3 + (8 if frame[l3] >> 4 == 4 else 7)]),
        "l3": l3, "l4": l4, "end": end, "payload": end - 4 - pad - (bth + 12 + extension),
        "response": opcode == 0x81 or (connected and low in _RESPONSES),
        "ack": connected and low == 17, "acks": None, "read": connected and low == 12, "atomic": connected and low in (19, 20),
        "first": known and opcode != 0x81 and low in _FIRST_OR_ONLY,
        "last": known and opcode != 0x81 and low in _LAST_OR_ONLY,
        "syndrome": frame[bth + 12] if known and extension == AETH and low == 17 and len(frame) > bth + 12 else 0,
        "sqpn": None, "dma_length": 0, "truncated": len(frame) < end, "short": short, "lacks": end - wire_len,
        "length": max(end, wire_len), "missing": len(frame) < bth + 12 + extension, "placed": True,
    }
    if p["missing"]:
        return "roce", _without_headers(p, frame, bth + 12)
    reth = known and (low in (6, 10, 11, 12) and service != "UD" or low in (0x1c, 0x1d))
    immediate = known and low in (3, 5, 9, 11)  # the last of its headers, behind a RETH
    at = bth + 12 + extension - (IMM if immediate else 0)
    p["what"] = opcode, p["payload"], frame[at - RETH:at] if reth else None, frame[at:at + IMM] if immediate else None
    if p["response"] and known and opcode != 0x81:
        # a NAK acknowledges what is before its own PSN: bits 6..5 of the syndrome
        positive = low != 17 or not frame[bth + 12 + extension - AETH] & 0x60
        p["acks"] = (psn + positive) % 2**24
    if known and service == "UD":
        p["sqpn"] = int.from_bytes(frame[bth + 17:bth + 20], "big")
    if known and service != "UD" and low in (6, 10, 12):  # the RETH is the last of its headers
        p["dma_length"], = struct.unpack_from("!I", frame, bth + 12 + extension - 4)
    return "roce", p


def _without_headers(p, frame, at):
    """A packet that was cut inside its extension headers, which begin at `at`: what those say that are whole."""
    low, known, service = p["opcode"] & 31, p["known"], p["service"]
    p["what"] = None    # it cannot be compared
    if known and service in ("RD", "UD"):
        deth = at + (RDETH if service == "RD" else 0)
        p["placed"] = low in _RESPONSES and service == "RD" or len(frame) >= deth + DETH
        if service == "UD" and p["placed"]:
            p["sqpn"] = int.from_bytes(frame[deth + 5:deth + 8], "big")
    if p["response"] and known and not p["ack"] and p["opcode"] != 0x81:
        p["acks"] = (p["psn"] + 1) % 2**24
    elif p["ack"]:
        p["acks"] = p["psn"]    # it may be a NAK
    reth = EXTENSION[p["opcode"]] - (IMM if low in (3, 5, 9, 11) else 0)
    if known and service != "UD" and low in (6, 10, 12) and len(frame) >= at + reth:
        p["dma_length"], = struct.unpack_from("!I", frame, at + reth - 4)
    elif p["read"]:
        p["dma_length"] = None
    return p


def parse(frame, wire_len=None):
    """A RoCE packet as a dict, or None."""
    kind, p = classify(frame, wire_len)
    return p if kind in ("roce", "rocev1") else None


def icrc(frame, p):
    """The four bytes of the right ICRC."""
    data = bytearray(frame[p["l3"]:p["end"] - 4])
    udp = p["l4"] - p["l3"]
    if data[0] >> 4 == 4:
        data[1] = data[8] = data[10] = data[11] = 0xff
    else:
        data[0:4] = b"\x6f\xff\xff\xff"
        data[7] = 0xff
    if p["sport"] is None:  # RoCEv1
        data[udp + 4] = 0xff
    else:
        data[udp + 6] = data[udp + 7] = data[udp + 8 + 4] = 0xff
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + data))


def short_is_cut(packets):
    """
    Whether frames that are shorter than their IP length were cut by a mirror: all at one length, which no whole frame is beyond, and
    more than an ICRC is missing. packets: of classify(), of the whole capture.
    """
    short = [p for p in packets if p["short"] is not None]
    whole = [p["length"] for p in packets if not p.get("truncated", True)]
    cut = {p["short"] for p in short}
    if len(short) < 2 or len(cut) > 1 or max(p["lacks"] for p in short) <= 4 or max(whole, default=0) > max(cut):
        return False
    return max(whole, default=0) < max(cut) or 2 * len(short) > sum("psn" in p and p["sport"] is not None for p in packets)


def icrc_ok(frame, p=None):
    """Whether the ICRC is right; None: not a RoCE packet, or cut."""
    p = p or parse(frame)
    if not p or p["truncated"]:
        return None
    return bytes(frame[p["end"] - 4:p["end"]]) == icrc(frame, p)


def key(p):
    if p["sqpn"] is not None:
        return p["src"], p["sqpn"]
    return p["src"], p["dst"], p["dqpn"], "response" if p["response"] else "request"


def _ones_sum(data):
    """RFC 1071: the one's complement sum of 16-bit words, an odd byte padded with zero."""
    total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", bytes(data) + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def packet_lints(frame, p):
    """The header mistakes that one packet shows, by the names of roce/stream/lint.def."""
    l3, l4, bth = p["l3"], p["l4"], p["l4"] + 8
    ipv4 = frame[l3] >> 4 == 4
    udp_length, udp_checksum = struct.unpack_from("!HH", frame, l4 + 4)
    addresses = frame[l3 + 12:l3 + 20] if ipv4 else frame[l3 + 8:l3 + 40]
    pseudo = _ones_sum(addresses + struct.pack("!HH", 17, udp_length))
    datagram = frame[l4:p["end"]]
    partial = p["known"] and p["opcode"] & 31 in {0, 1, 6, 7, 13, 14} and p["opcode"] != 0x81
    return {name for name, mistaken in {
        "mac_group": frame[6] & 1,
        "ip_checksum": ipv4 and _ones_sum(frame[l3:l4]) != 0xffff,
        "df_unset": ipv4 and not frame[l3 + 6] & 0x40,
        "udp_length": udp_length != p["end"] - l4 and not p["short"],
        # a sender with checksum offload leaves only the pseudo header's sum
        "udp_checksum": (udp_checksum and not p["truncated"] and udp_length == len(datagram)
                         and (ipv4 or l4 - l3 == 40) and udp_checksum != pseudo
                         and _ones_sum(struct.pack("!H", pseudo) + datagram) != 0xffff),
        "tver": frame[bth + 1] & 15,
        "pkey_invalid": not p["pkey"] & 0x7fff,
        "reserved_bits": frame[bth + 4] & 0x3f or frame[bth + 8] & 0x7f,
        "pad_count": (p["payload"] + p["pad"]) % 4,
        "payload_not_path_mtu": partial and p["payload"] not in {256, 512, 1024, 2048, 4096},
        "qpn_management": p["dqpn"] < 2 and p["service"] != "UD",
    }.items() if mistaken}


class Probation:
    """Packets that may be of another sequence, with their numbers. If they are, they are judged again."""

    def __init__(self, kind, interleaved):
        self.kind, self.packets, self.row, self.next, self.differs, self.interleaved = kind, [], 0, None, False, interleaved
        self.done, self.undecided = False, 0   # done: nobody sends its first packet again

    def add(self, number, packet):
        self.packets.append((number, packet))
        self.row = self.row + 1 if number == self.next else 0
        if self.next is None or number + packet["span"] > self.next:
            self.next = number + packet["span"]


def _distance(a, b):
    """From a to b on the circle of PSNs."""
    return (b - a + 2**23) % 2**24 - 2**23


class Sequence:
    """State of one stream's PSNs: `next`, and those that are missing. Numbers are PSNs that do not wrap."""

    def __init__(self, first=None, acknowledged=None):
        """first: the connection's first PSN; acknowledged(expected, p): the number behind those acknowledged before this packet."""
        self.first, self.acknowledged = first, acknowledged or (lambda expected, p: NEVER)
        self.number = None  # of the packet taken last
        self.next, self.missing = None, []  # ranges (first, first after it), the oldest first
        self.begin = None
        self.unknown_before = NEVER
        self.unknown_psns = 0    # so many of the last PSNs are those of packets with unknown opcodes
        self.probation = None
        self.samples, self.interleaved, self.alternations = {}, None, 0
        self.by_run = False  # the last packet proved another sequence, by PSNs seen before
        self.any_span = False   # the last one was a READ whose length was cut off
        self.messages = 0
        self.figures = dict.fromkeys(("psn_gaps", "psn_skipped", "psn_recovered", "psn_duplicates", "psn_resyncs", "psn_restarts",
                                      "psn_strays", "psn_interleaved", "psn_forgotten", "psn_late_unknown", "psn_undecided"), 0)

    def start(self, number):
        self.next = self.begin = number
        self.missing, self.unknown_before = [], NEVER

    def _age(self, reach):
        """Forgets the missing PSNs that are too old."""
        while self.missing and self.missing[0][0] < self.next - reach:
            first, behind = self.missing[0]
            self.unknown_before = min(behind, self.next - reach)
            self.missing[:1] = [(self.unknown_before, behind)] if self.unknown_before < behind else []
            self.figures["psn_forgotten"] += self.unknown_before - first if reach < REACH else 0

    def _find(self, begin, end):
        """Counts the missing ones among begin..end-1 and removes them."""
        found, i = 0, bisect.bisect_right(self.missing, begin, key=operator.itemgetter(1))
        while i < len(self.missing) and self.missing[i][0] < end:
            first, behind = self.missing[i]
            found += min(behind, end) - max(first, begin)
            rest = [r for r in ((first, begin), (end, behind)) if r[0] < r[1]]
            self.missing[i:i + 1] = rest
            i += len(rest)
        return found

    def step(self, psn):
        """A packet with an unknown opcode: it takes the expected PSN, until a known packet comes with that PSN."""
        if self.next is not None and psn == self.next % 2**24:
            self.next, self.unknown_psns = self.next + 1, self.unknown_psns + 1
            self._age(REACH)

    def _place(self, number, p, reach=REACH):
        """Takes a packet at this number, which is not too far away. "new", "recovered", or "again"."""
        f = self.figures
        if number < self.next:
            late = self._find(number, min(number + p["span"], self.next))
            f["psn_recovered"] += late
            if not late:
                f["psn_late_unknown" if self.begin <= number < self.unknown_before else "psn_duplicates"] += 1
                return "again"
        elif number > self.next:
            missing = [(self.next, number)]
            if p["free"]:
                missing = [(n, n + 1) for n in range(self.next, number) if n % 2**24 in p["asked"]] if p["asked"] else []
            f["psn_gaps"] += bool(missing)
            f["psn_skipped"] += sum(behind - first for first, behind in missing)
            self.missing += missing
        self.messages += p["last"]
        if number < self.next:
            return "recovered"
        self.next = number + p["span"]
        self._age(reach)
        return "new"

    def _sample(self, number, p):
        """Remembers the first packet, and those at the last multiples of 256 * 4^n."""
        if p["what"] and p["reliable"] and not p["response"] and (number == self.begin or number % 256 == 0):
            levels = [n for n in range(1, 7) if number % (256 * 4**n) == 0]
            self.samples["first" if number == self.begin else len(levels)] = number, p["what"]

    def _win(self):
        f, probation = self.figures, self.probation
        f["psn_undecided"] -= probation.undecided
        before = {name: f[name] for name in ("psn_duplicates", "psn_late_unknown", "psn_undecided")}
        self.by_run = probation.kind == "again"
        self.probation = None
        f["psn_resyncs"] += 1
        f["psn_restarts"] += 1
        self.alternations = min(8, self.alternations + probation.interleaved)
        self.interleaved, self.samples = self.next, {}
        self.start(probation.packets[0][0])
        for number, p in probation.packets:
            expected = number == self.next
            self._place(number, p, WINDOW)
            if expected:
                self._sample(number, p)
        f.update(before)  # that they were when they came

    def _join(self):
        """The run is a part of the sequence, which begins there if the run began before the first packet seen."""
        probation = self.probation
        first, opener = probation.packets[0]
        if probation.differs:
            return
        self.figures["psn_undecided"] = probation.undecided = 0
        if first < self.begin:
            self.begin = first
            self.samples.pop("first", None)
            self._sample(first, opener)

    def _lose(self):
        if self.probation.kind != "again":
            self.figures["psn_interleaved" if self.probation.interleaved else "psn_strays"] += len(self.probation.packets)
            self.interleaved = self.probation.next
        self.probation = None

    def _try(self, kind, number, p):
        self.probation = Probation(kind, self.interleaved is not None and 0 <= _distance(self.interleaved, p["psn"]) <= WINDOW)
        self.probation.add(number, p)

    def _waits(self, kind, number, p):
        """Whether a packet waits that would carry the sequence off."""
        probation = self.probation
        if probation and probation.kind == "gap" and (kind == "gap" or 0 <= number - probation.packets[0][0] <= GAP_MAX):
            if number != probation.packets[0][0]:
                self.probation = None
                self._place(*probation.packets[0])
                if kind := self._kind(number - self.next, p):  # it may be behind a large gap itself
                    self._try(kind, number, p)
                return bool(kind)
            return True
        if probation and probation.kind == "elsewhere" and -NEAR <= (d := _distance(probation.next, p["psn"])) <= GAP_MAX:
            probation.add(probation.next + d, p)
            enough = 4**self.alternations if probation.interleaved else 1
            if probation.row >= enough or len(probation.packets) >= ENOUGH * enough:
                self._win()
            return True
        if probation:
            self._lose()
        self._try(kind, number, p)
        return True

    def _again(self, number, p):
        """A packet that was seen before, or is too old to know."""
        probation = self.probation
        if not probation and number + 1 == self.next:
            return  # the newest one again
        if probation and (number == probation.next or p["reliable"] and abs(number - probation.next) <= WINDOW):
            probation.add(number, p)
        elif p["reliable"] or p["first"]:
            self._try("again", number, p)
        else:
            self.probation = None
            return
        probation = self.probation
        probation.differs |= bool(p["what"]) and any(n == number and what != p["what"] for n, what in self.samples.values())
        first, opener = probation.packets[0]
        if p["reliable"]:
            wins = (probation.differs and probation.row or len(probation.packets) >= LONGEST_RUN
                    or probation.done and opener["first"] and first < self.begin and probation.row >= ENOUGH - 1)
        else:   # the first packet may have overtaken others
            wins = probation.row >= 2 and (number >= self.begin + 2 or self.next - self.begin >= ENOUGH)
        if len(probation.packets) == 1:
            probation.done = self.first is not None and self.begin % 2**24 == self.first
        elif len(probation.packets) == 2:
            probation.done |= self.acknowledged(self.next, p) > first
        if wins:
            self._win()
            return
        if p["reliable"] and number == self.begin:
            self._join()
        probation.undecided += first < self.begin
        self.figures["psn_undecided"] += first < self.begin

    @staticmethod
    def _kind(d, p):
        if d > 0 and p["free"]:
            return None
        if d > WINDOW:
            return "gap" if d <= GAP_MAX else "elsewhere"
        return None if d >= -REACH or p["reliable"] and (p["response"] or d >= -GOES_BACK) else "elsewhere"

    def take(self, p, span=1, free=False, reliable=False, asked=None):
        """
        Takes one packet that uses `span` PSNs. free: a jump forward is no loss. asked: of a response's jump, only these PSNs,
        those of its requests, are a loss. Returns "new", "recovered", "again", or "waits".
        """
        if self.next is None:
            self.start(p["psn"])
        d = _distance(self.next, p["psn"])
        free |= self.any_span and 0 < d <= GAP_MAX
        p = {**p, "span": span, "free": free, "reliable": reliable, "asked": asked}
        if self.begin is None:
            self.begin = self.next
        self.by_run = False
        self.any_span &= d < 0
        self.number = number = self.next + d
        kind = self._kind(d, p)
        if p["response"] and p["first"] and d < -REACH:
            self.start(number)
            self.probation = None
        if kind and self._waits(kind, number, p):
            return "waits"
        if -self.unknown_psns <= d:
            self.next, self.unknown_psns = min(self.next, number), 0
        fate = self._place(number, p)
        if fate == "new":
            self.any_span = p["read"] and p["dma_length"] is None
            self._sample(number, p)
            self.alternations -= bool(self.alternations and number % 65536 == 0)
        kind = self.probation.kind if self.probation else None
        if (kind == "gap" and self.next > self.probation.packets[0][0] or kind == "elsewhere"
                or kind == "again" and fate != "again" and not (fate == "recovered" and reliable)):
            if kind == "again":
                self._join()
            self._lose()
        elif kind == "again" or not kind and fate == "again":
            self._again(number, p)
        return fate


class Copies:
    """Frames that are captured twice, of one stream (docs/rules.md, 'The same frame twice')."""

    def __init__(self):
        self.last = {}  # by PSN modulo 28: packets that were no copies
        self.newest, self.way, self.counted = None, None, None
        self.quiet, self.looks, self.found, self.alone = 1024 - 128, True, 0, 0

    def expect(self):
        """A packet was seen before."""
        if not self.looks:
            self.last.clear()
        self.quiet, self.looks = 0, True

    def take(self, p):
        """Returns whether p is a copy, and how many packets before it were."""
        if not self.looks:
            self.way = p["way"]
            return False, 0
        what, were = (p["psn"], p["opcode"], p["payload"], p["ack"] and p["syndrome"], p["id"]), 0
        same = self.last.get(p["psn"] % 28) == what
        if same and (self.counted or p["way"] != self.way):
            self.found += 1
            self.quiet = 0
            return True, 0
        if not self.newest:
            self.counted = True if p["id"] else None
        elif self.newest["id"] != p["id"] or not same:
            self.counted = self.newest["id"] != p["id"]
            were, self.alone = self.alone if p["id"] else 0, 0
        elif self.counted is None:
            self.alone += 1
        self.found += were
        self.last[p["psn"] % 28] = what
        self.newest, self.way = p, p["way"]
        self.quiet += 1
        self.looks = self.quiet < (65535 if self.found else 1024)
        return False, were


class UcMessage:
    """State of one message: whether it was counted as broken, whether its last packet came, its DMA length."""

    def __init__(self, counted):
        self.counted, self.ended, self.within = counted, False, None  # within: the numbers of its packets, if known

    def holds(self, number):
        return self.within is None or number in self.within


class UcReceiver:
    """
    Follows a receiver of UC (kernel: rxe check_psn and check_op_seq) and counts the messages that it would accept. Counts each
    broken message once: `newest` is the message of the packet farthest in the sequence, broken or not.
    """

    def __init__(self):
        self.expected, self.open, self.messages, self.broken = None, None, 0, 0
        self.last, self.newest = None, UcMessage(counted=True)  # it began before the first packet seen
        self.only_first = False

    def _give_up(self):
        if self.open and not self.open.counted:
            self.open.counted = True
            self.broken += 1
        self.open = None

    def take(self, p, number, late):
        """number: the packet's place in the sequence; late: there were packets farther in it."""
        if p["first"]:
            if p["last"] or not self.open or not self.only_first or self.expected != (p["psn"] + 1) % 2**24:
                self._give_up()
                self.open = UcMessage(counted=late)  # a late message was counted when its PSNs were skipped
            if p["dma_length"] and p["payload"]:
                self.open.within = range(number, number - (-p["dma_length"] // p["payload"]))
                if late and not p["last"] and self.newest.within is None and self.last in self.open.within:
                    self.newest.within = self.open.within  # the First of the newest message itself
            self.only_first = True
        elif self.open and p["psn"] == self.expected:
            self.only_first = False
        else:
            self._give_up()
            if not late and (self.newest.ended or number - 1 != self.last and not self.newest.holds(number)):
                self.broken += 1  # its First was lost
                self.newest = UcMessage(counted=True)
            self.newest.ended |= p["last"] and not late
        if not late:
            self.newest, self.last = self.open or self.newest, number
        if self.open:
            self.expected = (p["psn"] + 1) % 2**24
            if p["last"]:
                self.messages += 1
                self.open.ended, self.open = True, None


    def restart(self, number):
        """PSNs that seemed to be late are another sequence: the open message is the newest."""
        self.newest, self.last = self.open or UcMessage(counted=True), number
        self.newest.counted, self.newest.within = not self.open, None
        self.newest.ended = not self.open


def _class_changes(packets):
    """How often a packet has another DSCP than the one before, or is ECN-capable and that one not, or the other way round."""
    changes, before = 0, None
    for p in packets:
        if p["ack"] or p["opcode"] == 0x81 or p["service"] == "UD" and p["known"]:
            continue
        now = p["tos"] >> 2, p["tos"] & 3 != 0
        changes += before not in (None, now)
        before = now if before or p["known"] else None
    return changes


def _path_mtus(packets):
    """{(src, dst): [(number in the capture, payload)]} of the full packets that are not the last of their message."""
    mtus = {}
    for p, _ in packets:
        if p["known"] and not p["last"] and p["opcode"] != 0x81 and not p["ack"] and p["service"] != "UD":
            mtus.setdefault((p["src"], p["dst"]), []).append((p["number"], p["payload"]))
    return {ends: sorted(found) for ends, found in mtus.items()}


def _span(p, mtus):
    """How many PSNs a request takes. The path MTU is that of the response that comes next, whoever it is for."""
    if not p["read"] or p["dma_length"] is None:
        return 1
    seen = mtus.get((p["dst"], p["src"])) or mtus.get((p["src"], p["dst"])) or [(0, 4096)]
    at = bisect.bisect(seen, (p["number"], 0))
    return max(1, -(-p["dma_length"] // seen[min(at, len(seen) - 1)][1]))


def _requests(packets, mtus):
    """The requests of a stream that ask for a response: [(number in the capture, first PSN, first PSN after it)]."""
    return [(p["number"], p["psn"], p["psn"] + _span(p, mtus)) for p, ok in packets
            if ok is not False and (p["read"] or p["atomic"])]


def _acknowledged(expected, answers):
    """The number behind those that the other end acknowledges, by two acknowledgements or by a response."""
    acks = [p["acks"] for p in answers if p["ack"]][-2:]
    told = [_distance(expected, psn) for psn in acks] if len(acks) == 2 else []
    told = [min(told)] if told else []
    responses = [_distance(expected, p["acks"]) for p in answers if p["acks"] is not None and not p["ack"]]
    told += [max(responses)] if responses else []
    return max((expected + d for d in told if d <= 0), default=NEVER)


def _unseen(sequence, answers):
    """How many PSNs are missing that the other end acknowledges."""
    behind = _acknowledged(sequence.next, answers)
    return sum(max(0, min(end, behind) - first) for first, end in sequence.missing)


def _judge(packets, mtus, requests=None, first=None, answers=()):
    """
    The figures of one stream; packets: [(packet, icrc verdict)]. requests: of a response's peer, if known; first: the first PSN
    of the connection's requests in this direction; answers: the responses to this stream, if known.
    """
    good = [p for p, ok in packets if ok is not False]
    sequence = Sequence(first if requests is None else None, lambda expected, p: _acknowledged(
        expected, [answer for answer in answers if answer["number"] < p["number"]]))
    receiver, copies = UcReceiver(), Copies()
    service, asked = None, collections.deque(maxlen=ASKED)   # ranges of PSNs
    once = []
    # after a good ICRC bad ones have no effect, and what came before is forgotten: so only good packets count
    for p in good or [p for p, _ in packets]:
        if p["known"] and p["opcode"] != 0x81:
            copy, were = copies.take(p)
            sequence.figures["psn_duplicates"] -= min(were, sequence.figures["psn_duplicates"])
            if copy:
                continue
        copies.way = p["way"]
        once.append(p)
        if not p["known"]:
            sequence.step(p["psn"])
        if not p["known"] or p["opcode"] == 0x81:
            continue
        service = p["service"]
        if not p["placed"]:
            continue
        if p["ack"]:
            continue
        if sequence.next is None and first is not None and (p["psn"] - first) % 2**24 <= GAP_MAX:
            sequence.next = first
        while requests and requests[0][0] < p["number"]:
            begin, end = requests.pop(0)[1:]
            if asked and asked[-1][1] == begin and end > begin:
                begin = asked.pop()[0]
            asked.append((begin, end))
        wanted = {n % 2**24 for begin, end in asked for n in range(begin, end)} if p["response"] else None
        fate = sequence.take({**p, "last": p["last"] and service != "UC"}, _span(p, mtus),
                             p["response"] and (p["first"] or p["psn"] in wanted), service in ("RC", "RD", "XRC"), wanted)
        if fate == "again":
            copies.expect()
        if service == "UC":
            receiver.take(p, sequence.number, late=fate in ("recovered", "again"))
            if sequence.by_run:
                receiver.restart(sequence.number)
    f = sequence.figures
    f["psn_unseen"] = _unseen(sequence, answers) if answers and sequence.next is not None else 0
    f["psn_lost"] = f["psn_skipped"] - f["psn_recovered"] - f["psn_unseen"]
    f["messages"] = sequence.messages + receiver.messages
    f["messages_broken"] = receiver.broken
    f["class_changes"] = _class_changes(once)
    f["captured_twice"] = copies.found
    f["service"] = service or packets[-1][0]["service"]
    f["roce_packets"] = sum(p["sport"] is not None for p, _ in packets)
    f["icrc_bad"] = sum(ok is False for _, ok in packets)
    f["icrc_unchecked"] = sum(ok is None for _, ok in packets)
    f["trusted"] = bool(good)
    return f


def _frames(paths):
    for path in [paths] if isinstance(paths, str) or hasattr(paths, "__fspath__") else paths:
        yield from read_pcap(path)


def _management(frame, p):
    """(message, its fields) of a connection management datagram (IBTA 12.6.5 REQ, 12.6.8 REP), or (None, None)."""
    if p["service"] != "UD" or p["dqpn"] != 1 or p["payload"] != 256 or icrc_ok(frame, p) is False:
        return None, None
    mad = frame[p["l4"] + 8 + 12 + 8:]
    if mad[1] != 7 or len(mad) < 24 + 51:
        return None, None
    data = mad[24:]
    number = lambda at, size: int.from_bytes(data[at:at + size], "big")  # noqa: E731
    if mad[16:18] == b"\x00\x10":
        return "REQ", {"id": number(0, 4), "qpn": number(32, 3), "psn": number(44, 3), "mtu": 128 << (data[50] >> 4)}
    if mad[16:18] == b"\x00\x13":
        return "REP", {"id": number(0, 4), "to": number(4, 4), "qpn": number(12, 3), "psn": number(20, 3)}
    return None, None


def pairs(paths):
    """See above. The starting PSN in a message is the one that its sender expects to receive."""
    known, requests = {}, {}
    for _, wire_len, frame in _frames(paths):
        p = parse(frame, wire_len)
        message, said = _management(frame, p) if p else (None, None)
        if message == "REQ":
            requests[p["src"], p["dst"], said["id"]] = said
        elif message == "REP" and (req := requests.get((p["dst"], p["src"], said["to"]))):
            known[p["dst"], p["src"], said["qpn"]] = (req["qpn"], said["psn"], req["mtu"])
            known[p["src"], p["dst"], req["qpn"]] = (said["qpn"], req["psn"], req["mtu"])
    return known


def streams(paths, expected=None):
    """{key: figures} of one capture, or of several as one. expected: pairs known beforehand."""
    by_key, every = {}, []
    for number, (_, wire_len, frame) in enumerate(_frames(paths)):
        kind, p = classify(frame, wire_len)
        every += [p] if p else []
        if kind in ("roce", "rocev1") and p:
            p["number"] = number
            by_key.setdefault(key(p), []).append((p, icrc_ok(frame, p)))
    known = {**(expected or {}), **pairs(paths)}
    mtus = _path_mtus([packet for packets in by_key.values() for packet in packets if packet[1] is not False])
    found = {k: _judge(packets, mtus, *_told(k, by_key, known, mtus)) for k, packets in by_key.items()}
    return found if short_is_cut(every) else _without_short(found, by_key)


def _without_short(found, by_key):
    """Short frames that no mirror cut are malformed. They stand in the sequences of streams, and make none of their own."""
    for k, packets in by_key.items():
        short = sum(p["short"] is not None for p, _ in packets)
        found[k]["roce_packets"] -= short
        found[k]["icrc_unchecked"] -= short
        if short == len(packets):
            del found[k]
    return found


def _told(k, by_key, known, mtus):
    """The peer's requests and the first PSN of a stream, for _judge()."""
    if len(k) != 4 or k[:3] not in known:
        return ()
    src, dst, _, side = k
    peer, first, _ = known[k[:3]]
    if side == "request":
        copies, answers = Copies(), []
        for p in [p for p, ok in by_key.get((dst, src, peer, "response"), []) if ok is not False]:
            if not copies.take(p)[0]:
                answers.append(p)
        return None, first, answers
    opposite = known.get((dst, src, peer), (None, None, None))[1]
    return _requests(by_key.get((dst, src, peer, "request"), []), mtus), opposite


PACKET_LINTS = ("mac_group", "ip_checksum", "df_unset", "udp_length", "udp_checksum", "tver", "pkey_invalid", "reserved_bits", "pad_count",
                "payload_not_path_mtu", "qpn_management")


def lints(paths):
    """
    {key: {lint: packets}} of the packets with a good ICRC or, if there is none, of all; only lints that a packet shows by
    itself.
    """
    by_key = {}
    for _, wire_len, frame in _frames(paths):
        p = parse(frame, wire_len)
        if p:
            by_key.setdefault(key(p), []).append((icrc_ok(frame, p), packet_lints(frame, p)))
    found = {}
    for k, packets in by_key.items():
        judged = [names for ok, names in packets if ok is not False] or [names for _, names in packets]
        found[k] = {n: sum(n in names for names in judged) for n in PACKET_LINTS if any(n in names for names in judged)}
    return found


def _ethertype(frame):
    """The Ethertype behind up to three VLAN tags; None: the frame is too short."""
    types = [int.from_bytes(frame[at:at + 2], "big") for at in range(12, 28, 4) if len(frame) >= at + 2]
    return next((n for i, n in enumerate(types) if n not in VLANS or i == 3), None)


def _count_pause(t, frame):
    """IEEE 802.3 annex 31B, 802.1Q 36: a PAUSE frame, or one of priority-based flow control."""
    if frame[12:14] != b"\x88\x08" or len(frame) < 34:
        return
    opcode, mask, *times = struct.unpack("!HH8H", frame[14:34])
    t["pause_frames"] += opcode == 1
    t["pfc_frames"] += opcode == 0x101
    for i, time in enumerate(times):
        t[f"pfc_priority{i}"] += opcode == 0x101 and mask >> i & 1 and time > 0


def totals(paths):
    """The number of frames of each kind, by the names of roce/stream/counters.def."""
    names = {"other": "other_frames", "rocev1": "rocev1_packets", "fragment": "ip_fragments", "malformed": "malformed",
             "roce": "roce_packets", "headless": "other_frames", "rocev1 headless": "rocev1_packets"}
    t = dict.fromkeys(["frames", "unparsed_frames", "icrc_checked", "icrc_unchecked", "icrc_bad", "unknown_opcodes", "truncated",
                       "headless_frames", "ttl_one", *names.values(), "pause_frames", "pfc_frames",
                       *(f"pfc_priority{i}" for i in range(8))], 0)
    every = [(*classify(frame, wire_len), frame) for _, wire_len, frame in _frames(paths)]
    cut = short_is_cut([p for _, p, _ in every if p])
    for kind, p, frame in every:
        t["frames"] += 1
        if p and p["short"] is not None and not cut:
            t["malformed"] += 1
            continue
        t[names[kind]] += 1
        t["headless_frames"] += "headless" in kind
        _count_pause(t, frame)
        t["unparsed_frames"] += kind == "other" and _ethertype(frame) in UNPARSED
        if p and "headless" not in kind:
            t["truncated"] += p["truncated"]
            ok = icrc_ok(frame, p)
            if kind == "roce":
                t["icrc_unchecked" if ok is None else "icrc_checked"] += 1
            t["icrc_bad"] += ok is False
            t["unknown_opcodes"] += ok is not False and not p["known"]
            t["ttl_one"] += kind == "roce" and frame[p["l3"] + (8 if frame[p["l3"]] >> 4 == 4 else 7)] == 1
    return t


if __name__ == "__main__":
    for k, figures in sorted(streams(sys.argv[1:]).items(), key=str):
        print(*k, figures)
