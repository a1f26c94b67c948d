# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Which runs others disturbed: another guest of the physical machine had the CPU (steal time), or used the core beside ours (the probe of
`make bench`). Only what cannot come from the load counts. A thread that did not run, softirqs out of time and a full buffer are
the path's, whoever on this machine took the CPU.

A mark is made of samples of the CPUs alone, and written down before anybody reads what the run has lost. Pure but for Watch.
"""
import json
import math
import signal

from bench.quiet import is_quiet

PROGRAM = "build/bench/watch_run"
PATIENCE_S = 10
IN_USE = .05        # of its time, from which a CPU counts as one that the run used
STEAL, CORE = "steal", "core"
AGAIN = 2           # how often a trial of a search is made again
MOST_AGAIN = 10     # the same of all trials of a search: it has to end where others never rest
SURE = .05          # below this probability shares differ


# ---- a mark ----

class Watch:
    """
    What others took of the CPUs of a lab's machines, for one run after the other. Guests of this machine take CPUs from each other,
    which is their load's doing: for them the machine below is asked.
    """

    def __init__(self, lab):
        self._lab = lab
        self._places = [] if not lab else ["wire"] if lab.has_wire else lab.machines
        self._best = {}         # {place: most adds a cycle so far}
        self._running, self._samples = {}, {}

    def __enter__(self):
        self._samples = {}
        self._running = {place: self._lab.start(place, [PROGRAM]) for place in self._places}
        for process in self._running.values():
            process.expect("watching", PATIENCE_S)
        return self

    def __exit__(self, *_):
        for process in self._running.values():
            process.kill(signal.SIGTERM)
        self._samples = {place: _read(process) for place, process in self._running.items()}

    def mark(self):
        """That of the samples between enter and exit. None: nobody knows."""
        known = {place: cpus for place, cpus in self._samples.items() if cpus}
        for place, cpus in known.items():
            self._best[place] = max(self._best.get(place, 0), *(cpu["adds"] for cpu in cpus))
        return mark(known, self._best) if known and len(known) == len(self._places) else None


def _read(process):
    """
    The samples of a machine. None: it has no such program, or it does not say. Nobody waits for its end: a load of higher priority
    keeps a CPU from the probe that is to end there.
    """
    process.expect("]\n", PATIENCE_S)
    process.kill()
    try:
        return json.loads(process.stdout.split("\n")[1])
    except (ValueError, IndexError):
        return None


def mark(samples, best):
    """
    samples: {place: [CPU as watch_run prints it]}; best: {place: the most adds a cycle in all runs so far}. Returns { "by": the
    disturbances, "steal_ms", "core": adds a cycle, of the best, of the CPU in use that had fewest; None: the probe knows nothing }.
    """
    used = [(place, cpu) for place, cpus in samples.items() for cpu in cpus if _in_use(cpu)]
    steal = sum(cpu["steal_ms"] for _, cpu in used)
    probed = [(cpu["adds"], best[place]) for place, cpu in used if cpu["probes"] and cpu["adds"]]
    by = [STEAL] * (steal > 0) + [CORE] * any(not is_quiet(adds, most) for adds, most in probed)
    return {"by": by, "steal_ms": steal, "core": round(min(adds / most for adds, most in probed), 3) if probed else None}


def _in_use(cpu):
    taken = cpu["busy_ms"] + cpu["steal_ms"]
    return taken and taken >= IN_USE * (taken + cpu["idle_ms"])


def is_disturbed(found):
    """found: the mark of a run, or None."""
    return bool(found and found["by"])


def again_of(repeats):
    """
    How many runs of a row are made again: one of five. With fewer runs nothing is claimed of a row, and none is made again.
    """
    return repeats // 5


# ---- what a report says ----

def counted(each):
    """
    each: (its mark, whether something was lost; None: not known) of all runs of a row, or trials of a search. Returns what the
    report has beside the figures, None: none has a mark.
    """
    known = [(found, lost) for found, lost in each if found]
    if not known:
        return None
    sides = {name: [is_disturbed(found) for found, lost in known if lost is wanted]
             for name, wanted in (("with_loss", True), ("without_loss", False))}
    parts = {name: {"marked": sum(marks), "of": len(marks)} for name, marks in sides.items()}
    return {"runs": len(each), "watched": len(known), "marked": sum(is_disturbed(found) for found, _ in known),
            "steal": sum(STEAL in found["by"] for found, _ in known), "core": sum(CORE in found["by"] for found, _ in known), **parts,
            "p": fisher(*((part["marked"], part["of"] - part["marked"]) for part in parts.values()))}


def fisher(first, second):
    """
    Fisher's exact test, of both sides: the probability of counts that are as unequal or more, if both lines have the same share.
    first, second: (n with, n without). None: a line is empty.
    """
    (a, b), (c, d) = first, second
    if not a + b or not c + d:
        return None

    def probability(k):
        return math.comb(a + b, k) * math.comb(c + d, a + c - k) / math.comb(a + b + c + d, a + c)

    here = probability(a)
    each = (probability(k) for k in range(max(0, a - d), min(a + b, a + c) + 1))
    return min(1.0, math.fsum(p for p in each if p <= here * (1 + 1e-9)))


def differ(marks):
    """Whether the shares of marked ones with and without a loss do."""
    return marks["p"] is not None and marks["p"] < SURE


def go_with_losses(marks):
    """Whether more of those with a loss are marked than of those without. The test alone does not say which way shares differ."""
    lost, clean = marks["with_loss"], marks["without_loss"]
    return differ(marks) and lost["marked"] * clean["of"] > clean["marked"] * lost["of"]


def shares(marks, what):
    """'7 of 40 trials were disturbed by others (steal 5, core 3): 3 of 4 with a loss, 4 of 36 without'"""
    causes = ", ".join(f"{name} {marks[name]}" for name in (STEAL, CORE) if marks[name])
    words = f"{marks['marked']} of {marks['watched']} {what} were disturbed by others{f' ({causes})' if causes else ''}"
    lost, clean = marks["with_loss"], marks["without_loss"]
    if not marks["marked"] or not lost["of"]:
        return words
    words += f": {lost['marked']} of {lost['of']} with a loss, {clean['marked']} of {clean['of']} without"
    words += f"; these shares differ (p = {marks['p']:.2g})" if differ(marks) else ""
    return words + (", so the marks go with the losses" if go_with_losses(marks) else "")


def of_search(search, form):
    """A search's marks in a sentence, ''; nobody watched. form: of a rate in Gbit/s."""
    marks = search.get("marks")
    if not marks:
        return ""
    words = shares(marks, "trials")
    if marks["marked"]:
        words += (f". Over all trials {_rate(marks['all_gbps'], form)}, over undisturbed ones {_rate(marks['undisturbed_gbps'], form)}")
    if marks["kept"]:
        words += f". {marks['kept']} of those disturbed count all the same, because they were again"
    return words + "."


