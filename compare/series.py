# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Plots of several series over what they vary in, each named where it ends: lines, boxes and bars. Knows nothing of a comparison.
What is on a line has words (the line's name), number (of its dashes and mark), colour, mark_at() and link(), as Point has them.
"""
import dataclasses
import html
import math

from compare import svg

TOP, BOTTOM, LEFT = 12, 330, 64
ASIDE = 10          # pixels by which marks of one place stand beside each other, so that equal ones show
WIDEST = 26         # pixels of a box or a bar
MOST_LABELS = 8     # of sizes, below a plot


@dataclasses.dataclass(frozen=True)
class _Member:
    """Of a line, at a value of what is varied."""
    words: str
    line: int
    value: object

    @property
    def number(self):
        return self.line

    @property
    def colour(self):
        return f"c{self.line % svg.COLOURS}"

    def link(self, words, *content):
        return svg.element("g", svg.element("title", html.escape(f"{self.words}, {words}")), *content, class_=self.colour)


@dataclasses.dataclass(frozen=True)
class Point(_Member):
    """A mean with its standard deviation."""
    mean: float
    std: float = 0

    def mark_at(self, x, y):
        return svg.mark(x, y, self.number)


class _Area(_Member):
    def mark_at(self, x, y):
        return self._area(x - 6, y - 4, 12, 8)

    def _area(self, x, y, width, height):
        return svg.element("rect", x=float(x), y=float(y), width=float(width), height=float(max(height, 1)), class_="bar box",
                           stroke_dasharray=svg.dashes(self.number))


@dataclasses.dataclass(frozen=True)
class Bar(_Area):
    """From 0 to its end."""
    end: float

    @property
    def figures(self):
        """What the axis has room for."""
        return 0, self.end

    def drawn(self, x, half, up):
        """half: of its width. up: the axis."""
        return self._area(x - half, up(self.end), 2 * half, up(0) - up(self.end))


@dataclasses.dataclass(frozen=True)
class Box(_Area):
    """Five quantiles. Its end, by which its line is named, is the median."""
    p10: float
    q1: float
    end: float
    q3: float
    p90: float

    @property
    def figures(self):
        return self.p10, self.p90

    def drawn(self, x, half, up):
        low, high = up(self.q1), up(self.q3)
        whiskers = svg.whisker(x, low, x, up(self.p10), half / 2) + svg.whisker(x, high, x, up(self.p90), half / 2)
        return (whiskers + self._area(x - half, high, 2 * half, low - high)
                + svg.line(x - half, up(self.end), x + half, up(self.end), "mean"))


def means(title, points, axis, across, place, said, aside=ASIDE):
    """
    A line through the means, with standard deviations. axis: words of the measure. across: the axis below. place(point): its value
    there. said(point): what it says when pointed at, after its line's name.
    """
    up = svg.Axis.fitting([figure for point in points
                           for figure in (max(point.mean - point.std, point.mean / 3), point.mean + point.std)], axis)

    def draw(point, x):
        y = up(point.mean)
        return y, svg.whisker(x, up(point.mean - point.std), x, up(point.mean + point.std)) if point.std else "", said(point)

    return lines(title, points, across, up, place, draw, aside)


def sizes(values, words, form):
    """An axis of sizes by their logarithm. Those whose labels have no room have none."""
    room = math.log(values[-1] / values[0]) / MOST_LABELS
    labelled = [values[-1]]
    for value in reversed(values):
        if math.log(labelled[-1] / value) >= room:
            labelled.append(value)
    return svg.Axis(values, f"{words}, logarithmic", True, lambda size: form(size) if size in labelled else "")


def lines(title, points, across, up, place, draw, aside=ASIDE):
    """As means(), along any axis up. draw(point, x): the mark's y, markup below it, and what it says when pointed at."""
    found = {}
    for point in sorted(points, key=lambda point: (point.number, place(point))):
        found.setdefault(point.number, []).append(point)
    right = right_of(points)
    half = aside * (len(found) - 1) / 2
    up.span(BOTTOM, TOP)
    across.span(LEFT + half + 14, right - half - 14)
    drawn, ends = [], []
    for n, each in enumerate(found.values()):
        pixels, marks = [], []
        for point in each:
            x = across(place(point)) + aside * n - half
            y, below, words = draw(point, x)
            pixels.append((x, y))
            marks.append(point.link(words, below, point.mark_at(x, y)))
        drawn += [line(pixels, each[0]), *marks]
        ends.append((across(place(each[-1])) + half + 8, pixels[-1][1], each[-1]))
    return named(title, across, up, right, ends, drawn)


def beside(title, members, axis, across, said):
    """
    Boxes or Bars, those of a value side by side. axis: words of the measure. across: (words, values, form): what is below, whose values
    have a place each; form(value): its label. said(member): as means() has it.
    """
    words, values, form = across
    up = svg.Axis.fitting([figure for each in members for figure in each.figures], axis).span(BOTTOM, TOP)
    below = svg.Axis(range(len(values)), words, form=lambda n: form(values[n]))
    numbers, right = sorted({each.line for each in members}), right_of(members)
    step = min(WIDEST + 6, (right - LEFT) / len(values) / (len(numbers) + 1))
    edge = max(14, step * len(numbers) / 2 + 4)
    below.span(LEFT + edge, right - edge)
    drawn, ends = [], []
    for n, number in enumerate(numbers):
        own = sorted((each for each in members if each.line == number), key=lambda each: values.index(each.value))
        for each in own:
            x = below(values.index(each.value)) + step * (n - (len(numbers) - 1) / 2)
            drawn.append(each.link(said(each), each.drawn(x, step / 2 - 3, up)))
        ends.append((x + step / 2, up(own[-1].end), own[-1]))
    return named(title, below, up, right, ends, drawn)


def right_of(named_ones):
    """Where a plot ends, so that names have room beside it."""
    return svg.WIDTH - 32 - max(svg.width_of(each.words) for each in named_ones)


def named(title, across, up, right, ends, drawn):
    """The picture, with names beside it. ends: [(x, y, what is named)], where the lines that lead to them begin."""
    heights = svg.spread([end for _, end, _ in ends], 16, TOP + 6, BOTTOM - 6)
    names = [svg.line(x, end, right + 12, y, "lead") + svg.text(right + 30, y + 4, each.words)
             + svg.element("g", each.mark_at(right + 20, y), class_=each.colour)
             for (x, end, each), y in zip(ends, heights)]
    return svg.drawing(BOTTOM + 44 + across.deeper, title, across.below(TOP, BOTTOM), up.beside(LEFT, right), *names, *drawn)


def line(pixels, point):
    """Through pixels, in the colour and the dashes of its line."""
    path = "L".join(f"{x:.2f} {y:.2f}" for x, y in pixels)
    return svg.element("path", d=f"M{path}", class_=f"line {point.colour}",
                       stroke_dasharray=svg.dashes(point.number))
