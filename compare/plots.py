# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The plots of a section of a report, as SVG: a strip or a mark for each row. curves.py has those with a line for each transport.
Each takes Entries and returns a picture, or None if no entry has its figures. Pure.
"""
import dataclasses
from typing import NamedTuple

from compare import join, noise, plan, svg, table
from compare.transport import PING_PONG

LINE = 26           # height of a row
BAR = 18
GROUP = 6           # between transports
# Of latency, and the height of its stroke, in pixels. The first and the last are marks, full and hollow.
PERCENTILES = (("p50", None), ("p90", 6), ("p99", 11), ("p999", 16), ("max", None))
# A place that loses packets has a texture, since colours are for transports: (class, opacity, lines of a tile of 6 pixels).
TEXTURES = (("ink", ".72", None), ("paper", "1", "M-1 7L7 -1M-1 1L1 -1M5 7L7 5"), ("ink", ".3", None),
            ("paper", "1", "M1 1.5h1.5M4 4.5h1.5"), ("ink", ".5", None),
            ("paper", "1", "M-1 -1L7 7M5 -1L7 1M-1 5L1 7"), ("paper", "1", "M0 3h6M3 0v6"),
            ("paper", "1", "M3 0v6"))


class Marked:
    """What a transport has the same everywhere. A subclass has a `row` that names it."""

    @property
    def words(self):
        return plan.transport(self.row["transport"]).words

    @property
    def number(self):
        """Of its transport, which has the same colour, shape and dashes everywhere. No two have the same colour and shape."""
        return [each.name for each in plan.transports()].index(self.row["transport"])

    @property
    def colour(self):
        return f"c{self.number % svg.COLOURS}"

    @property
    def sign(self):
        """The transport's mark, for a line of text."""
        return svg.element("span", svg.sign(self.number), class_=self.colour)

    def mark_at(self, x, y):
        return svg.mark(x, y, self.number)

    def to(self, anchor, words, *content):
        """Content that leads to an anchor of the page, in the transport's colour."""
        return svg.element("g", svg.link(anchor, words, *content), class_=self.colour)


@dataclasses.dataclass(frozen=True)
class Entry(Marked):
    """A row that has figures."""
    row: dict
    anchor: str     # of its runs on the page
    runs: list      # [(anchor, run)]: as row["each"]

    @property
    def name(self):
        return f"{self.words}, {self.row['tool']}"

    @property
    def own(self):
        return self.row["tool"] == "rocescope"

    @property
    def first(self):
        """Whether its tool stands for the transport: ours, where we have one."""
        return self.row["tool"] == plan.transport(self.row["transport"]).tools[0].name

    @property
    def ping_pong(self):
        return self.row["rate"] == PING_PONG

    @property
    def figure(self):
        """{"mean", "std"} of what the row is judged by: goodput, of ping-pong latency."""
        return join.mean_std(noise.figures(self.row).values()) if self.ping_pong else self.row["goodput_gbps"]

    @property
    def latencies(self):
        """Those of all runs (docs/json.md, latency_pooled_us); empty: there are none."""
        return noise.latencies(self.row) or {}

    @property
    def mean(self):
        return self.figure["mean"]

    @property
    def std(self):
        return self.figure["std"] or 0

    @property
    def unit(self):
        return table.unit(self.row["rate"])

    @property
    def axis(self):
        return f"{'mean latency' if self.ping_pong else 'goodput'} ({self.unit})"

    @property
    def mark(self):
        """A tool that does not know what arrived (table.footnotes())."""
        return "^" if self.row.get("goodput_at") == "sender" and not self.ping_pong else ""

    @property
    def together(self):
        """Whether one machine is both ends."""
        return self.row.get("where") == "local" or not plan.transport(self.row["transport"]).driver

    @property
    def apart(self):
        """The runs that are not in the mean, since a referee took its time from them."""
        measuring = join.measuring([{"refereed": False, **run} for _, run in self.runs])
        return [run for _, run in self.runs if run.get("refereed", False) != measuring[0]["refereed"]]

    def cores(self):
        """Busy cores of the machines of both ends; None: not known."""
        both = [self.row[side]["system"] for side in ("sender_cores", "receiver_cores")]
        return None if None in both else sum(both) / (2 if self.together else 1)

    def link(self, words, *content):
        """Content that leads to the entry's runs."""
        return self.to(self.anchor, f"{self.name}: {words}", *content)


def mean_words(entry):
    deviation = f" ± {table.figure_words(entry.std)}" if entry.std else ""
    return f"{table.figure_words(entry.mean)}{deviation}"


def latency_words(figures):
    return ", ".join(f"{table.latency_name(name)} {table.figure_words(value)} µs" for name, value in figures.items())


