# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Experiments of reports: plans with a table [experiment] in rxe_tests/plans/, and the page that a run makes: the source's figures,
ours beside them, plots, which findings show, and what differs. Pure but for reading plans, and save().
"""
import os

from compare import figures as of_run, findings, plan, plots, report, series, svg, table
from compare.findings import value_words
from compare.measures import LAWS, MEASURES

KEYS = ("title", "source", "question", "figures", "plot", "finding", "differs")
FIGURES, PLOT = ("caption", "columns", "rows"), ("title", "measure?", "box?", "across", "lines", "law?")
# Of a plot with boxes, which has the goodput of each QP: the measures of a box, and their rows in its table.
BOX = {"flow_p10": "10 %", "flow_q1": "lower quartile", "flow_median": "median", "flow_q3": "upper quartile", "flow_p90": "90 %"}
BOXES = "Boxes are from the lower to the upper quartile, with a line at the median. Whiskers end at the 10 % and the 90 % quantile."
LAW_DASHES = 2      # of svg.DASHES: dots


def names():
    return sorted(each.removesuffix(".toml") for each in os.listdir(plan.EXPERIMENTS) if each.endswith(".toml"))


def listed():
    """Lines for people: each experiment with its title."""
    return [f"{name:22} {read(plan.find(name))['title']}" for name in names()]


def read(path):
    """The [experiment] of a plan file, or None. PlanError: one line."""
    found = plan.document(path).get("experiment")
    if found is None:
        return None
    _keys(path, found, KEYS, "[experiment]")
    for kind, keys in (("figures", FIGURES), ("plot", PLOT)):
        for number, each in enumerate(found[kind], 1):
            _keys(path, each, keys, f"{kind} {number}")
    for number, each in enumerate(found["plot"], 1):
        if ("measure" in each) == each.get("box", False):
            raise plan.PlanError(f"plan {path}: plot {number}: one of 'measure' and 'box'")
    for number, each in enumerate(found["finding"], 1):
        if each.get("judge") not in findings.JUDGES:
            raise plan.PlanError(f"plan {path}: finding {number}: its judge is none of {', '.join(findings.JUDGES)}")
        _keys(path, each, (*findings.COMMON, *findings.JUDGES[each["judge"]][1]), f"finding {number}")
        if wrong := _unfounded(each):
            raise plan.PlanError(f"plan {path}: finding {number}: {wrong}")
    for place, measure, selection in selections(found):
        if measure not in MEASURES:
            raise plan.PlanError(f"plan {path}: {place}: measure {measure} is none of {', '.join(MEASURES)}")
        for key in selection:
            if key not in (*findings.FACTS, "name", "pooled"):
                raise plan.PlanError(f"plan {path}: {place}: unknown key '{key}'; there are name, pooled, {', '.join(findings.FACTS)}")
    return found


def _unfounded(finding):
    """Why a finding can hardly fail. None: it can."""
    if not finding.get("ours") and "source" not in finding:
        return "no key 'source' (the source's figure), nor 'ours'"
    if finding["judge"] != "ratio":
        return None
    if finding.get("ours"):
        return None if {"least", "most"} <= set(finding) else "a claim of ours needs 'least' and 'most'"
    if "figure" not in finding:
        return "no key 'figure': the source's"
    return None if {"least", "most"} & set(finding) else "neither 'least' nor 'most'"


def _keys(path, given, wanted, place):
    """wanted: keys; those that end in ? may be missing."""
    known = [key.rstrip("?") for key in wanted]
    for key in given:
        if key not in known:
            raise plan.PlanError(f"plan {path}: {place}: unknown key '{key}'; there are {', '.join(known)}")
    for key in wanted:
        if not key.endswith("?") and key not in given:
            raise plan.PlanError(f"plan {path}: {place}: no key '{key}'")


def selections(experiment):
    """[(place, measure, selection)] of all rows that it asks for."""
    found = [(f"plot {n}", each.get("measure", "flow_median"), line) for n, each in enumerate(experiment["plot"], 1) for line in each["lines"]]
    for n, each in enumerate(experiment["finding"], 1):
        chosen = [each[key] for key in ("a", "b") if key in each and "law" not in each[key]]
        found += [(f"finding {n}", each.get("measure", "goodput"), selection) for selection in chosen]
    return found


def parts(path, whole):
    """The tables of a plan's parts, as a run's figures have them."""
    return [part.table for part in plan.read(path, whole)]


# ---- the page ----

def save(folder, path, figures):
    """Writes the page of a plan's experiment, made of a run's figures, and the figures beside it. Returns the page's path. OSError."""
    name = os.path.basename(path).removesuffix(".toml")
    files = page(name, read(path), figures, parts(path, figures["whole"]))
    return report.write_files(folder, {**files, f"{name}.json": of_run.text(figures)})


