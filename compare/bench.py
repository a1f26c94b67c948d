# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs rows in a running lab: programs on both ends, the referee between them, and counters before and after."""
import contextlib
import itertools
import random
import time

from compare import PATIENCE_S, disturbed, join, noise
from compare.counters import Counters
from compare.inject import Injection
from compare.referee import MOST_PORTS, Calls, NoReferee, Referee, RefereeFailed, Watcher
from compare.transport import PING_PONG, UDP_PORT, CannotRun, RunFailed, RunSpoilt
from lab import LabError

# Time after the end of the programs in which queues drain.
QUIET_S = 0.3
# A run that its tool could not measure is tried this often.
TRIES = 3


class Bench:
    """
    Runs a row once. seconds: (of our programs, of the others). icrc: as in `rocescope monitor`. watch: the monitor runs on the
    end where the requesters of RC are, too. calls: `rocescope verbs` runs on the ends of the first pair. marked(mark): takes the mark
    of a run (disturbed.py) as soon as there is one.
    """

    def __init__(self, lab, seconds, icrc="off", injection=Injection(), delay_us=0, watch=False, calls=False,
                 marked=lambda mark: None):
        self._lab, self._delay_us, self._watch, self._calls = lab, delay_us, watch, calls
        self._own_s, self._foreign_s = seconds
        self._icrc = icrc
        self._driver, self._rxe, self._seconds = None, False, None
        self._others, self._marked, self._mark = disturbed.Watch(lab), marked, None
        self.injection = injection
        self.referee_modes = {}
        self.no_referee = f"it counts {MOST_PORTS} pairs at most" if lab and len(lab.pairs) > MOST_PORTS else None

    @property
    def pairs(self):
        """How many senders share a rate."""
        return len(self._lab.pairs)

    @property
    def refereed_apart(self):
        """Whether runs that measure have no referee, which would slow down what it judges: it needs a CPU of this machine."""
        return self._lab.native

    def can_referee(self, row):
        """Whether there is a place for the referee while the row runs."""
        if self._lab.has_wire or not row.transport.driver:
            return bool(row.transport.driver)
        held = row.transport.driver == "dpdk" and not self._lab.dpdk_copies     # the NIC is no interface then
        return row.transport.seen_on_nic and not held and not self.no_referee

    def refusal(self, row):
        """Why the row cannot run here. None: it can."""
        by_queue = f"its packets do not pass the sender's queue, which makes the {'distance' if self._delay_us else 'link'}"
        alone = not row.tool.several_pairs or (row.transport.driver == "dpdk" and not self._lab.dpdk_copies)
        several = "one pair only" if len(self._lab.pairs) > 1 and alone else None
        return (row.why or several or row.transport.refusal(self._lab)
                or (by_queue if (self._delay_us or self.injection.sender_link) and not row.tool.through_qdisc else None)
                or next(filter(None, (row.tool.refusal(row, pair) for pair in self._lab.pairs)), None))

    def once(self, row, refereed, seconds=None):
        """
        One run for join.merge(), or an exception. seconds: in place of those of all runs. One that ends without a figure is made
        once more: `repeated` says why.
        """
        self._seconds, repeated = seconds, None
        for tries_left in reversed(range(TRIES)):
            try:
                run = self._once(row, refereed)
            except RunSpoilt as error:
                if not tries_left:
                    raise
                repeated = str(error)
                continue
            run["missing"] = missing(row, run)
            if repeated or not run["missing"]:
                break
            repeated = run["missing"]
        return {**run, "repeated": repeated, "mark": self._mark}

    def _once(self, row, refereed):
        refereed = refereed and self.can_referee(row)
        if not row.transport.driver:
            return {**unwatched(self._programs(row, Injection())), "refereed": False}
        self._give_nics_to(row.transport)
        self.injection.begin(self._lab)
        try:
            with row.tool.around(row, row.transport.path(self._lab.pairs[0])):
                return {**self._in_lab(row, refereed), "refereed": refereed}
        except NoReferee as error:
            self.no_referee = str(error)
            raise
        finally:
            self.injection.end(self._lab)

    def _programs(self, row, injection):
        """Runs the row's programs once and returns their Outcome."""
        with self._others:
            outcome = self._outcome(row, injection)
        # of samples of the CPUs alone, and written down before anybody looks at the outcome
        self._mark = self._others.mark()
        self._marked(self._mark)
        return outcome

    def _outcome(self, row, injection):
        seconds = self._seconds or (self._own_s if row.own else self._foreign_s)
        paths = [row.transport.path(pair) for pair in self._lab.pairs]
        if len(paths) == 1:
            return row.tool.run(row, paths[0], seconds, injection)
        return row.tool.run_pairs(row, paths, seconds, injection)

    def _give_nics_to(self, transport):
        """To the driver that it needs, with SoftRoCE on them if it needs that."""
        if transport.driver != self._driver:
            if transport.driver == "dpdk":
                self._bind()
            elif self._driver:
                self._unbind()
            self._driver, self._rxe = transport.driver, False
        if transport.rxe and not self._rxe:
            for end in self._lab.ends:
                self._lab.rxe_up(end)
            self._rxe = True

    def _bind(self):
        try:
            for end in self._lab.ends:
                self._lab.dpdk_bind(end, UDP_PORT)
        except LabError:
            self._unbind()
            raise

    def _unbind(self):
        for end in self._lab.ends:
            self._lab.dpdk_unbind(end)

    def give_back(self):
        """Gives the NICs back to the kernels, for other users of the lab."""
        if self._driver == "dpdk":
            self._unbind()
        self._driver, self._rxe = None, False

    def lost_end(self):
        """The end of the path that has ended, or None."""
        return next((end for end in self._lab.ends if self._lab.exec(end, ["true"], timeout=PATIENCE_S).rc), None)

    def _in_lab(self, row, refereed):
        run = self._watched if refereed else self._counted
        if not row.transport.rxe:
            return run(row)
        pair, beside = self._lab.pairs[0], {}
        with contextlib.ExitStack() as running:
            watcher = running.enter_context(Watcher(pair, row.transport.requester)) if self._watch else None
            calls = {end: running.enter_context(Calls(pair, end)) for end in ("AB" if self._calls else "")}
            done = run(row)
        if watcher:
            beside["dialogue"] = watcher.dialogue
        if calls:
            beside["calls"] = {end: each.counts for end, each in calls.items()}
        return {**done, **beside}

    def _watched(self, row):
        with Referee(self._lab, row, self._icrc) as referee:
            outcome, did, places = self._measured(row)
        self.referee_modes = referee.modes
        return {**reckon(row, outcome, did, referee.seen, places, inside=not self._lab.has_wire), **self._noticed(did, outcome)}

    def _counted(self, row):
        """By the counters of all places, without a referee."""
        outcome, did, places = self._measured(row)
        return {**unwatched(outcome), **self._noticed(did, outcome),
                "places": join.merge_places(places, outcome.places, row.transport.places)}

    def _noticed(self, did, outcome):
        """What explains a run's figures and is no count of packets. This machine's energy is that of both its guests."""
        machines = ["wire"] if self._lab.has_wire else self._lab.machines
        details = {end: {**own, **outcome.loss_details.get(end, {})} for end, own in did.loss_details(self._nics).items()}
        return {"joules": did.joules(*machines), "sent_again": did.sent_again(), "flow_control": did.flow_control(self._nics),
                "loss_details": details}

    @property
    def _nics(self):
        return {end: self._lab.netif(end) for end in self._lab.ends}

    def _measured(self, row):
        """(Outcome, what the Counters did, losses by place)"""
        lab = self._lab
        before = Counters.read(lab)
        outcome = self._programs(row, self.injection)
        time.sleep(QUIET_S + 2 * self._delay_us / 1e6)
        did = Counters.read(lab) - before
        senders, receivers = ([lab.port(end) for end in lab.ends if end.startswith(side)] for side in "AB")
        places = did.places(self._nics, sender_port=senders, receiver_port=receivers)
        if row.transport.driver == "dpdk" or not row.transport.seen_on_nic:
            # net_af_packet reads a copy, XDP sees the packets before the kernel: what that does with them is no loss
            places = {name: n for name, n in places.items() if name not in join.KERNEL}
        return outcome, did, places


