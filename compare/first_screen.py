# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What a report answers first, on the page and on the terminal: what each transport delivered, lost, and carries without loss, and which
findings matter most. Pure.
"""
from html import escape
from typing import NamedTuple, Optional

from compare import contradictions, disturbed, noise, plan, plots, svg, table, verdict
from compare.paths import PATHS
from compare.search import Goal
from compare.svg import element
from compare.transport import PING_PONG, SEARCH

WIDTH = 640         # of the picture, which is shown larger where there is room
MOST_PATHS, MOST_FINDINGS = 2, 3
CAPTION = "What arrived, what was lost of what was sent and where, and up to which rate nothing is lost."
TITLE = "What each transport delivered and lost"
# Which findings of `rocescope path` may explain losses at a place, the likeliest first: userspace/diagnose/path/check.def.
EXPLAINED_BY = {"receive_buffer": ("rmem-default", "rmem-max", "udp-mem"), "softnet": ("backlog", "rps", "queues", "irq-one-cpu"),
                "receiver_ring": ("ring", "coalescing", "queues"), "receiver_nic": ("ring", "veth-gro", "xdp-native", "queues", "rss-udp")}
WILL_LOSE, MAY_LOSE = "will lose", "may lose"


class Line(NamedTuple):
    """A transport on a path. One of entry and search may be None."""
    name: str
    entry: Optional[plots.Entry]
    search: Optional[dict]
    search_anchor: Optional[str]

    @property
    def row(self):
        return self.entry.row if self.entry else self.search

    @property
    def mean(self):
        return self.entry.mean if self.entry else None

    @property
    def words(self):
        return verdict.words(self.row)

    @property
    def searched(self):
        """The highest rate without loss that a search found, or None."""
        return self.search["lossless_gbps"] if self.search and self.search["status"] == "ok" else None

    @property
    def whole(self):
        """Whether all that was sent at full speed is known to have arrived: nothing was lost, or it was sent again."""
        row = self.entry.row if self.entry else None
        if not row or self.mean is None:
            return False
        return plan.transport(row["transport"]).throttles or table.packets_lost(row) == 0 and not verdict.messages_lost(row)

    @property
    def clean(self):
        """The most that it is known to carry without loss, Gbit/s. None: nothing is known."""
        return max([self.searched or 0, self.mean if self.whole else 0]) or None

    def bounds(self, comparisons):
        """Between what `clean` lies: a search ends between what was found and what was too much; of runs the interval of their mean."""
        if self.clean == self.searched:
            return self.searched, self.search["upper_gbps"] or self.searched
        values = list(noise.figures(self.row).values()) if "each" in self.row else []
        return noise.plain_interval(values, comparisons)[1:] if len(values) >= noise.ENOUGH else (None, None)

    @property
    def lost(self):
        """[(plots.Piece, Gbit/s)] of what was sent beside what arrived."""
        row = self.entry.row if self.entry else {}
        sent, lost = row.get("sent"), table.packets_lost(row) if row else None
        if not sent or not lost or lost >= sent or not self.mean:
            return []
        return [(piece, self.mean * piece.packets / (sent - lost)) for piece in plots.pieces(row)]

    @property
    def sentence(self):
        said = []
        if self.entry and self.mean is not None:
            row, lost = self.entry.row, table.packets_lost(self.entry.row)
            said.append(f"delivered {plots.mean_words(self.entry)} Gbit/s{_as_sender(self.entry)}")
            if lost:
                said.append(f"lost {table.share_words(lost, row['sent'])}{verdict.where(row)}")
            elif verdict.messages_lost(row):
                said.append(f"lost {verdict.messages_lost(row)} of the messages")
            elif lost == 0:
                said.append("lost nothing")
            if row.get("retransmitted"):
                said.append(f"sent {table.count_words(row['retransmitted'])} packet{'s' * (row['retransmitted'] != 1)} again")
        if self.searched:
            limit = ", the most that its sender offers" if self.search["limit"] == "sender" else ""
            said.append(f"{_goal(self.search)} up to {table.rate_figure(self.searched)} Gbit/s{limit}")
        elif self.search and self.search["status"] == "ok":
            said.append("its sender kept no rate that was tried" if self.search["limit"] == "sender" else "no rate without loss was found")
        return f"{self.words[0].upper()}{self.words[1:]} {verdict.listed(said)}." if said else ""


class Group(NamedTuple):
    """The transports of a path whose figures can be compared, the most without loss first."""
    title: str
    path: str
    lines: list

    @property
    def headline(self):
        """Which transport carries most without loss."""
        first, *others = self.lines
        if not first.clean:
            most = max(self.lines, key=lambda line: line.mean or 0)
            return f"No rate without loss is known; most was delivered by {most.words}, {table.figure_words(most.mean)} Gbit/s."
        second = next((line for line in others if line.clean), None)
        doubt = "" if not second or self._more(first, second) else (
            f"; that it is more than {second.words} ({table.rate_figure(second.clean)}) cannot be told")
        return f"Most without loss: {first.words}, {table.rate_figure(first.clean)} Gbit/s{doubt}."

    def _more(self, a, b):
        """Whether a carries more than b beyond noise."""
        (low, _), (_, high) = a.bounds(len(self.lines)), b.bounds(len(self.lines))
        return None not in (low, high) and low > high


class Finding(NamedTuple):
    words: str
    command: str


def title(document):
    """Paths, machine and date."""
    paths = _paths(document)
    kinds = list(dict.fromkeys(_where(name.partition(",")[0]) for name in paths))
    kinds = [words[0].lower() + words[1:] for words in kinds if words]
    machine = next((path["cpu"] for path in paths.values() if path.get("cpu")), "")
    words = f"Comparison of transports {verdict.listed(kinds)}".strip()
    return ", ".join(filter(None, (words, machine, (document.get("time") or "")[:10].replace("-", "\u2011"))))


def _paths(document):
    return document.get("paths") or ({"": document["path"]} if document.get("path") else {})


def _where(path):
    """A path's name in words, as the beginning of a sentence."""
    return verdict.path_words(path) if path.partition(",")[0] in PATHS else path


