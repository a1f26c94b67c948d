# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What a responder does with frames, by the rules of the InfiniBand specification (9.7.4 and 9.7.5 for RC, 9.8.2 for UC) and of
docs/receive.md. It shares no code with roce/responder/responder.h, and is written for reading, not for speed.

    r = Receiver(own="10.9.0.2", first_qpn=0x100, memory=2 << 20, block=4096)
    r.regions.append(Region(rkey=7, va=0x1000, at=0, size=4096, index=0))
    r.qps[0] = Qp(peer="10.9.0.1", peer_qpn=9, mtu=1024, psn=0, service="RC")
    r.frame(data)       -> (action, refusal or "-", answer or b"")
    r.memory, r.records, r.qps[0].msn, ...
"""
import dataclasses
import socket
import struct

from . import oracle, roce_frames as rf

IMMEDIATE, SEND, INCOMPLETE, HEADLESS, LATE = 1, 2, 4, 8, 16    # flags of a record
ACK, RNR, NAK_SEQUENCE, NAK_INVALID, NAK_ACCESS = 0x1f, 0x20, 0x60, 0x61, 0x62
UNTOUCHED = 0xa5
LONGEST_MESSAGE = 1 << 31
LONGEST_FRAME = 9280    # whose ICRC is computed
NOWHERE = -1
PSNS = 1 << 24


@dataclasses.dataclass
class Region:
    rkey: int
    va: int
    at: int
    size: int
    index: int


@dataclasses.dataclass
class Message:
    """The message that a QP is in, or that has ended."""
    send: bool
    first: int
    last: int
    at: int = NOWHERE
    length: int = 0     # of a SEND: of its buffer
    placed: int = 0
    region: int = 0
    late: bool = False
    headless: bool = False
    broken: bool = False

    def packets(self, mtu):
        """None: not known. A message without bytes is a packet, too."""
        return None if self.send or self.headless or not self.length else -(-self.length // mtu)

    def has(self, psn, mtu, whole):
        """Whether that PSN is one of its own, once it has ended."""
        known = self.packets(mtu) or ahead(self.last, self.first) + (1 if whole or self.headless else 2)
        return 0 <= ahead(psn, self.first) < known


@dataclasses.dataclass
class Qp:
    peer: str = None
    peer_qpn: int = 0
    mtu: int = 1024
    psn: int = 0        # expected
    service: str = "RC"
    pkey: int = 0xffff
    receive_at: int = 0
    receive_bytes: int = 0
    receive_slots: int = 0
    rnr_timer: int = 0
    endless: bool = False
    posted: int = 0
    notified: bool = False
    # its state
    error: bool = False
    asked: bool = False
    message: Message = None
    previous: Message = None    # that has ended
    previous_whole: bool = False
    told: int = 0       # so many PSNs before the first one of this message, or of the previous one, are of messages that have ended
    msn: int = 0
    receives: int = 0
    packets: int = 0
    size: int = 0
    messages: int = 0
    incomplete: int = 0
    refused: int = 0


class Refused(Exception):
    """(reason)"""


def ahead(a, b):
    """How far PSN a is ahead of b, -2^23 to 2^23 - 1."""
    return (a - b + PSNS // 2) % PSNS - PSNS // 2


def same_partition(a, b):
    """IBTA 10.9.3: the same key, of which one is a full member's."""
    return a & 0x7fff == b & 0x7fff and bool((a | b) & 0x8000)


