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
import collections
import functools
import ipaddress
import struct
import sys
import zlib

ROCE_PORT = 4791
WINDOW = 1024       # every skipped PSN this far back is remembered
RANGES = 20         # beyond that, this many ranges of skipped PSNs are remembered
ASKED = 16          # READs and atomics of a stream that are remembered for its responses
GAP_MAX = 65535     # a longer jump is a resync

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
    """(kind, packet or None); kind: other, rocev1, fragment, malformed, roce."""
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
        return ("rocev1", _transport(frame, wire_len, l3, l4, None, l4, end, src, dst, vlan)[1]) if protocol == 0x1b else \
            ("rocev1", None)
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
    if end > wire_len or bth + 12 + 4 > end:
        return "malformed", None
    if len(frame) < bth + 12:
        return "other", None
    opcode, flags, pkey, dqpn, psn = struct.unpack_from("!BBHII", frame, bth)
    dqpn, psn = dqpn & 0xffffff, psn & 0xffffff  # the bits above them are reserved, or AckReq
    pad, extension = flags >> 4 & 3, EXTENSION.get(opcode, 0)
    if bth + 12 + extension + pad + 4 > end:
        return "malformed", None
    if len(frame) < bth + 12 + extension:
        return "other", None
    service, low = SERVICES.get(opcode >> 5, "?"), opcode & 31
    known = opcode in EXTENSION
    connected = known and service in ("RC", "RD", "XRC")
    p = {
        "src": _address(src), "dst": _address(dst), "vlan": vlan, "sport": sport,
        "opcode": opcode, "service": service, "known": known, "pkey": pkey, "dqpn": dqpn, "psn": psn, "pad": pad,
        "l3": l3, "l4": l4, "end": end, "payload": end - 4 - pad - (bth + 12 + extension),
        "response": opcode == 0x81 or (connected and low in _RESPONSES),
        "ack": connected and low == 17, "read": connected and low == 12, "atomic": connected and low in (19, 20),
        "first": known and opcode != 0x81 and low in _FIRST_OR_ONLY,
        "last": known and opcode != 0x81 and low in _LAST_OR_ONLY,
        "sqpn": None, "dma_length": 0, "truncated": len(frame) < end,
    }
    if known and service == "UD":
        p["sqpn"] = int.from_bytes(frame[bth + 17:bth + 20], "big")
    if known and service != "UD" and low in (6, 10, 12):  # the RETH is the last of its headers
        p["dma_length"], = struct.unpack_from("!I", frame, bth + 12 + extension - 4)
    return "roce", p


