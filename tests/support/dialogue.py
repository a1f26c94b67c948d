# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Dialogues of RC by the rules of the specification (IBTA 9.7), with one planted mistake or none, and what an observer between the
ends sees of them:

    d = draw(dice)                  of honest ends; d.fault says what the path does to their packets, d.allowed what may be said of it
    d = draw(dice, MISTAKES[n])     of ends of which one makes this mistake
    d.write(path), d.expect, d.receiver     a capture, a line of --expect, and of --receiver (None: none)

Nothing here is taken from the project's own requester and responder. The table MISTAKES is at the end.
"""
import collections
import dataclasses
import heapq
import json
import random
import socket

from . import roce_frames as rf
from .pcap_file import START, write_pcap

PSNS = 1 << 24
SEND, WRITE = (0x00, 0x01, 0x02, 0x04), (0x06, 0x07, 0x08, 0x0a)     # First, Middle, Last, Only
SEND_IMM, WRITE_IMM = (0x00, 0x01, 0x03, 0x05), (0x06, 0x07, 0x09, 0x0b)
READ_REQUEST, RESPONSE = 0x0c, (0x0d, 0x0e, 0x0f, 0x10)
ACK, RNR, NAK_SEQUENCE, NAK_INVALID, NAK_ACCESS = 0x1f, 0x20, 0x60, 0x61, 0x62
HAS_RETH, HAS_IMM, HAS_AETH = {0x06, 0x0a, 0x0b, READ_REQUEST}, {0x03, 0x05, 0x09, 0x0b}, {rf.RC_ACK, 0x0d, 0x0f, 0x10}
ENDS = {0x02, 0x03, 0x04, 0x05, 0x08, 0x09, 0x0a, 0x0b, READ_REQUEST}
USES_RECEIVE = {0x00, 0x04, 0x05, 0x09, 0x0b}
RNR_US = (655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960)   # 9.7.5.2.8, the first timers
RETRIES = 7
BURST = 18      # bytes that are damaged at a time


def ahead(a, b):
    """How far PSN a is ahead of b, -2^23 to 2^23 - 1."""
    return (a - b + PSNS // 2) % PSNS - PSNS // 2


@dataclasses.dataclass
class Packet:
    opcode: int
    psn: int
    payload: bytes = b""
    reth: tuple = None      # address, rkey, DMA length
    aeth: tuple = None      # syndrome, MSN
    ackreq: bool = False
    first: bool = True      # sent for the first time
    good: bool = True       # its ICRC is right
    to: tuple = None        # address, QPN

    def span(self, mtu):
        """PSNs that it takes."""
        return max(1, -(-self.reth[2] // mtu)) if self.opcode == READ_REQUEST else 1

    def transport(self, qpn):
        pad = -len(self.payload) % 4
        headers = rf.bth(self.opcode, qpn, self.psn, pad, self.ackreq)
        if self.reth:
            headers += rf.reth(*self.reth)
        if self.aeth:
            headers += rf.aeth(*self.aeth)
        if self.opcode in HAS_IMM:
            headers += rf.immediate(0x5eed)     # that does not count
        return headers + self.payload + bytes(pad)


class Clock:
    """Simulated time in ns, and what is to be done then."""

    def __init__(self):
        self.now, self._queue, self._count = 0, [], 0

    def after(self, ns, call, *arguments):
        self._count += 1
        heapq.heappush(self._queue, (self.now + ns, self._count, call, arguments))

    def run(self):
        while self._queue:
            self.now, _, call, arguments = heapq.heappop(self._queue)
            call(*arguments)


@dataclasses.dataclass
class Plan:
    """What is drawn of a dialogue. fault: (what, of which packets, before or behind the observer, one in how many), or None."""
    mtu: int
    kinds: tuple            # of messages
    sizes: tuple            # payload of a message: from, to
    messages: int
    qps: int = 1
    near: int = 5000        # ns from the requester to the observer
    far: int = 5000         # ... and from there to the responder
    gap: int = 1000         # ns from packet to packet
    window: int = 16        # PSNs that are not acknowledged, at most
    ack_every: int = 0      # AckReq in each such packet as well, not only in a message's last one
    fault: tuple = None
    told: str = ""          # how pairs are known: "", "expect", "cm"
    middle: bool = False    # the capture begins in the middle of the connection
    msn: int = 0
    coalesce: int = 0       # ns that an ACK waits for others
    credits: int = ACK      # the syndrome of an ACK
    duplicates: bool = True     # are acknowledged without AckReq as well
    rnr_every: int = 0      # one in so many requests that use a receive finds none
    rnr_timer: int = 1
    zero_at: int = -1       # this message has no bytes
    rkey_wrong: int = 0     # one in so many WRITEs has another rkey than the receiver's
    first_only: bool = False    # the path strikes only requests that are sent for the first time, and damages payload only
    ip: int = 4
    nano: bool = False

    @classmethod
    def draw(cls, dice):
        """Of honest ends."""
        mtu = dice.choice((256, 512, 1024, 2048, 4096))
        kinds = dice.choice((("write",), ("send",), ("read",), ("write", "write-imm"), ("write", "read"), ("write", "send", "read")))
        plan = cls(mtu, kinds, dice.choice(((1, mtu), (1, 6 * mtu), (2 * mtu, 9 * mtu))), dice.randrange(20, 50))
        plan.near, plan.far = dice.randrange(500, 20000), dice.randrange(500, 20000)
        plan.gap = 100 + mtu * dice.choice((8, 1)) // 10
        plan.window = dice.choice((1, 8, 16, 64))
        plan.ack_every = 1 if plan.window == 1 else 4 if plan.window == 8 else dice.choice((0, 0, 1, 4))    # before it is full
        plan.qps = dice.choice((1, 1, 2, 3))
        plan.told = dice.choice(("", "expect", "cm"))
        plan.middle = plan.told != "cm" and dice.random() < 0.4
        plan.msn = dice.choice((dice.randrange(PSNS), PSNS - 10)) if plan.middle else 0
        plan.coalesce = dice.choice((0, 0, 3000, 20000))
        plan.credits = dice.choice((ACK, ACK, dice.randrange(31)))
        plan.duplicates = dice.random() < 0.7
        plan.rnr_timer = dice.randrange(1, len(RNR_US))
        plan.ip = dice.choice((4, 4, 4, 6))
        plan.nano = dice.random() < 0.5
        if dice.random() < 0.2:
            plan.zero_at = dice.randrange(plan.messages)
        if dice.random() < 0.6:
            plan.fault = (dice.choice(("lose", "damage", "double", "late")), dice.choice(("requests", "answers")),
                          dice.choice(("before", "behind")), dice.randrange(12, 40))
        elif dice.random() < 0.2:
            plan.rnr_every = dice.randrange(3, 9)
        return plan


class Path:
    """One direction between the ends. The observer takes what passes it."""

    def __init__(self, d, whose, deliver, before_ns, behind_ns):
        self.d, self.whose, self.deliver = d, whose, deliver
        self.parts = (("before", before_ns, self._observe), ("behind", behind_ns, deliver))
        self.left = d.dice.randrange(3, 12)

    def send(self, packet, frame):
        self._part(0, packet, frame)

    def _observe(self, packet, frame):
        self.d.frames.append((self.d.clock.now, frame))
        if self.whose == "requests" and packet.good:
            self.d.see(packet)
        self._part(1, packet, frame)

    def _part(self, n, packet, frame):
        """Through the path up to the observer, or behind it."""
        name, ns, then = self.parts[n]
        what = self._strikes(name, packet)
        if what == "lose":
            return
        if what == "damage":
            packet, frame = self._damage(packet, frame)
        if what == "late":
            ns += self.d.dice.randrange(2, 6) * self.d.plan.gap + 1
        self.d.clock.after(ns, then, packet, frame)
        if what == "double":
            self.d.clock.after(ns + self.d.dice.randrange(1, 2000), then, packet, frame)

    def _strikes(self, name, packet):
        fault = self.d.plan.fault
        if not fault or fault[1:3] != (self.whose, name):
            return None
        if self.d.plan.first_only and not (packet.first and len(packet.payload) > BURST):
            return None
        self.left -= 1
        if self.left > 0:
            return None
        self.left = self.d.dice.randrange(fault[3] // 2, fault[3] * 3 // 2)
        return fault[0]

    def _damage(self, packet, frame):
        """A burst, from the BTH on, or in the payload."""
        dice, begin = self.d.dice, 42 if self.d.plan.ip == 4 else 62
        if self.d.plan.first_only:
            begin = len(frame) - 4 - -(-len(packet.payload) // 4) * 4
        at = dice.randrange(begin, len(frame) - BURST)
        other = bytes(b ^ dice.randrange(1, 256) for b in frame[at:at + BURST])
        return dataclasses.replace(packet, good=False), frame[:at] + other + frame[at + BURST:]


class Request:
    """A packet of a requester, and how many PSNs it takes. got: packets of its READ response."""

    def __init__(self, number, packet, span=1):
        self.number, self.packet, self.span, self.got, self.sent = number, packet, span, 0, False

    @property
    def end(self):
        return self.number + self.span

    @property
    def is_read(self):
        return self.packet.opcode == READ_REQUEST


class Requester:
    """Its PSNs are counted by `number`, which does not wrap."""

    def __init__(self, d, qp):
        self.d, self.qp, self.plan, self.clock = d, qp, d.plan, d.clock
        self.requests, self.oldest, self.next = [], 0, 0      # oldest: not acknowledged
        self.sending = self.held = self.dead = False
        self.tries = self.timer = 0
        self.asked = None       # the READ, and the packet of its response, for which it went back last
        self.build()
        self.clock.after(d.dice.randrange(1, 5000), self.pump)

    # ---- messages ----

    def build(self):
        dice, plan = self.d.dice, self.plan
        number = self.first_number()
        for m in range(plan.messages):
            size = 0 if m == plan.zero_at else dice.randrange(*(plan.sizes[0], plan.sizes[1] + 1))
            kind = "write" if m == plan.zero_at else dice.choice(plan.kinds)
            for request in self.message(number, kind, size, last=m == plan.messages - 1):
                self.requests.append(request)
                number = request.end

    def first_number(self):
        return self.qp.first

    def message(self, number, kind, size, last):
        dice, mtu = self.d.dice, self.plan.mtu
        count = max(1, -(-size // mtu))
        rkey = self.qp.rkey
        if self.plan.rkey_wrong and dice.randrange(self.plan.rkey_wrong) == 0:
            rkey, self.d.shown = rkey ^ 0x1200, self.d.shown + 1
        reth = (self.qp.va + dice.randrange(4096), rkey, size)
        if kind == "read":
            return [Request(number, Packet(READ_REQUEST, number % PSNS, reth=reth, ackreq=True), count)]
        opcodes = {"send": SEND, "write": WRITE, "send-imm": SEND_IMM, "write-imm": WRITE_IMM}[kind]
        made = []
        for k in range(count):
            place = 3 if count == 1 else 0 if k == 0 else 2 if k == count - 1 else 1
            every = self.plan.ack_every and (k + 1) % self.plan.ack_every == 0
            made.append(Request(number + k, Packet(opcodes[place], (number + k) % PSNS, dice.randbytes(min(mtu, size - k * mtu)),
                                                   self.reth(reth, min(mtu, size)) if opcodes[place] in HAS_RETH else None,
                                                   ackreq=self.ackreq(k == count - 1 or every))))
        return made

    def reth(self, reth, _packet):
        return reth

    def ackreq(self, wanted):
        return wanted

    # ---- sending ----

    def pump(self):
        """Sends the next packet that the window allows."""
        if self.sending or self.held or self.dead or self.next == len(self.requests):
            return
        request = self.requests[self.next]
        if self.next > self.oldest and request.end - self.requests[self.oldest].number > self.plan.window:
            return
        self.sending = True
        self.next += 1
        self.transmit(request)
        self.clock.after(self.plan.gap, self._sent)

    def _sent(self):
        self.sending = False
        self.pump()

    def transmit(self, request):
        packet = request.packet
        if request.is_read and request.got:     # only what is missing
            va, rkey, size = packet.reth
            done = request.got * self.plan.mtu
            packet = dataclasses.replace(packet, psn=(request.number + request.got) % PSNS, reth=(va + done, rkey, size - done))
        if request.sent:
            packet = self.again(dataclasses.replace(packet, first=False))
        request.sent = True
        self.send(packet)
        if not self.timer:
            self._start_timer()

    def send(self, packet):
        self.d.send("requests", self.qp, packet)

    def again(self, packet):
        """What is sent for this packet when it is sent again."""
        return packet

    # ---- timer ----

    def _start_timer(self):
        self.timer += 1
        self.clock.after(self.d.timeout, self._expire, self.timer)

    def _progress(self):
        self.tries = 0
        self.timer += 1
        if self.oldest < len(self.requests):
            self.clock.after(self.d.timeout, self._expire, self.timer)

    def _expire(self, timer):
        if timer != self.timer or self.dead or self.oldest == len(self.requests):
            return
        self.tries += 1
        self.dead = self.tries > RETRIES
        if not self.dead:
            self._start_timer()
            self.go_back(self.oldest)

    def go_back(self, index):
        self.next = index
        self.pump()

    # ---- answers ----

    def _index(self, psn):
        """The request with that PSN, of those that were sent and are not acknowledged; len(requests): behind all; None: none."""
        number = self.requests[-1].number if self.oldest == len(self.requests) else self.requests[self.oldest].number
        number += ahead(psn, number % PSNS)
        for i in range(self.oldest, len(self.requests)):
            r = self.requests[i]
            if r.number <= number < r.end and r.sent:
                return i
        return None

    def acknowledged(self, count):
        """The first `count` requests are answered, unless a READ's response is missing."""
        before = self.oldest
        while self.oldest < count and (not self.requests[self.oldest].is_read or
                                       self.requests[self.oldest].got == self.requests[self.oldest].span):
            self.oldest += 1
        self.next = max(self.next, self.oldest)
        if self.oldest > before:
            self._progress()
        if self.oldest < count:
            self._ask_again()

    def _ask_again(self):
        """A READ response is missing. It is asked for once; then the timer does it."""
        missing = (self.oldest, self.requests[self.oldest].got)
        if self.asked != missing:
            self.asked = missing
            self.go_back(self.oldest)

    def take(self, packet, to):
        if self.dead or not packet.good or to != (self.d.a, self.qp.requester):
            return
        if packet.opcode != rf.RC_ACK:
            self.take_response(packet)
            return
        kind, index = packet.aeth[0] >> 5, self._index(packet.psn)
        if kind == 0:
            if index is not None:
                self.acknowledged(index + 1)
        elif packet.aeth[0] in (NAK_INVALID, NAK_ACCESS):
            self.dead = True
        elif index is not None:
            self.acknowledged(index)
            if self.oldest == index:
                (self.take_rnr if kind == 1 else self.take_nak)(index, packet)
        self.pump()

    def take_nak(self, index, _packet):
        self._progress()
        self.go_back(index)

    def take_rnr(self, index, packet):
        self.timer += 1     # does not run meanwhile
        self.held = True
        self.clock.after(self.rnr_wait(RNR_US[packet.aeth[0] & 31] * 1000), self._waited, index)

    def rnr_wait(self, ns):
        return ns + self.d.dice.randrange(2000, 20000)

    def _waited(self, index):
        self.held = False
        self._progress()
        self.go_back(max(index, self.oldest))

    def take_response(self, packet):
        index = self._index(packet.psn)
        if index is None or not self.requests[index].is_read:
            return
        self.acknowledged(index)
        request = self.requests[index]
        wanted = (request.number + request.got) % PSNS
        if index != self.oldest or ahead(packet.psn, wanted) < 0:
            return
        if packet.psn != wanted:
            self._ask_again()
            return
        whole = min(self.plan.mtu, request.packet.reth[2] - request.got * self.plan.mtu)
        is_last = request.got + 1 == request.span
        if len(packet.payload) != whole or (packet.opcode in RESPONSE[2:]) != is_last or bool(packet.aeth) != (packet.opcode in HAS_AETH):
            return
        request.got += 1
        self._progress()
        if request.got == request.span:
            self.acknowledged(index + 1)
        self.pump()


