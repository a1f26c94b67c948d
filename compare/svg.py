# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Draws SVG and HTML elements, axes, marks, and labels that do not overlap: all pictures that Python draws (docs/dependencies.md).
Knows nothing of a comparison. series.py has whole plots.
"""
import functools
import html
import math
import os
import re
from typing import NamedTuple

WIDTH = 700         # of a plot, in pixels
COLOURS = 10        # classes c0 to c9 of plots.css
# A larger ratio of the largest to the smallest value needs a logarithmic axis.
LINEAR_RATIO = 8
MOST_LOG_TICKS = 9
# Marks of about equal area around 0,0.
SHAPES = ("M-4.6 0a4.6 4.6 0 1 0 9.2 0a4.6 4.6 0 1 0 -9.2 0z", "M-4.2 -4.2h8.4v8.4h-8.4z", "M0 -5.4L5.2 3.8H-5.2z",
          "M0 -6L6 0L0 6L-6 0z", "M0 5.4L5.2 -3.8H-5.2z", "M-6 -2h4v-4h4v4h4v4h-4v4h-4v-4h-4z",
          "M5.4 0L-3.8 5.2V-5.2z", "M-5.4 0L3.8 5.2V-5.2z",
          "M-6 -3.2L-3.2 -6L0 -2.8L3.2 -6L6 -3.2L2.8 0L6 3.2L3.2 6L0 2.8L-3.2 6L-6 3.2L-2.8 0z",
          "M-5 -5.6H5L.8 0L5 5.6H-5L-.8 0z",
          "M0.0 -6.3L1.7 -2.0L6.3 -1.7L2.8 1.2L3.9 5.6L0.0 3.2L-3.9 5.6L-2.8 1.2L-6.3 -1.7L-1.7 -2.0z",
          "M-5.6 -5V5L0 .8L5.6 5V-5L0 -.8z")
# Lines of a plot, as stroke-dasharray has them.
DASHES = (None, "7 3", "2 3", "10 3 2 3")
HALF_MARK = 6
LABEL_LINE = 14     # pixels between lines of a label
# Widths of letters in DejaVu Sans, one of the wide fonts, at 12 pixels.
_NARROW, _NARROW_WIDTH = frozenset("fijlrtI.,:;'|()[]/ "), 4.6
_WIDE, _WIDE_WIDTH = frozenset("mwMWQO@%+±"), 10.6
_CAPITAL_WIDTH, _OTHER_WIDTH = 8.4, 7.4


def element(tag, *content, **attributes):
    """
    An element of HTML or SVG. content: markup, not escaped. Attributes are escaped: class_ is class, text_anchor is
    text-anchor; None leaves one out.
    """
    names = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items() if value is not None)
    words = "".join(f' {name}="{html.escape(_number(value))}"' for name, value in names)
    return f"<{tag}{words}>{''.join(content)}</{tag}>"


def _number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def words(plain):
    """Text for an element of HTML: escaped, and without a line break before a percent sign."""
    return html.escape(plain.replace(" %", "\u00a0%"))


def text(x, y, words, anchor=None, **attributes):
    return element("text", html.escape(words), x=float(x), y=float(y), text_anchor=anchor, **attributes)


def line(x1, y1, x2, y2, kind):
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=kind)


def link(anchor, words, *content):
    """Content that leads to #anchor and has words as its tooltip."""
    return element("a", element("title", html.escape(words)), *content, href=f"#{anchor}")


def mark(x, y, shape, kind="full"):
    return element("path", d=SHAPES[shape % len(SHAPES)], transform=f"translate({x:.2f} {y:.2f})", class_=kind)


def sign(shape, kind="full"):
    """A mark as a picture of its own, in a line of text."""
    return element("svg", element("path", d=SHAPES[shape % len(SHAPES)], class_=kind), class_="sign", viewBox="-7 -7 14 14",
                   aria_hidden="true")


