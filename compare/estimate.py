# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How long parts of a plan will take. Pure, no lab.

Measured on two busy CPUs, virtual ones, where the lab's guests had emulated CPUs. The figures of hosts are a guess from those.
"""
import math
from typing import NamedTuple

from compare import disturbed


class Costs(NamedTuple):
    """In seconds."""
    up: float       # until the path of two ends is up
    change: float   # until the NICs are another driver's
    referee: float  # of a run that has one only because the others have none
    kernel: tuple   # of a run beside its duration: by our programs, by others
    dpdk: tuple


COSTS = {"local": Costs(1, .5, 1, (1, 1), (2, 7)), "lab": Costs(45, 15, 0, (5.5, 7.5), (7.5, 22.5)),
         "hosts": Costs(10, 1, 1, (2, 2), (3, 7.5))}
CHANGES = 1.5       # of drivers a block: each block begins with either
LOADS = 6           # of a search, as it goes; it may as well take twice as many, for what is lost decides where the next one is


def runs(part, rows):
    """[(Row, whether a referee comes on top)] of all runs of a part. Of what is known only when the path is up, nothing."""
    possible = [row for row in _possible(part, rows) if not row.searched]
    apart = [(row, True) for row in possible if row.transport.driver and (row.transport.seen_on_nic or part.where == "local")]
    return [(row, False) for row in possible] * part.repeats + apart * (part.where != "lab")


def _possible(part, rows):
    return [row for row in rows if not row.why and not (row.transport.rxe and part.where == "local")]


def searches(part, rows):
    return [row for row in _possible(part, rows) if row.searched]


def seconds(part, rows):
    costs, each = COSTS[part.where], runs(part, rows)
    total = up(part) + (CHANGES * part.repeats * costs.change if len({row.transport.driver for row, _ in each}) > 1 else 0)
    for row, refereed in each:
        total += _run(part, row) + costs.referee * refereed
    return total + 2 * part.delay_us / 1e6 * len(each) + sum(search(part, row) for row in searches(part, rows))


def up(part):
    return COSTS[part.where].up * (part.senders + part.receivers) / 2


def of_parts(parts, there=False):
    """
    (least, most) seconds of [(Part, rows)]: a search may take twice as long, and what others disturb is made again. Parts on the same
    ends share them. there: those of the first one are up.
    """
    shared = [there] + [part.ends == before.ends for (before, _), (part, _) in zip(parts, parts[1:])]
    least = sum(seconds(part, rows) - up(part) * again for (part, rows), again in zip(parts, shared))
    return least, least + sum(search(part, row) for part, rows in parts for row in searches(part, rows)) + sum(
        again(part, rows) for part, rows in parts)


def again(part, rows):
    """Seconds of runs and trials that others disturbed, if they never rest."""
    timed = [row for row in _possible(part, rows) if not row.searched]
    return sum(disturbed.again_of(part.repeats) * _run(part, row) for row in timed) + sum(
        disturbed.MOST_AGAIN * (part.goal.trial + _beside(part, row)[0]) for row in searches(part, rows))


def _beside(part, row):
    """Seconds of a run beside its duration: (by our programs, by others)."""
    return COSTS[part.where].dpdk if row.transport.driver == "dpdk" else COSTS[part.where].kernel


def _run(part, row):
    """Seconds of a run without a referee."""
    ours, theirs = _beside(part, row)
    return part.duration + ours if row.own else part.foreign_duration + theirs


def search(part, row):
    """Seconds of a search. Half of its loads are lower bounds, which take the most trials."""
    goal, beside = part.goal, _beside(part, row)[0] + 2 * part.delay_us / 1e6

    def trials(goal, loads):
        lower, upper = (max(1, math.ceil(goal.sum * share / goal.trial)) for share in (1 - goal.exceed, goal.exceed))
        return loads * (lower + upper) / 2 * (goal.trial + beside)

    whole = trials(goal.short, LOADS) + trials(goal, LOADS / 2) if goal.short else trials(goal, LOADS)
    return whole + goal.walk * (goal.trial + beside)