class Series:
    """
    Rows, each run several times: blocks of all rows, each block in a random order. A row that fails is not run again; of one with
    figures that ends a run without one, the other runs stay. numbers counts the runs of the whole comparison. said((place, row, refereed, why there is none, [run])) is called before a run, with
    None for the last two, and after it. kept(key, make): a run that was made before, or what make() makes. A run that others
    disturbed does not count, and is made again, up to a bound of each row.
    """

    def __init__(self, bench, rows, repeats, order, numbers, said=lambda words: None, kept=lambda key, make: make()):
        self._bench, self._rows, self._repeats = bench, rows, repeats
        self._order, self._numbers, self._said, self._kept = order, numbers, said, kept
        self._runs = {row: [] for row in rows}
        self._failed, self._spoilt = {}, {row: [] for row in rows}
        self._disturbed = {row: [] for row in rows}     # runs that do not count
        self._refused = {row: bench.refusal(row) for row in rows}

    def run(self):
        blocks = [(block, not self._bench.refereed_apart) for block in range(1, self._repeats + 1)]
        if self._bench.refereed_apart:
            blocks.append((self._repeats + 1, True))
        turns = [(row, block, refereed) for block, refereed in blocks for row in self._shuffled()
                 if self._bench.can_referee(row) or block <= self._repeats]
        for place, turn in enumerate(turns):
            row, _, refereed = turn
            if row not in self._failed and not self._refused[row] and (not refereed or self._bench.can_referee(row)):
                self._turn(*turn, f"{place + 1:{len(str(len(turns)))}}/{len(turns)}")

    def _turn(self, row, block, refereed, place):
        self._said((place, row, refereed, None, None))
        why = None
        try:
            run = self._run(row, block, refereed)
            if disturbed.is_disturbed(run["mark"]) and len(self._disturbed[row]) < disturbed.again_of(self._repeats):
                self._disturbed[row].append(run)
                run = self._run(row, block, refereed, "again")
        except Exception as error:  # whatever a tool did, keep the other rows
            why = self._without(row, error)
        else:
            self._runs[row].append(run)
        self._said((place, row, refereed, why, self._runs[row][-1:]))

    def _run(self, row, block, refereed, *again):
        return self._kept([row.name, block, refereed, *again],
                          lambda: {**self._bench.once(row, refereed), "block": block, "number": next(self._numbers)})

    def _without(self, row, error):
        """What becomes of a row that did not run. Returns it in words."""
        if end := self._bench.lost_end():
            self._failed[row] = failure(error)
            raise LabError(f"end {end} of the path is gone") from None
        if isinstance(error, CannotRun) and not self._runs[row]:
            self._refused[row] = str(error)
            return f"skipped: {error}"
        if isinstance(error, RefereeFailed) and self._runs[row]:
            return f"no referee: {error}"   # the runs that measure had none
        if isinstance(error, RunSpoilt) and self._runs[row]:
            self._spoilt[row].append(str(error))
            return f"no figure: {error}"
        self._failed[row] = failure(error)
        return f"failed: {failure(error)}"

    def _shuffled(self):
        """The rows that can run, in a random order; those of a driver together, because giving NICs to another takes long."""
        drivers = sorted({row.transport.driver or "" for row in self._rows})
        self._order.shuffle(drivers)
        rows = [row for row in self._rows if not self._refused[row]]
        self._order.shuffle(rows)
        return [row for driver in drivers for row in rows if (row.transport.driver or "") == driver]

    def records(self, broken=None):
        """A record of each row (rocescope.compare/1), in the order of the rows. broken: why no more rows were run."""
        return [self._record(row, broken) for row in self._rows]

    def _record(self, row, broken):
        if self._refused[row]:
            return record(row, "skipped", self._refused[row])
        if row in self._failed:
            return record(row, "failed", self._failed[row])
        if not self._runs[row]:
            return record(row, "skipped", broken or "interrupted")
        return record(row, "ok", None, self._runs[row], self._spoilt[row], self._disturbed[row])