class Packet:
    """A request, as the oracle of captures has parsed it."""

    def __init__(self, frame, p):
        bth = p["l4"] + 8
        self.frame, self.p = frame, p
        self.opcode, self.psn, self.size, self.pad = p["opcode"], p["psn"], p["payload"], p["pad"]
        self.tver, self.ackreq = frame[bth + 1] & 15, bool(frame[bth + 8] & 0x80)
        low = self.opcode & 31
        self.understood = self.opcode >> 5 in (0, 1) and low <= 11
        self.send = low < 6
        self.begins = low in (0, 4, 5, 6, 10, 11)
        self.ends = low in (2, 3, 4, 5, 8, 9, 10, 11)
        self.has_immediate = self.understood and low in (3, 5, 9, 11)
        end = p["end"] - 4 - self.pad
        self.payload = frame[end - self.size:end]
        _, _, reth, immediate = p["what"] or (None,) * 4    # cut: its ICRC, which ends there, is wrong anyway
        self.va, self.rkey, self.dma = struct.unpack("!QII", reth) if reth else (0, 0, 0)
        self.immediate = struct.unpack("!I", immediate)[0] if immediate else 0
        ip = frame[p["l3"]:]
        self.v4 = ip[0] >> 4 == 4
        self.tos = ip[1] if self.v4 else struct.unpack_from("!H", ip)[0] >> 4 & 0xff


