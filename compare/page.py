# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The report as one HTML page: no script, nothing from the network. Every figure and every point leads to its runs."""
import collections
import os
import re
from html import escape
from typing import NamedTuple, Optional

from compare import beside, curves, first_screen, noise, plan, plots, svg, table, verdict
from compare.svg import element
from compare.transport import PING_PONG

READING = "Each figure and each point leads to the runs it is of, below. Marks on plots say more when pointed at."
DOTS = "A dot is a run, the first on top; the bar is their mean, the whisker their standard deviation."
CAPTIONS = {
    "goodput": ("Goodput.", DOTS),
    "answer": ("Mean latency.", DOTS),
    "lost": ("Where packets were lost.", "Share of the packets sent. Unexplained: no counter of that stretch knows of them."),
    "cores": ("Cores against goodput.", "Of the whole machines. Hollow marks: other people's tools. Axes need not begin at 0."),
    "latency": ("Latency.", "Percentiles of all runs of a row, each run with the same weight; of a tool that tells only percentiles the "
                "medians of its runs."),
    "cdf": ("How many messages took how long.", "Latency of all runs, each with the same weight, as a cumulative distribution: so many messages took at "
            "most so long. Marks are at half, 90 % and 99 % of them. The end of a curve is its longest message."),
    "sizes": ("By message size.", "The first tool of each transport: mean and standard deviation of the runs. Marks of one size "
              "stand side by side."),
    "flows": ("By flows.", "The first tool of each transport: mean and standard deviation of the runs."),
    "paths": ("By path.", "The first tool of each transport: mean and standard deviation of the runs."),
    "cliff": ("Loss by rate that was tried.", "Share of what was sent that was lost, of RC and TCP: sent again. A mark is a trial. "
              "A dashed line is the highest rate without loss."),
    "rates": ("Loss by rate.", "The first tool of each transport: share of the packets sent. Marks of one rate stand side by side."),
}
APART = " Hollow: a run with the referee, which takes its time from what it judges; it is not in the mean."
FACTS = {"nic": "NIC", "mtu": "MTU", "rdma_path_mtu": "RDMA path MTU", "cpu": "CPU", "host_cpus": "host CPUs",
         "emulated_cpu": "emulated CPU", "path_mtu": "path MTU", "ip": "IP", "icrc": "ICRC", "distance": "distance, km",
         "ack_timeout_ms": "ACK timeout, ms", "ack_req_on_uc": "AckReq on UC", "duration": "duration, s",
         "foreign_duration": "foreign duration, s", "nics": "NICs", "numa_node": "NUMA node", "roce_switched": "RoCE switched off for other rows", "distance_km": "distance, km"}
COMPARED = {"more": "{a} carries more", "less": "{a} carries less", "noise": "no difference beyond the noise",
            "too few": "too few pairs to tell"}
OF_ENDS = {"versions": "Versions", "softroce": "SoftRoCE", "sysctls": "Sysctls"}
ANSWERED = {**COMPARED, "more": "{a} answers later", "less": "{a} answers sooner"}


class Plot(NamedTuple):
    kind: str
    file: str       # its name without an ending
    picture: str


class Part(NamedTuple):
    """A section of the page."""
    title: str
    anchor: str
    rows: list
    entries: list
    plots: list


def render(document):
    """The page of a report (rocescope.compare/1)."""
    parts, compared = _parts(document)
    hunts = _hunts(document)
    body = [_head(document), first_screen.markup(document, _textures(document)), _found(document), _verdict(document),
            _contents(document, hunts + parts + compared), *map(_hunt, hunts),
            *(_section(part, document) for part in parts),
            *(_h2(part) + _figures(part) for part in compared), _beside(document["rows"]), _settings(document), _runs(parts), _tried(hunts)]
    return whole(_title(document), body)


def whole(title, body):
    """A page of these elements, which needs no other file."""
    return ('<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'{element("title", escape(title))}\n{element("style", svg.style() + _style())}\n</head>\n<body>\n'
            + "\n".join(body) + "\n</body>\n</html>\n")


