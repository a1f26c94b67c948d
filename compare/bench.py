# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs rows in a lab that is up: programs on both ends, the referee between them, counters before and after."""
import time

from compare import foreign, hardware, join, own
from compare.counters import Counters
from compare.inject import Injection
from compare.outcome import UDP_PORT, RunFailed
from compare.plan import PACKET_PAYLOAD
from compare.referee import Referee
from lab import LabError

RDMA = ("rc", "uc", "ud")
# After the programs have ended: stragglers in queues have time to come out.
QUIET_S = 0.3


class Bench:
    """duration: (s of our programs, s of the others). icrc: as in `rocescope monitor`."""

    def __init__(self, lab, duration, runs=1, icrc="off", injection=Injection()):
        self._lab = lab
        self._own_s, self._foreign_s = duration
        self._runs = runs
        self._icrc = icrc
        self._driver = None
        self.injection = injection
        self.referee_modes = {}

    def run(self, row):
        """The row's record (a row of rocescope.compare/1); a failure is a record too."""
        if row.why:
            return record(row, "skipped", row.why)
        try:
            runs = self._in_hardware(row) if row.device else self._in_lab(row)
        except Exception as error:  # whatever a tool did: the other rows are kept
            return record(row, "failed", failure(error))
        return record(row, "ok", None, runs)

    def _in_lab(self, row):
        self._give_nic_to("dpdk" if row.transport == "dpdk-udp" else "kernel")
        self.injection.begin(self._lab)
        try:
            return [self._run_once(row) for _ in range(self._runs)]
        finally:
            self.injection.end(self._lab)

    def _in_hardware(self, row):
        return [unwatched(own.run(row, hardware.Host(), self._own_s, Injection())) for _ in range(self._runs)]

    def _give_nic_to(self, driver):
        if driver == self._driver:
            return
        for end in ("A", "B"):
            if driver == "dpdk":
                self._lab.dpdk_bind(end)
            else:
                if self._driver:
                    self._lab.dpdk_unbind(end)
                self._lab.rxe_up(end)
        self._driver = driver

    def _run_once(self, row):
        lab = self._lab
        with Referee(lab, UDP_PORT, self._icrc) as referee:
            before = Counters.read(lab)
            if row.own:
                outcome = own.run(row, lab, self._own_s, self.injection)
            else:
                outcome = foreign.run(row, lab, self._foreign_s)
            time.sleep(QUIET_S)
            did = Counters.read(lab) - before
        self.referee_modes = referee.modes
        places = did.places(lab.nic, lab.port("A"), lab.port("B"))
        return reckon(row, outcome, did, referee.seen, places)


def failure(error):
    """One line. Ours say what to do; of any other the kind helps to find it."""
    words = " ".join(str(error).split())
    return words if isinstance(error, (RunFailed, LabError)) else f"{type(error).__name__}: {words}"


def unwatched(outcome):
    """A run for join.merge() of which only its programs have spoken. Pure."""
    return {"goodput_gbps": outcome.goodput_gbps, "goodput_at": outcome.goodput_at, "messages": outcome.messages,
            "sender_cores": outcome.sender_cores, "receiver_cores": outcome.receiver_cores,
            "latency_us": outcome.latency_us, "retransmitted": None, "rxe_agrees": None, "sent": outcome.sent,
            "on_wire": None, "left_wire": None, "received": outcome.received, "places": {}}


def reckon(row, outcome, did, seen, places):
    """One run's counts, for join.merge(). Pure. did: Counters of the run; seen: {"A", "B"}: Sightings."""
    run = {**unwatched(outcome), "retransmitted": 0}
    count = _count_rdma if row.transport in RDMA else _count_udp
    run.update(count(row, outcome, did, seen))
    run["places"] = {**places, **outcome.places}
    for end, name in (("A", "on_wire"), ("B", "left_wire")):
        if not seen[end].complete:
            run[name] = None    # the referee missed frames: its counts prove nothing
    return run


def _count_udp(row, outcome, _did, seen):
    size = min(row.size, PACKET_PAYLOAD)
    return {"on_wire": seen["A"].udp_packets(size, outcome.other_datagram),
            "left_wire": seen["B"].udp_packets(size, outcome.other_datagram)}


def _count_rdma(row, outcome, did, seen):
    """
    What the programs do not count is rxe's to say. Its packets also include those of the other side of a QP pair:
    responses that A sent are not requests, and neither are those that B received.
    """
    sent = join.difference(did.rxe("A", "sent_pkts"), seen["A"].roce_packets("A", "response"))
    rcvd = join.difference(did.rxe("B", "rcvd_pkts"), seen["B"].roce_packets("A", "response"))
    run = {"sent": sent if outcome.sent is None else outcome.sent,
           "received": rcvd if outcome.received is None else outcome.received,
           "on_wire": seen["A"].roce_packets("A", "request"), "left_wire": seen["B"].roce_packets("A", "request")}
    if row.transport == "rc":   # nothing else sends anything again
        run["retransmitted"] = join.retransmitted(run["sent"], run["on_wire"], seen["A"].duplicates())
    run["rxe_agrees"] = join.agreement({"sender": did.rxe("A", "sent_pkts"), "receiver": did.rxe("B", "sent_pkts")},
                                       {"sender": seen["A"].roce_packets("A"), "receiver": seen["B"].roce_packets("B")})
    return run


def record(row, status, why, runs=None):
    fields = {"transport": row.transport, "tool": row.tool, "operation": row.operation, "size": row.size,
              "flows": row.flows, "rate": row.rate, "runs": len(runs or ()), "status": status, "why": why}
    if runs:
        fields.update(join.merge(runs))
        fields["packet_payload"] = min(row.size, PACKET_PAYLOAD)
        fields["goodput_at"] = runs[0]["goodput_at"]
    return fields
