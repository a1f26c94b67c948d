# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Which findings of an experiment's source show in a report. The plan's data say what is compared with what; no experiment has code
of its own. Pure.
"""
import math
from typing import NamedTuple

from compare import join, noise, table
from compare.measures import LAWS, MEASURES

SHOWS, PART, NOT, UNKNOWN = "shows", "shows in part", "does not show", "cannot be told"

# What a selection of rows can ask for. A list: any of these.
FACTS = ("where", "transport", "tool", "operation", "size", "flows", "ip", "rate", "path_mtu", "kernel", "distance", "verbs",
         "inject", "pairs")
VALUE_WORDS = {"size": table.size_words, "flows": lambda n: f"{n} QPs" if n > 1 else "1 QP",
               "distance": lambda km: f"{km:g} km", "rate": table.rate_words, "verbs": lambda text: text or "none", "inject": lambda text: text or "none"}


def value_words(key, value):
    return VALUE_WORDS.get(key, str)(value)


def facts_of(row, part, pairs):
    """What tells a row from others: row as a dict, with the Part that it is of, and the number of pairs. flows: of all pairs."""
    of_row = {key: row[key] for key in ("transport", "tool", "operation", "size", "flows", "ip")}
    of_part = {key: getattr(part, key) for key in ("where", "path_mtu", "kernel", "distance", "verbs")}
    return {**of_row, **of_part, "flows": row["flows"] * pairs, "rate": row["rate"] or "full", "inject": part.inject.text, "pairs": pairs}


def planned(parts):
    """The facts of all rows of Parts that run."""
    return [facts_of({**vars(row), "transport": row.transport.name, "tool": row.tool.name, "operation": row.tool.operation},
                     part, part.pairs) for part in parts for row in part.chosen()]


def matches(selection, facts):
    return all(facts.get(key) in value if isinstance(value, list) else facts.get(key) == value
               for key, value in selection.items() if key in FACTS)


def in_order(values):
    """Each once: numbers by size, words as they come."""
    found = list(dict.fromkeys(values))
    return found if any(isinstance(value, str) for value in found) else sorted(found)


def values_of(key, selection, known):
    """The values that rows of a selection have. known: facts of rows."""
    return in_order(facts[key] for facts in known if matches(selection, facts))


class Range(NamedTuple):
    """A ratio or a figure, and between what it lies: a 95 % interval, or, of too few runs for one, the least and the most of these runs."""
    figure: float
    low: float
    high: float
    runs: int

    @property
    def sure(self):
        return self.runs >= noise.ENOUGH

    @property
    def words(self):
        """As the index and the text have it."""
        if self.runs == 1:
            return f"{self.figure:.3g} (one run)"
        return f"{self.figure:.3g} ({self.low:.3g} to {self.high:.3g}{'' if self.sure else f' in {self.runs} runs'})"

    def judged(self, least, most):
        """Too few runs neither show nor do not show."""
        if not self.sure:
            return UNKNOWN
        if (least is None or self.low >= least) and (most is None or self.high <= most):
            return SHOWS
        outside = (least is not None and self.high < least) or (most is not None and self.low > most)
        return NOT if outside else UNKNOWN


def of_values(values, comparisons):
    """The Range of figures of runs: of their logarithms, where each has one."""
    if len(values) < noise.ENOUGH:
        return Range(join.mean(values), min(values), max(values), len(values))
    if min(values) > 0:
        return Range(*noise.interval(list(map(math.log, values)), comparisons), len(values))
    mean, low, high = noise.plain_interval(values, comparisons)
    return Range(mean, max(0, low), high, len(values))


def compared(a, b, comparisons):
    """
    The Range of the ratio of two Cells, or None: b has zeros. Rows of one path are pairs, by block; others are not (Welch). Zeros of a
    have no logarithm: they are taken with b's runs one by one.
    """
    if 0 in b.figures.values():
        return None
    each = [a.figures[block] / b.figures[block] for block in a.figures if block in b.figures]
    if each and (a.path == b.path or 0 in a.figures.values()):
        return of_values(each, comparisons)
    found = noise.change(list(b.figures.values()), list(a.figures.values()), comparisons)
    if found["low"] is not None:
        return Range(found["ratio"], found["low"], found["high"], found["runs"])
    each = [x / y for x in a.figures.values() for y in b.figures.values() if y]
    return Range(join.mean(each), min(each), max(each), found["runs"] or 1) if each else None


class Verdict(NamedTuple):
    word: str
    ours: str       # our figure with its interval, for the index
    text: str


def together(words):
    """One word of those of several places."""
    if set(words) <= {SHOWS} and words:
        return SHOWS
    if NOT in words:
        return PART if SHOWS in words else NOT
    return UNKNOWN


def asked(finding, value=None):
    """(the source's figure of a value of `by`, the least and the most that is asked for; None: no bound)"""
    figure = finding.get("figure", 1)
    if isinstance(figure, dict):
        figure = figure[f"{value:g}" if isinstance(value, float) else str(value)]
    return figure, *(None if finding.get(key) is None else figure * finding[key] for key in ("least", "most"))


def judge_ratio(rows, finding):
    """
    Whether a measure of `a` by that of `b`, or of `a` alone, lies within `figure` times `least` and `most`. b: a selection, or
    {law = true}. by: a key; each value that `a` has is judged, and may have its own figure.
    """
    by, measure, a, b = finding.get("by"), finding["measure"], finding["a"], finding.get("b")
    values = values_of(by, a, rows.facts) if by else [None]
    words, ours, said, lost, few = [], [], [], [], False
    for value in values:
        own, where = ({by: value}, f"{value_words(by, value)}: ") if by else ({}, "")
        range_, why = _range(rows, measure, {**a, **own}, b and {**b, **own}, len(values))
        if not range_:
            words.append(UNKNOWN)
            said.append(f"{where}{why}")
            continue
        figure, least, most = asked(finding, value)
        word = range_.judged(least, most)
        few = few or not range_.sure
        words.append(word)
        ours.append(f"{where}{range_.words}")
        said.append(f"{where}{range_.words}, asked {_asked(least, most)}{_direction(word, range_, figure, b)}")
        lost += [f"{where}{each}" for each in _losses(rows, measure, own, a, b)]
    unit = "" if b else f" ({MEASURES[measure].unit})"
    other = "" if not b else ", by the law" if b.get("law") else f", by that of {b['name']}"
    text = f"{MEASURES[measure].words} of {a['name']}{other}{unit}: {'; '.join(said) or 'no such row was run'}."
    if few:
        text += f" Too few runs: an interval of confidence takes {noise.ENOUGH} of each."
    return Verdict(together(words), "; ".join(ours), text + (f" Lost: {'; '.join(lost)}." if lost else ""))


def _asked(least, most):
    if least is not None and most is not None:
        return f"{least:.3g} to {most:.3g}"
    return f"at least {least:.3g}" if most is None else f"at most {most:.3g}"


def _direction(word, range_, figure, b):
    """Of a ratio that does not show: whether at least the direction is the source's."""
    if word != NOT or not b or b.get("law") or figure == 1:
        return ""
    if range_.low <= 1 <= range_.high:
        return " (no difference)"
    return " (the same direction)" if (range_.figure > 1) == (figure > 1) else " (the other direction)"


def _losses(rows, measure, own, *selections):
    """[what the rows of a goodput lost]: it stands beside it. own: the value of `by`."""
    if measure != "goodput":
        return []
    found = [(each["name"], rows.lost({**each, **own})) for each in selections if each and not each.get("law")]
    words = [f"{name} {lost:.2g} %" for name, lost in found if lost is not None]
    return [", ".join(words)] if words else []


def _range(rows, measure, a, b, comparisons):
    """(Range, None), or (None, why there is none)"""
    one = rows.cell(a, measure)
    if why := one.unjudged:
        return None, why
    if not b:
        return of_values(list(one.figures.values()), comparisons), None
    if b.get("law"):
        figure = LAWS[measure](one.facts)
        return (of_values([each / figure for each in one.figures.values()], comparisons), None) if figure else (None, "the law has no figure")
    other = rows.cell(b, measure)
    if why := other.unjudged:
        return None, f"{b['name']}: {why}"
    found = compared(one, other, comparisons)
    return found, None if found else f"{b['name']}: 0 in some runs, by which nothing can be divided"


def judge_spread(rows, finding):
    """Whether the standard deviation of a measure of the runs of `a`, by that of `b`, lies within `figure` times `least` and `most`."""
    measure, sides = finding["measure"], (finding["a"], finding["b"])
    cells = [rows.cell(side, measure) for side in sides]
    words = f"standard deviation of the {MEASURES[measure].words}, of {sides[0]['name']}, by that of {sides[1]['name']}"
    for side, cell in zip(sides, cells):
        if cell.unjudged or len(cell.figures) < noise.ENOUGH:
            return Verdict(UNKNOWN, "", f"{words}: {side['name']}: {cell.unjudged or f'{len(cell.figures)} runs, which are too few'}.")
    found = noise.deviations(*(list(cell.figures.values()) for cell in cells))
    if not found:
        return Verdict(UNKNOWN, "", f"{words}: the runs of {sides[1]['name']} do not differ.")
    range_ = Range(*found, min(len(cell.figures) for cell in cells))
    figure, least, most = asked(finding)
    word = range_.judged(least, most)
    direction = _direction(word, range_, figure, sides[1])
    return Verdict(word, range_.words, f"{words}: {range_.words}, asked {_asked(least, most)}{direction}.")


def judge_onset(rows, finding):
    """Whether a measure of `a` first grows by `times` or more, from one value of `across` to the next, at the value `at`."""
    across, measure, a = finding["across"], finding["measure"], finding["a"]
    cells = {value: rows.cell({**a, across: value}, measure) for value in values_of(across, a, rows.facts)}
    known = {value: cell for value, cell in cells.items() if not cell.unjudged}
    blocks = set.intersection(*(set(cell.figures) for cell in known.values())) if known else set()
    steps = list(zip(known, list(known)[1:]))
    if not blocks or not steps or finding["at"] not in known:
        return Verdict(UNKNOWN, "", f"{MEASURES[measure].words} of {a['name']}: too few rows have figures.")
    found = []
    for block in blocks:
        found.append(next((now for before, now in steps
                           if known[now].figures[block] >= finding["times"] * known[before].figures[block]), None))
    right = sum(value == finding["at"] for value in found)
    grows = ", ".join(f"{value_words(across, now)} {known[now].mean / known[before].mean:.3g}" for before, now in steps)
    text = (f"{MEASURES[measure].words} of {a['name']} first grows {finding['times']:g} times or more at "
            f"{value_words(across, finding['at'])} in {right} of {len(found)} runs; it grows to {grows} times.")
    return Verdict(_all_or_none(right, len(found)), f"in {right} of {len(found)} runs", text)


def _all_or_none(right, runs):
    if runs < noise.ENOUGH:
        return UNKNOWN
    return SHOWS if right == runs else NOT if not right else UNKNOWN


def judge_label(rows, finding):
    """Whether what the monitor says most often of the row's RC streams is `limit`, in each run of which it knows."""
    a = finding["a"]
    told = [each for row in rows.rows if matches(a, row["facts"]) and row["status"] == "ok" for each in row["limits"]]
    if not told:
        return Verdict(UNKNOWN, "", f"the monitor saw no requests with responses of {a['name']}.")
    most = [each["limit"] for each in told]
    right, others = most.count(finding["limit"]), sorted(set(most) - {finding["limit"]})
    psns, reads = (max(each[name] for each in told) for name in ("outstanding_most", "reads_most"))
    text = (f"{a['name']}: the monitor says {finding['limit']} most often in {right} of {len(told)} runs"
            f"{', ' + ', '.join(others) + ' in others' if others else ''}; at most {psns} PSNs and {reads} READs were outstanding.")
    return Verdict(_all_or_none(right, len(told)), f"in {right} of {len(told)} runs", text)


# judge, and the keys that its finding has beside those of all; those with a ? may be left out
JUDGES = {"ratio": (judge_ratio, ("measure", "a", "b?", "figure?", "least?", "most?", "by?")),
          "spread": (judge_spread, ("measure", "a", "b", "figure", "least?", "most?")),
          "onset": (judge_onset, ("measure", "a", "across", "times", "at")), "label": (judge_label, ("a", "limit"))}
COMMON = ("name", "says", "source?", "ours?", "judge")


def judged(rows, finding):
    return JUDGES[finding["judge"]][0](rows, finding)