def plot_files(document, page):
    """The plots as {file name: SVG}. page: where their links lead, relative to them."""
    parts, compared = _parts(document)
    drawn = {f"{plot.file}.svg": plot.picture for part in _hunts(document) + parts + compared for plot in part.plots}
    if first := first_screen.picture(document, _textures(document)):
        drawn = {"first.svg": first, **drawn}
    return {name: svg.standalone(picture, page) for name, picture in drawn.items()}


def _style():
    with open(os.path.join(os.path.dirname(__file__), "page.css"), encoding="utf-8") as file:
        return file.read()


def _entries(document):
    return {id(row): _entry(row, number) for number, row in enumerate(document["rows"], 1) if row["status"] == "ok"}


def _textures(document):
    """A place has the same texture in all pictures."""
    return plots.textures(_entries(document).values())


def _parts(document):
    """(Parts by size and rate, Parts that compare sizes or rates)"""
    rows = document["rows"]
    entries, textures = _entries(document), _textures(document)
    parts, over, several = [], {}, len({row["path"] for row in rows}) > 1
    for section in table.sections(rows):
        here = [entries[id(row)] for row in section.rows if id(row) in entries]
        anchor = _slug(section.title)
        drawn = {"answer" if section.rate == PING_PONG else "goodput": plots.means(here),
                 "lost": plots.lost(here, textures, f"{anchor}-lost"), "cores": plots.cores(here),
                 "cdf": curves.distribution(here), "latency": plots.latency(here)}
        parts.append(Part(section.title, anchor, section.rows, here, _plots(drawn, anchor)))
        for kind, title in _over(section, several):
            over.setdefault((kind, title), []).extend(entry for entry in here if entry.first)
    drawn = {"sizes": curves.sizes, "rates": curves.rates, "flows": curves.flows, "paths": curves.paths}
    compared = [Part(title, _slug(title), [], own, _plots({kind: drawn[kind](own)}, _slug(title)))
                for (kind, title), own in sorted(over.items(), key=lambda item: list(drawn).index(item[0][0]))]
    return parts, [part for part in compared if part.plots]


def _over(section, several):
    """[(kind of plot, its title)] of those over what sections differ in. several: whether there are other paths."""
    if section.size is None:
        return []
    size, rate = f"messages of {table.size_words(section.size)}", table.rate_words(section.rate)
    flows, ip = table.more_words(section.flows, 4), table.more_words(1, section.ip)
    path, where = ([f" ({section.path})"], f" ({section.path.partition(',')[0]})") if several else ([""], "")
    found = [("sizes", ["Message sizes", rate, *flows, *ip], *path), ("flows", ["Flows", size, rate, *ip], *path),
             ("paths", ["Paths", size, rate, *flows, *ip], where)]
    found += [] if section.rate == PING_PONG else [("rates", ["Rates", size, *flows, *ip], *path)]
    return [(kind, ", ".join(words) + end) for kind, words, end in found]


def _plots(drawn, anchor):
    place = re.sub("^(messages-of|message-sizes|rates-messages-of)-", "", anchor)
    return [Plot(kind, f"{kind}-{place}", picture) for kind, picture in drawn.items() if picture]


def _slug(title):
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _entry(row, number):
    runs = row.get("each") or [_only(row)]
    return plots.Entry(row, f"runs-{number}",
                       [(f"run-{number}-mean" if run["number"] is None else f"run-{run['number']}", run) for run in runs])


def _only(row):
    """The row's figures as those of a run, where the report has no others."""
    same = ("goodput_min_gbps", "sent", "on_wire", "received", "losses", "sender_cores", "receiver_cores", "ns_per_packet",
            "latency_us")
    return {"number": None, "block": None, "goodput_gbps": table.mean_goodput(row), "lost": table.packets_lost(row),
            **{name: row.get(name) for name in same}}


def _title(document):
    return first_screen.title(document)


def _head(document):
    return element("h1", escape(_title(document)))