class Responder:
    def __init__(self, d, qp):
        self.d, self.qp, self.plan, self.clock = d, qp, d.plan, d.clock
        self.psn, self.msn = qp.first % PSNS, self.first_msn()
        self.naked = self.error = False
        self.pending = self.free = 0    # pending: an ACK waits
        self.refused = collections.Counter()
        self.messages = 0

    # ---- answers ----

    def out(self, packet):
        """One after the other, as fast as the requester sends."""
        if not self.is_silent():
            self.free = max(self.clock.now + 1, self.free + self.plan.gap)
            self.clock.after(self.free - self.clock.now, self.send, packet)

    def send(self, packet):
        self.d.send("answers", self.qp, packet)

    def answer(self, syndrome, psn):
        self.out(Packet(rf.RC_ACK, psn % PSNS, aeth=(syndrome, self.shown_msn())))

    def acknowledge(self):
        """At once, or with those that follow."""
        if not self.plan.coalesce:
            self.answer(self.plan.credits, self.ack_psn())
            return
        if not self.pending:
            self.clock.after(self.plan.coalesce, self._flush)
        self.pending = True

    def _flush(self):
        if self.pending:
            self.pending = False
            self.answer(self.plan.credits, self.ack_psn())

    def is_silent(self):
        return False

    def first_msn(self):
        return self.plan.msn

    def shown_msn(self):
        return self.msn

    def ack_psn(self):
        return self.psn - 1

    # ---- requests ----

    def take(self, packet, _to):
        if not (packet.good or self.takes_damaged()) or self.error:
            return
        distance = ahead(packet.psn, self.psn)
        if distance > 0:
            self.take_ahead(packet)
        elif distance < 0:
            self.take_duplicate(packet)
        elif not self.is_ready(packet):
            self._flush()
            self.naked = True   # what follows is dropped
            self.answer(RNR | self.plan.rnr_timer, packet.psn)
        elif packet.reth and packet.reth[1] != self.qp.rkey and packet.reth[2] and self.checks_rkey():
            self._flush()
            self.error = True
            self.answer(NAK_ACCESS, packet.psn)
        else:
            self.naked = False
            self.execute(packet)

    def takes_damaged(self):
        return False

    def checks_rkey(self):
        return True

    def is_ready(self, packet):
        """Whether a receive is there, if the request uses one."""
        if not self.plan.rnr_every or packet.opcode not in USES_RECEIVE or self.refused[packet.psn]:
            return True
        self.refused[packet.psn] = self.d.dice.randrange(self.plan.rnr_every) == 0
        return not self.refused[packet.psn]

    def take_ahead(self, packet):
        if not self.naked:
            self.nak(packet)

    def nak(self, _packet):
        self._flush()
        self.naked = True
        self.answer(NAK_SEQUENCE, self.psn)

    def take_duplicate(self, packet):
        if packet.opcode == READ_REQUEST:
            self.respond(packet)
        elif packet.ackreq or self.plan.duplicates:
            self.acknowledge()

    def execute(self, packet):
        if packet.opcode == READ_REQUEST:
            self._flush()       # an ACK behind it would acknowledge its response, too
        self.psn = (self.psn + packet.span(self.plan.mtu)) % PSNS
        if packet.opcode in ENDS:
            self.msn = (self.msn + 1) % PSNS
            self.messages += 1
        if packet.opcode == READ_REQUEST:
            self.respond(packet)
        elif packet.ackreq:
            self.acknowledge()

    def respond(self, packet):
        size, mtu = packet.reth[2], self.plan.mtu
        count = max(1, -(-size // mtu))
        data = [random.Random(f"{packet.psn + k}").randbytes(min(mtu, size - k * mtu)) for k in range(count)]
        for response in self.responses(packet, data):
            self.out(response)

    def responses(self, packet, data):
        made = []
        for k, payload in enumerate(data):
            opcode = RESPONSE[3 if len(data) == 1 else 0 if k == 0 else 2 if k == len(data) - 1 else 1]
            made.append(Packet(opcode, (packet.psn + k) % PSNS, payload,
                               aeth=(self.plan.credits, self.shown_msn()) if opcode in HAS_AETH else None))
        return made


@dataclasses.dataclass
class Pair:
    """A QP of each end."""
    requester: int      # QPN
    responder: int
    first: int          # PSN with which requests begin
    other: int
    rkey: int
    va: int
    ports: tuple


class Dialogue:
    def __init__(self, dice, plan, requester=Requester, responder=Responder, clock=None):
        """With a clock, who made it runs it."""
        self.dice, self.plan, self.clock = dice, plan, clock or Clock()
        self.frames, self.shown = [], 0     # shown: how often the mistake was made
        self.missing, self._newest = 0, {}      # PSNs of requests that are skipped here
        self.a, self.b = self.addresses()
        self.timeout = 4 * (plan.near + plan.far) + 50 * plan.gap * (20 + min(plan.window, 100)) + 2 * plan.coalesce
        self._identification = [dice.choice((None, dice.randrange(1 << 16))) for _ in range(2)]
        self.pairs = [self.pair(q) for q in range(plan.qps)]
        self._begun = {p.responder: p.first % PSNS for p in self.pairs if plan.told and not plan.middle}    # known first PSNs
        self.paths = {"requests": Path(self, "requests", self.arrive, plan.near, plan.far),
                      "answers": Path(self, "answers", self.arrive, plan.far, plan.near)}
        self._connect()
        self._ends = {}
        for qp in self.pairs:
            self._ends["answers", qp.requester] = requester(self, qp)
            self._ends["requests", qp.responder] = responder(self, qp)
        if not clock:
            self.clock.run()

    def addresses(self):
        """Of requester and responder."""
        host = self.dice.randrange(1, 200)
        return (f"10.9.0.{host}", f"10.9.0.{host + 1}") if self.plan.ip == 4 else (f"fd00::{host}", f"fd00::{host + 1}")

    def pair(self, q):
        dice = self.dice
        first = dice.choice((dice.randrange(PSNS), PSNS - dice.randrange(1, 30), 0))
        return Pair(dice.randrange(2, 1 << 22) * 4 + q, dice.randrange(2, 1 << 22) * 4 + q, first, dice.randrange(PSNS),
                    dice.randrange(1 << 16, 1 << 32), dice.randrange(1 << 20, 1 << 46) << 12,
                    (dice.randrange(0xc000, 0x10000), dice.randrange(0xc000, 0x10000)))

    # ---- packets ----

    def send(self, whose, qp, packet, to=None, qpn=None, mangle=None):
        """to, qpn: another destination than the other end. mangle: what is sent instead of the frame."""
        answers = whose == "answers"
        src, dst, dqpn = (self.b, self.a, qp.requester) if answers else (self.a, self.b, qp.responder)
        identification = self._identification[answers]
        if identification is not None:
            self._identification[answers] = (identification + 1) % (1 << 16)
        dst, dqpn = to or dst, dqpn if qpn is None else qpn
        frame = rf.roce(packet.transport(dqpn), src=src, dst=dst, sport=qp.ports[answers], identification=identification or 0)
        self.paths[whose].send(dataclasses.replace(packet, to=(dst, dqpn), good=not mangle), mangle(frame) if mangle else frame)

    def arrive(self, packet, _frame):
        for whose in ("requests", "answers"):
            end = self._ends.get((whose, packet.to[1]))
            if end and (packet.opcode in RESPONSE or packet.opcode == rf.RC_ACK) == (whose == "answers"):
                end.take(packet, packet.to)

    def see(self, packet):
        """Counts what is missing in front of a request that passes the observer."""
        end = packet.psn + packet.span(self.plan.mtu)
        newest = self._newest.get(packet.to[1], self._begun.get(packet.to[1], packet.psn))
        if ahead(packet.psn, newest) > 0:
            self.missing += ahead(packet.psn, newest)
        if ahead(end, newest) > 0:
            self._newest[packet.to[1]] = end % PSNS

    def _connect(self):
        if self.plan.told == "cm":
            for n, p in enumerate(self.pairs):
                for attribute, ids, qpn, psn, src, dst in ((0x10, (7 + n, 0), p.requester, p.other, self.a, self.b),
                                                           (0x13, (90 + n, 7 + n), p.responder, p.first, self.b, self.a)):
                    self.frames.append((len(self.frames) - 100, rf.management(attribute, *ids, qpn, psn % PSNS, self.plan.mtu,
                                                                              src=src, dst=dst)))

    # ---- results ----

    def write(self, path):
        return write_pcap(path, [f for _, f in self.frames], nano=self.plan.nano,
                          times=[START * 10**9 + 10**6 + ns for ns, _ in self.frames])

    @property
    def expect(self):
        """The lines of --expect."""
        psn = lambda n: "" if self.plan.middle else f" psn {n % PSNS}"   # noqa: E731
        return "".join(f"{self.a} qpn {p.requester}{psn(p.first)} <-> {self.b} qpn {p.responder}{psn(p.other)} mtu {self.plan.mtu}\n"
                       for p in self.pairs)

    @property
    def receiver(self):
        """The line of --receiver."""
        address = "00000000000000000000ffff" + socket.inet_aton(self.b).hex() if self.plan.ip == 4 else \
            socket.inet_pton(socket.AF_INET6, self.b).hex()
        p = self.pairs[0]
        return json.dumps({"transport": "rc", "size": 1 << 20, "path_mtu": self.plan.mtu, "gid": address, "lid": 0, "slots": 1,
                           "qps": [{"qpn": p.responder, "psn": p.first % PSNS, "rkey": p.rkey, "address": p.va}],
                           "receive_bytes": 1 << 20, "regions": [{"rkey": p.rkey, "address": p.va, "bytes": 1 << 24}]}) + "\n"

    @property
    def allowed(self):
        """Findings that the path, or a receiver that is not ready, explains where both ends are right."""
        if self.plan.rnr_every:
            # whose packets are sent again is not certain where pairs are not known
            return {"rnr"} if self.plan.told or self.plan.qps == 1 else {"rnr", "retransmission"}
        allowed = FAULTS[self.plan.fault[:3]] if self.plan.fault else set()
        # whose NAK it is that asks for a missing packet is not certain either
        return allowed if self.plan.told or self.plan.qps == 1 or "loss" not in allowed else allowed | {"reorder", "psn-refused"}

    def loses(self, lost):
        """Whether this is the right number of requests that the path has lost. Behind a READ of an unknown path MTU a PSN may be its own."""
        if not self.plan.fault or self.plan.fault[:3] != ("lose", "requests", "before"):
            return True
        return lost == self.missing or lost < self.missing and not self.plan.told and "read" in self.plan.kinds


FAULTS = {
    ("lose", "requests", "before"): {"loss", "retransmission"},
    ("lose", "requests", "behind"): {"psn-refused", "retransmission"},
    ("lose", "answers", "before"): {"loss", "retransmission"},      # of READ responses
    ("lose", "answers", "behind"): {"retransmission"},
    ("damage", "requests", "before"): {"corruption", "loss", "retransmission"},     # loss: damage has changed the QPN
    ("damage", "requests", "behind"): {"psn-refused", "retransmission"},
    ("damage", "answers", "before"): {"corruption", "loss", "retransmission"},
    ("damage", "answers", "behind"): {"retransmission"},
    ("double", "requests", "before"): {"captured-twice", "duplicates", "retransmission"},
    ("double", "requests", "behind"): {"retransmission"},       # of READ responses
    ("double", "answers", "before"): {"captured-twice", "duplicates", "retransmission"},
    ("double", "answers", "behind"): set(),
    ("late", "requests", "before"): {"reorder", "loss", "psn-refused", "retransmission"},    # the receiver asks, and all is sent again
    ("late", "requests", "behind"): {"psn-refused", "retransmission"},
    ("late", "answers", "before"): {"loss", "reorder", "retransmission"},   # a READ whose response is late is asked for again
    ("late", "answers", "behind"): {"retransmission"},
}


# ---- mistakes of responders ----

class CountsPackets(Responder):
    more = 0

    def execute(self, packet):
        self.more += packet.opcode not in ENDS
        super().execute(packet)

    def shown_msn(self):
        self.d.shown += bool(self.more)
        return (self.msn + self.more) % PSNS


class BeginsElsewhere(Responder):
    def first_msn(self):
        return self.d.dice.randrange(1, 2000)

    def shown_msn(self):
        self.d.shown += 1
        return self.msn


class DoesNotWrap(Responder):
    """Of 16 bits, or it stays at its largest value."""

    def shown_msn(self):
        msn = self.msn % (1 << 16) if self.plan.msn < 1 << 16 else self.msn if self.msn >= self.plan.msn else PSNS - 1
        self.d.shown += msn != self.msn
        return msn


class StandsStill(Responder):
    def shown_msn(self):
        self.d.shown += self.messages > 0
        return self.plan.msn


class AcksUnsent(Responder):
    def ack_psn(self):
        self.d.shown += 1
        return self.psn - 1 + self.plan.window + 9


class AcksTooEarly(Responder):
    """The whole message when its First comes."""

    def execute(self, packet):
        if packet.reth and packet.reth[2] > self.plan.mtu:
            self.d.shown += 1
            self.answer(self.plan.credits, packet.psn + -(-packet.reth[2] // self.plan.mtu) - 1)
        super().execute(packet)

    def shown_msn(self):
        return self.msn + (self.psn != self.qp.first)


class AckGoesBack(Responder):
    acks = 0

    def ack_psn(self):
        self.acks += 1
        back = self.acks > 6 and self.acks % 3 == 0
        self.d.shown += back
        return self.psn - 1 - 3 * back


class TakesDamaged(Responder):
    def takes_damaged(self):
        return True

    def execute(self, packet):
        self.d.shown += not packet.good
        super().execute(packet)


class NaksAgain(Responder):
    """Once something was acknowledged: before that its first PSN may be another one."""

    def take_ahead(self, packet):
        if self.messages < 4:
            super().take_ahead(packet)
            return
        self.d.shown += self.naked
        self.nak(packet)


class NeverNaks(Responder):
    def take_ahead(self, packet):
        self.d.shown += not self.naked
        self.naked = True


class NaksAnother(Responder):
    """The packet that came, or the one beside that which is missing."""
    way = None

    def nak(self, packet):
        if self.messages < 4:   # before, its first PSN may be another one
            super().nak(packet)
            return
        self.way = self.way or self.d.dice.choice(("came", 1, -1))
        self.d.shown += 1 if self.way == -1 else 6      # from another PSN it never comes back
        self.naked = True
        self.answer(NAK_SEQUENCE, packet.psn if self.way == "came" else self.psn + self.way)


class DuplicatesUnanswered(Responder):
    def take_duplicate(self, packet):
        self.d.shown += 1


class DuplicatesRefused(Responder):
    syndrome = None

    def take_duplicate(self, packet):
        self.syndrome = self.syndrome or self.d.dice.choice((NAK_SEQUENCE, NAK_INVALID))
        self.d.shown += 1
        self.answer(self.syndrome, self.psn if self.syndrome == NAK_SEQUENCE else packet.psn)


class RnrToWrite(Responder):
    def is_ready(self, packet):
        if self.refused[packet.psn] or self.d.dice.randrange(4):
            return True
        self.refused[packet.psn] = True
        self.d.shown += 1
        return False


class AnswersQpn0(Responder):
    def send(self, packet):
        self.d.shown += 1
        self.d.send("answers", self.qp, packet, qpn=0)


class AnswersAddress0(Responder):
    def send(self, packet):
        self.d.shown += 1
        self.d.send("answers", self.qp, packet, to="0.0.0.0" if self.plan.ip == 4 else "::")


class AnswersBadIcrc(Responder):
    def send(self, packet):
        self.d.shown += 1
        self.d.send("answers", self.qp, packet, mangle=lambda frame: frame[:-4] + frame[:-5:-1])


class ReadShort(Responder):
    def responses(self, packet, data):
        self.d.shown += len(data) > 1
        return super().responses(packet, data[:-1] if len(data) > 1 else data)


class ReadLong(Responder):
    def responses(self, packet, data):
        self.d.shown += 1
        return super().responses(packet, data[:-1] + [bytes(self.plan.mtu), data[-1]])


class ReadSize(Responder):
    """The Last has half of its bytes."""

    def responses(self, packet, data):
        self.d.shown += 1
        return super().responses(packet, data[:-1] + [data[-1][:len(data[-1]) // 2]])


class ReadPsn(Responder):
    def responses(self, packet, data):
        self.d.shown += 1
        return [dataclasses.replace(r, psn=(r.psn + 1) % PSNS) for r in super().responses(packet, data)]


class ReadWithoutAeth(Responder):
    def responses(self, packet, data):
        self.d.shown += 1
        return [dataclasses.replace(r, aeth=None) for r in super().responses(packet, data)]


class ReadMiddleAeth(Responder):
    def responses(self, packet, data):
        self.d.shown += len(data) > 2
        return [dataclasses.replace(r, aeth=(self.plan.credits, self.shown_msn())) for r in super().responses(packet, data)]


class SilentAfterZero(Responder):
    zero = False

    def execute(self, packet):
        self.zero |= bool(packet.reth) and not packet.reth[2]
        super().execute(packet)

    def is_silent(self):
        self.d.shown |= self.zero
        return self.zero


class StopsAcknowledging(Responder):
    def is_silent(self):
        stops = self.messages > 8
        self.d.shown |= stops
        return stops


class TakesAnyRkey(Responder):
    def checks_rkey(self):
        return False


# ---- mistakes of requesters ----

class IgnoresNak(Requester):
    def take_nak(self, index, _packet):
        self.d.shown += 1

    def go_back(self, index):
        pass


class GoesBackAhead(Requester):
    def take_nak(self, index, _packet):
        to = min(index + 2, self.next - 1)
        self.d.shown += to > index
        self._progress()
        self.go_back(to)


class GoesBackTooFar(Requester):
    """To what is acknowledged."""

    def take_nak(self, index, _packet):
        to = max(index - 3, 0)
        self.d.shown += to < index
        self._progress()
        self.go_back(to)


class SendsOtherBytes(Requester):
    def again(self, packet):
        self.d.shown += bool(packet.payload)
        return dataclasses.replace(packet, payload=bytes(b ^ 0x5a for b in packet.payload))


class ResendsWithoutAckReq(Requester):
    def again(self, packet):
        self.d.shown += packet.ackreq
        return dataclasses.replace(packet, ackreq=False)


class NoAckReq(Requester):
    def ackreq(self, wanted):
        self.d.shown += wanted
        return False


class DoesNotWait(Requester):
    def rnr_wait(self, ns):
        self.d.shown += 1
        return ns // 20


class BeginsAhead(Requester):
    def first_number(self):
        self.d.shown = 1
        return self.qp.first + self.d.dice.randrange(1, 900)


class BeginsBehind(Requester):
    def first_number(self):
        self.d.shown = 1
        return self.qp.first + PSNS - self.d.dice.randrange(1, 900)


class DmaOfPacket(Requester):
    def reth(self, reth, packet):
        self.d.shown += packet != reth[2]
        return (*reth[:2], packet)


class IcrcNotAppended(Requester):
    def send(self, packet):
        self.d.shown += 1
        self.d.send("requests", self.qp, packet, mangle=lambda frame: frame[:-4])


class IcrcBehindEnd(Requester):
    """A bus word goes out whole before it."""

    def send(self, packet):
        self.d.shown += 1
        self.d.send("requests", self.qp, packet, mangle=lambda frame: frame[:-4] + bytes(-len(frame[:-4]) % 64 or 64) + frame[-4:])


# ---- the table ----

@dataclasses.dataclass
class Mistake:
    name: str
    end: type
    finding: str        # what is to be said of it first
    plan: dict = dataclasses.field(default_factory=dict)    # what it needs; a function draws the value
    shown: int = 3      # times that it must show
    told: tuple = ("", "expect", "cm")      # how pairs may be known
    receiver: bool = False      # with --receiver
    beside: str = ""    # a finding of what the other end does wrong, without which the mistake does not show

    def draw(self, dice):
        plan = Plan.draw(dice)
        plan.fault, plan.rnr_every, plan.zero_at = None, 0, -1
        for name, value in self.plan.items():
            setattr(plan, name, value(dice) if callable(value) else value)
        if plan.window * plan.mtu < plan.sizes[1]:     # of messages this long the last packet is sent only if others ask as well
            plan.ack_every = plan.ack_every or 4
        plan.told = dice.choice(self.told)
        plan.qps = dice.choice((1, 1, 3)) if plan.told and not self.receiver else 1
        plan.middle &= plan.told != "cm"
        plan.msn *= plan.middle
        return plan


def fault(what, whose, part, least, most):
    return lambda dice: (what, whose, part, dice.randrange(least, most))


def choice(*values):
    return lambda dice: dice.choice(values)


WRITES = {"kinds": ("write",), "coalesce": 0}
LARGE = {**WRITES, "mtu": choice(256, 512, 1024), "sizes": (600, 6000)}     # of several packets
BEGUN = {"middle": False, "msn": 0}
GAPS = {**LARGE, "window": choice(16, 32), "ack_every": 4, "fault": fault("lose", "requests", "before", 12, 24), "first_only": True}
STOP_AND_WAIT = {**WRITES, "mtu": 1024, "sizes": (12, 1024), "window": 1, "ack_every": 1, "fault": fault("lose", "answers", "behind", 5, 9)}
READS = {"kinds": ("read",), "mtu": 512, "sizes": (1100, 4000), "coalesce": 0, "window": 16, "ack_every": 4}
KNOWN = ("expect", "cm")

MISTAKES = (
    Mistake("msn-counts-packets", CountsPackets, "ack-msn", LARGE),
    Mistake("msn-begins-elsewhere", BeginsElsewhere, "ack-msn", {**WRITES, **BEGUN}, told=KNOWN),
    Mistake("msn-does-not-wrap", DoesNotWrap, "ack-msn", {**WRITES, "middle": True, "msn": choice((1 << 16) - 8, PSNS - 8)},
            told=("", "expect")),
    Mistake("msn-stands-still", StandsStill, "ack-msn", WRITES),
    Mistake("ack-unsent", AcksUnsent, "ack-psn", LARGE),
    Mistake("ack-too-early", AcksTooEarly, "ack-psn",
            {**LARGE, "sizes": (3100, 6000), "far": 100, "window": 64, "gap": 600, "ack_every": 2}),
    Mistake("ack-goes-back", AckGoesBack, "ack-psn", {**LARGE, "ack_every": 1, "window": 16}),
    Mistake("takes-damaged", TakesDamaged, "ack-bad-icrc",
            {**LARGE, "fault": fault("damage", "requests", "before", 8, 20), "first_only": True}),
    Mistake("naks-again", NaksAgain, "nak-repeated", GAPS),
    Mistake("never-naks", NeverNaks, "nak-missing", GAPS),
    Mistake("naks-another", NaksAnother, "nak-psn", GAPS, shown=6),
    Mistake("duplicates-unanswered", DuplicatesUnanswered, "duplicate-unanswered", STOP_AND_WAIT),
    Mistake("duplicates-refused", DuplicatesRefused, "duplicate-answered-otherwise", STOP_AND_WAIT, shown=1),
    Mistake("rnr-to-write", RnrToWrite, "rnr-without-need", WRITES),
    Mistake("answers-qpn-0", AnswersQpn0, "answers-to-nobody", WRITES),
    Mistake("answers-address-0", AnswersAddress0, "answers-to-nobody", WRITES),
    Mistake("answers-icrc-swapped", AnswersBadIcrc, "icrc-swapped", {**WRITES, "window": 16, "ack_every": 4}),
    Mistake("read-short", ReadShort, "read-response-number", READS, told=KNOWN),
    Mistake("read-long", ReadLong, "read-response-number", READS, told=KNOWN),
    Mistake("read-size", ReadSize, "read-response-size", READS, told=KNOWN),
    Mistake("read-psn", ReadPsn, "read-response-psn", READS, told=KNOWN),
    Mistake("read-without-aeth", ReadWithoutAeth, "read-response-aeth", READS, told=KNOWN),
    Mistake("read-middle-aeth", ReadMiddleAeth, "read-response-aeth", READS),
    Mistake("silent-after-zero", SilentAfterZero, "ack-stops", {**WRITES, "zero_at": lambda dice: dice.randrange(8, 16)}, shown=1),
    Mistake("stops-acknowledging", StopsAcknowledging, "ack-stops", WRITES, shown=1),
    Mistake("takes-any-rkey", TakesAnyRkey, "takes-rkey", {**WRITES, **BEGUN, "rkey_wrong": 4}, receiver=True,
            beside="refused-rkey"),
    Mistake("nak-ignored", IgnoresNak, "nak-ignored",
            {**GAPS, "window": 10000, "messages": 60, "gap": 1000, "near": 2000, "far": 2000}, shown=1),
    Mistake("goes-back-ahead", GoesBackAhead, "goes-back-wrong", GAPS),
    Mistake("goes-back-too-far", GoesBackTooFar, "goes-back-wrong", GAPS),
    Mistake("other-bytes-again", SendsOtherBytes, "retransmission-differs", GAPS),
    Mistake("resends-without-ackreq", ResendsWithoutAckReq, "resends-without-ackreq",
            {**STOP_AND_WAIT, "fault": fault("lose", "requests", "behind", 5, 9), "first_only": True, "duplicates": False}),
    Mistake("no-ackreq", NoAckReq, "no-ackreq", {**WRITES, "window": 64}),
    Mistake("does-not-wait", DoesNotWait, "rnr",
            {**WRITES, "kinds": ("send",), "rnr_every": 3, "rnr_timer": lambda dice: dice.randrange(10, 14)}),
    Mistake("begins-ahead", BeginsAhead, "psn-start", {**WRITES, **BEGUN}, shown=1),
    Mistake("begins-behind", BeginsBehind, "psn-start", {**WRITES, **BEGUN}, shown=1, told=KNOWN),
    Mistake("dma-of-packet", DmaOfPacket, "dma-of-packet", {**LARGE, **BEGUN}),
    Mistake("icrc-not-appended", IcrcNotAppended, "icrc-not-appended", LARGE),
    Mistake("icrc-behind-end", IcrcBehindEnd, "icrc-behind-end", LARGE),
)


def draw(dice, mistake=None):
    """A dialogue in which the mistake shows, or one of right ends."""
    if not mistake:
        return Dialogue(dice, Plan.draw(dice))
    ends = (mistake.end, Responder) if issubclass(mistake.end, Requester) else (Requester, mistake.end)
    for _ in range(100):
        dialogue = Dialogue(dice, mistake.draw(dice), *ends)
        if dialogue.shown >= mistake.shown:
            return dialogue
    raise ValueError(f"{mistake.name} does not show")
