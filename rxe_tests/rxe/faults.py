#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What RC, UC and UD promise on a wire that loses, duplicates, reorders and corrupts packets (IBTA 9.7, 9.8). RC: every message
once, in order, and every byte right. UC and UD: what arrives is right, and what is lost shows. Nobody gets a corrupt byte.
"""
import struct

from rxe import GRH, MEMORY, QUICK, Missing, Pair, Tap, ends, fact, increase, pattern

FAULTS = {"loss": ("loss", "10%"), "duplicates": ("duplicate", "25%"), "reordering": ("delay", "3ms", "reorder", "50%"),
          "corruption": ("corrupt", "20%")}
MESSAGES = 40 if QUICK else 100
SIZES = (100, 3000)     # of RC and UC: one packet and three
PATH_MTU, SLOT = 1024, 3072
HALF = MEMORY // 2
TIMEOUT = 15        # 134 ms
OWN_QUEUE = {"completions": 1024}
BEGIN, END = 1, 0xffffffff      # immediate of the first message, and of a message behind the last one
SHORT_S = 0.3       # no completion for so long
BESIDE = 1000
LOST_PSNS = {"First": 0, "Middle": 1, "Last": 2}    # of a message of three packets


def size_of(service, number):
    return 100 + number % 900 if service == "ud" else SIZES[number % 2]


class Sends:
    """SENDs from A to B, with their number as immediate. UC and UD: complete() follows when the wire is good again."""

    def __init__(self, pair, place=0):
        self.pair, self.place = pair, place
        self.slots = MESSAGES if pair.service == "rc" else 2 * MESSAGES + 16
        self.header = GRH if pair.service == "ud" else 0
        pair.b.receive(pair.qb, [(slot, place + slot * SLOT, SLOT) for slot in range(self.slots)])
        for number in range(MESSAGES):
            pair.a.fill(number, number * SLOT, size_of(pair.service, number))
        before = pair.a.counters(), pair.b.counters()
        dropped = pair.a.passed().get("drops", 0)
        self.statuses = pair.ask(*({"operation": "send-imm", "at": number * SLOT, "size": size_of(pair.service, number),
                                    "imm": BEGIN + number} for number in range(MESSAGES)))
        self.drops = pair.a.passed().get("drops", 0) - dropped
        if pair.service == "rc":
            self._judge(pair.b.received(MESSAGES, of=pair.qb))
        self.a, self.b = (increase(was, end.counters()) for was, end in zip(before, (pair.a, pair.b)))

    def complete(self):
        found = []
        while not any(each["imm"] == END for each in found):
            self.pair.ask({"operation": "send-imm", "size": 0, "imm": END})
            found += self.pair.b.received(self.slots, SHORT_S, self.pair.qb)
        self._judge([each for each in found if each["imm"] != END])

    def _judge(self, completions):
        self.numbers = [each["imm"] - BEGIN for each in completions]
        memory = bytes.fromhex(self.pair.b.memory(self.place, self.slots * SLOT))
        self.wrong = [each for each in completions if not self._is_right(each, memory)]
        self.lost = set(range(MESSAGES)) - set(self.numbers)

    def _is_right(self, completion, memory):
        number, at = completion["imm"] - BEGIN, completion["id"] * SLOT + self.header
        size = size_of(self.pair.service, number)
        return (completion["status"] == "success" and 0 <= number < MESSAGES and completion["bytes"] == self.header + size
                and memory[at:at + size] == pattern(number, size))


def reliable(t, pair, fault):
    name = f"rc send, {fault}"
    sends = Sends(pair)
    t.equal(sends.statuses, MESSAGES * ["success"], f"{name}: all are acknowledged")
    t.equal(sends.numbers, list(range(MESSAGES)), f"{name}: each arrives once, in order")
    t.equal(pair.b.received(1, SHORT_S, pair.qb), [], f"{name}: and nothing else")
    t.equal(sends.wrong, [], f"{name}: every byte is right")
    packets = sum(-(-size_of("rc", number) // PATH_MTU) for number in range(MESSAGES))
    t.ok(sends.b["duplicate_request"] > 0 if fault == "duplicates" else sends.a["sent_pkts"] > packets,
         f"{name}: the wire was at fault", (sends.a, sends.b))


def unreliable(t, sends, fault):
    service = sends.pair.service
    name = f"{service} send, {fault}"
    sends.complete()
    t.equal(sends.statuses, MESSAGES * ["success"], f"{name}: all are sent")
    t.equal(sends.wrong, [], f"{name}: every byte of what arrives is right")
    if fault == "loss" and service == "ud":
        t.equal(len(sends.lost), sends.drops, f"{name}: as many are missing as netem has dropped")
    elif fault in ("loss", "corruption"):
        t.ok(0 < len(sends.lost) < MESSAGES, f"{name}: some are missing", sends.lost)
    elif service == "ud":
        t.equal(sends.lost, set(), f"{name}: none is missing")
    in_order = sends.numbers == sorted(sends.numbers)
    arrived = f"{len(sends.numbers)} completions of {len(set(sends.numbers))} messages"
    t.note(f"{name}: {arrived}, {'' if in_order else 'not '}in order")


def writes(t, pair, fault):
    """The memory is as if nothing had happened."""
    area = MESSAGES * SLOT
    pair.b.fill(BESIDE, 0, area)
    want = bytearray(pattern(BESIDE, area))
    for number in range(MESSAGES):
        pair.a.fill(number, number * SLOT, 3000)
        want[number * SLOT:number * SLOT + 3000] = pattern(number, 3000)
    statuses = pair.ask(*({"operation": "write", "at": n * SLOT, "size": 3000, **pair.at(n * SLOT)} for n in range(MESSAGES)))
    t.ok(statuses == MESSAGES * ["success"] and pair.b.memory(0, area) == want.hex(),
         f"rc write, {fault}: every byte is right, and none beside", statuses)


def reads(t, pair, fault):
    area = MESSAGES * SLOT
    pair.b.fill(1, 0, area)
    pair.a.fill(BESIDE, 0, area)
    statuses = pair.ask(*({"operation": "read", "at": n * SLOT, "size": SLOT, **pair.at(n * SLOT)} for n in range(MESSAGES)))
    t.ok(statuses == MESSAGES * ["success"] and pair.a.memory(0, area) == pattern(1, area).hex(),
         f"rc read, {fault}: every byte is right", statuses)


def atomics(t, pair, fault):
    """IBTA 9.4.5: an atomic that is sent again is answered with what it returned the first time."""
    name = f"rc fetch and add, {fault}"
    pair.b.put(0, bytes(8).hex())
    statuses = pair.ask(*({"operation": "fetch and add", "at": 8 * n, "add": 1, **pair.at(0)} for n in range(MESSAGES)))
    before = struct.unpack(f"={MESSAGES}Q", bytes.fromhex(pair.a.memory(0, 8 * MESSAGES)))
    after, = struct.unpack("=Q", bytes.fromhex(pair.b.memory(0, 8)))
    t.equal((statuses, after), (MESSAGES * ["success"], MESSAGES), f"{name}: each is executed once")
    t.equal(list(before), list(range(MESSAGES)), f"{name}: and returns what was there before")


def all_services(t, a, b, fault):
    pairs = {service: Pair(a, b, service, OWN_QUEUE, path_mtu=PATH_MTU, timeout=TIMEOUT) for service in ("rc", "uc", "ud")}
    for end in (a, b):
        end.impair("netem", "limit", "10000", *FAULTS[fault])
    try:
        for check in (reliable, writes, reads, atomics):
            check(t, pairs["rc"], fault)
        sends = [Sends(pairs["uc"]), Sends(pairs["ud"], HALF)]
    finally:
        a.mend()
        b.mend()
    for each in sends:
        unreliable(t, each, fault)
    for pair in pairs.values():
        pair.destroy()


def lost_packets(t, a, b):
    """UC: a message that has lost a packet is missing (IBTA 9.8.2.2). Whether the next one arrives is a fact."""
    for name, packet in LOST_PSNS.items():
        pair = Pair(a, b, "uc", OWN_QUEUE, path_mtu=PATH_MTU)
        broken = set(range(1, MESSAGES, 8))     # of those of three packets, which have one of one packet between them
        psns = [2 * number - 1 + packet for number in broken]
        a.drop(psns)
        sends = Sends(pair)
        a.mend()
        sends.complete()
        t.equal(sends.wrong, [], f"uc send, the {name} packets are lost: every byte of what arrives is right")
        behind = {number + 1 for number in broken}
        t.ok(broken <= sends.lost <= broken | behind, f"uc send, the {name} packets are lost: their messages are missing",
             sends.lost)
        fact(t, f"uc send, the {name} packet is lost: the next message", "is missing" if sends.lost & behind else "arrives")
        pair.destroy()


with Tap() as t, ends(t, wire=True) as (a, b):
    try:
        for fault in list(FAULTS)[:1 if QUICK else None]:
            all_services(t, a, b, fault)
        lost_packets(t, a, b)
    except Missing as missing:
        t.skip("the rest", str(missing))