def parse(frame, wire_len=None):
    """A RoCE packet as a dict, or None."""
    return classify(frame, wire_len)[1]


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
    """The header mistakes that one packet shows, by the names of roce/lint.def."""
    l3, l4, bth = p["l3"], p["l4"], p["l4"] + 8
    ipv4 = frame[l3] >> 4 == 4
    udp_length, udp_checksum = struct.unpack_from("!HH", frame, l4 + 4)
    addresses = frame[l3 + 12:l3 + 20] if ipv4 else frame[l3 + 8:l3 + 40]
    pseudo = _ones_sum(addresses + struct.pack("!HH", 17, udp_length))
    datagram = frame[l4:p["end"]]
    partial = p["known"] and p["opcode"] & 31 in {0, 1, 6, 7, 13, 14} and p["opcode"] != 0x81
    return {name for name, mistaken in {
        "ip_checksum": ipv4 and _ones_sum(frame[l3:l4]) != 0xffff,
        "df_unset": ipv4 and not frame[l3 + 6] & 0x40,
        "udp_length": udp_length != len(datagram) and not p["truncated"],
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


class Sequence:
    """State of one stream's PSNs: `next`, the set of skipped ones, and the ranges of older ones."""

    def __init__(self):
        self.number = None  # of the packet taken last
        self.next, self.missing, self.ranges = None, set(), []  # ranges: (first, first after the range), oldest first
        self.stepped = 0    # so many of the last PSNs are those of packets with unknown opcodes
        self.figures = dict.fromkeys(("psn_gaps", "psn_skipped", "psn_recovered", "psn_duplicates", "psn_resyncs"), 0)

    def _age(self):
        """Moves PSNs older than the window from the set to the ranges."""
        for n in sorted(n for n in self.missing if n < self.next - WINDOW):
            self.missing.remove(n)
            if self.ranges and self.ranges[-1][1] == n:
                self.ranges[-1] = (self.ranges[-1][0], n + 1)
            else:
                self.ranges.append((n, n + 1))
        del self.ranges[:-RANGES]

    def _find(self, begin, end):
        """Counts the missing ones among begin..end-1 and removes them."""
        late = {n for n in self.missing if begin <= n < end}
        self.missing -= late
        found, ranges = len(late), []
        for first, behind in self.ranges:
            found += max(0, min(behind, end) - max(first, begin))
            ranges += [r for r in ((first, min(behind, begin)), (max(first, end), behind)) if r[0] < r[1]]
        self.ranges = ranges[-RANGES:]
        return found

    def step(self, psn):
        """A packet with an unknown opcode: it takes the expected PSN, until a known packet comes with that PSN."""
        if self.next is not None and psn == self.next % 2**24:
            self.next, self.stepped = self.next + 1, self.stepped + 1
            self._age()

    def take(self, psn, span=1, free=False, reliable=False, asked=None):
        """
        Takes one packet that uses `span` PSNs. free: a jump forward is no loss. asked: of a response's jump, only these PSNs,
        those of its requests, are a loss. Returns whether the packet is new.
        """
        f = self.figures
        if self.next is None:
            self.next = psn
        d = (psn - self.next + 2**23) % 2**24 - 2**23
        if -self.stepped <= d:
            self.next, d, self.stepped = self.next + min(d, 0), max(d, 0), 0
        self.number = number = self.next + d
        if d < 0:
            found = self._find(number, min(number + span, self.next))
            f["psn_recovered"] += found
            if found or d >= -WINDOW or reliable:
                f["psn_duplicates"] += not found
                return bool(found)
        if d < 0 or (d > GAP_MAX and not free):
            f["psn_resyncs"] += 1
            self.missing.clear()
            self.ranges.clear()
        elif d:
            missing = {n for n in range(self.next, number) if not free or asked and n % 2**24 in asked}
            f["psn_gaps"] += bool(missing)
            f["psn_skipped"] += len(missing)
            self.missing |= missing
        self.next = number + span
        self._age()
        return True


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


def _path_mtus(packets):
    """The path MTU for (src, dst), from the full packets in either direction of a READ."""
    mtus = {}
    for p, _ in packets:
        if p["known"] and not p["last"] and p["opcode"] != 0x81 and not p["ack"] and p["service"] != "UD":
            pair = (p["src"], p["dst"])
            mtus[pair] = max(mtus.get(pair, 0), p["payload"])
    return mtus


def _span(p, mtus):
    if not p["read"]:
        return 1
    mtu = mtus.get((p["dst"], p["src"])) or mtus.get((p["src"], p["dst"])) or 4096
    return max(1, -(-p["dma_length"] // mtu))


def _requests(packets, mtus):
    """The requests of a stream that ask for a response: [(number in the capture, first PSN, first PSN after it)]."""
    return [(p["number"], p["psn"], p["psn"] + _span(p, mtus)) for p, ok in packets
            if ok is not False and (p["read"] or p["atomic"])]


def _judge(packets, mtus, requests=None, first=None):
    """
    The figures of one stream; packets: [(packet, icrc verdict)]. requests: of a response's peer, if known; first: the first PSN
    of the connection's requests in this direction.
    """
    good = [p for p, ok in packets if ok is not False]
    sequence, receiver, messages = Sequence(), UcReceiver(), 0
    service, asked = None, collections.deque(maxlen=ASKED)
    # after a good ICRC bad ones have no effect, and what came before is forgotten: so only good packets count
    for p in good or [p for p, _ in packets]:
        if not p["known"]:
            sequence.step(p["psn"])
        if not p["known"] or p["opcode"] == 0x81:
            continue
        service = p["service"]
        if p["ack"]:
            continue
        if sequence.next is None and first is not None and (p["psn"] - first) % 2**24 <= GAP_MAX:
            sequence.next = first
        while requests and requests[0][0] < p["number"]:
            asked.append(requests.pop(0)[1:])
        wanted = {n % 2**24 for begin, end in asked for n in range(begin, end)} if p["response"] else None
        before = sequence.next
        new = sequence.take(p["psn"], _span(p, mtus), p["response"] and (p["first"] or p["psn"] in wanted),
                            service in ("RC", "RD", "XRC"), wanted)
        messages += new and p["last"]
        if service == "UC":
            receiver.take(p, sequence.number, late=sequence.next == before)
    f = sequence.figures
    f["psn_lost"] = f["psn_skipped"] - f["psn_recovered"]
    f["messages"] = receiver.messages if service == "UC" else messages
    f["messages_broken"] = receiver.broken
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
    by_key = {}
    for number, (_, wire_len, frame) in enumerate(_frames(paths)):
        p = parse(frame, wire_len)
        if p:
            p["number"] = number
            by_key.setdefault(key(p), []).append((p, icrc_ok(frame, p)))
    known = {**(expected or {}), **pairs(paths)}
    mtus = _path_mtus([packet for packets in by_key.values() for packet in packets if packet[1] is not False])
    return {k: _judge(packets, mtus, *_told(k, by_key, known, mtus)) for k, packets in by_key.items()}


def _told(k, by_key, known, mtus):
    """The peer's requests and the first PSN of a stream, for _judge()."""
    if len(k) != 4 or k[:3] not in known:
        return None, None
    src, dst, _, side = k
    peer, first, _ = known[k[:3]]
    if side == "request":
        return None, first
    opposite = known.get((dst, src, peer), (None, None, None))[1]
    return _requests(by_key.get((dst, src, peer, "request"), []), mtus), opposite


PACKET_LINTS = ("ip_checksum", "df_unset", "udp_length", "udp_checksum", "tver", "pkey_invalid", "reserved_bits", "pad_count",
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


def totals(paths):
    """The number of frames of each kind, by the names of roce/counters.def."""
    names = {"other": "other_frames", "rocev1": "rocev1_packets", "fragment": "ip_fragments", "malformed": "malformed",
             "roce": "roce_packets"}
    t = dict.fromkeys(["frames", "unparsed_frames", "icrc_checked", "icrc_unchecked", "icrc_bad", "unknown_opcodes", *names.values()], 0)
    for _, wire_len, frame in _frames(paths):
        kind, p = classify(frame, wire_len)
        t["frames"] += 1
        t[names[kind]] += 1
        t["unparsed_frames"] += kind == "other" and _ethertype(frame) in UNPARSED
        if p:
            ok = icrc_ok(frame, p)
            if kind == "roce":
                t["icrc_unchecked" if ok is None else "icrc_checked"] += 1
            t["icrc_bad"] += ok is False
            t["unknown_opcodes"] += ok is not False and not p["known"]
    return t


if __name__ == "__main__":
    for k, figures in sorted(streams(sys.argv[1:]).items(), key=str):
        print(*k, figures)