def of_row(row, form):
    """The same of a row of runs, of which some were disturbed."""
    marks = row.get("marks")
    if not marks or not marks["marked"]:
        return ""
    each = [f"{words} {form(part['goodput_gbps'])} Gbit/s{_lost(part)}" for words, part in
            (("Over all runs", marks["all"]), ("over undisturbed ones", marks["undisturbed"])) if part["goodput_gbps"] is not None]
    return f"{shares(marks, 'runs')}. {', '.join(each)}." if each else f"{shares(marks, 'runs')}."


def in_short(told):
    """
    One sentence for all [(its name in words, row or search)] of a report. None: nobody disturbed any, as far as is known.
    """
    known = [(name, each) for name, each in told if each.get("marks")]
    marked = sum(each["marks"]["marked"] for _, each in known)
    if not marked:
        return None
    watched = sum(each["marks"]["watched"] for _, each in known)
    words = f"Other guests of the physical machine disturbed {marked} of {watched} runs and trials"
    counting = sum(_counting(each) for _, each in known)
    words += f", {f'of which {counting}' if counting < marked else 'which'} count{'s' * (counting == 1)} all the same" if counting else ""
    names = list(dict.fromkeys(name for name, each in known if go_with_losses(each["marks"])))
    return words + (f"; perhaps that is why packets were lost by {', '.join(names)}." if names else ".")


def _counting(each):
    """How many of its marked runs or trials count: there is a bound on making them again."""
    marks = each["marks"]
    return marks["kept"] if "kept" in marks else marks["marked"] - len(each["disturbed"])


def _rate(gbps, form):
    return f"{form(gbps)} Gbit/s" if gbps else "no rate"


def _lost(part):
    return f" with {part['lost']:,} of {part['of']:,} lost" if part["of"] else ""
