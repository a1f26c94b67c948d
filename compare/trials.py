# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Runs searches for the highest rate without loss: each trial is a run of a Bench, which search.py judges. A trial that others disturbed
(disturbed.py) does not count, and is made again, up to a bound.
"""
import dataclasses

from compare import disturbed, join
from compare.bench import failure
from compare.search import Search, Trial, bound, conditional_throughput
from compare.transport import CannotRun, RunFailed
from lab import LabError


def lost(row, run):
    """
    (how many were lost, of how many, of what): 'packet'; 'message' where the transport makes the packets and nobody counts them;
    'retransmission' of RC and TCP: packets that were sent again. RunFailed: nobody knows. Pure.
    """
    messages = run["messages"]
    if row.transport.throttles:
        unit, away = "retransmission", run["sent_again"] if run["retransmitted"] is None else run["retransmitted"]
        whole = run["sent"] or messages["sent"] and messages["sent"] * max(1, row.size // row.packet_payload)
    elif None not in (run["sent"], run["received"]):
        unit, away, whole = "packet", run["sent"] - run["received"], run["sent"]
    else:
        unit, away, whole = "message", messages["lost"], messages["sent"]
        if whole is None and None not in (away, messages["received"]):
            whole = messages["received"] + away
    if away is None or whole is None:
        raise RunFailed("nobody counts what it loses")
    if not whole:
        raise RunFailed("nothing was sent, so there is no rate to search")
    return min(max(0, away), whole), whole, unit


def offered(row, run):
    """Bits of payload a second that the sender offered. RunFailed: it does not say. Pure."""
    for count, each in ((run["messages"]["sent"], row.size), (run["sent"], row.packet_payload)):
        if count and run["sent_s"]:
            return count * each * 8 / run["sent_s"]
    raise RunFailed("the sender does not say what it offered")


class Hunt:
    """
    The search for one row. make(load, number, seconds): a run of it, at so many bits a second (None: as fast as it goes); the number
    counts the trials at that load. said(words): progress.
    """

    def __init__(self, row, goal, make, said):
        self._row, self._make, self._said = row, make, said
        self.search = Search(goal.short or goal)
        self._goal = goal
        self.ended = False
        self.unit = None
        self.trials = []        # {"load", "trial", "lost", "of", "run", "walk", "seconds", "counts"}
        self._again = 0         # trials that were made again

    def run(self):
        self._search()
        if self.search.goal != self._goal:
            self.search = Search(self._goal, self.search)
            self._search()
        self.ended = True
        for load in self.search.walk():
            self._try(load, walk=True)

    def _search(self):
        while (load := self.search.next_load()) is not None:
            self.search.add(self._undisturbed(load))

    def _undisturbed(self, load):
        """The trial that counts: the first that nobody disturbed, or the last one within the bounds."""
        for left in reversed(range(disturbed.AGAIN + 1)):
            trial = self._try(load)
            if not disturbed.is_disturbed(self.trials[-1]["run"]["mark"]) or not left or self._again >= disturbed.MOST_AGAIN:
                return trial
            self.trials[-1]["counts"] = False
            self._again += 1

    def _try(self, load, walk=False):
        search = self.search
        full = not load or load == search.most and not search.goal.most
        number = sum(not each["trial"].paced if full else each["load"] == load for each in self.trials) + 1
        run = self._make(None if full else load, number, search.goal.trial)
        lost_now, of, unit = lost(self._row, run)
        if unit != (self.unit or unit):
            raise RunFailed(f"a trial counted {unit}s, those before {self.unit}s")
        self.unit = unit
        now = offered(self._row, run)
        goodput = (run["goodput_gbps"] or 0) * 1e9 or now * (1 - lost_now / of)
        trial = Trial(load or float(round(now)), lost_now / of, now, goodput, paced=not full)
        self.trials.append({"load": trial.load, "trial": trial, "lost": lost_now, "of": of, "run": run, "walk": walk,
                            "seconds": search.goal.trial, "counts": not walk})
        self._said(f"{trial.load / 1e9:.4g} Gbit/s: {f'{lost_now:,} of {of:,} lost' if lost_now else 'none lost'}"
                   f"{', disturbed by others' if disturbed.is_disturbed(run['mark']) else ''}"
                   f"{'' if trial.valid else f', but only {now / 1e9:.4g} were offered'}")
        return trial


def record(row, status, why, goal, hunt=None):
    """A search as the report has it (rocescope.compare/1)."""
    tool = row.tool
    fields = {"transport": row.transport.name, "tool": tool.name, "operation": tool.operation, "size": row.size, "flows": row.flows,
              "ip": row.ip, "status": status, "why": why, "goal": goal.text, "lossless_gbps": None, "conditional_gbps": None,
              "upper_gbps": None, "limit": None, "unit": hunt.unit if hunt else None,
              "packets": None, "lost": None, "at_most": None, "first_loss": None, "marks": None, "trials": []}
    if hunt:
        fields["trials"] = [_trial(each) for each in hunt.trials]
        fields["marks"] = marks(hunt, goal)
    if status == "ok":
        fields.update(found(hunt, goal))
    return fields


def found(hunt, goal):
    """What a search has found."""
    search = hunt.search
    lower, upper = search.lower, search.upper
    at = [each for each in hunt.trials if each["load"] == lower and each["trial"].valid and each["counts"]
          and each["seconds"] == goal.trial]
    packets, missing = sum(each["of"] for each in at), sum(each["lost"] for each in at)
    worse = min((each for each in hunt.trials if each["lost"] and each["load"] > (lower or 0) and (each["counts"] or each["walk"])),
                key=lambda each: each["load"], default=None)
    least = _rate(search, at, goal)
    return {"lossless_gbps": least and least / 1e9, "upper_gbps": upper and upper / 1e9, "limit": search.limit,
            "conditional_gbps": lower and conditional_throughput(goal, lower, search.losses(lower)) / 1e9,
            "packets": packets or None, "lost": missing if at else None, "at_most": bound(missing, packets),
            "first_loss": worse and {"rate_gbps": worse["load"] / 1e9, "lost": worse["lost"], "of": worse["of"],
                                     "losses": join.losses(worse["run"])}}


def _rate(search, at, goal):
    """
    Bits a second that a search has found; at: its trials there. A sender that is not paced offers more in one trial and less in another:
    the least of them is the rate.
    """
    lower = search.lower
    if lower is None or lower != search.most or goal.most:
        return lower
    return min((each["trial"].offered for each in at if not each["trial"].paced), default=lower)


def marks(hunt, goal):
    """
    Which trials others disturbed (disturbed.counted()), how many of them were `kept` because they were disturbed again, and the rate of
    the same trials if all of them counted, and if only undisturbed ones did. None: nobody watched.
    """
    found = disturbed.counted([(each["run"]["mark"], each["lost"] > 0) for each in hunt.trials])
    if not found:
        return None
    kept = [each for each in hunt.trials if each["counts"] and disturbed.is_disturbed(each["run"]["mark"])]
    quiet = [each for each in hunt.trials if not disturbed.is_disturbed(each["run"]["mark"])]
    return {**found, "kept": len(kept), "all_gbps": _rate_of(hunt.trials, hunt.search, goal),
            "undisturbed_gbps": _rate_of(quiet, hunt.search, goal)}


def _rate_of(some, ended, goal):
    """Gbit/s without loss by these trials of the search that has ended. None: they find no rate."""
    some = [each for each in some if each["seconds"] == goal.trial and not each["walk"]]
    search = Search(goal, ended)
    for each in some:
        search.add(each["trial"])
    rate = _rate(search, [each for each in some if each["load"] == search.lower and each["trial"].valid], goal)
    return rate and rate / 1e9


def _trial(each):
    run, trial = each["run"], each["trial"]
    return {"seconds": each["seconds"], "rate_gbps": trial.load / 1e9, "offered_gbps": trial.offered / 1e9,
            "full": not trial.paced, "valid": trial.valid, "walk": each["walk"], "mark": run["mark"], "counts": each["counts"],
            "lost": each["lost"], "of": each["of"],
            "goodput_gbps": run["goodput_gbps"],
            "sent": run["sent"], "received": run["received"], "losses": join.losses(run),
            "sender_cores": run["sender_cores"], "receiver_cores": run["receiver_cores"], "refereed": run["refereed"]}


def search(bench, row, goal, once, said, records):
    """
    Searches, and adds a record whatever happens: what was measured is kept. once(load, number, make): a run that was made before,
    or what make() makes. LabError: an end of the path has gone.
    """
    if why := bench.refusal(row):
        records.append(record(row, "skipped", why, goal))
        return

    def run(load, number, seconds):
        paced = dataclasses.replace(row, rate=load and f"{load / bench.pairs:.0f}bit")
        return once(load, number, lambda: bench.once(paced, not bench.refereed_apart, seconds))

    hunt, status, why = Hunt(row, goal, run, said), "skipped", "interrupted"
    try:
        hunt.run()
    except CannotRun as error:
        why = str(error)
    except Exception as error:  # whatever a tool did, keep the other searches
        status, why = "failed", failure(error)
        if end := bench.lost_end():
            raise LabError(f"end {end} of the path is gone") from None
        said(f"failed: {why}")
    finally:
        # a search that has ended keeps its result, even if its walk has failed
        records.append(record(row, *(("ok", None) if hunt.ended else (status, why)), goal, hunt))
