#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
A QP between two hosts, right at first, and one fault that ends or stops it: what rxe_tests/verbs_why.test asks `rocescope verbs why` of.

    qp_faults.py serve ADDRESS PORT             the responder: on the host with that IPv4 address
    qp_faults.py FAULT ADDRESS PEER PORT        the requester

The requester prints a line of JSON before its QPs are made ("ready"), where the caller must do something to the wire ("cut",
"narrow", "lose"), and when the fault has shown ("done"). It goes on with SIGUSR1, and in the end puts everything back.
"""
import json
import os
import signal
import sys

from end import MEMORY, PATIENCE, End, gid_index, listen, run
from rxe import Pair, Remote
import end as one_end

SIZE, PLACE = 3000, 8192        # bytes of a request; where in the peer's memory
SOON = {"timeout": 14, "retries": 2}    # 67 ms, sent again twice
AHEAD = 0x1000                  # of the PSN that the peer expects
OTHER = 0x2222                  # no QP of the peer
EXTRA = "10.9.0.{}"             # another address of the requester, outside of the lab's


class Peer(End):
    """The responder, which can also die, and have memory that may only be read."""

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def read_only(self):
        e = one_end.e
        self._shy = one_end.MR(self._pd, 1 << 16, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ)
        return {"rkey": self._shy.rkey, "to": self._shy.buf}

    def use_address(self, address):
        """From now on QPs send from that address of the NIC."""
        run("ip", "address", "replace", f"{address}/24", "dev", self._netif)
        self._gid_index, self._gid = gid_index(self._device, address)

    def drain(self, number):
        """Moves the QP to SQD. SoftRoCE tells that its send queue has drained when the next request comes. Returns the event's number."""
        self._qps[number].modify(one_end.QPAttr(qp_state=one_end.e.IBV_QPS_SQD), one_end.e.IBV_QP_STATE)
        self.post(number, [{"operation": "send", "size": 64}])
        signal.alarm(PATIENCE)      # ends us if none comes
        event = self._context.get_async_event()
        signal.alarm(0)
        event.ack()     # or the QP cannot be destroyed
        return event.event_type

    def drop_address(self, address):
        run("ip", "address", "delete", f"{address}/24", "dev", self._netif, check=False)


class QPs(Pair):
    def __init__(self, a, b, how):
        self.a, self.b, self.service = a, b, "rc"
        self.qa, self.qb = a.qp("rc"), b.qp("rc")
        self.connect(**how)


