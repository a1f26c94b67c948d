# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Which findings of an experiment's source show in a report. The plan's data say what is compared with what; no experiment has code
of its own. Pure.
"""
import math
from typing import Callable, NamedTuple

from compare import join, noise, plan, table, window

SHOWS, NOT, UNKNOWN = "shows", "does not show", "cannot be told"
MESSAGES = {"rocescope": 64, "perftest": 128}   # that a tool keeps outstanding on a QP: rdma_stream's --window, perftest's -t


class Measure(NamedTuple):
    """of(run, row): its figure in a run of a report's row, or None."""
    words: str
    unit: str
    of: Callable


def _cost(end):
    """CPU time of an end's whole machine for what arrives."""
    def of(run, _):
        cores, goodput = run[f"{end}_cores"]["system"], run["goodput_gbps"]
        return 1e3 * cores / goodput if cores is not None and goodput else None
    return of


def _lost(run, _):
    return 100 * run["lost"] / run["sent"] if run["sent"] and run["lost"] is not None else None


def _least_share(run, _):
    pairs = run["pairs_gbps"]
    return 100 * min(pairs) * len(pairs) / sum(pairs) if pairs and None not in pairs and sum(pairs) else None


def _taken(_, row):
    sent, received = row["messages"]["sent"], row["messages"]["received"]
    return 100 * received / sent if sent and received is not None else None


def _waits(kind):
    """ms that the longer of both ends waits for answers, as the monitor has it."""
    def of(run, _):
        told = [requests[kind]["mean"] for requests in run["requests"].values() if requests]
        return max((mean / 1e3 for mean in told if mean is not None), default=None)
    return of


def _requests(end):
    """Messages that the monitor saw an end begin, by the messages of the row's tool."""
    def of(run, row):
        carried = row["messages"]["sent"] and row["messages"]["sent"] / (row.get("counted") or row["runs"])
        return run["requests"][end]["messages"] / carried if run["requests"][end] and carried else None
    return of


MEASURES = {
    "goodput": Measure("goodput", "Gbit/s", lambda run, row: run["goodput_gbps"]),
    "messages": Measure("messages that arrive", "thousand/s",
                        lambda run, row: run["goodput_gbps"] and run["goodput_gbps"] * 1e6 / 8 / row["size"]),
    "latency": Measure("mean latency", "ms", lambda run, row: run["latency_us"] and run["latency_us"]["mean"] / 1e3),
    "latency_p99": Measure("latency that 99 % do not exceed", "ms",
                           lambda run, row: run["latency_us"] and run["latency_us"]["p99"] and run["latency_us"]["p99"] / 1e3),
    "ack_wait": Measure("mean time on the wire from a request to its acknowledgement", "ms", _waits("ack_us")),
    "read_wait": Measure("mean time on the wire from a READ to its response", "ms", _waits("read_us")),
    "sender_requests": Measure("SENDs, WRITEs and READs of the sender on the wire", "for each message", _requests("A")),
    "receiver_requests": Measure("SENDs, WRITEs and READs of the receiver on the wire", "for each message", _requests("B")),
    "lost": Measure("packets lost", "%", _lost),
    "least_share": Measure("goodput of the pair of sender and receiver that has the least", "% of an equal share", _least_share),
    "taken": Measure("messages that the receiver took", "% of those sent", _taken),
    "sender_program": Measure("CPU of the sender's program", "cores", lambda run, row: run["sender_cores"]["process"]),
    "receiver_program": Measure("CPU of the receiver's program", "cores", lambda run, row: run["receiver_cores"]["process"]),
    "sender_cores": Measure("CPU of the sender's machine", "cores", lambda run, row: run["sender_cores"]["system"]),
    "receiver_cores": Measure("CPU of the receiver's machine", "cores", lambda run, row: run["receiver_cores"]["system"]),
    "sender_cost": Measure("CPU time of the sender's machine for a Gbit that arrives", "ms", _cost("sender")),
    "receiver_cost": Measure("CPU time of the receiver's machine for a Gbit that arrives", "ms", _cost("receiver")),
}


def law_latency(facts):
    """ms. Of READ the whole way forth and back, as ib_read_lat has it."""
    us = window.latency_us(facts["transport"], facts["size"], facts["path_mtu"], facts["distance"] * plan.US_PER_KM)
    return us / 1e3 if us else None


def law_goodput(facts):
    """Gbit/s of all QPs."""
    told = dict(word.partition("=")[::2] for word in facts["verbs"].split(","))
    messages = int(told.get("window") or MESSAGES.get(facts["tool"], 1))
    delay_us = facts["distance"] * plan.US_PER_KM
    if facts["transport"] in ("nvme-rdma", "nvme-tcp"):
        return window.nvme_gbps(facts["transport"], facts["tool"], facts["size"], facts["path_mtu"], delay_us)
    one = window.goodput_gbps(facts["transport"], facts["size"], facts["path_mtu"], delay_us, messages)
    return one and one * facts["flows"]


LAWS = {"latency": law_latency, "goodput": law_goodput}     # by the measure that they are beside