def missing(row, run):
    """Why a run has no figure that its row is judged by, in words. None: it has one, or its tool never tells any."""
    if not row.tool.judged or noise.figure(row.rate, run) is not None:
        return None
    return run["missing"] or f"{row.tool.name} told no {'latency' if row.rate == PING_PONG else 'goodput'}"


def about_runs(runs, spoilt=(), others=()):
    """
    What is to be said of the runs that measure: '4 of 5 runs, one repeated because ...'. None: nothing. spoilt: why runs ended
    without anything. others: runs that were disturbed, and made again.
    """
    timed, counting = join.measuring(runs), [run for run in runs if run["refereed"]] or runs
    without, again = ([run[key] for run in timed if run[key]] for key in ("missing", "repeated"))
    whole, without = len(timed) + len(spoilt), [*without, *spoilt]
    words = [f"{whole - len(without)} of {whole} runs{f' ({_reasons(without)})' if without else ''}"] * bool(without or again)
    words += [f"{'one' if len(again) == 1 else len(again)} repeated because {_reasons(again)}"] * bool(again)
    words += [f"{'one' if len(others) == 1 else len(others)} made again because others disturbed {'it' if len(others) == 1 else 'them'}"] \
        * bool(others)
    left_out = len(counting) - len(join.counted(counting))
    words += [f"counts are of {len(counting) - left_out} of {len(counting)}, because the others do not know all"] * bool(left_out)
    return ", ".join(words) or None


def _reasons(each):
    return "; ".join(dict.fromkeys(each))