def _verdict(document):
    """All that the figures say, in sentences, and what the paths are. Folded: the page's beginning has the most of it."""
    words = [f"Begun {document['time']}, took {document['seconds']:.0f} s."]
    if document.get("seed") is not None:
        words.append(f"Seed {document['seed']}.")
    paths = [element("p", escape(table.path_words(path)), class_="dim") for path in _paths(document).values()]
    sentences = "".join(element("p", svg.words(sentence)) for sentence in document.get("verdict") or ())
    about = element("p", escape(" ".join(words)), class_="dim") + "".join(paths)
    return _folded("All sentences, and what the path is", (element("div", sentences, class_="verdict") if sentences else "") + about)


def _folded(words, content):
    return element("details", element("summary", escape(words)), content)


def _found(document):
    """What `rocescope path` found at the ends: two lines each, the command first. Folded: the first ones stand above."""
    items, names = [], _paths(document)
    for name, path in names.items():
        for end, findings in (path.get("findings") or {}).items():
            side = f"{'sender' if end.startswith('A') else 'receiver'}{end[1:]}" + (f", {name}" if len(names) > 1 else "")
            for each in findings if isinstance(findings, list) else [{"found": f"not looked at: {findings}"}]:
                known = {key: str(each.get(key) or "") for key in ("id", "severity", "found", "why", "command")}
                words = ", ".join(filter(None, (side, known["severity"], known["id"])))
                items.append(element("li", element("code", escape(known["command"])) if known["command"] else "",
                                     element("span", svg.words(f"{words}: {'; '.join(filter(None, (known['found'], known['why'])))}"))))
    if not items:
        return ""
    return _folded(f"All {len(items)} findings of rocescope path", element("ul", *items, class_="findings")
                   + element("p", "It looked before anything ran, and changed nothing.", class_="dim"))


def _paths(document):
    return document.get("paths") or {"": document["path"]}


def _contents(document, parts):
    items = [(part.anchor, part.title) for part in parts]
    items += [("beside", BESIDE)] * bool(beside.pairs(document["rows"])) + [("settings", "Path and versions"), ("runs", "All runs")]
    items += [("trials", "All trials")] * bool(document.get("searches"))
    notes = " ".join([*table.footnotes(document["rows"]), READING])
    return (element("nav", element("ul", *(element("li", element("a", escape(words), href=f"#{anchor}"))
                                           for anchor, words in items)))
            + element("p", escape(notes), class_="dim"))


def _h2(part):
    return element("h2", escape(part.title), id=part.anchor)


def _section(part, document):
    about = [element("li", escape(words)) for words in table.about(part.rows)]
    return "\n".join([_h2(part), _rows(part.entries) if part.entries else element("p", "No row ran."),
                      element("ul", *about, class_="missing") if about else "", _missing(part.rows),
                      _figures(part), _how_sure(part, document)])


def _hunts(document):
    """Parts of searches, by path and size. Their entries are curves.Searched."""
    found = {}
    for number, each in enumerate(document.get("searches") or (), 1):
        anchors = [f"trial-{number}-{n}" for n in range(1, len(each["trials"]) + 1)]
        found.setdefault((each["path"], _searched(each)), []).append(curves.Searched(each, f"search-{number}", anchors))
    several, parts = len({path for path, _ in found}) > 1, []
    for (path, title), here in found.items():
        title += f" ({path})" if several else ""
        tried = [each for each in here if each.row["trials"]]
        drawn = {"cliff": curves.cliff(tried) if tried else None}
        parts.append(Part(title, _slug(title), [], here, _plots(drawn, _slug(title))))
    over = {}
    for here in found.values():
        for each in here:
            over.setdefault((each.row["where"], _searched(each.row)), []).append(each)
    for (where, title), here in over.items():
        if picture := curves.paths(here) if len({each.row["path"] for each in here}) > 1 else None:
            title = f"{title}, by path ({where})"
            parts.append(Part(title, _slug(title), [], [], _plots({"paths": picture}, _slug(title))))
    return parts


def _searched(search):
    """What searches that can be compared have in common, in words."""
    return ", ".join([table.search_title(search), f"messages of {table.size_words(search['size'])}",
                      *table.more_words(search["flows"], search["ip"])])