def groups(document):
    """([Group], how many paths have none here)"""
    names = list(dict.fromkeys(each["path"] for each in [*document["rows"], *(document.get("searches") or ())]))
    found = [group for name in names if (group := _group(document, name))]
    return found[:MOST_PATHS], len(found[MOST_PATHS:])


def _group(document, path):
    """Of the size and rate of a path at which most transports ran: full speed where there is such."""
    numbered = [(number, row) for number, row in enumerate(document["rows"], 1) if row["status"] == "ok" and row["path"] == path]
    sections = [part for part in table.sections([row for _, row in numbered]) if part.rate != PING_PONG]
    part = max(sections, key=lambda part: (part.rate is None, len({row["transport"] for row in part.rows})), default=None)
    searches = [(f"search-{number}", each) for number, each in enumerate(document.get("searches") or (), 1) if each["path"] == path]
    place = (part.size, part.flows, part.ip) if part else next(((s["size"], s["flows"], s["ip"]) for _, s in searches), None)
    entries, sought = {}, {}
    for number, row in numbered if part else ():
        if any(row is each for each in part.rows):
            entry = plots.Entry(row, f"runs-{number}", [])
            if entry.mean is not None and (row["transport"] not in entries or entry.first):
                entries[row["transport"]] = entry
    for anchor, each in searches:
        if (each["size"], each["flows"], each["ip"]) == place and each["status"] == "ok":
            sought.setdefault(each["transport"], (each, anchor))
    lines = [Line(name, entries.get(name), *sought.get(name, (None, None))) for name in {**entries, **sought}]
    if not lines:
        return None
    lines.sort(key=lambda line: (-(line.clean or 0), -(line.mean or 0)))
    words = part.title if part else table.size_words(place[0])
    words = words.removesuffix(f" ({path})")
    where = f"{_where(path)}, " if document.get("paths") else ""
    return Group(f"{where}{words[0].lower() if where else words[0]}{words[1:]}", path, lines)


