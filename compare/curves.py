# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Plots with a line for each transport, named where it ends. Each takes Entries of one tool a transport (plots.py). Pure."""
import collections
import dataclasses
import html
import itertools
import math
import os

from compare import latency, plots, svg, table
from compare.plots import Marked, mean_words
from compare.transport import PING_PONG, bits_per_second

TOP, BOTTOM, LEFT = 12, 330, 64
ASIDE = 10          # pixels by which marks of one place stand beside each other, so that equal ones show
MOST_LABELS = 8     # of sizes, below a plot
MARKED = (.5, .9, .99)  # shares of the messages that have a mark on a curve


def sizes(entries):
    """Goodput, of ping-pong latency, by message size. entries: of one path and rate. None for a single size."""
    entries = [entry for entry in entries if entry.row["size"]]
    known = sorted({entry.row["size"] for entry in entries})
    return _figures(entries, "message size", lambda: svg.Axis(known, "message size, logarithmic", True, table.size_words),
                    lambda entry: entry.row["size"], lambda entry: table.size_words(entry.row["size"]))


def flows(entries):
    """The same by number of sockets, connections or QPs."""
    known = sorted({entry.row["flows"] for entry in entries})
    return _figures(entries, "flows", lambda: svg.Axis(range(len(known)), "flows", form=lambda n: str(known[n])),
                    lambda entry: known.index(entry.row["flows"]), lambda entry: f"{entry.row['flows']} flows")


def paths(entries):
    """The same by path, in the order of the plan."""
    known = list(dict.fromkeys(entry.row["path"] for entry in entries))
    words, ticks = settings(known)
    return _figures(entries, "path", lambda: svg.Axis(range(len(known)), words, form=lambda n: ticks[n]),
                    lambda entry: known.index(entry.row["path"]), lambda entry: entry.row["path"])


def settings(names):
    """
    What paths (plan.Part.path) have in common beside their numbers, in words, and what is left of each: ('with wire ... %', ['0.1',
    '1']) of 'lab, with wire 0.1 %' and 'lab, with wire 1 %'. The path without a setting is 'usual'.
    """
    words = [name.partition(", ")[2].split() for name in names]
    told = [each for each in words if each]
    if len(told) < 2:
        return "path", [" ".join(each) or "usual" for each in words]
    before = len(os.path.commonprefix(told))
    after = len(os.path.commonprefix([each[before:][::-1] for each in told]))
    frame = [*told[0][:before], "...", *told[0][len(told[0]) - after:]]
    return " ".join(frame), [" ".join(each[before:len(each) - after]) if each else "usual" for each in words]


def _figures(entries, words, across, place, label):
    """What rows are judged by, over anything that they differ in. across(): its axis. None: nothing has two marks."""
    entries = _several([entry for entry in entries if entry.mean is not None])
    if not entries:
        return None
    every = [value for entry in entries for value in (max(entry.mean - entry.std, entry.mean / 3), entry.mean + entry.std)]
    up = svg.Axis.fitting(every, entries[0].axis)

    def draw(entry, x):
        y = up(entry.mean)
        error = svg.whisker(x, up(entry.mean - entry.std), x, up(entry.mean + entry.std)) if entry.std else ""
        return y, error, f"{label(entry)}: {mean_words(entry)} {entry.unit}"

    return _lines(f"{entries[0].axis.partition(' (')[0].capitalize()} by {words}", entries, across(), up, place, draw)


def measures(points, key, values, words, form):
    """
    Any measure over what an experiment varies (experiment.Point). key: of what is varied, whose values have a place each, sizes
    one by their logarithm. words: of the measure. form(value): its label.
    """
    every = [figure for point in points for figure in (point.mean + point.std, max(point.mean - point.std, point.mean / 3))]
    up = svg.Axis.fitting(every, words)
    by_size = key == "size"
    if by_size:
        labelled = _apart(values)
        across = svg.Axis(values, "message size, logarithmic", True, lambda size: form(size) if size in labelled else "")
    else:
        across = svg.Axis(range(len(values)), key, form=lambda n: form(values[n]))

    def draw(point, x):
        y = up(point.mean)
        error = svg.whisker(x, up(point.mean - point.std), x, up(point.mean + point.std)) if point.std else ""
        return y, error, f"{form(point.value)}: {mean_words(point)}"

    return _lines(words, points, across, up, lambda point: point.value if by_size else values.index(point.value), draw, aside=0)


