# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Searches on made-up devices, for reports."""
import itertools

from compare import bench, plan, trials
from compare.transport import SEARCH, Outcome

PAYLOAD = 4096
MOST = 5e9      # bits a second that their senders offer


def row_of(transport):
    return next(row for row in plan.all_rows(plan.loads([PAYLOAD], [SEARCH])) if row.name.startswith(f"{transport}/rocescope"))


def search(transport, carries, goal, place, mark_of=lambda number: None):
    """
    The record of a search on a device that carries so many bits a second and loses the rest at this place. mark_of: the mark of its
    trial with this number.
    """
    numbers = itertools.count()

    def make(load, *_):
        packets = round((load or MOST) / 8 / PAYLOAD)
        lost = max(0, packets - round(carries / 8 / PAYLOAD))
        outcome = Outcome(min(load or MOST, carries) / 1e9, "receiver", sent=packets, received=packets - lost, sent_s=1.0)
        return {**bench.unwatched(outcome), "refereed": False, "places": {place: lost}, "mark": mark_of(next(numbers))}

    hunt = trials.Hunt(row_of(transport), goal, make, lambda words: None)
    hunt.run()
    return trials.record(row_of(transport), "ok", None, goal, hunt)


def interrupted(transport, goal):
    return trials.record(row_of(transport), "skipped", "interrupted", goal)