def _goal(search):
    goal = Goal.parse(search["goal"])
    return "carries without loss" + table.trials_words(goal) if not goal.loss else f"carries {table.goal_words(search['goal'])}"


def _as_sender(entry):
    return " as its sender counts" if entry.mark else ""


# ---- findings ----

def findings(document):
    """The Findings that matter most: what will lose, what may explain a loss, other losses, what may lose. The largest losses first."""
    told = _told(document)
    losses = sorted(((piece, gbps / line.mean, line, group.path) for group in groups(document)[0] for line in group.lines
                     for piece, gbps in line.lost), key=lambda each: -each[1])
    found = [_of_path(each, []) for each in told if each["severity"] == WILL_LOSE]
    may, others, used = [each for each in told if each["severity"] == MAY_LOSE], [], []
    for piece, _, line, path in losses:
        each = next((each for name in EXPLAINED_BY.get(piece.place, ()) for each in may if each["id"] == name), None)
        if not each:
            others.append(_of_loss(piece, line, path))
        elif each not in used:
            used.append(each)
            found.append(_of_path(each, [(other, of) for other, _, of, _ in losses if other.place == piece.place]))
    found += filter(None, others)
    found += [_of_path(each, []) for each in may if each not in used]
    return list(dict.fromkeys(found))[:MOST_FINDINGS]


def _told(document):
    """Findings of `rocescope path` with a command, each once: {"ends": those that have it, ...}."""
    found = {}
    for path in _paths(document).values():
        for end, those in (path.get("findings") or {}).items():
            for each in those if isinstance(those, list) else ():
                if each.get("command"):
                    side = "sender" if end.startswith("A") else "receiver"
                    found.setdefault((each["id"], each["command"]), {**each, "ends": []})["ends"].append(side)
    return sorted(found.values(), key=lambda each: "receiver" not in each["ends"])


def _of_path(each, losses):
    """A finding, and which losses at one place it may explain: no counter tells whether it does."""
    lost = verdict.listed(list(dict.fromkeys(line.words for _, line in losses)))
    why = f"perhaps why {lost} lost packets ({losses[0][0].words})" if lost else each["why"]
    return Finding(f"{each['id']}, {verdict.listed(list(dict.fromkeys(each['ends'])))}: {each['found']}; {why}.", each["command"])


def _of_loss(piece, line, path):
    """None: no command of ours finds or keeps a rate of this row."""
    row, where = line.row, path.partition(",")[0]
    tool = next((tool for tool in plan.transport(row["transport"]).tools if tool.name == row["tool"]), None)
    command = f"compare/compare {f'--where {where} ' * bool(where)}--rows {row['transport']}/{row['tool']} --rates "
    lost = f"{line.words} lost {table.share_words(piece.packets, row['sent'])} at full speed ({piece.words})"
    if line.searched:
        return Finding(f"{lost}, and carries {table.rate_figure(line.searched)} Gbit/s without loss: send no faster.", command + _rate(line.searched))
    if not tool or not tool.rate_control:
        return None
    search = tool.searches and not line.search      # one that found nothing needs no other
    return Finding(f"{lost}: perhaps its sender is too fast. This {'finds the rate that it keeps' if search else 'sends half of what arrived'}.",
                   command + ("search" if search else _rate(line.mean / 2)))


def _rate(gbps):
    return f"{int(gbps * 1000)}Mbit" if gbps >= .001 else f"{int(gbps * 1e6)}Kbit"


def doubts(document):
    """Sentences on how far the figures can be trusted."""
    said = [] if document.get("complete", True) else ["It was interrupted: rows are missing."]
    refused = contradictions.refused([*document["rows"], *({"rate": SEARCH, **each} for each in document.get("searches") or ())])
    said += [f"Refused, because their figures contradict each other: {', '.join(table.names(refused))}."] * bool(refused)
    watched = [each for each in [*document["rows"], *(document.get("searches") or ())] if each["status"] == "ok"]
    others = disturbed.in_short([(verdict.words(each), each) for each in watched])
    said += [others] * bool(others)
    return said + [table.EMULATED] * any(path.get("emulated_cpu") for path in _paths(document).values())