def whisker(x1, y1, x2, y2, cap=4):
    """A line with caps, horizontal or vertical."""
    dx, dy = (0, cap) if y1 == y2 else (cap, 0)
    ends = "".join(f"M{x - dx:.2f} {y - dy:.2f}L{x + dx:.2f} {y + dy:.2f}" for x, y in ((x1, y1), (x2, y2)))
    return element("path", d=f"M{x1:.2f} {y1:.2f}L{x2:.2f} {y2:.2f}{ends}", class_="error")


def drawing(height, words, *content, width=WIDTH):
    """The whole picture. words: for those who cannot see it."""
    return element("svg", *content, class_="plot", viewBox=f"0 0 {width} {height:.0f}", width=width, height=float(height),
                   role="img", aria_label=words)


def dashes(number):
    """Of a line of this number."""
    return DASHES[number % len(DASHES)]


@functools.cache
def style():
    with open(os.path.join(os.path.dirname(__file__), "plots.css"), encoding="utf-8") as file:
        return file.read()


def _style_on_paper():
    """The same with light colours only, and without variables, which not every program that reads SVG knows."""
    variables, _, rest = style().partition("}\n")
    colours = dict(re.findall(r"(--\w+): (#\w+);", variables))
    rest = re.sub(r"@media .*?\n}\n", "", rest, flags=re.S)
    return re.sub(r"var\((--\w+)\)", lambda name: colours[name[1]], rest) + f"svg {{ background: {colours['--paper']}; }}\n"


def standalone(picture, page=""):
    """The picture as a file of its own, whose links lead into the page."""
    opening, rest = picture.split(">", 1)
    opening = opening.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    rest = rest.replace('href="#', f'href="{html.escape(page)}#')
    return f"{opening}>{element('style', _style_on_paper())}{rest}\n"


class Axis:
    """From values to pixels."""

    def __init__(self, ticks, words, log=False, form=None):
        """ticks: values with a label, at both ends of the axis, too. form: makes a label of a tick."""
        self.ticks, self.words, self.log = ticks, words, log
        self.form = form or (_short if log else _equally_long(ticks))
        self._start = self._end = 0
        self._low, self._high = self._scale(ticks[0]), self._scale(ticks[-1])

    @classmethod
    def linear(cls, values, words):
        """From 0 on."""
        return cls(_linear_ticks(0, max(values, default=0) or 1), words)

    @classmethod
    def logarithmic(cls, values, words):
        return cls(_log_ticks(min(values), max(values)), f"{words}, logarithmic", log=True)

    @classmethod
    def fitting(cls, values, words, from_0=True):
        """Linear if that shows the small values, too. from_0: it begins there even if that leaves half of it empty."""
        low, high = min(values), max(values)
        if low > 0 and high / low > LINEAR_RATIO:
            return cls.logarithmic(values, words)
        if from_0 or low <= high / 2:
            return cls.linear(values, words)
        margin = max((high - low) / 10, high / 50)
        return cls(_linear_ticks(low - margin, high + margin), words)

    @classmethod
    def from_none(cls, values, words):
        """From 0 on. Where small values need a logarithmic axis, 0 has a place of its own below them. A value is above 0."""
        above = [value for value in values if value > 0]
        if max(above) / min(above) <= LINEAR_RATIO:
            return cls.linear(values, words)
        ticks = _log_ticks(min(above), max(above))
        none = ticks[0] * ticks[0] / ticks[1]
        return cls([none, *ticks], f"{words}, logarithmic", True, lambda tick: "none" if tick == none else _short(tick))

    def span(self, start, end):
        self._start, self._end = start, end
        return self

    def _scale(self, value):
        return math.log10(value) if self.log else value

    def __call__(self, value):
        """The pixel. A value that the axis does not have is at its end."""
        if self.log and value <= 0:
            return self._start
        if self._low == self._high:     # a single value
            return (self._start + self._end) / 2
        share = (self._scale(value) - self._low) / (self._high - self._low)
        return self._start + min(max(share, 0), 1) * (self._end - self._start)

    @property
    def deeper(self):
        """Pixels that labels of several lines take below a plot more than those of one."""
        return LABEL_LINE * max(self.form(tick).count("\n") for tick in self.ticks)

    def below(self, top, bottom):
        """The axis at the bottom of a plot, its grid, and what it shows."""
        parts = []
        for tick in self.ticks:
            x = self(tick)
            parts.append(line(x, top, x, bottom, "grid"))
            parts += [text(x, bottom + 16 + LABEL_LINE * n, words, "middle", class_="quiet tick")
                      for n, words in enumerate(self.form(tick).split("\n"))]
        middle = (self._start + self._end) / 2
        return "".join(parts) + text(middle, bottom + 35 + self.deeper, self.words, "middle", class_="axis")

    def beside(self, left, right):
        """The axis at the left of a plot, likewise."""
        parts = []
        for tick in self.ticks:
            y = self(tick)
            parts += [line(left, y, right, y, "grid"), text(left - 8, y + 4, self.form(tick), "end", class_="quiet tick")]
        middle = (self._start + self._end) / 2
        return "".join(parts) + text(14, middle, self.words, "middle", class_="axis", transform=f"rotate(-90 14 {middle:.2f})")


