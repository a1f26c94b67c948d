# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs rows in a running lab: programs on both ends, the referee between them, and counters before and after."""
import time

from compare import join
from compare.counters import Counters
from compare.inject import Injection
from compare.referee import Referee
from compare.transport import PACKET_PAYLOAD, UDP_PORT, RunFailed, RunSpoilt
from lab import LabError

# Time after the end of the programs in which queues drain.
QUIET_S = 0.3
# A run may be spoilt, and made again, this often.
TRIES = 3


class Bench:
    """duration: (seconds for our programs, seconds for the others). icrc: as in `rocescope monitor`."""

    def __init__(self, lab, duration, runs=1, icrc="off", injection=Injection()):
        self._lab = lab
        self._own_s, self._foreign_s = duration
        self._runs = runs
        self._icrc = icrc
        self._driver = None
        self.injection = injection
        self.referee_modes = {}

    def run(self, row):
        """The row's record (a row of rocescope.compare/1). A failure is a record too."""
        if row.why:
            return record(row, "skipped", row.why)
        try:
            runs = self._in_lab(row) if row.transport.driver else self._elsewhere(row)
        except Exception as error:  # whatever a tool did, keep the other rows
            return record(row, "failed", failure(error))
        return record(row, "ok", None, runs)

    def _in_lab(self, row):
        self._give_nic_to(row.transport.driver)
        self.injection.begin(self._lab)
        try:
            return [self._run_in_lab(row) for _ in range(self._runs)]
        finally:
            self.injection.end(self._lab)

    def _elsewhere(self, row):
        return [unwatched(self._programs(row, Injection())) for _ in range(self._runs)]

    def _programs(self, row, injection):
        """Runs the row's pair of programs once and returns their Outcome."""
        return row.tool.run(row, row.transport.path(self._lab), self._own_s if row.own else self._foreign_s, injection)

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

    def give_back(self):
        """Gives the NICs back to the guests' kernels, for other users of the lab."""
        if self._driver:
            self._give_nic_to("kernel")

    def _run_in_lab(self, row):
        for _ in range(TRIES - 1):
            try:
                return self._run_once(row)
            except RunSpoilt:
                pass
        return self._run_once(row)

    def _run_once(self, row):
        lab = self._lab
        with Referee(lab, UDP_PORT, self._icrc) as referee:
            before = Counters.read(lab)
            outcome = self._programs(row, self.injection)
            time.sleep(QUIET_S)
            did = Counters.read(lab) - before
        self.referee_modes = referee.modes
        places = did.places(nic=lab.nic, sender_port=lab.port("A"), receiver_port=lab.port("B"))
        return reckon(row, outcome, did, referee.seen, places)


def failure(error):
    """One line. Our own errors say what to do; for others the exception's type helps."""
    words = " ".join(str(error).split())
    return words if isinstance(error, (RunFailed, LabError)) else f"{type(error).__name__}: {words}"


def unwatched(outcome):
    """A run for join.merge() that has the programs' own figures only. Pure."""
    return {"goodput_gbps": outcome.goodput_gbps, "goodput_at": outcome.goodput_at, "messages": outcome.messages,
            "sender_cores": outcome.sender_cores, "receiver_cores": outcome.receiver_cores,
            "latency_us": outcome.latency_us, "retransmitted": None, "rxe_agrees": None, "sent": outcome.sent,
            "on_wire": None, "left_wire": None, "received": outcome.received, "places": {}}


def reckon(row, outcome, did, seen, places):
    """The counts of one run, for join.merge(). Pure. did: Counters of the run; seen: {"A", "B"}: Sightings."""
    run = {**unwatched(outcome), "retransmitted": 0}
    run.update(row.transport.count(row, outcome, did, seen))
    run["places"] = {**places, **outcome.places}
    unknown = set(outcome.places) - set(row.transport.places)
    if unknown:
        raise RunFailed(f"{row.tool.name} lost packets at '{unknown.pop()}', which none of its Places describes")
    for end, name in (("A", "on_wire"), ("B", "left_wire")):
        if not seen[end].complete:
            run[name] = None    # the referee missed frames, so its counts prove nothing
    return run


def record(row, status, why, runs=None):
    fields = {"transport": row.transport.name, "tool": row.tool.name, "operation": row.tool.operation, "size": row.size,
              "flows": row.flows, "rate": row.rate, "runs": len(runs or ()), "status": status, "why": why}
    if runs:
        fields.update(join.merge(runs, row.transport.places))
        fields["packet_payload"] = min(row.size, PACKET_PAYLOAD)
        fields["goodput_at"] = runs[0]["goodput_at"]
    return fields
