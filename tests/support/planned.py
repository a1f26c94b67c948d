# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The rows that an experiment's plan runs on this machine."""
import functools
import importlib.machinery
import importlib.util
import os

from compare import experiment, findings, plan
from lab.lab import ROOT


@functools.cache
def rows_of(name, whole=False):
    """[(facts, path)]"""
    path = plan.find(name)
    program = plan.document(path)["experiment"].get("program")
    if program:
        return of_program(os.path.join(ROOT, program), experiment.parts(path, whole))
    parts = [part for part in plan.read(path, whole) if part.where != "hosts"]
    return [(facts, part.path) for part in parts for facts in findings.planned([part])]


def of_program(path, parts):
    """The same of an experiment's own program."""
    loader = importlib.machinery.SourceFileLoader("program", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("program", loader))
    loader.exec_module(module)
    rows = [row for _, row in module.rows_of(parts)]
    return [(row["facts"], row["path"]) for row in rows + module.pooled(rows)]


def figure_key(value):
    """A value of `by`, as a plan's table of figures has it."""
    return f"{value:g}" if isinstance(value, float) else str(value)