class Shares(Axis):
    """Percent, stretched towards 100: from 90 to 99 is as long as from 99 to 99.9."""

    def __init__(self, finest, words):
        """finest: of the values below 100, the one that is nearest to it."""
        nines = max(2, math.ceil(-math.log10(1 - finest / 100)))
        super().__init__([0, 50, *(round(100 - 10 ** (2 - n), 10) for n in range(1, nines + 1))], words, form=_short)

    def _scale(self, value):
        return -math.log10(1 - value / 100) if value < 100 else math.inf


def _short(tick):
    return f"{tick:,.10g}"


def _equally_long(ticks):
    """A function that gives each tick as many decimals as the longest has."""
    decimals = max(len(_short(tick).partition(".")[2]) for tick in ticks)
    return lambda tick: f"{tick:,.{decimals}f}"


def _linear_ticks(low, high):
    """Multiples of 1, 2 or 5 times a power of ten: the first is not above low, the last not below high."""
    power = 10 ** math.floor(math.log10((high - low) / 4))
    step = next(power * times for times in (1, 2, 5, 10) if (high - low) / (power * times) <= 5)
    return [round(step * n, 12) for n in range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)]


def _log_ticks(low, high):
    """Likewise 1, 2 and 5 times powers of ten, or powers of ten if these are too many."""
    if low == high:
        low, high = low / 1.5, high * 1.5
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for times in ((1, 2, 5), (1,)):
        ticks = [float(f"{n}e{power}") for power in powers for n in times]
        ticks = [tick for tick, after in zip(ticks, ticks[1:] + [math.inf]) if after > low]
        ticks = ticks[:next(n for n, tick in enumerate(ticks, 1) if tick >= high)]
        if len(ticks) <= MOST_LOG_TICKS:
            break
    return ticks


def width_of(words, size=12):
    """Pixels that words take in any common font, or a little more."""
    widths = (_NARROW_WIDTH if letter in _NARROW else _WIDE_WIDTH if letter in _WIDE else
              _CAPITAL_WIDTH if letter.isupper() else _OTHER_WIDTH for letter in words)
    return sum(widths) * size / 12


# Where a label may be: distances from its mark, and directions in degrees, the best first.
_DISTANCES = (10, 20, 30, 42, 56, 72, 90, 110, 132, 156, 182)
_DIRECTIONS = (0, 180, 30, -30, 150, -150, 60, -60, 120, -120, 90, -90, 15, -15, 165, -165, 45, -45, 135, -135, 75, -75, 105,
               -105)
_TRIES = 8