def _strips(entries, axis, words, draw, right, head=("", 0)):
    """
    A strip for each entry: its names, and what draw(entry, y) returns, on a common axis. right: room there. head: markup above,
    and its height.
    """
    tools = 18 + max(svg.width_of(entry.words) for entry in entries) + 12
    left = tools + max(svg.width_of(entry.row["tool"]) for entry in entries) + 14
    axis.span(left, svg.WIDTH - right)
    top, y, parts, before = head[1] + 4, head[1] + 4 + LINE / 2, [], None
    for entry in entries:
        if entry.words != before:
            y += GROUP if before else 0
            parts += [svg.element("g", svg.mark(6, y, entry.number), class_=entry.colour), svg.text(18, y + 4, entry.words)]
        before = entry.words
        parts += [svg.text(tools, y + 4, entry.row["tool"], class_="own" if entry.own else None), draw(entry, y)]
        y += LINE
    bottom = y - LINE / 2 + 4
    base = svg.line(left, top, left, bottom, "base")
    return svg.drawing(bottom + 44, words, head[0], axis.below(top, bottom), *parts, base)


def means(entries):
    """Of goodput, of ping-pong latency: every run a dot, the mean a bar with the standard deviation."""
    entries = [entry for entry in entries if entry.mean is not None]
    if not entries:
        return None
    most = [entry.mean + entry.std for entry in entries]
    axis = svg.Axis.linear(most + [figure for entry in entries for *_, figure in _figures(entry)], entries[0].axis)

    def draw(entry, y):
        zero, mean = axis(0), axis(entry.mean)
        parts = [svg.element("rect", x=zero, y=y - BAR / 2, width=mean - zero, height=BAR, class_="bar"),
                 svg.line(mean, y - BAR / 2, mean, y + BAR / 2, "mean")]
        if entry.std:
            parts.append(svg.whisker(axis(entry.mean - entry.std), y, axis(entry.mean + entry.std), y, BAR / 3))
        bar = entry.link(f"{mean_words(entry)} {entry.unit}", *parts)
        words = svg.text(svg.WIDTH - 12, y + 4, mean_words(entry), "end") + svg.text(svg.WIDTH - 12, y + 4, entry.mark)
        return bar + _dots(entry, axis, y) + words

    room = 28 + max(svg.width_of(mean_words(entry)) for entry in entries)
    return _strips(entries, axis, f"{entries[0].axis.partition(' (')[0].capitalize()} of each row", draw, room)


def _figures(entry):
    """[(anchor, run, its figure)] of the runs that have one."""
    each = [(anchor, run, noise.figure(entry.row["rate"], run)) for anchor, run in entry.runs]
    return [(anchor, run, figure) for anchor, run, figure in each if figure is not None]


def _dots(entry, axis, y):
    """The runs, from the first at the bar's top to the last at its bottom; those that are not in the mean are hollow."""
    runs, parts = _figures(entry), []
    for n, (anchor, run, figure) in enumerate(runs):
        kind = "hollow" if run in entry.apart else "full"
        dot = svg.element("circle", cx=float(axis(figure)), cy=y + (BAR - 4) * ((n + .5) / len(runs) - .5), r=3.2,
                          class_=f"{kind} dot")
        words = f"{entry.name}, {run_words(run)}: {table.figure_words(figure)} {entry.unit}{_least_words(run)}"
        parts.append(svg.link(anchor, words, dot))
    return svg.element("g", *parts, class_=entry.colour)


def _least_words(run):
    least = run.get("goodput_min_gbps")
    return "" if least is None else f", in the least window {table.figure_words(least)}"


def run_words(run):
    return "mean" if run["number"] is None else f"run {run['number']}{', with the referee' if run.get('refereed') else ''}"


class Piece(NamedTuple):
    """Of a bar of losses."""
    place: str
    words: str
    packets: int


def pieces(row):
    """Where the row lost packets, in the order of their way."""
    known = plan.transport(row["transport"]).places
    found = [Piece(place, known[place].words, row["losses"][place]) for place in known if row["losses"].get(place, 0) > 0]
    rest = row.get("unexplained") or 0
    return found + [Piece("", "unexplained", rest)] * (rest > 0)


def textures(entries):
    """{PLACE: its texture's number} of all places that lost packets, in the order of their way."""
    stretches = {name: place.stretch for each in plan.transports() for name, place in each.places.items()}
    way = sorted(stretches, key=lambda name: join.STRETCHES.index(stretches[name]))
    lost = {piece.place for entry in entries for piece in pieces(entry.row)}
    return {place: number for number, place in enumerate(place for place in way if place in lost)}


def lost(entries, numbers, prefix):
    """Where packets were lost. numbers: of textures(). prefix: makes ids unique on a page. None if nothing was lost."""
    places = {entry.anchor: pieces(entry.row) if entry.row["sent"] else [] for entry in entries}
    if not any(places.values()):
        return None

    def percent(entry):
        return [100 * piece.packets / entry.row["sent"] for piece in places[entry.anchor]]

    axis = svg.Axis.linear([sum(percent(entry)) for entry in entries], "lost packets (% of those sent)")

    def draw(entry, y):
        x, parts = 0, []
        for piece, share in zip(places[entry.anchor], percent(entry)):
            shape = texture(numbers, piece.place, prefix, axis(x), y - BAR / 2, axis(x + share) - axis(x), BAR)
            words = f"{piece.words}, {table.count_words(piece.packets)} of {table.count_words(entry.row['sent'])}"
            parts.append(entry.link(words, shape))
            x += share
        return "".join(parts) + svg.text(axis(x) + 7, y + 4, _lost_words(entry.row), class_=None if parts else "quiet")

    kinds = list(dict.fromkeys((piece.place, piece.words) for entry in entries for piece in places[entry.anchor]))
    kinds.sort(key=lambda kind: numbers.get(kind[0], len(numbers)))
    return _strips(entries, axis, "Where packets were lost", draw, 90, legend(
        [(lambda x, y, place=place: texture(numbers, place, prefix, x, y - 6, 18, 12), words) for place, words in kinds],
        "".join(pattern(numbers[place], prefix) for place, _ in kinds if place)))