def page(name, experiment, figures, now):
    """{file name: text}: NAME.md, and its plots. figures: of a run (figures.of()). now: the plan's parts()."""
    rows, files, old = of_run.Rows(figures), {}, of_run.stale(figures, now)
    told = [f"> {old}: its verdicts do not count. `make experiment NAME={name}` makes it anew."] if old else []
    told += [f"# {experiment['title']}", experiment["source"], experiment["question"],
             f"    # make experiment NAME={name}{' FULL=1' * figures['whole']}", "## The source's figures"]
    for each in experiment["figures"]:
        told += [f"{each['caption']}:", _table(each["columns"], [[_figure(cell) for cell in line] for line in each["rows"]])]
    told += ["## Ours", _circumstances(figures)]
    for number, each in enumerate(experiment["plot"], 1):
        panel = Boxes(each, rows) if each.get("box") else Panel(each, rows)
        told += [f"### {each['title']}", f"{panel.words}{panel.runs_words}", panel.table()]
        told += panel.notes()
        if picture := panel.picture():
            files[f"{name}-{number}.svg"] = svg.standalone(picture)
            told.append(f"![{each['title']}]({name}-{number}.svg)")
    for ours, title in ((False, "## Does it show?"), (True, "## Our own questions")):
        lines = [_judged(rows, each) for each in experiment["finding"] if each.get("ours", False) == ours]
        told += [title, "\n".join(lines)] if lines else []
    told += ["## What differs", "\n".join(f"- {each}" for each in experiment["differs"])]
    return {f"{name}.md": "\n\n".join(told) + "\n", **files}


def _judged(rows, finding):
    verdict = findings.judged(rows, finding)
    return f"- *{finding['name']}.* {finding['says']} **{_sentence(verdict.word)}**: {verdict.text}"


def _sentence(words):
    return words[0].upper() + words[1:]


def _circumstances(figures):
    words = [f"{figures['time'][:10]}, {table.minutes(figures['seconds'])}: `{figures['command']}`, rocescope {figures['rocescope']}"
             + (f", the plan of {figures['plan']}" if figures["plan"] else "") + ".", figures["circumstances"]]
    words.append(f"The machine's load before it began: {figures['load']:.2g}.")
    return " ".join(words)


def _figure(cell):
    return cell if isinstance(cell, str) else f"{cell:,}" if isinstance(cell, int) else f"{cell:g}"


def _table(head, lines):
    """Markdown: figures to the right."""
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in (head, rule, *lines))