# What a selection of rows can ask for. A list: any of these.
FACTS = ("where", "transport", "tool", "operation", "size", "flows", "ip", "rate", "path_mtu", "kernel", "distance", "verbs",
         "inject")
VALUE_WORDS = {"size": table.size_words, "flows": lambda n: f"{n} QPs" if n > 1 else "1 QP",
               "distance": lambda km: f"{km:g} km", "rate": table.rate_words, "verbs": lambda text: text or "none", "inject": lambda text: text or "none"}


def value_words(key, value):
    return VALUE_WORDS.get(key, str)(value)


def facts_of(row, part, pairs):
    """What tells a row from others: row as a dict, with the Part that it is of, and the number of pairs. flows: of all pairs."""
    of_row = {key: row[key] for key in ("transport", "tool", "operation", "size", "flows", "ip")}
    of_part = {key: getattr(part, key) for key in ("where", "path_mtu", "kernel", "distance", "verbs")}
    return {**of_row, **of_part, "flows": row["flows"] * pairs, "rate": row["rate"] or "full", "inject": part.inject.text}


def planned(parts):
    """The facts of all rows of Parts that run."""
    return [facts_of({**vars(row), "transport": row.transport.name, "tool": row.tool.name, "operation": row.tool.operation},
                     part, part.pairs) for part in parts for row in part.chosen()]


def matches(selection, facts):
    return all(facts[key] in value if isinstance(value, list) else facts[key] == value
               for key, value in selection.items() if key in FACTS)


def in_order(values):
    """Each once: numbers by size, words as they come."""
    found = list(dict.fromkeys(values))
    return found if any(isinstance(value, str) for value in found) else sorted(found)


def values_of(key, selection, known):
    """The values that rows of a selection have. known: facts of rows."""
    return in_order(facts[key] for facts in known if matches(selection, facts))


class Cell(NamedTuple):
    """A selection in a report."""
    facts: dict         # None: there is no such row
    row: dict
    figures: dict       # {block: figure}
    why: str            # it has no figures

    @property
    def mean(self):
        return join.mean(self.figures.values())

    @property
    def std(self):
        return join.mean_std(self.figures.values())["std"]


class Rows:
    """The rows of a report, by what a plan calls them."""

    def __init__(self, document):
        parts = {}
        for number, each in enumerate(document["plan"]["parts"], 1):
            told = {key: value for key, value in each.items() if value is not None}
            part = plan.read_part(document["plan"]["file"], number, told)
            parts[part.path] = part
        pairs = {name: len(path.get("pairs") or (1,)) for name, path in document["paths"].items()}
        self.rows = [(facts_of(row, parts[row["path"]], pairs.get(row["path"], 1)), row) for row in document["rows"]]

    @property
    def facts(self):
        return [facts for facts, _ in self.rows]

    def cell(self, selection, measure):
        """Of several rows that match, the first one with figures."""
        found = [_cell(facts, row, MEASURES[measure]) for facts, row in self.rows if matches(selection, facts)]
        return next((cell for cell in found if cell.figures), found[0] if found else Cell(None, None, {}, "not run"))


def _cell(facts, row, measure):
    if row["status"] != "ok":
        return Cell(facts, row, {}, f"{row['status']}: {row['why']}")
    runs = {run["block"]: measure.of(run, row) for run in join.measuring(row["each"])}
    figures = {block: figure for block, figure in runs.items() if figure is not None}
    return Cell(facts, row, figures, None if figures else f"its {measure.words} is not known")


class Range(NamedTuple):
    """A ratio, and between what it lies: a 95 % interval, or, of too few runs for one, the least and the most of these runs."""
    ratio: float
    low: float
    high: float
    runs: int
    sure: bool

    @property
    def words(self):
        if not self.sure and self.runs == 1:
            return f"{self.ratio:.3g} (one run)"
        return f"{self.ratio:.3g} ({self.low:.3g} to {self.high:.3g}{'' if self.sure else f' in {self.runs} runs'})"

    def judged(self, least, most):
        if (least is None or self.low >= least) and (most is None or self.high <= most):
            return SHOWS
        outside = (least is not None and self.high < least) or (most is not None and self.low > most)
        return NOT if outside else UNKNOWN


def compared(a, b, comparisons):
    """The Range of the ratio of two Cells. Rows of one path are pairs, by block."""
    paired = a.row["path"] == b.row["path"]
    if paired:
        found = noise.compare(a.figures, b.figures, comparisons)
        each = [a.figures[block] / b.figures[block] for block in a.figures if b.figures.get(block)]
    else:
        found = noise.change(list(b.figures.values()), list(a.figures.values()), comparisons)
        each = [x / y for x in a.figures.values() for y in b.figures.values() if y]
    runs = found["pairs" if paired else "runs"]
    if found["low"] is not None:
        return Range(found["ratio"], found["low"], found["high"], runs, True)
    return Range(found["ratio"], min(each), max(each), runs, False) if each and found["ratio"] else None


def beside(a, figure, comparisons):
    """The Range of a Cell's figures by one that is given."""
    each = [value / figure for value in a.figures.values()]
    if len(each) >= noise.ENOUGH and min(each) > 0:
        return Range(*noise.interval(list(map(math.log, each)), comparisons), len(each), True)
    return Range(join.mean(each), min(each), max(each), len(each), False)


