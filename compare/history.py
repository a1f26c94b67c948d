# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
index.html of a folder of runs: when, by which commit, on which machine and path, the headline figures, and what changed from run to
run beyond noise. Pure, but for reading and writing.
"""
import os
from html import escape
from typing import NamedTuple, Optional
from urllib.parse import quote

from compare import changes, noise, page, plan, report, table, verdict
from compare.svg import element
from compare.transport import PING_PONG

INDEX = "index.html"
TITLE = "Comparisons of transports"
TOLD = 6            # differences of a path that are named
RESULTS = ("findings", "referee", "no_referee")     # among a path's facts
BEYOND = ("more", "less")
HEAD = ("begun (UTC)", "rocescope", "machine", "path", "delivered most", "least latency", "most without loss")
CHANGED = ("transport", "tool", "what", "before", "after", "after / before")
KINDS = ("name", "name", None, "number", "number", None)
HOW = ("Each path is compared with the newest earlier run of the same path, CPU and NICs. A row changed if the ratio's interval, 95 % for all "
       "comparisons of this page together, does not include 1; a search, if its rate is outside of what the other one left open.")


class Run(NamedTuple):
    """A folder. report: None: it cannot be read, and `why` says so."""
    name: str
    report: Optional[dict]
    why: Optional[str] = None

    @property
    def begun(self):
        return self.report["time"] if self.report else self.name


class Step(NamedTuple):
    """What became of a path from one run to a later one. changes: of rows (noise.changes()). moved: cells of searches."""
    before: Run
    after: Run
    path: str
    changes: list
    moved: list

    @property
    def beyond(self):
        """Cells (CHANGED) of what changed beyond noise."""
        rows = [(plan.transport(each["transport"]).words, each["tool"], f"{table.title(each['size'], each['rate'], each['flows'], each['ip'])} "
                 f"({table.unit(each['rate'])})", table.figure_words(each["before"]), table.figure_words(each["after"]), table.ratio_words(each))
                for each in self.changes if each["verdict"] in BEYOND]
        return rows + self.moved


def runs(folder):
    """All runs of a folder, the newest first. OSError: there is no such folder."""
    found = []
    for name in sorted(os.listdir(folder)):
        if os.path.islink(os.path.join(folder, name)) or not os.path.exists(os.path.join(folder, name, "report.json")):
            continue
        found.append(_read(folder, name))
    return sorted(found, key=lambda run: run.begun, reverse=True)


def _read(folder, name):
    try:
        made = report.read(os.path.join(folder, name))
    except report.ReportError as error:
        return Run(name, None, str(error).partition(": ")[2])
    here = {each.name for each in plan.transports()}
    strange = [row["transport"] for row in [*made["rows"], *made["searches"]] if row["transport"] not in here]
    return Run(name, None, f"this version has no transport {strange[0]}") if strange else Run(name, made)


def write(folder):
    """Returns the page's path. OSError; ReportError: no run is there."""
    found = runs(folder)
    if not found:
        raise report.ReportError(f"{folder}: no folder of it has a report.json")
    return report.write_files(folder, {INDEX: render(found)})


# ---- what changed ----

def machine(path):
    """What makes figures of two runs comparable. The kernel may be what somebody wants to compare."""
    return [path.get(key) for key in ("cpu", "host_cpus", "accelerator", "ends", "nic")]


def steps(found):
    """[Step] of each run to the one before it that has the same path on the same machine, the newest first."""
    pairs = [(before, after, path) for number, after in enumerate(found) if after.report for path in after.report["paths"]
             if (before := _before(found[number + 1:], path, after.report["paths"][path]))]
    rows = [[_on(path, run.report["rows"]) for run in (before, after)] for before, after, path in pairs]
    count = sum(len(noise.common(*each)) for each in rows)
    return [Step(*pair, noise.changes(*each, count), _moved(*pair)) for pair, each in zip(pairs, rows)]


def _before(earlier, name, path):
    return next((run for run in earlier if run.report and name in run.report["paths"] and machine(run.report["paths"][name]) == machine(path)),
                None)


def _on(path, rows):
    return [row for row in rows or () if row["path"] == path]


def _moved(before, after, path):
    """Cells of searches whose rates are not within the width of both."""
    found = changes.searches(*(_on(path, run.report.get("searches")) for run in (before, after)))
    return [(cells[0], cells[1], f"{title.partition(', ')[2]}, {cells[2]} (Gbit/s)", *cells[3:]) for title, cells in found if cells[-1] in BEYOND]


