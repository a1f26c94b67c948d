#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
many_qps.py [COUNT]: 2,000 RC QPs at each end, all connected at once. Each message arrives on the QP that it was sent to.
"""
import sys

from rxe import Tap, ends, pattern

COUNT = int(sys.argv[1]) if sys.argv[1:] else 2000
SLOT = 64


def both(a, b, calls_of_a, calls_of_b):
    """Calls of all QPs of an end at once."""
    return a.many(calls_of_a), b.many(calls_of_b)


with Tap() as t, ends(t) as (a, b):
    make = COUNT * [("qp", ("rc",), {"sends": 2, "receives": 2})]
    here, there = both(a, b, make, make)
    t.equal((len(set(here)), len(set(there))), (COUNT, COUNT), f"{COUNT} QPs at each end")
    both(a, b, [("connect", (own, b.facts["gid"], peer), {}) for own, peer in zip(here, there)],
         [("connect", (own, a.facts["gid"], peer), {}) for own, peer in zip(there, here)])
    a.fill(1, 0, COUNT * SLOT)
    b.many([("receive", (own, [(n, n * SLOT, SLOT)]), {}) for n, own in enumerate(there)])
    sends = [{"operation": "send-imm", "at": n * SLOT, "size": SLOT, "imm": n} for n in range(COUNT)]
    a.many([("post", (own, [send]), {}) for own, send in zip(here, sends)])
    sent, received = a.sent(COUNT), b.received(COUNT)
    t.equal([each["status"] for each in sent + received], 2 * COUNT * ["success"], "a message on each is sent and received")
    t.equal(sorted((each["imm"], each["id"], each["qp"]) for each in received), [(n, n, own) for n, own in enumerate(there)],
            "each on the QP that it was sent to")
    t.ok(b.memory(0, COUNT * SLOT) == pattern(1, COUNT * SLOT).hex(), "every byte is right")
    both(a, b, *([("destroy", (own,), {}) for own in qps] for qps in (here, there)))
    t.ok(True, "all are destroyed")