BOXES = "Boxes are from the lower to the upper quartile, with a line at the median. Whiskers end at the 10 % and the 90 % quantile."
BOX = 26            # pixels of the widest


@dataclasses.dataclass(frozen=True)
class Box:
    """Five quantiles of a line, at a value of what is varied."""
    words: str
    line: int
    value: object
    p10: float
    q1: float
    median: float
    q3: float
    p90: float

    @property
    def colour(self):
        return f"c{self.line % plots.COLOURS}"

    def drawn(self, x, half, up):
        """half: of its width. up: the axis."""
        low, high = up(self.q1), up(self.q3)
        whiskers = svg.whisker(x, low, x, up(self.p10), half / 2) + svg.whisker(x, high, x, up(self.p90), half / 2)
        box = svg.element("rect", x=x - half, y=high, width=2.0 * half, height=max(low - high, 1.0), class_="bar box",
                          stroke_dasharray=svg.DASHES[self.line % len(svg.DASHES)])
        return whiskers + box + svg.line(x - half, up(self.median), x + half, up(self.median), "mean")

    def mark_at(self, x, y):
        return svg.element("rect", x=x - 6, y=y - 4, width=12.0, height=8.0, class_="bar box",
                           stroke_dasharray=svg.DASHES[self.line % len(svg.DASHES)])


def boxes(drawn, key, values, words, form):
    """
    Boxes over what an experiment varies: a Box for each line and value, those of a value side by side (BOXES says what they are). key: of
    what is varied, whose values have a place each. words: of the measure. form(value): its label.
    """
    up = svg.Axis.fitting([figure for box in drawn for figure in (box.p10, box.p90)], words).span(BOTTOM, TOP)
    across = svg.Axis(range(len(values)), "message size" if key == "size" else key, form=lambda n: form(values[n]))
    lines = sorted({box.line for box in drawn})
    right = svg.WIDTH - 32 - max(svg.width_of(box.words) for box in drawn)
    step = min(BOX + 6, (right - LEFT) / len(values) / (len(lines) + 1))
    edge = max(14, step * len(lines) / 2 + 4)
    across.span(LEFT + edge, right - edge)
    parts, ends = [], []
    for place, line in enumerate(lines):
        own = sorted((box for box in drawn if box.line == line), key=lambda box: values.index(box.value))
        for box in own:
            x = across(values.index(box.value)) + step * (place - (len(lines) - 1) / 2)
            title = f"{box.words}, {form(box.value)}: median {table.figure_words(box.median)}, quartiles {table.figure_words(box.q1)} and " \
                    f"{table.figure_words(box.q3)}, 10 and 90 % {table.figure_words(box.p10)} and {table.figure_words(box.p90)}"
            parts.append(svg.element("g", svg.element("title", html.escape(title)), box.drawn(x, step / 2 - 3, up), class_=box.colour))
        ends.append((x + step / 2, up(own[-1].median), own[-1]))
    return svg.drawing(BOTTOM + 44 + across.deeper, words, across.below(TOP, BOTTOM), up.beside(LEFT, right), *_names(ends, right), *parts)


def _apart(values):
    """Those of sizes whose labels have room on a logarithmic axis, the largest first."""
    room = math.log(values[-1] / values[0]) / MOST_LABELS
    found = [values[-1]]
    for value in reversed(values):
        if math.log(found[-1] / value) >= room:
            found.append(value)
    return found