def headline(rows, searches):
    """Of one path, in words: (what delivered most as fast as it goes, the least mean latency, the highest rate without loss), each or None."""
    ran = [row for row in rows if row["status"] == "ok" and noise.mean(row)]
    kinds = [[row for row in ran if row["rate"] == rate] for rate in (None, PING_PONG)]
    words = [f"{table.figure_words(noise.mean(row))} {table.unit(row['rate'])}, {_row(row)}" if (row := here and noise.best_of(here)) else None for here in kinds]
    quiet = max((each for each in searches if each["lossless_gbps"]), key=lambda each: each["lossless_gbps"], default=None)
    return *words, quiet and f"{table.rate_figure(quiet['lossless_gbps'])} Gbit/s, {_row(quiet)}"


def _row(row):
    """'kernel UDP by iperf3, 4 KiB, 4 flows'"""
    size = [table.size_words(row["size"])] if row["size"] else []
    return ", ".join([verdict.words(row), *size, *table.more_words(row["flows"], row["ip"])])


# ---- the page ----

def render(found):
    """The page of runs, which are the newest first."""
    did = steps(found)
    body = [element("h1", TITLE), element("p", escape(_count(found)), class_="dim"), _runs(found),
            element("h2", "What changed from run to run"), element("p", escape(_compared(did)), class_="dim"),
            *(_step(step) for step in did if step.beyond)]
    return page.whole(TITLE, body)


def _count(found):
    return f"{len(found)} run{'s' * (len(found) > 1)}, the newest first. A date leads to the run's page."


def _compared(did):
    changed = [each["verdict"] for step in did for each in step.changes]
    few = changed.count("too few")
    words = [HOW, f"{len(changed)} pairs of rows were compared, {sum(len(step.beyond) for step in did)} changes are beyond noise."]
    return " ".join(words + [f"Of {few} it cannot be said: that takes {noise.ENOUGH} runs of each."] * bool(few))


def _runs(found):
    """A line for each path of each run; of a run that cannot be read one that says why."""
    return page.filled_table([(words, None) for words in HEAD], [page.Body([record for run in found for record in _records(run)])])


def _records(run):
    if not run.report:
        return [page.Record([(escape(f"{run.name}: {run.why}"), None), *[("", None)] * (len(HEAD) - 1)], kind="first")]
    begun = element("a", escape(run.begun.replace("T", " ").removesuffix("Z")), href=f"{quote(run.name)}/report.html")
    begun += " interrupted" * (not run.report["complete"])
    lines = [[begun, escape(run.report.get("rocescope") or "?"), *(escape(words or "") for words in cells)] for cells in _cells(run)]
    return [page.Record([(words, None) for words in (["", "", *line[2:]] if number else line)], kind=None if number else "first")
            for number, line in enumerate(lines)]


def _cells(run):
    """Those behind the run's own, a line for each of its paths. None: there is nothing."""
    lines, made = [], run.report
    for name, path in made["paths"].items():
        about = f"{path['cpu']}, {path['host_cpus']} CPUs, kernel {path['kernel']}"
        where = name if path.get("where") != "hosts" else f"{name}: {path['ends']}"
        lines.append((about, where, *headline(_on(name, made["rows"]), _on(name, made.get("searches")))))
    return lines


def _step(step):
    before, after = step.before.report, step.after.report
    title = f"{after['time'][:16].replace('T', ' ')}, {step.path}: since {before['time'][:16].replace('T', ' ')}"
    facts = [{key: value for key, value in run["paths"][step.path].items() if key not in RESULTS} for run in (before, after)]
    differs = [("rocescope", before.get("rocescope"), after.get("rocescope")), *changes.different(*facts)]
    words = [f"{name}: {_value(a)}, then {_value(b)}" for name, a, b in differs if a != b]
    more = [f"and {len(words) - TOLD} more"] * (len(words) > TOLD)
    told = "; ".join(words[:TOLD] + more) or "Versions and settings are the same."
    records = [page.Record([(escape(cell), kind) for cell, kind in zip(cells, KINDS)]) for cells in step.beyond]
    shell = f"compare/compare diff .../{step.before.name} .../{step.after.name}"
    return (element("h3", escape(title)) + element("p", escape(told)) + page.filled_table(list(zip(CHANGED, KINDS)), [page.Body(records)])
            + element("p", element("code", escape(shell)), class_="dim"))


def _value(value):
    return "not known" if value is None else str(value)
