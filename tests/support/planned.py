# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The rows that an experiment's plan runs on this machine."""
import functools

from compare import findings, plan


@functools.cache
def rows_of(name, whole=False):
    """[(facts, path)]"""
    path = plan.find(name)
    parts = [part for part in plan.read(path, whole) if part.where != "hosts"]
    return [(facts, part.path) for part in parts for facts in findings.planned([part])]


def figure_key(value):
    """A value of `by`, as a plan's table of figures has it."""
    return f"{value:g}" if isinstance(value, float) else str(value)