def labels(marks, box, avoided=()):
    """
    A text beside each mark (x, y, text), none over another text or mark, nor over an avoided area if it can be helped. A line
    leads to a text that had to move away. A text for which there is no room in the box (left, top, right, bottom) is left out.
    """
    order = sorted(marks, key=lambda one: (sum(math.dist(one[:2], other[:2]) for other in marks), one))
    best = []
    for _ in range(_TRIES):
        placed, left_out = _place(order, marks, box, avoided)
        best = max(best, placed, key=len)
        if not left_out:
            break
        order = left_out + [one for one in order if one not in left_out]    # who found no room chooses first
    return "".join(label.markup for label in best)


def _place(order, marks, box, avoided):
    """([_Label], marks without one), each at the first of its places that is free."""
    covered = {each: (each[0] - HALF_MARK, each[1] - HALF_MARK, each[0] + HALF_MARK, each[1] + HALF_MARK) for each in marks}
    placed, taken, left_out = [], [], []
    for one in order:
        # A line may begin on marks that lie over its own.
        others = [area for area in covered.values() if not _overlap(area, covered[one])]
        places = (_beside(*one, distance, angle) for distance in _DISTANCES for angle in _DIRECTIONS)
        free = [place for place in places if _inside(place.area, box) and not _hits([place.area], covered.values())
                and not _hits(place.line, others) and not _hits([place.area, *place.line], taken)]
        if free:
            found = next((place for place in free if not _hits([place.area], avoided)), free[0])
            taken += [found.area, *found.line]
            placed.append(found)
        else:
            left_out.append(one)
    return placed, left_out


class _Label(NamedTuple):
    markup: str
    area: tuple     # of the text
    line: list      # areas along the line that leads to it


def _beside(x, y, words, distance, angle):
    """A label at this distance, and the line that leads to it unless it is close."""
    dx, dy = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    end_x, end_y, width = x + dx * distance, y + dy * distance, width_of(words, 11)
    anchor, left = ("middle", -width / 2) if abs(dx) < 1e-3 else ("start", 0) if dx > 0 else ("end", -width)
    area = (end_x + left - 1, end_y - 8, end_x + left + width + 1, end_y + 8)
    markup = text(end_x, end_y + 4, words, anchor, class_="label")
    if distance == _DISTANCES[0]:
        return _Label(markup, area, [])
    # A line that stands on end ends at the edge of the text, others a little beside it.
    near = (end_x, end_y - 7 * dy) if anchor == "middle" else (end_x - math.copysign(2, dx), end_y)
    along = [(x + dx * n - 1.5, y + dy * n - 1.5, x + dx * n + 1.5, y + dy * n + 1.5)
             for n in range(HALF_MARK + 2, distance - 8, 2)]
    return _Label(line(x, y, *near, "lead") + markup, area, along)


def _inside(area, box):
    return box[0] <= area[0] and box[1] <= area[1] and area[2] <= box[2] and area[3] <= box[3]


def _hits(areas, others):
    return any(_overlap(area, other) for area in areas for other in others)


def _overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def along(a, b, step=4):
    """Areas that cover the line between two points."""
    pieces = max(1, round(math.dist(a, b) / step))
    points = [(a[0] + (b[0] - a[0]) * n / pieces, a[1] + (b[1] - a[1]) * n / pieces) for n in range(pieces + 1)]
    return [(x - 1.5, y - 1.5, x + 1.5, y + 1.5) for x, y in points]


def spread(wanted, gap, low, high):
    """Positions near those wanted, in their order, at least gap apart; from low to high if there is room."""
    order = sorted(range(len(wanted)), key=lambda n: wanted[n])
    later, earlier = [], []
    for n in order:
        later.append(max([wanted[n]] + [position + gap for position in later[-1:]]))
    for n in reversed(order):
        earlier.append(min([wanted[n]] + [position - gap for position in earlier[-1:]]))
    placed = [(a + b) / 2 for a, b in zip(later, reversed(earlier))]
    placed = [max(position, low + gap * n) for n, position in enumerate(placed)]
    placed = [min(position, high - gap * (len(placed) - 1 - n)) for n, position in enumerate(placed)]
    return [placed[order.index(n)] for n in range(len(wanted))]