CORES = "{}'s cores, program/machine"
BESIDE = "Our programs beside the tools of others"
FEW, MANY = 2, 5    # columns that fit a narrow window, and one of middle size
SEARCHED = ("transport", "tool", "rate without loss, Gbit/s", "packets at it, none lost", "share lost at most, with 95 %", "first loss at, Gbit/s",
            "trials")
TRIED = ("seconds", "rate asked for, Gbit/s", "offered, Gbit/s", "arrived, Gbit/s", "packets sent", "lost", "where", CORES.format("sender"),
         CORES.format("receiver"))


def _hunt(part):
    """What was found, and the cliff."""
    if not part.entries:
        return "\n".join([_h2(part), _figures(part)])
    lines = []
    for each in part.entries:
        search = each.row
        if search["status"] != "ok":
            cells = [(escape(f"{search['status']}: {search['why']}"), None), *[("", None)] * 3]
        else:
            _, _, rate, packets, at_most, first = table.search_cells(search)
            cells = [(escape(rate), "number"), (packets, "number"), (at_most, "number"), (escape(first), "number")]
        cells = [(_transport(each), "name"), (escape(search["tool"]), "own"), *cells,
                 (_linked(each.anchor, str(len(search["trials"]))), "number")]
        lines.append(Record(cells))
    head = [(words, "number" if n > 1 else None) for n, words in enumerate(SEARCHED)]
    goal = element("p", escape(f"Goal: {part.entries[0].row['goal']}."), class_="dim")
    return "\n".join([_h2(part), filled_table(head, [Body(lines)]), goal, _figures(part)])


def _tried(parts):
    """Every trial, below the name of its search."""
    lines = [_trials(each, part.title) for part in parts for each in part.entries]
    head = [(words, "losses" if words == "where" else "number") for words in TRIED]
    return element("h2", "All trials", id="trials") + filled_table(head, lines, "runs") if lines else ""


def _trials(searched, title):
    search = searched.row
    name = f"{searched.words}, {search['tool']} ({search['operation']}). {title}"
    lines = []
    for each, anchor in zip(search["trials"], searched.anchors):
        note = [words for words, here in (("as fast as it goes", each["full"]), ("walk", each["walk"]),
                                          ("offered too little", not each["valid"])) if here]
        places = table.places_words(search["transport"], each["losses"])
        figures = [f"{each['seconds']:g}", table.rate_figure(each["rate_gbps"]), table.rate_figure(each["offered_gbps"]),
                   table.figure_words(each["goodput_gbps"]), table.count_words(each["of"]), table.count_words(each["lost"])]
        cells = [(escape(words), "number") for words in figures] + [(escape(places) + _small(", ".join(note)), None)]
        cells += [(table.cores_words(each[f"{end}_cores"]), "number") for end in ("sender", "receiver")]
        lines.append(Record(cells, anchor))
    return Body(lines, escape(name), searched.anchor)


def _figures(part):
    figures = []
    for plot in part.plots:
        title, words = CAPTIONS[plot.kind]
        more = APART if plot.kind in ("goodput", "answer") and any(entry.apart for entry in part.entries) else ""
        figures.append(element("figure", element("figcaption", element("b", title), f" {escape(words + more)}"), plot.picture))
    if any(plot.kind == "goodput" for plot in part.plots) and not any(plot.kind == "lost" for plot in part.plots):
        figures.insert(1, element("figure", element("figcaption", element("b", CAPTIONS["lost"][0]), " No loss was counted.")))
    return "\n".join(figures)


class Record(NamedTuple):
    """A row of a table: its cells are [(markup, class)]."""
    cells: list
    anchor: Optional[str] = None
    kind: Optional[str] = None


class Body(NamedTuple):
    """Rows of a table below a line of their own, if there is one."""
    records: list
    heading: str = ""
    anchor: Optional[str] = None