def rates(entries):
    """Loss by rate. entries: of one path and size. None for a single rate, and if nothing was lost."""
    shares = {entry.anchor: _share(entry) for entry in entries if entry.row["rate"] != PING_PONG}
    entries = _several([entry for entry in entries if shares.get(entry.anchor) is not None])
    known = sorted({entry.row["rate"] for entry in entries}, key=_speed)
    if not any(shares[entry.anchor] > 0 for entry in entries):
        return None
    up = svg.Axis.from_none([shares[entry.anchor] for entry in entries], "lost packets (% of those sent)")
    across = svg.Axis(range(len(known)), "rate", form=lambda n: table.rate_words(known[n]))

    def draw(entry, _):
        words = table.share_words(table.packets_lost(entry.row), entry.row["sent"])
        return up(shares[entry.anchor]), "", f"{table.rate_words(entry.row['rate'])}: {words} lost"

    return _lines("Loss by rate", entries, across, up, lambda entry: known.index(entry.row["rate"]), draw)


@dataclasses.dataclass(frozen=True)
class Searched(Marked):
    """A search (trials.record()) on the page, with what a plot takes of an Entry. anchors: of its trials."""
    row: dict
    anchor: str
    anchors: list
    unit, axis, std = "Gbit/s", "rate that was found (Gbit/s)", 0

    @property
    def mean(self):
        return self.row["lossless_gbps"]

    def link(self, words, *content):
        return self.to(self.anchor, f"{self.words}: {words}", *content)

    def points(self):
        """[(Gbit/s, percent lost, anchor)] of its trials"""
        return [(each["rate_gbps"], 100 * each["lost"] / each["of"], anchor)
                for each, anchor in zip(self.row["trials"], self.anchors)]


def cliff(searches):
    """Loss by offered rate: each trial of searches of one size. A dashed line is the rate that was found. None: nothing was lost."""
    points = [point for each in searches for point in each.points()]
    if not any(share for _, share, _ in points):
        return None
    up = svg.Axis.from_none([share for _, share, _ in points], "lost (%)").span(BOTTOM, TOP)
    right = svg.WIDTH - 32 - max(svg.width_of(each.words) for each in searches)
    across = svg.Axis.fitting([rate for rate, _, _ in points], "rate that was tried (Gbit/s)", from_0=False)
    across.span(LEFT + 14, right - 14)
    drawn, ends = [], []
    for each in searches:
        means = {}
        for rate, share, _ in each.points():
            means.setdefault(rate, []).append(share)
        line = [(across(rate), up(sum(shares) / len(shares))) for rate, shares in sorted(means.items())]
        if each.mean:
            x = across(each.mean)
            drawn.append(svg.element("g", svg.element("path", d=f"M{x:.2f} {TOP}V{BOTTOM}", class_="line", stroke_dasharray="3 4"),
                                     class_=each.colour))
        drawn += [_line(line, each), *(_trial(each, across(rate), up(share), anchor, rate, share)
                                       for rate, share, anchor in each.points())]
        ends.append((line[-1][0] + 8, line[-1][1], each))
    return svg.drawing(BOTTOM + 44, "Loss by rate that was tried", across.below(TOP, BOTTOM), up.beside(LEFT, right),
                       *_names(ends, right), *drawn)


def _trial(searched, x, y, anchor, rate, share):
    words = f"{searched.words}, {table.rate_figure(rate)} Gbit/s: {f'{share:.2g} % lost' if share else 'none lost'}"
    return searched.to(anchor, words, svg.mark(x, y, searched.number))


def _share(entry):
    """Percent of its packets that were lost. None: not known."""
    lost, sent = table.packets_lost(entry.row), entry.row["sent"]
    return None if lost is None or not sent else max(0, 100 * lost / sent)


def _speed(rate):
    return bits_per_second(rate) if rate else float("inf")


def _several(entries):
    """Those of transports that have more than one: a line needs two marks."""
    counts = collections.Counter(entry.number for entry in entries)
    return [entry for entry in entries if counts[entry.number] > 1]