class Verdict(NamedTuple):
    word: str
    text: str


def together(words):
    """One word of those of several places."""
    if set(words) <= {SHOWS} and words:
        return SHOWS
    if NOT in words:
        return "shows in part" if SHOWS in words else NOT
    return UNKNOWN


def judge_ratio(rows, finding):
    """
    Whether the ratio of a measure of `a` and `b` lies between `least` and `most`. b: a selection, or {figure = N}, or
    {law = true}. by: a key; each value that `a` has is judged.
    """
    by, measure, a, b = finding.get("by"), finding["measure"], finding["a"], finding["b"]
    values = values_of(by, a, rows.facts) if by else [None]
    words, said, sure = [], [], True
    for value in values:
        own = {by: value} if by else {}
        where = f"{value_words(by, value)}: " if by else ""
        range_, why = _range(rows, measure, {**a, **own}, {**b, **own}, len(values))
        if not range_:
            words.append(UNKNOWN)
            said.append(f"{where}{why}")
            continue
        sure = sure and range_.sure
        words.append(range_.judged(finding.get("least"), finding.get("most")))
        said.append(f"{where}{range_.words}")
    other = ("the law" if b.get("law") else f"that of {b['name']}" if "figure" not in b else
             b.get("name") or f"the source's {b['figure']:g} {MEASURES[measure].unit}")
    head = f"{MEASURES[measure].words} of {a['name']}, by {other}"
    few = "" if sure else f" Too few runs for an interval of confidence, which takes {noise.ENOUGH} of each."
    return Verdict(together(words), f"{head}: {'; '.join(said) or 'no such row was run'}.{few}")


def _range(rows, measure, a, b, comparisons):
    """(Range, None), or (None, why there is none)"""
    one = rows.cell(a, measure)
    if not one.figures:
        return None, one.why
    if "figure" in b or b.get("law"):
        figure = b["figure"] if "figure" in b else LAWS[measure](one.facts)
        return (beside(one, figure, comparisons), None) if figure else (None, "the law has no figure")
    other = rows.cell(b, measure)
    if not other.figures:
        return None, f"{b['name']}: {other.why}"
    found = compared(one, other, comparisons)
    return found, None if found else "no two figures to compare"


def judge_onset(rows, finding):
    """Whether a measure of `a` first grows by `times` or more, from one value of `across` to the next, at the value `at`."""
    across, measure, a = finding["across"], finding["measure"], finding["a"]
    cells = {value: rows.cell({**a, across: value}, measure) for value in values_of(across, a, rows.facts)}
    known = {value: cell for value, cell in cells.items() if cell.figures}
    blocks = set.intersection(*(set(cell.figures) for cell in known.values())) if known else set()
    steps = list(zip(known, list(known)[1:]))
    if not blocks or not steps or finding["at"] not in known:
        return Verdict(UNKNOWN, f"{MEASURES[measure].words} of {a['name']}: too few rows have figures")
    found = []
    for block in blocks:
        found.append(next((now for before, now in steps
                           if known[now].figures[block] >= finding["times"] * known[before].figures[block]), None))
    right = sum(value == finding["at"] for value in found)
    grows = ", ".join(f"{value_words(across, now)} {known[now].mean / known[before].mean:.3g}" for before, now in steps)
    text = (f"{MEASURES[measure].words} of {a['name']} first grows {finding['times']:g} times or more at "
            f"{value_words(across, finding['at'])} in {right} of {len(found)} runs; it grows to {grows} times.")
    return Verdict(SHOWS if right == len(found) else NOT if not right else UNKNOWN, text)


def judge_label(rows, finding):
    """Whether what the monitor says most often of the row's RC streams is `limit`, in each run of which it knows."""
    a = finding["a"]
    found = [row for facts, row in rows.rows if matches(a, facts) and row["status"] == "ok"]
    told = [run["dialogue"] for row in found for run in row["each"] if run["dialogue"]]
    if not told:
        return Verdict(UNKNOWN, f"the monitor saw no requests with responses of {a['name']}.")
    most = [max(each["limits"], key=each["limits"].get) for each in told]
    right, others = most.count(finding["limit"]), sorted(set(most) - {finding["limit"]})
    psns, reads = (max(each[name] for each in told) for name in ("outstanding_most", "reads_most"))
    text = (f"{a['name']}: the monitor says {finding['limit']} most often in {right} of {len(told)} runs"
            f"{', ' + ', '.join(others) + ' in others' if others else ''}; at most {psns} PSNs and {reads} READs were outstanding.")
    return Verdict(SHOWS if right == len(told) else NOT if not right else UNKNOWN, text)


# judge, and the keys that its finding has beside `says` and `judge`; those with a ? may be left out
JUDGES = {"ratio": (judge_ratio, ("measure", "a", "b", "least?", "most?", "by?")),
          "onset": (judge_onset, ("measure", "a", "across", "times", "at")), "label": (judge_label, ("a", "limit"))}


def judged(rows, finding):
    return JUDGES[finding["judge"]][0](rows, finding)