def _lost_words(row):
    packets = table.packets_lost(row)
    if packets is None or not row["sent"]:
        return "not all known" if row["losses"] else "not known"
    return table.share_words(packets, row["sent"]) if packets else "none"


def texture(numbers, place, prefix, x, y, width, height):
    """Of textures(): a rectangle; without a place it is empty and dashed: unexplained."""
    fill = f"url(#{prefix}-{numbers[place]})" if place else "none"
    return svg.element("rect", x=float(x), y=y, width=float(max(width, 1)), height=height, fill=fill, class_="texture",
                       stroke_dasharray=None if place else "3 2")


def pattern(number, prefix):
    """What texture() fills rectangles with: goes into the definitions of a picture."""
    kind, opacity, lines = TEXTURES[number % len(TEXTURES)]
    weave = svg.element("path", d=lines, class_="weave") if lines else ""
    return svg.element("pattern", svg.element("rect", width=6, height=6, class_=kind, fill_opacity=opacity), weave,
                       id=f"{prefix}-{number}", width=6, height=6, patternUnits="userSpaceOnUse")


def legend(items, definitions="", width=svg.WIDTH):
    """(markup, height) of [(draw(x, y), words)], in as many lines as it takes."""
    parts, x, y = [svg.element("defs", definitions)] if definitions else [], 1, 12
    for draw, words in items:
        if x > 1 and x + 26 + svg.width_of(words) > width:
            x, y = 1, y + 20
        parts += [draw(x, y), svg.text(x + 25, y + 4, words)]
        x += 44 + svg.width_of(words)
    return "".join(parts), y + 16


def cores(entries):
    """Cores of both machines against goodput, a mark for each entry. None for a single one."""
    entries = [entry for entry in entries if not entry.ping_pong and entry.mean is not None and entry.cores() is not None]
    if len(entries) < 2:
        return None
    top, bottom, left, right = 12, 360, 56, svg.WIDTH - 26
    across = svg.Axis.fitting([entry.mean for entry in entries], "goodput (Gbit/s)", from_0=False).span(left, right)
    words = "busy cores of the machine" if entries[0].together else "busy cores, sender + receiver"
    up = svg.Axis.fitting([entry.cores() for entry in entries], words, from_0=False).span(bottom, top)
    marks = [(across(entry.mean), up(entry.cores()), entry) for entry in entries]
    names = svg.labels([(x, y, entry.name) for x, y, entry in marks], (left + 2, top, svg.WIDTH - 2, bottom - 2))
    drawn = (entry.link(f"{mean_words(entry)} Gbit/s, {entry.cores():.2f} cores",
                        svg.mark(x, y, entry.number, "full" if entry.own else "hollow")) for x, y, entry in marks)
    return svg.drawing(bottom + 44, "Cores against goodput", across.below(top, bottom), up.beside(left, right), names, *drawn)


def latency(entries):
    """Percentiles of each entry that measured them."""
    entries = [entry for entry in entries if any(v and v > 0 for v in _percentiles(entry).values())]
    if not entries:
        return None
    every = [value for entry in entries for value in _percentiles(entry).values() if value > 0]
    axis = svg.Axis.logarithmic(every, "latency (µs)")
    shown = [each for each in PERCENTILES if any(each[0] in _percentiles(entry) for entry in entries)]

    def draw(entry, y):
        figures = _percentiles(entry)
        ends = axis(min(figures.values())), axis(max(figures.values()))
        # the marks come last: they lie over strokes that are close
        signs = [_percentile(name, height, axis(figures[name]), y, entry.number)
                 for name, height in sorted(shown, key=lambda each: not each[1]) if name in figures]
        runs = table.between_words(entry.latencies, "p99")
        return entry.link(f"{latency_words(figures)}{f' (p99 of the runs: {runs} µs)' if runs else ''}",
                          svg.line(ends[0], y, ends[1], y, "line"), *signs)

    return _strips(entries, axis, "Latency", draw, 40, legend(
        [(lambda x, y, name=name, height=height: _percentile(name, height, x + 12, y, 0), table.latency_name(name))
         for name, height in shown]))


def _percentile(name, height, x, y, shape):
    if height:
        return svg.line(x, y - height / 2, x, y + height / 2, "line")
    return svg.mark(x, y, shape, "hollow" if name == "max" else "full")


def _percentiles(entry):
    return {name: entry.latencies[name] for name, *_ in PERCENTILES if entry.latencies.get(name) is not None}