# ---- picture ----

def picture(document, textures):
    """One picture of all Groups, each on one scale. textures: of plots.textures(). None: there is nothing to draw."""
    found = [group for group in groups(document)[0] if any(line.clean or line.mean for line in group.lines)]
    if not found:
        return None
    legend, y = _legend([line for group in found for line in group.lines], textures)
    left = 30 + max(svg.width_of(line.words) for group in found for line in group.lines)
    right = WIDTH - 24 - max(svg.width_of(_figure(line)) for group in found for line in group.lines)
    parts = [legend]
    for group in found:
        drawn, y = _drawn(group, y, left, right, textures)
        parts.append(drawn)
    return svg.drawing(y, TITLE, *parts, width=WIDTH)


def _drawn(group, y, left, right, textures):
    """(markup, where it ends)"""
    values = [sum([line.mean or 0, line.entry.std if line.entry else 0, *(gbps for _, gbps in line.lost)]) for line in group.lines]
    axis = svg.Axis.linear(values + [line.clean or 0 for line in group.lines], "Gbit/s").span(left, right)
    top = y + 26
    bottom = top + plots.LINE * len(group.lines) + 4
    parts = [svg.text(0, y + 14, group.title, class_="own"), axis.below(top, bottom)]
    for n, line in enumerate(group.lines):
        parts.append(_strip(line, axis, top + 2 + plots.LINE * (n + .5), textures))
    return "".join([*parts, svg.line(left, top, left, bottom, "base")]), bottom + 46


def _strip(line, axis, y, textures):
    """Delivered, then lost, then the most without loss."""
    marked = line.entry or plots.Entry(line.row, line.search_anchor, [])
    parts = [svg.element("g", svg.mark(6, y, marked.number), class_=marked.colour), svg.text(18, y + 4, line.words)]
    if line.mean is not None:
        x, half = axis(line.mean), plots.BAR / 2
        bar = [svg.element("rect", x=axis(0), y=y - half, width=x - axis(0), height=plots.BAR, class_="bar")]
        at = line.mean
        for piece, gbps in line.lost:
            bar.append(plots.texture(textures, piece.place, "first", axis(at), y - half, axis(at + gbps) - axis(at), plots.BAR))
            at += gbps
        if line.entry.std:
            bar.append(svg.whisker(axis(line.mean - line.entry.std), y, axis(line.mean + line.entry.std), y, plots.BAR / 3))
        parts.append(line.entry.to(line.entry.anchor, line.sentence, *bar))
    if line.clean:
        anchor = line.search_anchor if line.clean == line.searched else line.entry.anchor
        parts.append(marked.to(anchor, f"{line.words}: {table.rate_figure(line.clean)} Gbit/s without loss", _clean(axis(line.clean), y)))
    return "".join([*parts, svg.text(WIDTH - 12, y + 4, _figure(line), "end")])


def _clean(x, y):
    return element("path", d=f"M{x:.2f} {y - 12:.2f}v24M{x - 4:.2f} {y - 12:.2f}h8M{x - 4:.2f} {y + 12:.2f}h8", class_="clean error",
                   style="stroke-width: 2")


def _figure(line):
    if not line.entry:
        return ""
    lost = table.packets_lost(line.row)
    return plots.mean_words(line.entry) + line.entry.mark + (f", {table.share_words(lost, line.row['sent'])} lost" if lost else "")


def _legend(lines, textures):
    kinds = dict.fromkeys((piece.place, piece.words) for line in lines for piece, _ in line.lost)
    kinds = sorted(kinds, key=lambda kind: textures.get(kind[0], len(textures)))
    items = [(lambda x, y: element("g", element("rect", x=float(x), y=y - 6, width=18, height=12, class_="bar"), class_="c5"),
              "delivered, ± deviation of the runs")]
    items += [(lambda x, y: _clean(x + 9, y), "no loss up to here")] * any(line.clean for line in lines)
    items += [(lambda x, y, place=place: plots.texture(textures, place, "first", x, y - 6, 18, 12), f"lost: {words}") for place, words in kinds]
    return plots.legend(items, "".join(plots.pattern(textures[place], "first") for place, _ in kinds if place), WIDTH)