class Receiver:
    def __init__(self, own, first_qpn, memory, block, each=True, notify=False, listening=False):
        self.own, self.first_qpn, self.block, self.each, self.notify = own, first_qpn, block, each, notify
        self.listening = listening      # a socket has RoCE's port
        self.memory = bytearray([UNTOUCHED]) * memory
        self.generations = [0] * (memory // block)
        self.regions, self.qps, self.records = [], {}, []
        self.passed = 0
        self.refusals, self.answers = {}, {}

    # ---- one frame ----

    def frame(self, data):
        kind, p = oracle.classify(data)
        if kind != "roce" or p["dst"] != self.own:
            return "pass", "-", b""
        if p["dqpn"] - self.first_qpn not in self.qps:
            if self.listening:
                self.passed += 1
                return "pass", "-", b""
            return self._count("qpn")
        index = p["dqpn"] - self.first_qpn
        q, packet = self.qps[index], Packet(data, p)
        answer, reason = b"", "-"
        try:
            answer = self._take(index, q, packet)
            q.packets += 1
            q.size += packet.size
            if not answer and self.notify and packet.tos & 3 == 3 and not q.notified:
                answer = self._compose(q, packet, None, None)
        except Refused as refused:
            reason, syndrome, psn = (*refused.args, None, None)[:3]
            q.refused += 1
            if syndrome is not None:
                answer = self._compose(q, packet, syndrome, psn)
            self._count(reason)
        return "tx" if answer else "drop", reason, answer

    def _count(self, reason):
        self.refusals[reason] = self.refusals.get(reason, 0) + 1
        return "drop", reason, b""

    def _take(self, index, q, packet):
        """Returns the answer, or raises Refused(reason[, syndrome, PSN])."""
        if len(packet.frame) > LONGEST_FRAME or not oracle.icrc_ok(packet.frame, packet.p):
            raise Refused("icrc")
        if q.peer is None:
            raise Refused("not_ready")
        if packet.p["src"] != q.peer:
            raise Refused("source")
        if packet.tver:
            raise Refused("tver")
        if not same_partition(packet.p["pkey"], q.pkey):
            raise Refused("pkey")
        if packet.p["response"]:
            raise Refused("response")
        if packet.p["service"] != q.service:
            raise Refused("service")
        if q.error:
            raise Refused("error")
        if q.service == "RC":
            return self._take_rc(index, q, packet)
        self._take_uc(index, q, packet)
        return b""

    # ---- RC ----

    def _take_rc(self, index, q, packet):
        distance = ahead(packet.psn, q.psn)
        if distance < 0:
            if not packet.understood:
                raise Refused("duplicate")
            raise Refused("duplicate", ACK, (q.psn - 1) % PSNS)
        if distance > 0:
            if q.asked:
                raise Refused("ahead")
            q.asked = True
            raise Refused("ahead", NAK_SEQUENCE, q.psn)
        try:
            message = self._check(q, packet)
        except Refused as refused:
            reason, = refused.args
            if reason == "no_receive":
                q.asked = True
                raise Refused(reason, RNR | q.rnr_timer, packet.psn) from None
            self._give_up(index, q)
            q.error = True
            raise Refused(reason, NAK_ACCESS if reason in ("rkey", "bounds") else NAK_INVALID, packet.psn) from None
        self._place(index, q, packet, message)
        q.asked = False
        return self._compose(q, packet, ACK, packet.psn) if packet.ackreq else b""

    # ---- UC ----

    def _take_uc(self, index, q, packet):
        if not packet.understood:
            raise Refused("operation")
        late = ahead(packet.psn, q.psn) < 0
        if not packet.begins:
            reason = self._stray(q, packet)
            if reason:
                if not self._is_told(q, packet):
                    self._drop(index, q, packet, late)
                elif q.message:
                    q.message.broken = True
                elif reason == "rest" and ahead(packet.psn, q.previous.last) == 1:
                    q.previous.last = packet.psn
                raise Refused(reason)
        try:
            message = self._check(q, packet)
            message.late |= packet.begins and late
        except Refused:
            self._drop(index, q, packet, late)
            raise
        if packet.begins:       # and not before: one that is refused ends nothing
            self._give_up(index, q)
        try:
            self._place(index, q, packet, message)
        except Refused:
            self._drop(index, q, packet, late)
            raise

    def _stray(self, q, packet):
        """Why a Middle or Last does not go on with the message that is open."""
        if q.message and q.message.broken:
            return "rest"
        if not q.message and q.previous and not q.previous_whole and not q.previous.headless and self._is_told(q, packet) and \
                ahead(packet.psn, q.previous.first) >= 0:
            return "rest"
        if packet.psn != q.psn:
            return "gap"
        return None if q.message else "order"

    def _is_told(self, q, packet):
        """Whether the packet is one of a message that has ended, so that its end was recorded."""
        psn = packet.psn
        message = q.message or q.previous
        if not message:
            return False
        if ahead(psn, message.first) < 0:
            return ahead(message.first, psn) <= q.told
        return not q.message and message.send == packet.send and message.has(psn, q.mtu, q.previous_whole)

    def _give_up(self, index, q):
        if q.message:
            self._end(index, q, q.message, None, INCOMPLETE, False)

    def _begin(self, q, message):
        before = ahead(message.first, q.previous.first) if q.previous else 0
        if before > 0 and (not q.previous_whole or q.previous.has((message.first - 1) % PSNS, q.mtu, True)):
            q.told = min(65535, before + q.told)
        else:
            q.told = 0
        q.message = message

    def _drop(self, index, q, packet, late):
        """The packet is not taken, so its message is broken. Which one that is, PSN and length of the open one say."""
        mine = Message(packet.send, packet.psn, packet.psn, late=late, headless=True, broken=True)
        if q.message:
            offset, packets = ahead(packet.psn, q.message.first), q.message.packets(q.mtu)
            if packet.begins:
                awaited = packets and 0 <= offset < packets and not late
                beside = packet.ends or awaited
            else:
                beside = offset < 0     # of an earlier one
            if beside:
                q.message.broken |= not packet.begins
                if packet.ends or packet.begins:
                    self._end(index, q, mine, packet, INCOMPLETE, True)
                return
            if packet.begins or packets and offset >= packets:      # of a later one
                self._give_up(index, q)
        if not q.message:
            self._begin(q, mine)
        q.message.broken = True
        q.message.last = packet.psn
        if packet.ends:
            self._end(index, q, q.message, packet, INCOMPLETE, True)

    # ---- both ----

    def _check(self, q, packet):
        """The message to which the packet belongs. It is a new one if the packet begins it."""
        if not packet.understood:
            raise Refused("operation")
        message = q.message
        if packet.begins:
            if message and q.service == "RC":
                raise Refused("order")
        elif not message or message.send != packet.send:
            raise Refused("order")
        uses_receive = packet.begins if packet.send else packet.has_immediate
        if uses_receive and not q.endless and q.posted <= q.receives:
            raise Refused("no_receive")
        if packet.begins:
            message = self._new(q, packet)
        left = message.length - message.placed
        full = packet.size == q.mtu
        if message.length > LONGEST_MESSAGE or packet.size > q.mtu or packet.pad != -packet.size % 4:
            raise Refused("length")
        if not packet.ends:     # what follows has a byte at least
            if not full or packet.size > left or packet.size == left and not packet.send:
                raise Refused("length")
        elif not packet.begins and not packet.size:
            raise Refused("length")
        elif packet.size > left or packet.size < left and not packet.send:
            raise Refused("length")
        return message

    def _new(self, q, packet):
        message = Message(packet.send, packet.psn, packet.psn)
        if packet.send:
            if q.receive_slots:
                message.at = q.receive_at + q.receives % q.receive_slots * q.receive_bytes
                message.length = q.receive_bytes
            return message
        message.length = packet.dma
        if not packet.dma:
            return message
        found = [region for region in self.regions if region.rkey == packet.rkey]
        if not found:
            raise Refused("rkey")
        region, = found
        if not region.va <= packet.va <= packet.va + packet.dma <= region.va + region.size:
            raise Refused("bounds")
        message.at, message.region = region.at + packet.va - region.va, region.index
        return message

    def _place(self, index, q, packet, message):
        if packet.size:
            at = message.at + message.placed
            if at + packet.size > len(self.memory):     # the region reaches beyond it
                raise Refused("copy")
            self.memory[at:at + packet.size] = packet.payload
            for block in {at // self.block, (at + packet.size - 1) // self.block}:
                self.generations[block] += 1
        message.placed += packet.size
        message.last = packet.psn
        q.psn = (packet.psn + 1) % PSNS
        if packet.begins:
            self._begin(q, message)
        if packet.ends:
            q.msn = (q.msn + 1) % PSNS
            self._end(index, q, message, packet, 0, True)

    def _end(self, index, q, message, packet, flags, its_own):
        """its_own: the packet is the message's last one."""
        flags |= SEND * message.send | LATE * message.late | HEADLESS * message.headless
        flags |= IMMEDIATE * (its_own and packet.has_immediate)
        whole = not flags & INCOMPLETE
        if message is q.message:
            q.previous, q.previous_whole, q.message = message, whole, None
        q.messages += whole
        q.incomplete += not whole
        if self.each or flags & (SEND | IMMEDIATE | INCOMPLETE):
            self.records.append((index, flags, message.at, q.receives,
                                 (message.placed if whole else 0) if message.send else message.length, message.placed,
                                 message.first, message.last, packet.immediate if its_own else 0, message.region,
                                 self.generations[message.at // self.block] if message.at != NOWHERE else 0))
        if whole and flags & (SEND | IMMEDIATE):
            q.receives += 1

    def _compose(self, q, packet, syndrome, psn):
        """An ACK or NAK, or without a syndrome a congestion notification (annex A17.9.3)."""
        if syndrome is None:
            transport = struct.pack("!BBHIIQQ", rf.CNP, 0x40, q.pkey, 0x40 << 24 | q.peer_qpn, 0, 0, 0)
            kind = "cnp"
        else:
            transport = struct.pack("!BBHIII", rf.RC_ACK, 0x40, q.pkey, q.peer_qpn, psn, syndrome << 24 | q.msn)
            kind = {ACK: "ack", NAK_SEQUENCE: "sequence", NAK_INVALID: "invalid", NAK_ACCESS: "access"}.get(syndrome, "rnr")
        self.answers[kind] = self.answers.get(kind, 0) + 1
        frame, p = packet.frame, packet.p
        ethernet = frame[6:12] + frame[0:6] + frame[12:p["l3"]]
        udp = struct.pack("!HHHH", p["sport"], 4791, 8 + len(transport) + 4, 0)
        length, traffic_class = len(udp) + len(transport) + 4, packet.tos & 0xfc
        if packet.v4:
            ip = rf.ipv4(self.own, q.peer, length, tos=traffic_class)
        else:
            ip = struct.pack("!IHBB", 6 << 28 | traffic_class << 20, length, 17, 64) + \
                socket.inet_pton(socket.AF_INET6, self.own) + socket.inet_pton(socket.AF_INET6, q.peer)
        return ethernet + ip + udp + transport + rf.icrc(ip, udp, transport)
