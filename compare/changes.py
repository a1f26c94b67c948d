# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What compare diff prints: what changed from one report to another, row by row. And compare tools: our programs beside those of
others.
"""
from compare import beside, contradictions, first_screen, noise, plan, table
from compare.report import flatten
from compare.transport import PING_PONG, SEARCH


def render(before, after, width):
    """The lines for two documents."""
    lines = [line for name, report in (("A", before), ("B", after))
             for line in table.wrap(f"{name}: {_words(report)}", width, "   ")]
    lines += _answers(before, after, width)
    for path in before["paths"]:
        for difference in differences(before["paths"][path], after["paths"].get(path)):
            lines += table.wrap(f"{path}: {difference}", width, "  ")
    changes = noise.changes(before["rows"], after["rows"])
    for title, here in _sections(changes):
        timed = here[0]["rate"] == PING_PONG
        cells = [(plan.transport(each["transport"]).words, each["tool"], table.figure_words(each["before"]),
                  table.figure_words(each["after"]), *map(table.figure_words, each["p99"] * timed), _judged(each)) for each in here]
        heads = ("transport", "tool", *(("mean A", "mean B", "p99 A", "p99 B") if timed else ("A", "B")), "B / A")
        lines += ["", f"{title} ({table.unit(here[0]['rate'])})", *_columns([heads, *cells])]
    found = searches(before.get("searches", ()), after.get("searches", ()))
    for title in dict.fromkeys(title for title, _ in found):
        cells = [each for other, each in found if other == title]
        lines += ["", f"{title} (Gbit/s)", *_columns([("transport", "tool", "size", "A", "B", ""), *cells])]
    if not changes and not found:
        lines += ["", "No row ran in both reports."]
    lines += [*_refused(before, "in A, ", width), *_refused(after, "in B, ", width)]
    for name, rows in (("A", _only(before, after)), ("B", _only(after, before))):
        for path in dict.fromkeys(row["path"] for row in rows):
            names = table.names([row for row in rows if row["path"] == path])
            lines += ["", *table.wrap(f"Ran only in {name}, {path}: {', '.join(names)}", width, "  ")]
    return lines


def _answers(before, after, width):
    """What each report answers first, and what is to be done after B."""
    sides, lines = [{group.title: group for group in first_screen.groups(report)[0]} for report in (before, after)], []
    for title in (title for title in sides[0] if title in sides[1]):
        groups = [side[title] for side in sides]
        known = [{line.name: line for line in group.lines} for group in groups]
        cells = [(b.words, *map(_clean, (a, b)), *map(_delivered, (a, b))) for name, b in known[1].items() if (a := known[0].get(name))]
        heads = ("transport", "without loss: A", "B", "delivered: A", "B")
        lines += ["", f"{title} (Gbit/s)", *(line for name, group in zip("AB", groups)
                                             for line in table.wrap(f"{name}: {group.headline}", width, "   "))]
        lines += _columns([heads, *cells], "<") if cells else []
    return lines + first_screen.actions(first_screen.findings(after), width, table.painter(False))


def _clean(line):
    return table.rate_figure(line.clean) if line.clean else "?"


def _delivered(line):
    return table.figure_words(line.mean)


def _refused(report, where, width):
    return [line for row in contradictions.refused([*report["rows"], *report.get("searches", ())]) for line in (
        "", *table.wrap(f"Refused {where}{row['path']}: {table.names([{'rate': SEARCH, **row}])[0]}: {row['why']}", width, "  "))]


def searches(before, after):
    """[(title, cells)] of searches that found a rate in both reports."""
    there = {_search(each): each for each in after if each["lossless_gbps"]}
    return [(f"{a['path']}, {table.search_title(a).lower()}",
             (plan.transport(a["transport"]).words, a["tool"], ", ".join([table.size_words(a["size"]),
              *table.more_words(a["flows"], a["ip"])]), table.rate_figure(a["lossless_gbps"]),
              table.rate_figure(there[_search(a)]["lossless_gbps"]), _moved(a, there[_search(a)])))
            for a in before if a["lossless_gbps"] and _search(a) in there]


def _search(each):
    return tuple(each[key] for key in ("path", "transport", "tool", "size", "flows", "ip", "goal"))


def _moved(a, b):
    """A search ends between the rate that it found and one that is too high: where these overlap, nothing has changed for sure."""
    for verdict, low, high in (("more", a, b), ("less", b, a)):
        if low["upper_gbps"] and high["lossless_gbps"] >= low["upper_gbps"]:
            return verdict
    return "within the width of the search" if a["upper_gbps"] and b["upper_gbps"] else "the sender's limit in one of them"


def _words(report):
    built = f", rocescope {report['rocescope']}" if report.get("rocescope") else ""
    return f"{report['time']}{built}{'' if report['complete'] else ', interrupted'}: {', '.join(report['paths'])}"


def differences(before, after):
    """
    What was not the same on a path of two reports, in words: 'kernel: 6.1 in A, 6.12 in B'. after: None, if B has no such path.
    """
    if after is None:
        return []
    return [f"{name}: {_value(a)} in A, {_value(b)} in B" for name, a, b in different(before, after)]


def different(before, after):
    """[(name, value in one report, value in the other)] of facts that both know, and that differ."""
    a, b = flatten(before, " "), flatten(after, " ")
    return [(name, a[name], b[name]) for name in a if name in b and a[name] != b[name]]


def _value(value):
    return "not known" if value is None else value


def render_tools(report, width):
    """The lines of compare tools for a document."""
    found, lines = beside.pairs(report["rows"]), [_words(report)]
    for title, unit, cells in found:
        lines += ["", f"{title} ({unit})", *_columns([beside.HEADS, *cells])]
    lines += [""] * bool(found) + [line for words in beside.why(report["rows"]) for line in table.wrap(words, width, "  ")]
    lines += [] if found else ["", "No tool of others ran beside ours."]
    return lines + _refused(report, "", width)


def _sections(found):
    """[(title, those of one section)]"""
    places = dict.fromkeys(map(noise.place, found))
    return [(f"{path}, {table.title(size, rate, flows, ip)}",
             [each for each in found if noise.place(each) == (path, flows, ip, size, rate)])
            for path, flows, ip, size, rate in places]


def _columns(rows, names="<<"):
    """The first ones, names, to the left, figures to the right, the last one as it is."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]) - 1)]
    return ["  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, names + ">" * len(row), widths)) + f"  {row[-1]}".rstrip()
            for row in rows]


def _judged(change):
    if change["ratio"] is None:
        return "?"
    if change["low"] is None:
        runs = "one run" if change["runs"] == 1 else f"{change['runs']} runs"
        return f"{change['ratio']:.3g}, too few to say ({runs})"
    return f"{table.ratio_words(change)}, {'no more than noise' if change['verdict'] == 'noise' else change['verdict']}"


def _only(one, other):
    """The rows that ran in the first of two reports only."""
    there = {noise.key(row) for row in other["rows"] if row["status"] == "ok"}
    return [row for row in one["rows"] if row["status"] == "ok" and noise.key(row) not in there]
