# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The rows that an experiment's plan runs in the lab."""
from compare import findings, plan


def rows_of(name, whole=False):
    """[(facts, path)]"""
    parts = [part for part in plan.read(plan.find(name), whole) if part.where == "lab"]
    return [(facts, part.path) for part in parts for facts in findings.planned([part])]