def filled_table(head, bodies, kind=None):
    """head: [(words, class)]. Columns that are empty in all rows are left out. In a narrow window a cell has its heading beside it."""
    shown = [n for n in range(len(head)) if any(_has_something(record.cells[n][0]) for body in bodies for record in body.records)]
    cells = "".join(element("th", escape(head[n][0]), class_=head[n][1], scope="col") for n in shown)
    made = [element("tbody", element("tr", element("th", body.heading, colspan=len(shown), scope="rowgroup"), class_="head") if body.heading else "",
                    *(_record(record, head, shown) for record in body.records), id=body.anchor) for body in bodies]
    kinds = " ".join(filter(None, (kind, "stacks" if len(shown) > FEW else None)))
    return element("div", element("table", element("thead", element("tr", cells)), *made, class_=kinds or None),
                   class_="wide many" if len(shown) > MANY else "wide")


def _has_something(markup):
    return re.sub(r"<[^>]*>|[?/\s]", "", markup) != ""


def _record(record, head, shown):
    return element("tr", *(element("td", record.cells[n][0], class_=record.cells[n][1], data_label=head[n][0]) for n in shown),
                   id=record.anchor, class_=record.kind)


def _linked(anchor, words):
    return element("a", svg.words(words), href=f"#{anchor}") if words else ""


def _transport(entry):
    return entry.sign + escape(entry.words)


def _columns(entries):
    """[(heading, class, what it has of an entry)] of a section's table, after transport and tool."""
    carried = [("goodput, Gbit/s", "number", lambda entry: plots.mean_words(entry) + entry.mark),
               ("packets on wire", "number", lambda entry: table.count_words(entry.row["on_wire"])),
               ("lost, where", "losses", lambda entry: table.loss_words(entry.row) + table.share_of_pairs(entry.row))]
    answered = [("mean latency, µs", "number", plots.mean_words)]
    busy = [(CORES.format(end), "number", lambda entry, end=end: table.cores_words(entry.row[f"{end}_cores"]))
            for end in ("sender", "receiver")]
    timed = [("latency p50 / p99 / p99.9 / max, µs", "number", lambda entry: _latency(entry.latencies, ("p50", "p99", "p999", "max")))]
    each = [("latency of each run: p50, p99, µs", "number", lambda entry: _each(entry.latencies))] * any(entry.row["runs"] > 1 for entry in entries)
    runs = [("runs", "number", lambda entry: str(entry.row["runs"]))]
    if entries[0].ping_pong:
        return answered + timed + each + busy + runs
    return carried + busy + timed * any(entry.latencies for entry in entries) + runs


def _rows(entries):
    """The table of a section."""
    columns, lines, before = _columns(entries), [], None
    for entry in entries:
        cells = [("" if entry.words == before else _transport(entry), "name"),
                 (escape(entry.row["tool"]), "own" if entry.own else None)]
        cells += [(_figure(entry, of(entry)), kind) for _, kind, of in columns]
        lines.append(Record(cells, kind=None if entry.words == before else "first"))
        before = entry.words
    head = [("transport", None), ("tool", None), *((words, kind) for words, kind, _ in columns)]
    return filled_table(head, [Body(lines)])


def _figure(entry, words):
    """Leads to the entry's runs. A mark behind it takes no room, so that figures stay below each other."""
    figure = words.removesuffix("^")
    return _linked(entry.anchor, figure) + (element("span", "^", class_="mark") if figure != words else "")


def _latency(figures, names):
    known = [(figures or {}).get(name) for name in names]
    return " / ".join(map(table.figure_words, known)) if any(known) else ""


def _each(latencies):
    """The least and the most of the runs."""
    return ", ".join(filter(None, (table.between_words(latencies, name) for name in ("p50", "p99"))))


def _missing(rows):
    """
    Rows without figures, by reason, and remarks on others. A tool that has no other rows here needs no transport.
    """
    all_of_it = collections.Counter(row["tool"] for row in rows)
    groups = {}
    for status, why, those in table.reasons(rows):
        tools = {}
        for row in those:
            tools.setdefault(row["tool"], []).append(plan.transport(row["transport"]).words)
        names = ", ".join(tool if len(here) == all_of_it[tool] else f"{tool} ({', '.join(here)})"
                          for tool, here in tools.items())
        groups.setdefault(status, []).append(element("li", escape(f"{why}: {names}")))
    if said := table.remarks(rows):
        groups["remarks"] = [element("li", escape(f"{', '.join(table.names(those))}: {words}")) for words, those in said]
    lists = [element("li", escape(status.capitalize()), element("ul", *lines)) for status, lines in groups.items()]
    return element("ul", *lists, class_="missing") if lists else ""