class Panel:
    """A measure over what an experiment varies, as a table and as a plot."""

    def __init__(self, wanted, rows):
        self._measure, self._across = wanted.get("measure", "flow_median"), wanted["across"]
        self.measure = MEASURES[self._measure]
        values = [value for line in wanted["lines"] for value in findings.values_of(self._across, line, rows.facts)]
        self._values = findings.in_order(values)
        self._lines = [(line["name"], {value: rows.cell({**line, self._across: value}, self._measure)
                                       for value in self._values}) for line in wanted["lines"]]
        self._lost = [[rows.lost({**line, self._across: value}) for value in self._values]
                      for line in wanted["lines"]] if self._measure == "goodput" else []
        self._law = LAWS[self._measure] if wanted.get("law") else lambda facts: None
        options = [set(value.split(",")) for value in self._values] if self._across == "verbs" else []
        self._same = set.intersection(*options) if len(options) > 1 else set()

    def label(self, value):
        """Of a value of what is varied. Options that all have are left out."""
        if self._across == "verbs":
            value = ", ".join(option for option in value.split(",") if option not in self._same)
        return value_words(self._across, value)

    @property
    def words(self):
        return f"{_sentence(self.measure.words)}, {self.measure.unit}."

    @property
    def runs_words(self):
        runs = {len(cell.figures) for _, cells in self._lines for cell in cells.values() if cell.figures}
        return f" Mean and standard deviation of up to {max(runs)} runs." if runs and max(runs) > 1 else ""

    def table(self):
        head = ["", *map(self.label, self._values)]
        lines, lost = [], self._lost if any(any(line) for line in self._lost) else []
        for number, (name, cells) in enumerate(self._lines):
            lines.append([name, *(_cell(cell) for cell in cells.values())])
            lines += [[f"lost, {name}, %", *("" if share is None else f"{share:.2g}" for share in each)] for each in lost[number:number + 1]]
            laws = [self._law(cell.facts) if cell.facts else None for cell in cells.values()]
            if any(laws):
                lines.append([f"the law, {name}", *(table.figure_words(law) if law else "" for law in laws)])
        return _table(head, lines)

    def notes(self):
        """Why cells have no figures: each reason once. And whether anything was lost."""
        reasons = {}
        for name, cells in self._lines:
            for value, cell in cells.items():
                if cell.facts and not cell.figures:
                    reasons.setdefault(cell.why, []).append(f"{name}, {self.label(value)}")
        said = ["\n".join(f"- {why}: {'; '.join(places)}" for why, places in reasons.items())] if reasons else []
        known = [share for line in self._lost for share in line if share is not None]
        return said + ["Nothing was lost."] * (bool(known) and not any(known))

    def picture(self):
        """None: there is nothing to see over a single value."""
        points = []
        for number, (name, cells) in enumerate(self._lines):
            points += [series.Point(name, number, value, cell.mean, cell.std or 0) for value, cell in cells.items() if cell.figures]
            laws = [(value, self._law(cell.facts)) for value, cell in cells.items() if cell.facts]
            points += [Law(f"law, {name}", number, value, law, 0) for value, law in laws if law]
        shown = [value for value in self._values if any(point.value == value for point in points)]
        if len(shown) < 2:
            return None
        words = f"{self.measure.words} ({self.measure.unit})"

        def form(value):
            return self.label(value).replace(", ", "\n")

        if self._across == "size":
            across, place = series.sizes(shown, "message size", form), lambda point: point.value
        else:
            across, place = svg.Axis(range(len(shown)), self._across, form=lambda n: form(shown[n])), lambda point: shown.index(point.value)
        return series.means(words, points, words, across, place, lambda point: f"{form(point.value)}: {plots.mean_words(point)}", aside=0)


class Boxes(Panel):
    """How much the goodput of each QP differs, over what an experiment varies."""

    def __init__(self, wanted, rows):
        super().__init__(wanted, rows)
        self._boxes = {(line["name"], value): [rows.cell({**line, self._across: value}, measure) for measure in BOX]
                       for line in wanted["lines"] for value in self._values}

    @property
    def words(self):
        return f"Goodput of each QP, {self.measure.unit}. {BOXES}"

    def table(self):
        lines = [[f"{name}, {words}", *(_cell(self._boxes[name, value][number]) for value in self._values)]
                 for name, _ in self._lines for number, words in enumerate(BOX.values())]
        return _table(["", *map(self.label, self._values)], lines)

    def picture(self):
        names = [name for name, _ in self._lines]
        drawn = [series.Box(name, names.index(name), value, *(cell.mean for cell in cells))
                 for (name, value), cells in self._boxes.items() if all(cell.figures for cell in cells)]
        shown = [value for value in self._values if any(box.value == value for box in drawn)]
        if not drawn:
            return None
        words = f"goodput of a QP ({self.measure.unit})"
        return series.beside(words, drawn, words, ("message size" if self._across == "size" else self._across, shown, self.label),
                             lambda box: f"{self.label(box.value)}: {box_words(box)}")


def box_words(box):
    p10, q1, median, q3, p90 = map(table.figure_words, (box.p10, box.q1, box.end, box.q3, box.p90))
    return f"median {median}, quartiles {q1} and {q3}, 10 and 90 % {p10} and {p90}"


def _cell(cell):
    if not cell.figures:
        return cell.why.partition(":")[0] if cell.facts else ""
    return table.figure_words(cell.mean) + (f" ± {table.figure_words(cell.std)}" if cell.std is not None else "")


class Law(series.Point):
    """The same of a law: a dotted line without marks, in the colour of the line that it is beside."""

    @property
    def number(self):
        return len(svg.DASHES) * (1000 + self.line) + LAW_DASHES

    def mark_at(self, x, y):
        return ""
