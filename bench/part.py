# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the parts of `make bench` have in common: their options, what refuses a row, and the result that each prints."""
import argparse
import json
import os
import sys


class Refused(Exception):
    """Why a row is not valid."""


def options(spoil=None):
    """spoil: what that option makes wrong, so that rows that look there must be refused. None: there is no such option."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--best", type=float, default=0.0, help="the most adds a cycle that were seen before")
    if spoil:
        parser.add_argument("--spoil", action="store_true", help=f"{spoil}: rows that look there must be refused")
    return parser.parse_args()


def run(measure, *names, why_not=None):
    """Prints { NAME: rows, ..., "refused": rows }, to which measure(result) adds. why_not: why there are none."""
    result = {name: [] for name in (*names, "refused")}
    if why_not:
        print(f"bench: {why_not}: no such rows", file=sys.stderr)
    else:
        measure(result)
    json.dump(result, sys.stdout)


def on_two_cpus(what, measure, *names):
    """The same, where there are two CPUs. what: needs them."""
    run(measure, *names, why_not=f"{what} two CPUs" if os.cpu_count() < 2 else None)
