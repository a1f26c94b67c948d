# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The packets that a plan of `rocescope send` must put on the wire, made from its options and without its code.

    plan = Plan(op="uc-write-imm", qps=3, message=5000, mtu=1408, messages=9)
    plan.options()      the command line
    packets(plan)       its packets in the order of making, each a Packet
    frame(plan, p)      the packet's bytes in their parts, a Frame: change parts, then seal() and bytes()

Headers from IBTA volume 1 chapter 9 and annex A17 (RoCEv2), RFC 791, 8200, 768; ICRCs by zlib or bit by bit.
"""
import dataclasses
import ipaddress
import struct
import subprocess
import zlib

from .roce_frames import internet_checksum

PATTERN = 1 << 20  # the payload repeats after so many bytes
ROCE = 4791

# First, Middle, Last, Last with immediate, Only, Only with immediate
OPCODES = {
    "uc-write-imm": (0x26, 0x27, 0x29, 0x2b), "uc-write": (0x26, 0x27, 0x28, 0x2a), "uc-send": (0x20, 0x21, 0x22, 0x24),
    "rc-write": (0x06, 0x07, 0x08, 0x0a), "rc-send": (0x00, 0x01, 0x02, 0x04), "ud-send": (None, None, None, 0x64),
    "read-response": (0x0d, 0x0e, 0x0f, 0x10), "ack": (None, None, None, 0x11), "cnp": (None, None, None, 0x81),
}
HAS_RETH = {0x06, 0x0a, 0x0b, 0x26, 0x2a, 0x2b}
HAS_IMMDT = {0x03, 0x05, 0x09, 0x0b, 0x23, 0x25, 0x29, 0x2b}
HAS_AETH = {0x0d, 0x0f, 0x10, 0x11}
HAS_DETH = {0x64}


@dataclasses.dataclass
class Plan:
    """A plan with the defaults of `rocescope send -w`. The names are those of its options, with _ for -."""
    op: str = "uc-write-imm"
    message: int = 4096
    mtu: int = 1024
    qps: int = 1
    messages: int = None
    duration: float = None
    rate: str = None
    burst: str = None
    interleave: str = "message"
    payload: str = "counter"
    seed: int = 1
    src: str = "10.9.0.1"
    dst: str = "10.9.0.2"
    src_mac: str = "02:00:00:00:00:01"
    dst_mac: str = "02:00:00:00:00:02"
    vlan: int = None
    pcp: int = None
    dscp: int = 0
    ecn: int = 0
    ttl: int = 64
    flow_label: int = 0
    df: str = "on"
    ports: str = "one"
    port: int = 49152
    udp_checksum: bool = False
    pkey: int = 0xffff
    first_qpn: int = 0x100
    first_psn: int = 0
    other_psn: int = 0x800000
    rkey: int = 0
    va: int = 0
    regions: int = 1
    region_bytes: int = None    # default: message
    immediate: int = 0
    immediate_step: int = 1
    immediate_messages: int = 1
    immediate_page: bool = False
    frame: int = 1
    reserved: int = 0
    qp: list = None             # dicts with qpn, psn, rkey, va, or some of these

    def options(self):
        """The command line, without defaults."""
        words = []
        for field in dataclasses.fields(self):
            value, name = getattr(self, field.name), "--" + field.name.replace("_", "-")
            if field.name == "qp":
                for said in value or ():
                    words += [name, ",".join(f"{k}={v:#x}" for k, v in said.items())]
            elif value is True:
                words.append(name)
            elif value != field.default and not (field.name == "qps" and self.qp):
                words += [name, str(value)]
        return words

    def lines(self):
        """The same as a plan file."""
        words, lines = self.options(), []
        for word in words:
            if word.startswith("--"):
                lines.append(word[2:])
            else:
                lines[-1] += " " + word
        return "".join(line + "\n" for line in lines)

    @property
    def region_step(self):
        return self.message if self.region_bytes is None else self.region_bytes

    @property
    def ipv6(self):
        return ":" in self.dst


@dataclasses.dataclass
class Packet:
    qp: int          # index
    number: int      # counts the QP's packets from 1
    message: int     # counts the QP's messages from 0
    first: bool
    last: bool
    opcode: int
    dqpn: int
    psn: int
    at: int          # offset in the pattern
    size: int
    ackreq: bool = False
    va: int = 0
    rkey: int = 0
    dma: int = 0
    immediate: int = 0
    msn: int = 0
    syndrome: int = 0
    sqpn: int = 0
    port: int = 0
    middle: int = 0  # counts the packets of its message from 0


# ---- the ICRC ----

def crc32_bitwise(data, polynomial=0xedb88320, crc=0xffffffff):
    """Least significant bit first, without the last complement."""
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (polynomial if crc & 1 else 0)
    return crc


def crc32_msb_first(data, polynomial=0x04c11db7, crc=0xffffffff):
    """Most significant bit first, without the last complement."""
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (polynomial if crc & 0x80000000 else 0)) & 0xffffffff
    return crc


class Frame:
    """A RoCEv2 frame in parts."""

    def __init__(self, eth, ip, udp, bth, ext, payload, pad):
        self.eth, self.ip, self.udp, self.bth, self.ext, self.payload, self.pad = map(
            bytearray, (eth, ip, udp, bth, ext, payload, pad))
        self.icrc = b""
        self.made_before = b""  # the ICRC of the packet made before it, of whatever QP

    def copy(self):
        other = Frame(self.eth, self.ip, self.udp, self.bth, self.ext, self.payload, self.pad)
        other.icrc = bytes(self.icrc)
        other.made_before = self.made_before
        return other

    @property
    def v4(self):
        return self.ip[0] >> 4 == 4

    def transport(self):
        return self.bth + self.ext + self.payload + self.pad

    def set_lengths(self, icrc=4):
        """Sets IP and UDP lengths and the IPv4 header checksum for the present parts."""
        length = 8 + len(self.transport()) + icrc
        self.udp[4:6] = struct.pack("!H", length)
        if self.v4:
            self.ip[2:4] = struct.pack("!H", len(self.ip) + length)
            self.set_ip_checksum()
        else:
            self.ip[4:6] = struct.pack("!H", length)
        return self

    def set_ip_checksum(self):
        self.ip[10:12] = b"\0\0"
        self.ip[10:12] = struct.pack("!H", internet_checksum(self.ip))

    def masked(self, unmasked=()):
        """The bytes that the ICRC covers, in parts: ones, IP, UDP, transport."""
        ip, udp, transport = bytearray(self.ip), bytearray(self.udp), self.transport()
        if self.v4:
            if "tos" not in unmasked:
                ip[1] = 0xff
            if "ttl" not in unmasked:
                ip[8] = 0xff
            if "ip_checksum" not in unmasked:
                ip[10:12] = b"\xff\xff"
        else:
            word, = struct.unpack_from("!I", ip)
            if "tos" not in unmasked:
                word |= 0x0ff00000
            if "flow_label" not in unmasked:
                word |= 0x000fffff
            struct.pack_into("!I", ip, 0, word)
            if "ttl" not in unmasked:
                ip[7] = 0xff
        # unknown when the ICRC is computed, because the checksum covers the ICRC
        udp[6:8] = b"\0\0" if "udp_checksum" in unmasked else b"\xff\xff"
        if "resv8a" not in unmasked:
            transport[4] = 0xff
        return b"\xff" * 8, bytes(ip), bytes(udp), bytes(transport)

    def right_icrc(self):
        return struct.pack("<I", zlib.crc32(b"".join(self.masked())))

    def seal(self, checksum=False, icrc=None):
        """Sets the ICRC, right or as given, then the UDP checksum."""
        self.icrc = self.right_icrc() if icrc is None else icrc
        if checksum:
            self.set_udp_checksum()
        return self

    def set_udp_checksum(self):
        """Covers the datagram as the UDP length defines it."""
        self.udp[6:8] = b"\0\0"
        addresses = self.ip[12:20] if self.v4 else self.ip[8:40]
        datagram = (self.udp + self.transport() + self.icrc)[:int.from_bytes(self.udp[4:6], "big")]
        self.udp[6:8] = struct.pack("!H", internet_checksum(addresses + b"\0\x11" + self.udp[4:6] + datagram) or 0xffff)

    def bytes(self):
        return bytes(self.eth + self.ip + self.udp + self.transport()) + self.icrc


# ---- packets ----

def pattern(plan):
    """One period of the payload memory."""
    if plan.payload == "counter":
        return struct.pack(f">{PATTERN // 8}Q", *range(PATTERN // 8))
    if plan.payload == "lfsr":
        state, words = plan.seed & 0xffffffff, []
        for _ in range(PATTERN // 4):
            words.append(state)
            state = state >> 1 ^ (0x80200003 if state & 1 else 0)  # x^32 + x^22 + x^2 + x + 1
        return struct.pack(f">{PATTERN // 4}I", *words)
    with open(plan.payload.removeprefix("file="), "rb") as f:
        data = f.read()
    return (data * (PATTERN // len(data) + 1))[:PATTERN]


def qp_packets(plan, index, count):
    """The packets of one QP's messages."""
    whole = OPCODES[plan.op]
    qp = {"qpn": plan.first_qpn + index, "psn": plan.first_psn, "rkey": plan.rkey,
          "va": plan.va + index * plan.regions * plan.region_step, **(plan.qp[index] if plan.qp else {})}
    message = 0 if plan.op in ("ack", "cnp") else plan.message
    number = 0
    for m in range(count):
        # in a frame of several messages, those before its last one are without immediate data
        inside = plan.op == "uc-write-imm" and m % plan.frame < plan.frame - 1
        first, middle, last, only = OPCODES["uc-write"] if inside else whole
        frames = m // plan.frame
        offsets = range(0, message, plan.mtu) if message else [0]
        for offset in offsets:
            at_first, at_last = offset == 0, offset + plan.mtu >= message
            number += 1
            yield Packet(qp=index, number=number, message=m, first=at_first, last=at_last,
                         opcode=only if at_first and at_last else first if at_first else last if at_last else middle,
                         dqpn=qp["qpn"], psn=0 if plan.op == "cnp" else (qp["psn"] + number - 1) % 2**24,
                         at=(m * message + offset) % PATTERN, size=min(plan.mtu, message - offset),
                         ackreq=at_last and plan.op in ("rc-write", "rc-send"),
                         va=qp["va"] + m % plan.regions * plan.region_step, rkey=qp["rkey"], dma=message,
                         immediate=(frames % max(plan.regions // plan.frame, 1) | qp["psn"] + number - 1 << 12
                                    if plan.immediate_page else
                                    plan.immediate + frames // plan.immediate_messages * plan.immediate_step) % 2**32,
                         msn=(m + 1) % 2**24, syndrome=0x1f, sqpn=qp["qpn"],
                         port=plan.port + (index if plan.ports == "qp" else 0), middle=offset // plan.mtu)


def shares(plan):
    return [plan.messages // plan.qps + (i < plan.messages % plan.qps) for i in range(plan.qps)]


def turns(plan):
    """The QP of each turn: a number of packets, or a whole message (None), again and again."""
    kind, _, words = plan.interleave.partition("=")
    if kind == "sequence":
        with open(words) as f:
            return [(int(index), 1) for index in f.read().replace(",", " ").split()]
    if kind == "weights":
        weights = [int(w) for w in words.split(",")]
        return [(i, weights[i % len(weights)]) for i in range(plan.qps)]
    return [(i, 1 if kind == "packet" else None) for i in range(plan.qps)]


def packets(plan):
    """All packets in the order of making."""
    queues = [list(qp_packets(plan, i, n))[::-1] for i, n in enumerate(shares(plan))]
    order, made = turns(plan), []
    while any(queues):
        for index, count in order:
            while queues[index]:
                made.append(queues[index].pop())
                count = count and count - 1
                if count == 0 or count is None and made[-1].last:
                    break
    return made


def leaving(made, fates):
    """
    The packets in the order of leaving, with fates {(qp, number): (fate, by)}; fate: drop, duplicate, reorder. Late packets
    leave right behind the place of the packet `by` numbers later, or at the end of their QP.
    """
    last = {p.qp: p.number for p in made}
    late, out = {}, []  # (qp, number) of the place: packets that leave behind it
    for p in made:
        fate, by = fates.get((p.qp, p.number), (None, 0))
        if fate in ("duplicate", "reorder"):
            late.setdefault((p.qp, p.number + by), []).append(p)
        if fate not in ("drop", "reorder"):
            out.append(p)
        out += late.pop((p.qp, p.number), [])
        if p.number == last[p.qp]:
            for place in sorted(place for place in late if place[0] == p.qp):
                out += late.pop(place)
    assert not late
    return out


def frame(plan, p, memory):
    """The packet's parts, sealed. memory: pattern(plan)."""
    tag = b""
    if plan.vlan is not None or plan.pcp is not None:
        tag = struct.pack("!HH", 0x8100, (plan.pcp or 0) << 13 | (plan.vlan or 0))
    eth = (bytes.fromhex((plan.dst_mac + plan.src_mac).replace(":", "")) + tag
           + struct.pack("!H", 0x86dd if plan.ipv6 else 0x0800))
    tos = plan.dscp << 2 | plan.ecn
    src, dst = ipaddress.ip_address(plan.src).packed, ipaddress.ip_address(plan.dst).packed
    if plan.ipv6:
        ip = struct.pack("!IHBB", 6 << 28 | tos << 20 | plan.flow_label, 0, 17, plan.ttl) + src + dst
    else:
        ip = struct.pack("!BBHHHBBH", 0x45, tos, 0, 0, 0x4000 if plan.df == "on" else 0, plan.ttl, 17, 0) + src + dst
    udp = struct.pack("!HHHH", p.port, ROCE, 0, 0)
    pad = bytes(-p.size % 4)
    cnp = p.opcode == 0x81  # a CNP sets BECN and not MigReq (A17.9.3)
    bth = struct.pack("!BBHII", p.opcode, (0 if cnp else 0x40) | len(pad) << 4, plan.pkey,
                      (plan.reserved | cnp << 6) << 24 | p.dqpn, p.ackreq << 31 | p.psn)
    ext = b""
    if p.opcode in HAS_DETH:
        ext += struct.pack("!II", 0x11111111, p.sqpn)
    if p.opcode in HAS_RETH:
        ext += struct.pack("!QII", p.va % 2**64, p.rkey, p.dma)
    if p.opcode in HAS_AETH:
        ext += struct.pack("!I", p.syndrome << 24 | p.msn)
    if p.opcode in HAS_IMMDT:
        ext += struct.pack("!I", p.immediate)
    payload = bytes(16) if cnp else (memory[p.at:p.at + p.size] + memory)[:p.size]
    return Frame(eth, ip, udp, bth, ext, payload, pad).set_lengths().seal(plan.udp_checksum)


# ---- mistakes in the ICRC: the four bytes of the field ----

def le(crc):
    return struct.pack("<I", crc & 0xffffffff)


def _headers_of(before, f):
    """f's payload behind the previous packet's headers."""
    g = before.copy()
    g.payload, g.pad = f.payload, f.pad
    return g


def _stale_psn(f, before):
    g = f.copy()
    g.bth[9:12] = before.bth[9:12]
    return g.right_icrc()


def _stale_length(f, before):
    g = f.copy()
    g.udp[4:6] = before.udp[4:6]
    if g.v4:
        g.ip[2:4] = before.ip[2:4]
    else:
        g.ip[4:6] = before.ip[4:6]
    return g.right_icrc()


def _words_swapped(f, _):
    g = f.copy()
    words = f.payload + f.pad
    g.payload, g.pad = b"".join(bytes(words[i:i + 4][::-1]) for i in range(0, len(words), 4)), b""
    return g.right_icrc()


def _no_pad(f, _):
    g = f.copy()
    g.pad = b""
    return g.right_icrc()


def _masked(part, at, count, v4=False):
    """These bytes are masked as well."""
    def icrc(f, _):
        g = f.copy()
        if f.v4 or not v4:
            getattr(g, part)[at:at + count] = b"\xff" * count
        return g.right_icrc()
    return icrc


def _masked_lengths(f, _):
    g = f.copy()
    g.udp[4:6] = b"\xff\xff"
    at = 2 if g.v4 else 4
    g.ip[at:at + 2] = b"\xff\xff"
    return g.right_icrc()


def _sent(f):
    """IP, UDP and transport as they are sent, but for the UDP checksum, which is not known yet."""
    return bytearray(f.ip + f.udp[:6] + b"\0\0" + f.transport())


def _late_mask(bus):
    def icrc(f, _):
        covered = _sent(f)
        fields = {1: 255, 8: 255, 10: 255, 11: 255} if f.v4 else {0: 15, 1: 255, 2: 255, 3: 255, 7: 255}
        fields |= {len(f.ip) + at: 255 for at in (6, 7, 8 + 4)}
        for at, bits in fields.items():
            if at + bus < len(covered):
                covered[at + bus] |= bits
        return le(zlib.crc32(b"\xff" * 8 + covered))
    return icrc


def _short_byte(f, _):
    covered = b"".join(f.masked())
    return le(zlib.crc32(covered[:-1] if f.payload + f.pad else covered))


def _not_reset(ones):
    def icrc(f, before):
        start = struct.unpack("<I", f.made_before)[0] if f.made_before else 0
        return le(zlib.crc32(b"".join(f.masked()[0 if ones else 1:]), start))
    return icrc


def _unmasked(what):
    return lambda f, _: le(zlib.crc32(b"".join(f.masked({what}))))


# (frame, the QP's previous frame) -> the ICRC
ICRC_MISTAKES = {
    "zero": lambda f, _: bytes(4),
    "swapped": lambda f, _: f.right_icrc()[::-1],
    "not-complemented": lambda f, _: bytes(b ^ 0xff for b in f.right_icrc()),
    "no-ones": lambda f, _: le(zlib.crc32(b"".join(f.masked()[1:]))),
    "unmasked-tos": _unmasked("tos"),
    "unmasked-ttl": _unmasked("ttl"),
    "unmasked-ip-checksum": _unmasked("ip_checksum"),
    "unmasked-udp-checksum": _unmasked("udp_checksum"),
    "unmasked-resv8a": _unmasked("resv8a"),
    "unmasked-flow-label": _unmasked("flow_label"),
    "with-ethernet": lambda f, _: le(zlib.crc32(b"\xff" * 8 + f.eth + b"".join(f.masked()[1:]))),
    "without-ip": lambda f, _: le(zlib.crc32(b"\xff" * 8 + b"".join(f.masked()[2:]))),
    "msb-first": lambda f, _: struct.pack(">I", ~crc32_msb_first(b"".join(f.masked())) & 0xffffffff),
    "crc32c": lambda f, _: le(~crc32_bitwise(b"".join(f.masked()), 0x82f63b78)),
    "previous-header": lambda f, before: _headers_of(before, f).right_icrc(),
    "stale-psn": _stale_psn,
    "stale-length": _stale_length,
    "no-pad": _no_pad,
    "short-lengths": lambda f, _: f.copy().set_lengths(icrc=0).right_icrc(),
    "words-swapped": _words_swapped,
    "not-reset": _not_reset(True),
    "not-reset-bare": _not_reset(False),
    "ones-behind": lambda f, _: le(zlib.crc32(b"".join(f.masked()[1:]) + b"\xff" * 8)),
    "ethernet-fcs": lambda f, _: le(zlib.crc32(f.eth + _sent(f))),
    "masked-ip-id": _masked("ip", 4, 2, v4=True),
    "masked-ip-flags": _masked("ip", 6, 2, v4=True),
    "masked-lengths": _masked_lengths,
    "masked-source-port": _masked("udp", 0, 2),
    "masked-opcode": _masked("bth", 0, 1),
    "masked-dqpn": _masked("bth", 5, 3),
    "masked-ackreq": _masked("bth", 8, 1),
    "masked-psn": _masked("bth", 9, 3),
    "late-mask-8": _late_mask(8),
    "late-mask-16": _late_mask(16),
    "late-mask-32": _late_mask(32),
    "late-mask-64": _late_mask(64),
    "short-byte": _short_byte,
    "extra-byte": lambda f, _: le(zlib.crc32(b"".join(f.masked()) + b"\0")),
}


# ---- faults, as userspace/traffic/send/fault.def describes them ----

class Fault:
    """One mistake. Each function gets its arguments by name. Without a function, that part does not change."""

    def __init__(self, counts="packets", psn=None, lasting=None, field=None, touch=None, icrc=None, after=None, gone=False,
                 value=None, needs=None):
        self.counts = counts      # what at and every count: packets, or messages by the packet that is hit
        self.psn = psn            # (p, first PSN, value, plan) -> the PSN of this packet only
        self.lasting = lasting    # (value) -> the increase of this packet's PSN, and of all later ones of its QP
        self.field = field        # (p, value, plan) -> changed fields
        self.touch = touch        # (frame, p, value): changes bytes before the ICRC is computed
        self.icrc = icrc          # (frame, the QP's previous frame, or this one, value) -> ICRC
        self.after = after        # (frame): changes bytes after the ICRC is computed
        self.gone = gone          # the packet is not made, and takes no PSN
        self.value = value        # default, or None
        self.needs = needs or {}  # required values of the plan, such as the IP version

    def concerns(self, p):
        """The number of this packet for at and every; 0: it does not count."""
        if self.counts == "packets":
            return p.number
        place = {"begin": p.first, "end": p.last, "first": p.first and not p.last, "last": p.last and not p.first,
                 "middle": not p.first and not p.last and p.middle == 1}[self.counts]
        return (p.message + 1) * place


def apply(plan, fault, hit, value=None, memory=None):
    """(packet, frame or None if it is not made, whether it was hit) of each packet of the plan; hit(number, p)."""
    value = fault.value if value is None else value
    memory = memory or pattern(plan)
    shift, before, out, made_before = {}, {}, [], b""
    for p in packets(plan):
        first = (plan.qp[p.qp] if plan.qp else {}).get("psn", plan.first_psn)
        number = fault.concerns(p)
        hits = bool(number and hit(number, p))
        p = dataclasses.replace(p, psn=(p.psn + shift.get(p.qp, 0)) % 2**24)
        clean = frame(plan, p, memory)
        if hits and fault.gone:
            shift[p.qp] = shift.get(p.qp, 0) - 1
            out.append((p, None, True))
            continue
        if hits and fault.lasting:
            now, later = fault.lasting(value)
            p.psn = (p.psn + now) % 2**24
            shift[p.qp] = shift.get(p.qp, 0) + later
        if hits and fault.psn:
            p.psn = fault.psn(p, first, value, plan) % 2**24
        if hits and fault.field:
            p = dataclasses.replace(p, **fault.field(p, value, plan))
        f = frame(plan, p, memory)
        f.made_before = made_before
        if hits:
            if fault.touch:
                fault.touch(f, p, value)
            f.seal(plan.udp_checksum, icrc=fault.icrc(f, before.get(p.qp, f), value) if fault.icrc else None)
            if fault.after:
                fault.after(f)
        before[p.qp] = clean
        made_before = f.icrc
        out.append((p, f, hits))
    return out


def _set(part, at, data):
    def touch(f, p, value):
        data_ = data(getattr(f, part), value)
        getattr(f, part)[at:at + len(data_)] = data_
    return touch


def _df_unset(f, p, value):
    f.ip[6] = 0
    f.set_ip_checksum()


def _udp_length(f, p, value):
    f.udp[4:6] = struct.pack("!H", struct.unpack_from("!H", f.udp, 4)[0] - 4)


def _pad_count(f, p, value):
    """One more than the right pad count; 0 instead of four."""
    f.pad = bytes((len(f.pad) + 1) % 4)
    f.bth[1] = f.bth[1] & ~0x30 | len(f.pad) << 4
    f.set_lengths()


def _dma_pad(f, p, value):
    f.bth[1] = f.bth[1] & ~0x30 | (f.bth[1] + 0x10) & 0x30


def _extension(change):
    def touch(f, p, value):
        f.ext = bytearray(change(f, p))
        f.set_lengths()
    return touch


def _absent(f, before, value):
    f.set_lengths(icrc=0)
    return b""


def _bad_ip_checksum(f):
    f.ip[10] ^= 1


FAULTS = {
    "psn-constant": Fault(psn=lambda p, first, value, plan: first if value is None else value),
    "psn-plus-2": Fault(lasting=lambda value: (0, 1)),
    "psn-per-message": Fault(psn=lambda p, first, value, plan: first + p.message),
    "psn-swapped": Fault(psn=lambda p, first, value, plan: int.from_bytes(p.psn.to_bytes(3, "big"), "little")),
    "psn-wrap-16": Fault(psn=lambda p, first, value, plan: p.psn % 65536),
    "psn-start": Fault(psn=lambda p, first, value, plan: p.psn + value, value=1000),
    "psn-other-side": Fault(psn=lambda p, first, value, plan: plan.other_psn + p.number - 1),
    "psn-set": Fault(psn=lambda p, first, value, plan: value, value=0),
    "psn-skip": Fault(lasting=lambda value: (value, value), value=1),
    **{"icrc-" + name: Fault(icrc=lambda f, before, value, way=way: way(f, before),
                             needs={"unmasked-ip-checksum": {"v": 4}, "unmasked-flow-label": {"v": 6}, "masked-ip-id": {"v": 4},
                                    "masked-ip-flags": {"v": 4}}.get(name))
       for name, way in ICRC_MISTAKES.items()},
    "icrc-constant": Fault(icrc=lambda f, before, value: struct.pack(">I", value), value=0xdeadbeef),
    "icrc-absent": Fault(icrc=_absent),
    "ip-checksum": Fault(after=_bad_ip_checksum, needs={"v": 4}),
    "df-unset": Fault(touch=_df_unset, needs={"v": 4}),
    "udp-length": Fault(touch=_udp_length),
    "udp-checksum": Fault(after="wrong UDP checksum"),
    "tver": Fault(touch=_set("bth", 1, lambda b, v: bytes([b[1] & 0xf0 | v])), value=1),
    "pkey-invalid": Fault(touch=_set("bth", 2, lambda b, v: struct.pack("!H", v)), value=0),
    "reserved-bits": Fault(touch=_set("bth", 8, lambda b, v: bytes([b[8] & 0x80 | v])), value=1),
    "qpn-management": Fault(field=lambda p, value, plan: {"dqpn": value}, value=0),
    "service-mixed": Fault(field=lambda p, value, plan: {"opcode": p.opcode ^ 0x20}),
    "pad-count": Fault(touch=_pad_count),
    "payload-not-path-mtu": Fault("first", field=lambda p, value, plan: {"size": plan.mtu + 8, "dma": p.dma + 8}),
    "payload-mixed": Fault("first", field=lambda p, value, plan: {"size": 512, "dma": p.dma + 512 - plan.mtu}),
    "payload-beyond-mtu": Fault("end", field=lambda p, value, plan: {"size": (4096 if p.first else plan.mtu) + 32,
                                                                     "dma": 4096 + 32}),
    "middle-size": Fault("middle", field=lambda p, value, plan: {"size": value or plan.mtu - 8}),
    "dma-length": Fault("begin", field=lambda p, value, plan: {"dma": p.dma + value}, value=64),
    "dma-reth": Fault("begin", field=lambda p, value, plan: {"dma": p.dma + 16}),
    "dma-immdt": Fault("begin", field=lambda p, value, plan: {"dma": p.dma + 4}),
    "dma-pad": Fault("end", touch=_dma_pad),
    "missing-first": Fault("first", gone=True),
    "missing-last": Fault("last", gone=True),
    "missing-reth": Fault("begin", touch=_extension(lambda f, p: f.ext[16:])),
    "extra-reth": Fault("end", touch=_extension(lambda f, p: struct.pack("!QII", p.va, p.rkey, p.dma) + f.ext)),
    "missing-imm": Fault("end", touch=_extension(lambda f, p: f.ext[:-4])),
    "extra-imm": Fault("end", touch=_extension(lambda f, p: f.ext + struct.pack("!I", p.immediate))),
}


# ---- readers ----

TSHARK_FIELDS = {
    "opcode": "infiniband.bth.opcode", "dqpn": "infiniband.bth.destqp", "psn": "infiniband.bth.psn",
    "pad": "infiniband.bth.padcnt", "ackreq": "infiniband.bth.a", "va": "infiniband.reth.va", "rkey": "infiniband.reth.r_key",
    "dma": "infiniband.reth.dmalen", "immediate": "infiniband.immdt", "ip_checksum": "ip.checksum.status",
    "udp_checksum": "udp.checksum.status", "ttl": "ip.ttl", "hops": "ipv6.hlim", "dscp": "ip.dsfield.dscp",
    "traffic_class": "ipv6.tclass", "vlan": "vlan.id", "pcp": "vlan.priority", "sport": "udp.srcport",
    "icrc": "infiniband.invariant.crc", "malformed": "_ws.malformed", "expert": "_ws.expert.message",
}


def tshark(path):
    """Wireshark's fields of each frame: [{field: text}]. An absent field is empty, a flag is 0 or 1."""
    command = ["tshark", "-n", "-r", path, "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
               "--disable-protocol", "rpcordma", "-T", "fields", "-E", "occurrence=f"]
    for field in TSHARK_FIELDS.values():
        command += ["-e", field]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    flags = {"False": "0", "True": "1"}  # the values of Wireshark 4.2 and newer
    return [dict(zip(TSHARK_FIELDS, (flags.get(text, text) for text in line.split("\t")))) for line in ran.stdout.splitlines()]