def marks(row, runs, others):
    """
    Which of the runs others disturbed (disturbed.counted()), and the figures over all, and over undisturbed ones. None: nobody watched.
    """
    whole = [*runs, *others]
    found = disturbed.counted([(run["mark"], _lost_any(row, run)) for run in whole])
    return found and {**found, "all": _figures(row, whole),
                      "undisturbed": _figures(row, [run for run in whole if not disturbed.is_disturbed(run["mark"])])}


def _lost_any(row, run):
    """None: nobody knows."""
    away, _ = _lost(row, run)
    return None if away is None else away > 0


def _lost(row, run):
    """(how many, of how many) packets or else messages. None: nobody knows."""
    if row.rate != PING_PONG and None not in (run["sent"], run["received"]):
        return max(0, run["sent"] - run["received"]), run["sent"]
    messages = run["messages"]
    return (None, None) if None in (messages["lost"], messages["sent"]) else (max(0, messages["lost"]), messages["sent"])


def _figures(row, runs):
    lost = [counts for counts in (_lost(row, run) for run in runs) if None not in counts]
    return {"runs": len(runs), "goodput_gbps": join.mean(run["goodput_gbps"] for run in join.measuring(runs)),
            "lost": sum(away for away, _ in lost), "of": sum(whole for _, whole in lost)}


def run_once(bench, row):
    """The record of a single refereed run."""
    series = Series(bench, [row], 1, random.Random(0), itertools.count(1))
    if not bench.refusal(row):
        series._turn(row, 1, True, "")
    return series.records()[0]


def failure(error):
    """One line. Our own errors say what to do; for others the exception's type helps."""
    words = " ".join(str(error).split())
    return words if isinstance(error, (RunFailed, LabError)) else f"{type(error).__name__}: {words}"


def unwatched(outcome):
    """A run for join.merge() that has the programs' own figures only. Pure."""
    own = {name: value for name, value in vars(outcome).items() if name not in ("flows_gbps", "other_datagram", "xdp_dropped")}
    return {**own, "flow_gbps": join.quantiles(outcome.flows_gbps), "rxe_agrees": None, "repeated": None, "joules": None, "sent_again": None,
            "dialogue": None, "calls": None, "requests": {"A": None, "B": None}, "flow_control": {"A": {}, "B": {}}, "loss_details": {"A": {}, "B": {}},
            "on_wire": None, "left_wire": None, "places": {}, "mark": None}


def reckon(row, outcome, did, seen, places, inside=False):
    """
    The counts of one run, for join.merge(). Pure. did: Counters of the run; seen: {"A", "B"}: Sightings. inside: the referee
    stood on the ends' NICs.
    """
    run = {**unwatched(outcome), "retransmitted": 0}
    run.update(row.transport.count(row, outcome, did, seen), dialogue=seen["A"].dialogue(),
               requests={end: seen["A"].requests(end) for end in "AB"})
    unknown = set(outcome.places) - set(row.transport.places)
    if unknown:
        raise RunFailed(f"{row.tool.name} lost packets at '{unknown.pop()}', which none of its Places describes")
    run["places"] = join.merge_places(join.without_taken(places, outcome.xdp_dropped), outcome.places, row.transport.places)
    for end, name in (("A", "on_wire"), ("B", "left_wire")):
        if not seen[end].complete:
            run[name] = None    # the referee missed frames, so its counts prove nothing
    if inside:
        run["on_wire"] = join.difference(run["on_wire"], sum(run["places"].get(name, 0) for name in join.BEHIND_SENDER))
        run["left_wire"] = join.difference(run["left_wire"], -sum(run["places"].get(name, 0) for name in join.BEFORE_RECEIVER))
    return run


def record(row, status, why, runs=None, spoilt=(), others=()):
    """A row as the report has it (rocescope.compare/1). others: runs that were disturbed, and do not count."""
    fields = {"transport": row.transport.name, "tool": row.tool.name, "operation": row.tool.operation, "size": row.size,
              "flows": row.flows, "ip": row.ip, "rate": row.rate, "runs": len(join.measuring(runs)) if runs else 0,
              "status": status, "why": why}
    if runs:
        fields.update(join.merge(runs, row.transport.places))
        fields["packet_payload"] = None if row.fragmented else row.packet_payload
        payload = fields["packet_payload"] if row.transport.all_payload else None
        fields["ns_per_gbit"] = join.ns_per_gbit(runs, payload, row.size)
        fields["joules_per_gbit"] = join.joules_per_gbit(runs, payload, row.size)
        fields["goodput_at"] = runs[0]["goodput_at"]
        fields["operation"] = runs[0]["operation"] or row.tool.operation
        fields["about_runs"] = about_runs(runs, spoilt, others)
        fields["marks"] = marks(row, runs, others)
        fields["each"] = [join.one(run) for run in runs]
        fields["disturbed"] = [join.one(run) for run in others]
    return fields