def _lines(title, entries, across, up, place, draw, aside=ASIDE):
    """
    place(entry): its value on the axis across. draw(entry, x): the mark's y, markup below it, and what it says when pointed at.
    """
    lines = {}
    for entry in sorted(entries, key=lambda entry: (entry.number, place(entry))):
        lines.setdefault(entry.number, []).append(entry)
    right = svg.WIDTH - 32 - max(svg.width_of(entry.words) for entry in entries)
    half = aside * (len(lines) - 1) / 2
    up.span(BOTTOM, TOP)
    across.span(LEFT + half + 14, right - half - 14)
    drawn, ends = [], []
    for n, each in enumerate(lines.values()):
        points, parts = [], []
        for entry in each:
            x = across(place(entry)) + aside * n - half
            y, below, words = draw(entry, x)
            points.append((x, y))
            parts.append(entry.link(words, below, entry.mark_at(x, y)))
        drawn += [_line(points, each[0]), *parts]
        ends.append((across(place(each[-1])) + half + 8, points[-1][1], each[-1]))
    return svg.drawing(BOTTOM + 44 + across.deeper, title, across.below(TOP, BOTTOM), up.beside(LEFT, right), *_names(ends, right), *drawn)


def _names(ends, right):
    """Names beside the plot. ends: [(x, y, what is named)], where the lines that lead to them begin."""
    heights = svg.spread([end for _, end, _ in ends], 16, TOP + 6, BOTTOM - 6)
    return [svg.line(x, end, right + 12, y, "lead") + svg.text(right + 30, y + 4, each.words)
            + svg.element("g", each.mark_at(right + 20, y), class_=each.colour)
            for (x, end, each), y in zip(ends, heights)]


def _line(points, entry):
    path = "L".join(f"{x:.2f} {y:.2f}" for x, y in points)
    return svg.element("path", d=f"M{path}", class_=f"line {entry.colour}",
                       stroke_dasharray=svg.DASHES[entry.number % len(svg.DASHES)])


def distribution(entries):
    """Which share of the messages took at most how long, over all runs. None if no entry knows."""
    curves = [(entry, points) for entry in entries if (points := cumulative(entry))]
    if not curves:
        return None
    finest = max((share for _, points in curves for _, share in points if share < 1), default=0)
    up = svg.Shares(100 * finest, "messages (%), stretched towards 100").span(BOTTOM, TOP)
    left, right = 36 + max(svg.width_of(up.form(tick)) for tick in up.ticks), svg.WIDTH - 40
    across = svg.Axis.logarithmic([us for _, points in curves for us, _ in points if us > 0], "latency (µs)").span(left, right)
    drawn, named, near = [], [], []
    for entry, points in curves:
        pixels = [(across(us), up(100 * share)) for us, share in points]
        near += [area for pair in zip(pixels, pixels[1:]) for area in svg.along(*pair)]
        marks = list(dict.fromkeys(next(n for n, (_, share) in enumerate(points) if share >= wanted) for wanted in MARKED))
        named.append((*pixels[marks[-1]], entry.words))
        drawn += [_line(pixels, entry), *(entry.link(_within(*points[n]), svg.mark(*pixels[n], entry.number)) for n in marks)]
    names = svg.labels(named, (left + 2, TOP, svg.WIDTH - 2, BOTTOM - 2), near)
    return svg.drawing(BOTTOM + 44, "Latency CDF", across.below(TOP, BOTTOM), up.beside(left, right), *drawn, names)


def _within(us, share):
    return f"{table.share_words(share, 1)} of the messages took at most {table.figure_words(us)} µs"


def cumulative(entry):
    """
    [(µs, share of the messages that took at most so long)] of all runs of an entry, each with the same weight, from 0 to 1. Empty: no
    run has a histogram.
    """
    runs = [run for _, run in entry.runs if run.get("latency_histogram") and run not in entry.apart]
    if not runs:
        return []
    parts = latency.shares([run["latency_histogram"] for run in runs])
    least, most = (pick(run["latency_us"][name] for run in runs) for pick, name in ((min, "min"), (max, "max")))
    # the last bucket ends where its longest message does
    sums = itertools.accumulate(share for _, share in parts)
    bounds = {min(bound, most): min(1.0, below) for (bound, _), below in zip(parts, sums)}
    bounds[max(bounds)] = 1.0   # but for rounding
    return [(least, 0.0)] * (least < min(bounds)) + list(bounds.items())