class Fault:
    def __init__(self, name, own, peer, port):
        self.name, self.address, self.pair, self.event = name, own, None, None
        self.a = Peer()
        self.a.facts = self.a.open(own)
        self.b = Remote("tcp", f"{peer}:{port}")
        self.b.facts = self.b.open(peer)

    def say(self, what, **more):
        qpns = {"qpn": self.pair.qa, "peer_qpn": self.pair.qb} if self.pair else {}
        print(json.dumps({"say": what, "fault": self.name, **qpns, **more}), flush=True)
        signal.sigwait({signal.SIGUSR1})

    def connect(self, a=None, b=None, **both):
        self.say("ready", pid=os.getpid())
        self.pair = QPs(self.a, self.b, {"a": a, "b": b, **SOON, **both})

    def good(self, size=SIZE, sends=2):
        """WRITEs and SENDs that succeed."""
        self.b.receive(self.pair.qb, [(n, n * SIZE, SIZE) for n in range(sends)])
        self.right = self.pair.ask(*({"operation": "write", "size": size, "ident": n, **self.pair.at(PLACE + n * SIZE)} for n in range(4)),
                                   *({"operation": "send", "size": size, "ident": 10 + n} for n in range(sends)))
        self.b.received(sends)

    def bad(self, *requests, seconds=5):
        """Requests of which the first one fails."""
        posted, why = self.a.post(self.pair.qa, [{"ident": 100 + n, "size": SIZE, **each} for n, each in enumerate(requests)])
        self.statuses = [each["status"] for each in self.a.sent(posted, seconds)]
        self.refused = why

    def write(self, rkey=0, to=0, **more):
        place = self.pair.at(PLACE)
        return {"operation": "write", "rkey": place["rkey"] + rkey, "to": place["to"] + to, **more}

    # ---- the faults ----

    def wrong_rkey(self):
        self.connect()
        self.good()
        self.bad(self.write(rkey=0x101), self.write(), self.write())

    def wrong_rkey_shared(self):
        """The responder's QP has a shared receive queue."""
        self.b.share_receives()
        self.connect()
        self.right = []
        self.bad(self.write(rkey=0x101), self.write())

    def no_access(self):
        """The QP allows no WRITE; SENDs succeed."""
        self.connect(b={"refuse": ("write",)})
        self.b.receive(self.pair.qb, [(n, n * SIZE, SIZE) for n in range(4)])
        self.right = self.pair.ask(*({"operation": "send", "size": SIZE} for _ in range(2)))
        self.bad(self.write(), self.write())

    def no_access_memory(self):
        """The QP allows it, and the memory does not."""
        shy = self.b.read_only()
        self.connect()
        self.good()
        self.bad({"operation": "write", **shy}, self.write())

    def out_of_bounds(self):
        """A message of three packets that begins inside."""
        self.connect()
        self.good()
        self.bad(self.write(to=MEMORY - PLACE - 1024), self.write())

    def no_receive(self, retries):
        self.connect(rnr_retries=retries)
        self.good()
        self.bad({"operation": "send"}, {"operation": "send"}, seconds=2)

    def no_receive_0(self):
        self.no_receive(0)

    def no_receive_7(self):
        self.no_receive(7)

    def no_such_qp(self):
        self.connect(a={"peer": OTHER})
        self.right = []
        self.bad(self.write(), self.write())

    def peer_killed(self):
        self.connect()
        self.good()
        try:
            self.b.die()
        except (RuntimeError, OSError):
            self.b = None
        self.bad(self.write(), self.write())

    def wire_cut(self):
        self.connect()
        self.good()
        self.say("cut")
        self.bad(self.write(), self.write())

    def mtu_too_large(self):
        self.connect(path_mtu=4096)
        self.say("narrow")
        self.good(size=64)
        self.bad(self.write(size=8192), self.write())

    def mtu_differs(self):
        """The responder's QP has a smaller path MTU than the requester's."""
        self.connect(a={"path_mtu": 4096}, b={"path_mtu": 1024})
        self.good(size=64)
        self.bad(self.write(size=8192), self.write())

    def wrong_psn(self):
        """The requester begins ahead of what its peer expects."""
        self.connect(a={"sq_psn": AHEAD})
        self.right = []
        self.bad(self.write(), self.write())

    def stale_psn(self):
        """The requester begins behind what its peer expects, as after a reconnect of one end."""
        self.connect(b={"rq_psn": AHEAD})
        self.right = []
        self.bad(self.write(), self.write())

    def wrong_gid(self):
        """The requester sends from another of its addresses than its peer was told."""
        self.extra = EXTRA.format(77)
        self.a.use_address(self.extra)
        self.connect()
        self.right = []
        self.bad(self.write(), self.write())

    def lost(self):
        """Every packet with payload is lost, requests and answers without it are not: by the caller."""
        self.connect()
        self.good(size=64)
        self.say("lose")
        self.bad(self.write(), self.write())

    def bad_lkey(self):
        self.connect()
        self.good()
        self.bad(self.write(lkey=0x101), self.write())

    def own_end(self):
        """The requester's program moves its QP to ERR."""
        self.connect(rnr_retries=7)
        self.good()
        self.a.post(self.pair.qa, [{"operation": "send", "size": SIZE}])
        self.a.fail(self.pair.qa)
        self.statuses = [each["status"] for each in self.a.sent(1, 2)]

    def drained(self):
        """No fault: an asynchronous event of a QP that is well."""
        self.connect()
        self.good()
        self.statuses, self.event = [], self.a.drain(self.pair.qa)

    def end(self):
        state = self.a.state(self.pair.qa)
        reachable = self.b and self.name != "wire_cut"
        self.say("done", right=self.right, statuses=self.statuses, state=state,
                 peer_state=self.b.state(self.pair.qb) if reachable else None, event=self.event)
        self.a.close()
        if hasattr(self, "extra"):
            self.a.drop_address(self.extra)
        if self.b:
            self.b.close()
            self.b.hang_up()


FAULTS = [name for name in ("wrong_rkey", "no_access", "out_of_bounds", "no_receive_0", "no_receive_7", "no_such_qp", "peer_killed", "wire_cut",
                            "mtu_too_large", "wrong_psn", "wrong_gid", "no_access_memory", "mtu_differs", "stale_psn", "lost", "bad_lkey",
                            "own_end", "wrong_rkey_shared", "drained")]


def main():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    if sys.argv[1:2] == ["serve"]:
        listen(*sys.argv[2:4], make=Peer)
    elif len(sys.argv) != 5 or sys.argv[1] not in FAULTS:
        sys.exit(__doc__.strip() + "\n\nFAULT: " + ", ".join(FAULTS))
    else:
        fault = Fault(*sys.argv[1:])
        getattr(fault, fault.name)()
        fault.end()


if __name__ == "__main__":
    main()