# ---- on the page, and in words ----

def markup(document, textures):
    """The page's beginning, below its title. textures: of plots.textures()."""
    found, more = groups(document)
    words = [_lead(group, found) for group in found] or _instead(document)
    answers = [element("p", element("strong", svg.words(each)), class_="answer") for each in words]
    drawn = picture(document, textures)
    seen = element("figure", element("figcaption", CAPTION), drawn) if drawn else ""
    said = [_sentences(group, len(found) > 1) for group in found]
    said += [element("p", escape(words), class_="dim") for words in doubts(document) + _more(more)]
    return "".join(answers) + element("div", seen, element("div", *said, class_="said"), _findings(document), class_="screen")


def _sentences(group, titled):
    items = [element("li", svg.words(line.sentence)) for line in group.lines if line.sentence]
    return (element("h3", escape(group.title)) if titled else "") + element("ul", *items, class_="sentences")


def _lead(group, found):
    return f"{_where(group.path)}: {group.headline}" if len(found) > 1 else group.headline


def _instead(document):
    """What is said where no transport carried a stream."""
    return list(document.get("verdict") or ())[:MOST_PATHS] or ["No row ran."]


def _more(number):
    return [f"{number} more path{'s' * (number > 1)}: below."] * bool(number)


def _findings(document):
    found = findings(document)
    if not found:
        return ""
    lines = [element("li", element("code", escape(each.command)), element("span", escape(each.words))) for each in found]
    return element("div", element("h2", "What to do first", id="first"), element("ol", *lines, class_="findings"))


def lines(document, width, colour=False):
    """The same for a terminal."""
    paint, width = table.painter(colour), max(width, table.MIN_WIDTH)
    found, more = groups(document)
    shown = [paint(line, "bold") for line in table.wrap(title(document), width)]
    shown += [] if found else ["", *(line for words in _instead(document) for line in table.wrap(words, width, "  "))]
    for group in found:
        shown += ["", *(paint(line, "bold") for line in table.wrap(_lead(group, found), width, "  ")),
                  paint(f"{group.title}, Gbit/s", "dim"), *_bars(group, width)]
    shown += [paint(line, "dim") for words in doubts(document) + _more(more) for line in table.wrap(words, width, "  ")]
    return shown + actions(findings(document), width, paint)


def actions(found, width, paint):
    """Lines for Findings: the command first."""
    shown = ["", paint("What to do first", "bold")] * bool(found)
    for each in found:
        shown += [f"  {each.command}", *(paint(f"    {line}", "dim") for line in table.wrap(each.words, width - 4))]
    return shown


def _bars(group, width):
    """A line for each transport: what it carries without loss, what it delivered, with a bar, and what it lost."""
    cells = [("transport", "without loss", "delivered", "lost")]
    cells += [(line.words, table.rate_figure(line.clean) if line.clean else "?", table.figure_words(line.mean) if line.entry else "",
               table.loss_words(line.entry.row) if line.entry else "") for line in group.lines]
    widths = [max(len(line[n]) for line in cells) for n in range(3)]
    room = max(0, min(20, width - sum(widths) - 2 * 4 - 26))
    best = max((line.mean or 0 for line in group.lines), default=0)
    bars = [""] + [table.bar(line.mean or 0, best, room) for line in group.lines]
    shown = []
    for (name, clean, mean, lost), bar in zip(cells, bars):
        start = f"{name:<{widths[0]}}  {clean:>{widths[1]}}  {mean:>{widths[2]}}  " + (f"{bar:<{room}}  " if room else "")
        first, *rest = table.wrap(lost, max(20, width - len(start))) or [""]
        shown += [f"{start}{first}".rstrip(), *(" " * len(start) + each for each in rest)]
    return shown
