#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Known bugs of rxe: whether this kernel has each, by what it does. Having one is no failure. What may panic a kernel is not sent.
"""
import time

from rxe import GRH, Pair, Tap, ends, fact, increase, pattern

HAS, HAS_NOT = "has it", "has it not"
SIZE, SLOT = 3000, 4096
SHORT_S = 0.3       # no completion for so long
ROUNDS = 5
# A message every 400 ms that is acknowledged after 300: an ACK timeout of 537 ms need not fire.
DELAY, EVERY_S, TIMEOUT, SLOW = "300ms", 0.4, 17, 6
READ, READ_RATE, READ_MTU, READ_TIMEOUT = 2 << 20, "100mbit", 1024, 14    # takes 168 ms, with an ACK timeout of 67
UNKNOWN, SHORT = "a packet with an unknown opcode (CVE-2026-46133)", "a packet too short for its own pad (CVE-2026-46043)"


def told(has):
    return HAS if has else HAS_NOT


def timer(a, b):
    """lore 20220514030435.91155-5-rpearsonhpe@gmail.com: a timer that is never deleted sends again what is under way."""
    pair = Pair(a, b, "rc", timeout=TIMEOUT)
    b.receive(pair.qb, [(n, 0, SLOT) for n in range(SLOW)])
    b.impair("netem", "delay", DELAY)
    before = a.counters()
    for _ in range(SLOW):
        a.post(pair.qa, [{"operation": "send", "size": 64}])
        time.sleep(EVERY_S)    # its rate
    a.sent(SLOW)
    again = increase(before, a.counters())["sent_pkts"] - SLOW
    b.mend()
    pair.destroy()
    return told(again > 0)


def ack_req(a, b):
    """4adcaf969d77 ("RDMA/rxe: Don't set BTH_ACK_MASK for UC or UD QPs")"""
    found = []
    for service in ("uc", "ud"):
        pair = Pair(a, b, service)
        b.receive(pair.qb, [(0, 0, SLOT)])
        b.capture()
        pair.ask({"operation": "send", "size": 64})
        b.received(1)
        found += b.captured()
        pair.destroy()
    return told(any(ack_req for _, ack_req in found)) if found else "no packet was seen"


def full_queue(a, b):
    """RC while the sender's own queue drops packets. (whether it did, statuses of the sends, receives without their message)"""
    pair, count = Pair(a, b, "rc", path_mtu=1024), 100
    for number in range(count):
        a.fill(number, number * SLOT, SIZE)
    b.receive(pair.qb, [(n, n * SLOT, SLOT) for n in range(count)])
    a.impair("tbf", "rate", "20mbit", "burst", "5000", "limit", "5000")
    statuses = pair.ask(*({"operation": "send", "at": n * SLOT, "size": SIZE} for n in range(count)))
    drops = a.passed()["drops"]
    a.mend()
    arrived = [each["id"] for each in b.received(count, SHORT_S) if each["status"] == "success"]
    wrong = [n for n in arrived if b.memory(n * SLOT, SIZE) != pattern(n, SIZE).hex()]
    pair.destroy()
    return drops > 0, statuses, wrong


def local_drop(a, b):
    """5d122db2ff80 ("RDMA/rxe: Fix incomplete state save in rxe_requester"): wrong payload after a drop by the own queue"""
    dropped, _, wrong = full_queue(a, b)
    return told(wrong) if dropped else "the queue dropped nothing"


def local_loss(a, b):
    """RC sends again what its own queue has dropped, as it does with what the wire has lost."""
    dropped, statuses, _ = full_queue(a, b)
    return told(set(statuses) != {"success"}) if dropped else "the queue dropped nothing"


def large_datagram(a, b):
    """CVE-2024-40992: a datagram of UD that is larger than the receive ends the QP."""
    pair = Pair(a, b, "ud")
    b.receive(pair.qb, [(0, 0, GRH + 100)])
    pair.ask({"operation": "send", "size": 200})
    b.received(1, SHORT_S)
    b.receive(pair.qb, [(1, 0, SLOT), (2, 0, SLOT)])
    pair.ask({"operation": "send", "size": 100})
    works = "success" in [each["status"] for each in b.received(1, 10 * SHORT_S)]
    pair.destroy()
    return told(not works)


def error_while_receiving(a, b):
    """Reported in July 2026: a QP that goes to the error state while it receives completes a receive many times."""
    count, twice = 200, 0
    for _ in range(ROUNDS):
        pair = Pair(a, b, "uc", {"completions": 16 * count})
        b.receive(pair.qb, [(n, 0, SLOT) for n in range(count)])
        a.post(pair.qa, count * [{"operation": "send", "size": SIZE}])
        b.fail(pair.qb)
        idents = [each["id"] for each in b.received(16 * count, SHORT_S, pair.qb)]
        twice += len(idents) - len(set(idents))
        a.sent(count)
        pair.destroy()
    return told(twice)


def large_read(a, b):
    """Reported in February 2023: a READ of 2 MiB over a slow link is asked for again and again."""
    pair = Pair(a, b, "rc", path_mtu=READ_MTU, timeout=READ_TIMEOUT)
    b.fill(1, 0, READ)
    b.impair("tbf", "rate", READ_RATE, "burst", "20kb", "limit", "8mb")
    before = b.counters()
    status = pair.ask({"operation": "read", "size": READ, **pair.at(0)})
    sent = increase(before, b.counters())["sent_pkts"]
    b.mend()
    pair.destroy()
    return told(status != ["success"] or sent > 1.5 * READ / READ_MTU)


CHECKS = {"RC sends again what is under way when a timer fires that all acknowledged packets left behind": (timer, True),
          "AckReq on UC and UD": (ack_req, True),
          "wrong payload or order after a drop by the sender's own queue": (local_drop, True),
          "RC fails when the sender's own queue drops packets": (local_loss, True),
          "a READ of 2 MiB at 100 Mbit/s is asked for again": (large_read, True),
          "a datagram larger than the receive ends a QP of UD": (large_datagram, False),
          "a receive completes twice when the QP goes to the error state": (error_while_receiving, False)}

with Tap() as t, ends(t) as (a, b):
    for name, (check, needs_wire) in CHECKS.items():
        if needs_wire and not a.facts["wire"]:
            t.skip(name, "needs a wire to another end")
        else:
            fact(t, name, check(a, b))
    for name in (UNKNOWN, SHORT):
        t.skip(name, "never sent: it may panic the kernel")
