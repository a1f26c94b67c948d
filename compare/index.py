# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The table that docs/experiments/README.md begins with: each finding with the source's figure, ours, and the verdict, made of the
figures beside the pages. Pure but for reading.
"""
import collections
import os
import tomllib

from compare import experiment, figures, findings, plan

BEFORE = "before.toml"      # what the pages of 0.1.0 said
END = "## Run one\n"        # where README.md's own text begins
STALE, UNRUN, GONE = "does not count", "was not run anew", "is not judged any more"


def pages(folder):
    """{name: (experiment, figures or None: it was not run, why they do not count or None)} of all experiments."""
    found = {}
    for name in experiment.names():
        path, kept = plan.find(name), os.path.join(folder, f"{name}.json")
        run = figures.read(kept) if os.path.exists(kept) else None
        found[name] = experiment.read(path), run, run and figures.stale(run, experiment.parts(path, run["whole"]))
    return found


def text(folder):
    """Of README.md, all before END."""
    found = pages(folder)
    with open(os.path.join(folder, BEFORE), "rb") as file:
        before = tomllib.load(file)["finding"]
    verdicts = {(name, finding["name"]): verdict(finding, *run) for name, (about, *run) in found.items() for finding in about["finding"]}
    said = {(each["experiment"], each["now"]): each["verdict"] for each in before if each["now"]}
    parts = ["# Experiments of reports: which findings show here",
             "Each finding of a source is held against the source's own figure, with a 95 % interval of five runs or more "
             "([how](#how-sure)). Ours are of guests with emulated CPUs and SoftRoCE unless the page says something else: nothing "
             "was run on an RNIC, or between hosts.", _table(found, verdicts, said, False),
             "## Our own questions", "Explanations and questions that are ours, tested in the same way, with bounds on both sides.",
             _table(found, verdicts, said, True), "## What 0.1.0 said", _changes(before, verdicts)]
    return "\n\n".join(parts) + "\n\n"


def verdict(finding, run, stale):
    if not run:
        return findings.Verdict(UNRUN, "", "")
    judged = findings.judged(figures.Rows(run), finding)
    return judged._replace(word=STALE, text=stale) if stale else judged


def _table(found, verdicts, said, ours):
    lines = [["experiment", "finding", *([] if ours else ["the source"]), "ours", "verdict", "0.1.0 said", "programs of"]]
    lines.append(["---"] * len(lines[0]))
    for name, (about, run, _) in found.items():
        for finding in about["finding"]:
            if finding.get("ours", False) == ours:
                key = name, finding["name"]
                lines.append([f"[{name}]({name}.md)" if run else name, finding["name"], *([] if ours else [finding["source"]]),
                              verdicts[key].ours, f"**{verdicts[key].word}**", said.get(key, ""), run["rocescope"] if run else ""])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _changes(before, verdicts):
    """How many of those that showed still do, and of each of the others why not."""
    showed = [(each, verdicts[each["experiment"], each["now"]].word if each["now"] else GONE)
              for each in before if each["verdict"] == "shows"]
    counts = collections.Counter(word for _, word in showed)
    still = counts.pop(findings.SHOWS, 0)
    others = "; ".join(f"it {word}: {n}" for word, n in counts.most_common())
    lines = [f"- {each['experiment']}, {each['says']}: **{word}**. {each['why']}" for each, word in showed if word != findings.SHOWS]
    return (f"Pages of 0.1.0 said of {len(showed)} findings that they show, most of them against 1 and not against the source's figure. "
            f"Of these {still} show today.{f' Of the others {others}.' if others else ''}\n\n" + "\n".join(lines)).strip()