def _how_sure(part, document):
    """What pairs of runs say of two rows."""
    places = {noise.place(row) for row in part.rows}
    entries = {(entry.row["transport"], entry.row["tool"]): entry for entry in part.entries}
    here = [each for each in document.get("comparisons") or () if noise.place(each) in places]
    sure = any(each["verdict"] != "too few" for each in here)   # otherwise the verdict has said it all
    lines = []
    for each in here:
        names = [verdict.words(side) for side in (each["a"], each["b"])]
        known = [entries.get((side["transport"], side["tool"])) for side in (each["a"], each["b"])]
        links = [_linked(entry.anchor, name) if entry else escape(name) for entry, name in zip(known, names)]
        words = (ANSWERED if each["rate"] == PING_PONG else COMPARED).get(each["verdict"], each["verdict"]).format(a=names[0])
        lines.append(Record([
            (" / ".join(links), None), (_ratio(each["ratio"]), "number"),
            (escape(_interval(each["low"], each["high"])), "number"), (str(each["pairs"]), "number"), (escape(words), None)]))
    figure = "latency" if sure and part.rows[0]["rate"] == PING_PONG else "goodput"
    head = [(f"{figure} of a / b", None), ("ratio", "number"), ("95 % interval of the ratio", "number"), ("pairs of runs", "number"),
            ("in words", None)]
    return element("h3", "How sure") + filled_table(head, [Body(lines)]) if sure else ""


def _interval(low, high):
    return "" if low is None or high is None else f"{_ratio(low)} to {_ratio(high)}"


def _ratio(value):
    return "?" if value is None else f"{value:.3g}"


def _beside(rows):
    """Ours beside the tools of others, and why they may differ."""
    bodies = [Body([Record([(escape(words), "number" if 1 < n < 5 else None) for n, words in enumerate(cells)]) for cells in here],
                   escape(f"{title} ({unit})")) for title, unit, here in beside.pairs(rows)]
    if not bodies:
        return ""
    said = element("ul", *(element("li", escape(words)) for words in beside.why(rows)), class_="missing")
    head = [(words, "number" if 1 < n < 5 else None) for n, words in enumerate(beside.HEADS)]
    note = element("p", "Each ratio is that of runs of the same block, with its own 95 % interval.".replace(" %", "\u00a0%"), class_="dim")
    return element("h2", BESIDE, id="beside") + note + filled_table(head, bodies) + said


def _settings(document):
    """Paths, machines and what software they have; the plan and the command."""
    paths = [_machine(where, path) for where, path in _paths(document).items()]
    planned = document.get("plan") or {}
    ran = {"rocescope": document.get("rocescope"), "command": document.get("command"), "plan": planned.get("file")}
    return "\n".join([element("h2", "Path and versions", id="settings"), *paths,
                      _listed("What was run", {key: value for key, value in ran.items() if value}),
                      _planned(planned.get("parts") or ())])


def _machine(where, path):
    named = f": {where}" if where else ""
    ends = [_listed(f"{words}{named}", _of_ends(path.get(key))) for key, words in OF_ENDS.items()]
    facts = {key: value for key, value in path.items()
             if key not in (*OF_ENDS, "findings") and (value is not None or key != "inject")}
    return element("div", element("div", _listed(f"Path and machine{named}", facts)), element("div", *ends), class_="lists")


def _planned(parts):
    """The keys of a plan, a column for each part."""
    keys = list(dict.fromkeys(key for part in parts for key in part))
    lines = [Record([(escape(_label(key)), "dim"), *(("usual" if part.get(key) is None else escape(_fact(part[key])), None) for part in parts)])
             for key in keys]
    head = [("key of the plan", None), *((f"part {number}", None) for number in range(1, len(parts) + 1))]
    return filled_table(head, [Body(lines)], "facts plan") if keys else ""


