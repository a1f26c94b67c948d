# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The figures of an experiment's run: what its page is made of. They are so few that they can stay beside the page, in NAME.json,
so that a page is made anew, and judged anew, without a run. Pure but for reading and writing.
"""
import json
from typing import NamedTuple

from compare import findings, join, plan, table
from compare.findings import matches
from compare.measures import MEASURES

DIGITS = 6
AT_ITS_RATE = .02       # by how much a row may carry more or less than its rate, and still be judged
# What a fixed rate decides: it is judged at full speed only.
CARRIED = ("goodput", "messages", "least_share", "sender_goodput", *(name for name in MEASURES if name.startswith("flow_")))
DIRTY = "-dirty"


def of(document):
    """The figures of a report (report.document())."""
    path, about = document["path"], document["plan"]
    rows = _rows(document)
    words = [f"{path['cpu']}, {path['host_cpus']} CPUs, kernel {path['host_kernel']}.", table.path_words(path)]
    if not any(run.get("joules") is not None for row in document["rows"] if row["status"] == "ok" for run in row["each"]):
        words.append("No counter of energy (RAPL) was found: CPU time stands for it.")
    return {"time": document["time"], "seconds": document["seconds"], "command": document["command"], "rocescope": document["rocescope"],
            "plan": about.get("commit"), "whole": "--whole" in document["command"].split(), "complete": document["complete"],
            "load": document["load"], "circumstances": " ".join(words), "parts": list(map(told, about["parts"])), "rows": rows}


def told(table_):
    """A part without the keys that it does not have."""
    return {key: value for key, value in table_.items() if value is not None}


def _rows(document):
    parts = {}
    for number, each in enumerate(document["plan"]["parts"], 1):
        part = plan.read_part(document["plan"]["file"], number, told(each))
        parts[part.path] = part
    pairs = {name: len(path.get("pairs") or (1,)) for name, path in document["paths"].items()}
    return [_row(row, findings.facts_of(row, parts[row["path"]], pairs.get(row["path"], 1)), pairs.get(row["path"], 1))
            for row in document["rows"]]


def _row(row, facts, pairs):
    found = {"facts": facts, "path": row["path"], "status": row["status"], "why": row["why"], "measures": {}, "limits": []}
    if row["status"] != "ok":
        return found
    for name, measure in MEASURES.items():
        runs = {str(run["block"]): measure.of(run, row) for run in join.measuring(row["each"])}
        if figures := {block: _rounded(figure) for block, figure in runs.items() if figure is not None}:
            found["measures"][name] = figures
    found["limits"] = [{"limit": max(run["dialogue"]["limits"], key=run["dialogue"]["limits"].get),
                        **{name: run["dialogue"][name] for name in ("outstanding_most", "reads_most")}}
                       for run in row["each"] if run["dialogue"]]
    found["of_rate"] = _of_rate(row, pairs)
    return found


def _rounded(figure):
    return float(f"{figure:.{DIGITS}g}")


def _of_rate(row, pairs):
    """What was sent by what was asked for, mean over runs. None: full speed, or not known."""
    if row["rate"] in (None, "full", plan.PING_PONG, plan.SEARCH):
        return None
    asked = plan.bits_per_second(row["rate"]) * pairs / 1e9
    runs = [run["goodput_gbps"] / (1 - (run["lost"] or 0) / run["sent"] if run["sent"] else 1)
            for run in join.measuring(row["each"]) if run["goodput_gbps"] and run["lost"] != run["sent"]]
    return _rounded(join.mean(runs) / asked) if runs else None


def text(figures):
    """A file's text: a line for each row."""
    rows = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in figures["rows"])
    rest = json.dumps({key: value for key, value in figures.items() if key != "rows"}, indent=1, ensure_ascii=False)
    return f'{rest[:-2]},\n "rows": [\n{rows}\n ]\n}}\n'


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


# ---- whether they are still those of the plan ----

def stale(figures, parts):
    """
    Why figures no longer count. None: they do. parts: the tables of the plan as it is now ([[part]], or [[whole]]); those of other
    places than a run's were not asked for.
    """
    places = {each.get("where") for each in figures["parts"]}
    now = [part for part in map(told, parts) if part.get("where") in places]
    if _lines(now) != _lines(figures["parts"]):
        return "This page is older than its plan, or was run with other options"
    if not figures["complete"]:
        return "The run of this page was broken off"
    if not figures["rocescope"] or any((figures[what] or "").endswith(DIRTY) for what in ("rocescope", "plan")):
        return "The programs or the plan of this page are of a tree with changes that no commit has"
    return None


def _lines(parts):
    return sorted(json.dumps(part, sort_keys=True) for part in parts)


# ---- rows ----

class Cell(NamedTuple):
    """A selection in a run's figures."""
    facts: dict         # None: there is no such row
    path: str           # rows of one path are pairs, by block
    figures: dict       # {block: figure}
    why: str            # it has no figures
    unjudged: str       # why it is not judged. None: it is

    @property
    def mean(self):
        return join.mean(self.figures.values())

    @property
    def std(self):
        return join.mean_std(self.figures.values())["std"]


class Rows:
    """The rows of a run, by what a plan calls them."""

    def __init__(self, figures):
        self.rows = figures["rows"]

    @property
    def facts(self):
        return [row["facts"] for row in self.rows]

    def cell(self, selection, measure):
        """Of several rows that match, the first one with figures; `pooled`: the runs of all of them."""
        found = [_cell(row, measure) for row in self.rows if matches(selection, row["facts"])]
        if selection.get("pooled") and found:
            runs = {f"{number}.{block}": figure for number, cell in enumerate(found) for block, figure in cell.figures.items()}
            return found[0]._replace(path=None, figures=runs, why=None if runs else found[0].why, unjudged=None if runs else found[0].unjudged)
        return next((cell for cell in found if cell.figures), found[0] if found else Cell(None, None, {}, "not run", "not run"))

    def lost(self, selection):
        """% of the packets, or of the messages where only they are known. None: neither is."""
        return next((cell.mean for measure in ("lost", "messages_lost") if (cell := self.cell(selection, measure)).figures), None)


def _cell(row, measure):
    figures = row["measures"].get(measure, {})
    if row["status"] != "ok":
        why = f"{row['status']}: {row['why']}"
    else:
        why = None if figures else f"not known: {MEASURES[measure].words}"
    return Cell(row["facts"], row["path"], figures, why, why or _unjudged(row, measure))


def _unjudged(row, measure):
    """Why figures that are known are not judged."""
    rate, share = row["facts"].get("rate", "full"), row.get("of_rate")
    if rate in ("full", plan.PING_PONG):
        return None
    if measure in CARRIED:
        return f"at a fixed rate ({rate}) all carry the same"
    if share is not None and abs(share - 1) > AT_ITS_RATE:
        return f"it carried {100 * share:.3g} % of its rate ({rate})"
    return None
