# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Plots with a line for each transport, named where it ends. Each takes Entries of one tool a transport (plots.py). Pure."""
import collections
import dataclasses
import itertools
import os

from compare import latency, series, svg, table
from compare.plots import Marked, mean_words
from compare.series import BOTTOM, LEFT, TOP
from compare.transport import PING_PONG, bits_per_second

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
    title = f"{entries[0].axis.partition(' (')[0].capitalize()} by {words}"
    return series.means(title, entries, entries[0].axis, across(), place, lambda entry: f"{label(entry)}: {mean_words(entry)} {entry.unit}")


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

    return series.lines("Loss by rate", entries, across, up, lambda entry: known.index(entry.row["rate"]), draw)


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
    right = series.right_of(searches)
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
        drawn += [series.line(line, each), *(_trial(each, across(rate), up(share), anchor, rate, share)
                                       for rate, share, anchor in each.points())]
        ends.append((line[-1][0] + 8, line[-1][1], each))
    return series.named("Loss by rate that was tried", across, up, right, ends, drawn)


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
        drawn += [series.line(pixels, entry), *(entry.link(_within(*points[n]), svg.mark(*pixels[n], entry.number)) for n in marks)]
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