def _of_ends(ends):
    """{name: value}, with both values where the ends A (sender) and B (receiver) differ."""
    a, b = (ends or {}).get("A") or {}, (ends or {}).get("B") or {}
    return {name: a.get(name) if a.get(name) == b.get(name) else {"sender": a.get(name), "receiver": b.get(name)}
            for name in {**a, **b}}


def _listed(title, facts):
    lines = (element("tr", element("th", escape(_label(name)), scope="row"), element("td", escape(_fact(value))))
             for name, value in facts.items())
    return element("h3", escape(title)) + element("table", element("tbody", *lines), class_="facts") if facts else ""


def _label(name):
    return name if "." in name else FACTS.get(name, name.replace("_", " "))


def _fact(value):
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_fact(each)}" for name, each in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(_fact(each) for each in value) or "none"
    if value is None or isinstance(value, bool):
        return {None: "not known", True: "yes", False: "no"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)


def _places(transport, run):
    losses, lost = run.get("losses") or {}, run.get("lost")
    unexplained = 0 if lost is None else lost - sum(losses.values())
    return ", ".join([table.places_words(transport, losses)] * bool(losses)
                     + [f"unexplained {table.count_words(unexplained)}"] * bool(unexplained))


RUN_COLUMNS = ("run", "block of runs", "with referee", "goodput, Gbit/s", "of the least 100 ms", "packets sent", "packets on wire",
               "received", "lost", "where", f"{CORES.format('sender')}; µs a packet",
               f"{CORES.format('receiver')}; µs a packet", "energy, J", "latency p50 / p99 / max, µs")


def _runs(parts):
    """Every run, below the name of its row."""
    bodies = []
    for part in parts:
        for entry in part.entries:
            name = f"{entry.name} ({entry.row['operation']}). {part.title}"
            heading = entry.sign + escape(name) + _small(_cost(entry.row))
            bodies.append(Body([_run(entry, anchor, run) for anchor, run in entry.runs], heading, entry.anchor))
    head = [(words, "losses" if words == "where" else "number") for words in RUN_COLUMNS]
    return element("h2", "All runs", id="runs") + (filled_table(head, bodies, "runs") if bodies else element("p", "There are none."))


def _cost(row):
    costs = ((end, table.microseconds((row.get("ns_per_packet") or {}).get(end))) for end in ("sender", "receiver"))
    words = [f"{cost} µs at the {end}" for end, cost in costs if cost]
    return (f"CPU time of a packet: {', '.join(words)}; " if words else "") + table.energy_words(row)


def _noticed(run):
    """What counters that are no losses say, by end."""
    each = [f"{end}'s {name} {table.count_words(n)}" for kind in ("loss_details", "flow_control")
            for end, counters in (run.get(kind) or {}).items() for name, n in counters.items()]
    return _small(", ".join(each))


def _about(run):
    """Why it was repeated, and why it has no figure."""
    told = (("repeated because", run.get("repeated")), ("no figure:", run.get("missing")))
    return "; ".join(f"{words} {why}" for words, why in told if why)


def _small(words):
    """On a line of its own."""
    return element("small", escape(words)) if words else ""


def _run(entry, anchor, run):
    number = f"mean of {entry.row['runs']}" if run["number"] is None and entry.row["runs"] > 1 else run["number"] or ""
    referee = {True: "yes", False: "no"}.get(run.get("refereed"), "")
    figures = [number, "" if run["block"] is None else run["block"], referee, table.figure_words(run["goodput_gbps"]),
               table.figure_words(run.get("goodput_min_gbps")),
               *(table.count_words(run.get(name)) for name in ("sent", "on_wire", "received", "lost"))]
    cells = [(escape(str(words)), "number") for words in figures]
    cells.append((escape(_places(entry.row["transport"], run)) + _noticed(run) + _small(_about(run)), None))
    costs = run.get("ns_per_packet") or {}
    cells += [(table.cores_words(run.get(f"{end}_cores")) + _small(table.microseconds(costs.get(end))), "number")
              for end in ("sender", "receiver")]
    cells.append(("" if run.get("joules") is None else table.figure_words(run["joules"]), "number"))
    cells.append((_latency(run.get("latency_us"), ("p50", "p99", "max")), "number"))
    return Record(cells, anchor)
