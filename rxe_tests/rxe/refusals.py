#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What must be refused, and how it is answered (IBTA 9.7.5, 9.9): wrong keys, addresses, rights, lengths and PSNs, different path
MTUs, a receiver that is not ready, full queues, and QPs in the error state. A QP works again after each.
"""
import errno

from rxe import MEMORY, Pair, Tap, ends, fact, increase, pattern, until

SIZE, PLACE = 64, 4096      # of a request, in b's memory
BESIDE = 1000
SHORT_S = 0.3       # nothing comes for so long
ONCE = {"retries": 1, "timeout": 14}    # sent again once, after 67 ms
QUEUE = 16      # work requests that a short queue must hold; rxe rounds up
MESSAGE = 3000
ACCESS, INVALID, RETRIES = "remote access error", "remote invalid request", "retries exceeded"
# name: status of the request (IBTA 9.7.5.2), the request, what is added to its rkey and address, what b refuses
REFUSED = {
    "write with a wrong rkey": (ACCESS, {"operation": "write"}, 1, 0, ()),
    "write before the region": (ACCESS, {"operation": "write"}, 0, -PLACE - 1, ()),
    "write beyond the region": (ACCESS, {"operation": "write"}, 0, MEMORY - PLACE - SIZE + 1, ()),
    "read with a wrong rkey": (ACCESS, {"operation": "read"}, 1, 0, ()),
    "read beyond the region": (ACCESS, {"operation": "read"}, 0, MEMORY - PLACE - SIZE + 1, ()),
    "fetch and add with a wrong rkey": (ACCESS, {"operation": "fetch and add", "add": 1}, 1, 0, ()),
    "write to a QP that allows none": (INVALID, {"operation": "write"}, 0, 0, ("write",)),
    "read from a QP that allows none": (INVALID, {"operation": "read"}, 0, 0, ("read",)),
    "compare and swap at a QP that allows none": (INVALID, {"operation": "compare and swap", "swap": 1}, 0, 0, ("atomic",)),
    "send from memory with a wrong lkey": ("local protection error", {"operation": "send", "lkey": 1}, 0, 0, ()),
}


class Check:
    def __init__(self, t, a, b):
        self.t, self.a, self.b = t, a, b
        self.pair = Pair(a, b, "rc", queues={"sends": QUEUE, "receives": QUEUE})

    def right(self, name):
        """The QP connects anew, and works."""
        pair = self.pair
        pair.connect()
        self.a.fill(1, 0, SIZE)
        self.b.fill(BESIDE, 0, 3 * SIZE)
        status = pair.ask({"operation": "write", "size": SIZE, **pair.at(SIZE)})
        want = pattern(BESIDE, 3 * SIZE)
        want = want[:SIZE] + pattern(1, SIZE) + want[2 * SIZE:]
        self.t.ok(status == ["success"] and self.b.memory(0, 3 * SIZE) == want.hex(), f"{name}: the QP works again", status)

    def refused(self, name, status, request, rkey, to, refuse):
        pair, t = self.pair, self.t
        pair.connect(b={"refuse": refuse})
        self.a.fill(1, 0, SIZE)
        self.b.fill(BESIDE, PLACE - SIZE, 3 * SIZE)
        place = pair.at(PLACE)
        answer = pair.ask({"size": SIZE, **request, "rkey": place["rkey"] + rkey, "to": place["to"] + to})
        t.equal(answer, [status], f"{name}: {status}")
        t.equal(self.b.memory(PLACE - SIZE, 3 * SIZE), pattern(BESIDE, 3 * SIZE).hex(), f"{name}: the memory is as it was")
        t.equal(self.a.state(pair.qa), "ERR", f"{name}: the QP that asked is in the error state")
        self.right(name)

    def not_aligned(self):
        """rxe refuses it before it is sent."""
        place = self.pair.at(PLACE + 4)
        self.pair.connect()
        self.t.equal(self.a.post(self.pair.qa, [{"operation": "fetch and add", "add": 1, **place}]), (0, errno.EINVAL),
                     "fetch and add, not aligned: is not taken")
        self.right("fetch and add, not aligned")

    def too_long(self):
        name, pair, t = "send larger than the receive", self.pair, self.t
        pair.connect()
        self.b.fill(BESIDE, 0, 2 * SIZE)
        self.b.receive(pair.qb, [(0, 0, SIZE)])
        t.equal(pair.ask({"operation": "send", "size": SIZE + 1}), [INVALID], f"{name}: {INVALID}")
        t.equal([each["status"] for each in self.b.received(1)], ["local length error"], f"{name}: as the receiver is told")
        t.equal(self.b.memory(SIZE, SIZE), pattern(BESIDE, 2 * SIZE)[SIZE:].hex(), f"{name}: nothing is written behind it")
        self.right(name)

    def psn(self):
        pair, t = self.pair, self.t
        before = self.b.counters()
        pair.connect(a={"sq_psn": 100, **ONCE})
        self.b.receive(pair.qb, [(0, 0, SIZE)])
        t.equal(pair.ask({"operation": "send", "size": SIZE}), [RETRIES], f"a PSN ahead: {RETRIES}")
        t.ok(increase(before, self.b.counters())["out_of_seq_request"] > 0, "a PSN ahead: the receiver counts it")
        t.equal(self.b.received(1, SHORT_S), [], "a PSN ahead: nothing is delivered")
        self.right("a PSN ahead")
        # Such a request is a duplicate, which is acknowledged (IBTA 9.7.5.1).
        pair.connect(b={"rq_psn": 100}, **ONCE)
        self.b.receive(pair.qb, [(0, 0, SIZE)])
        status, = pair.ask({"operation": "send", "size": SIZE})
        t.equal(self.b.received(1, SHORT_S), [], "a PSN behind: nothing is delivered")
        fact(t, "a PSN behind: what the sender is told", status)
        self.right("a PSN behind")

    def path_mtu(self):
        """Not an error that an end can always see. It must end, and harm nothing beside."""
        pair, t = self.pair, self.t
        for here, there in ((1024, 512), (512, 1024)):
            for operation in ("send", "write", "read"):
                name = f"{operation} with a path MTU of {here} here and {there} there"
                pair.connect(a={"path_mtu": here}, b={"path_mtu": there}, **ONCE)
                source, target = (self.b, self.a) if operation == "read" else (self.a, self.b)
                source.fill(1, 0, MESSAGE)
                target.fill(BESIDE, 0, MESSAGE + SIZE)
                if operation == "send":
                    self.b.receive(pair.qb, [(0, 0, MESSAGE)])
                status, = pair.ask({"operation": operation, "size": MESSAGE, **pair.at(0)})
                took = [each["status"] for each in self.b.received(1, SHORT_S)] if operation == "send" else []
                right = target.memory(0, MESSAGE) == pattern(1, MESSAGE).hex()
                beside = pattern(BESIDE, MESSAGE + SIZE)[MESSAGE:]
                t.equal(target.memory(MESSAGE, SIZE), beside.hex(), f"{name}: no byte beside")
                fact(t, name, f"{', '.join((status, *took))}; {'every byte' if right else 'not every byte'} is right")
        self.right("different path MTUs")

    def not_ready(self):
        """IBTA 9.7.5.2.8: RNR NAK"""
        pair, t = self.pair, self.t
        pair.connect()
        before = [end.counters() for end in (self.a, self.b)]
        self.a.fill(1, 0, SIZE)
        self.a.post(pair.qa, [{"operation": "send", "size": SIZE}])
        asked = until(lambda: increase(before[1], self.b.counters())["send_rnr_err"] > 1)
        t.ok(asked, "a receiver without receives answers by RNR NAKs")
        t.equal(self.a.sent(1, SHORT_S), [], "the sender tries again as long as it takes")
        self.b.receive(pair.qb, [(0, 0, SIZE)])
        done = self.a.sent(1) + self.b.received(1)
        t.ok([each["status"] for each in done] == 2 * ["success"] and self.b.memory(0, SIZE) == pattern(1, SIZE).hex(),
             "it arrives once there is a receive", done)
        t.ok(increase(before[0], self.a.counters())["rcvd_rnr_err"] > 1, "the sender counts the RNR NAKs")
        pair.connect(rnr_retries=2)
        before = self.b.counters()
        t.equal(pair.ask({"operation": "send", "size": SIZE}), ["RNR retries exceeded"], "rnr_retry 2: RNR retries exceeded")
        t.equal(increase(before, self.b.counters())["send_rnr_err"], 3, "rnr_retry 2: after three RNR NAKs")
        self.right("RNR retries exceeded")

    def nobody(self):
        pair, t = self.pair, self.t
        other = self.b.qp("rc")
        pair.connect(a={"peer": other, **ONCE})
        self.b.destroy(other)
        before = self.a.counters()
        t.equal(pair.ask({"operation": "write", "size": SIZE, **pair.at(0)}), [RETRIES], f"a QP that is not there: {RETRIES}")
        t.equal(increase(before, self.a.counters())["sent_pkts"], 2, "a QP that is not there: sent twice, with one retry")
        self.right("a QP that is not there")

    def full(self):
        """A send queue whose first request waits for a receive."""
        pair, t = self.pair, self.t
        pair.connect()
        posted, why = self.a.post(pair.qa, 20 * QUEUE * [{"operation": "send", "size": SIZE}])
        t.ok(QUEUE <= posted < 20 * QUEUE and why == errno.ENOMEM, "a full send queue refuses a work request", (posted, why))
        done = []
        while len(done) < posted:
            self.b.receive(pair.qb, [(0, 0, SIZE)] * min(QUEUE, posted - len(done)))
            done += self.a.sent(min(QUEUE, posted - len(done)))
        t.equal([each["status"] for each in done + self.b.received(posted)], 2 * posted * ["success"],
                "all that it took are sent and received")
        t.equal(pair.ask({"operation": "write", "size": SIZE, **pair.at(0)}), ["success"], "it takes work requests again")

    def completions(self):
        """A completion queue that takes fewer than come."""
        pair, t = Pair(self.a, self.b, "rc"), self.t
        count = 10 * QUEUE
        other = self.b.qp("rc", completions=QUEUE)
        pair.connect(a={"peer": other, **ONCE})
        self.b.connect(other, self.a.facts["gid"], pair.qa)
        self.b.receive(other, [(n, 0, SIZE) for n in range(count)])
        statuses = pair.ask(*count * [{"operation": "send", "size": SIZE}])
        found = self.b.received(count, SHORT_S, other)
        good = [each["id"] for each in found if each["status"] == "success"]
        t.ok(QUEUE <= len(good) < count and good == list(range(len(good))),
             "a full completion queue has the first completions, in order", found)
        fact(t, "a full completion queue: what the sender is told", " and ".join(dict.fromkeys(statuses)))
        fact(t, "a full completion queue: the receiver's QP", self.b.state(other))
        self.b.destroy(other)
        pair.destroy()

    def error_state(self):
        pair, t = self.pair, self.t
        pair.connect()
        self.b.receive(pair.qb, [(n, 0, SIZE) for n in range(QUEUE)])
        self.b.fail(pair.qb)
        flushed = self.b.received(QUEUE)
        t.equal([(each["id"], each["status"]) for each in flushed], [(n, "flushed") for n in range(QUEUE)],
                "to the error state: each receive is flushed once, in order")
        self.b.receive(pair.qb, [(QUEUE, 0, SIZE)])
        found = [each["status"] for each in self.b.received(2, 2 * SHORT_S)]
        fact(t, "a receive that is posted in the error state", ", ".join(found) or "does not complete")
        self.right("receives flushed")
        pair.connect()
        self.a.post(pair.qa, [{"operation": "send", "ident": n, "size": SIZE} for n in range(QUEUE)])   # wait for receives
        self.a.fail(pair.qa)
        t.equal([(each["id"], each["status"]) for each in self.a.sent(QUEUE)], [(n, "flushed") for n in range(QUEUE)],
                "to the error state: each send is flushed once, in order")
        t.equal(self.a.sent(1, SHORT_S), [], "and no send twice")
        self.right("sends flushed")


with Tap() as t, ends(t) as (a, b):
    check = Check(t, a, b)
    for each, (status, request, rkey, to, refuse) in REFUSED.items():
        check.refused(each, status, request, rkey, to, refuse)
    check.not_aligned()
    check.too_long()
    check.psn()
    check.path_mtu()
    check.not_ready()
    check.nobody()
    check.full()
    check.completions()
    check.error_state()
