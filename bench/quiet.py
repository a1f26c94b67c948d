# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Which samples count: those of a core that nobody else used meanwhile, as the probe found (bench/probe.h). A sample is `quiet` or
`shared`. Figures are of the quiet ones, or of all where these are too few. docs/performance.md says how it is judged.
"""
import json
import os
import statistics
import subprocess
import sys

from lab import child

SHARE = 0.95    # of the run's best adds a cycle, that a quiet sample has; bench/probe.h has the same number
ENOUGH = 3      # quiet samples for a figure, or all of them where fewer were taken
WATCH_CORES = os.path.join(sys.path[0], "build/bench/watch_cores")


def is_quiet(adds, best):
    """best: the most adds a cycle in the run. 0: the probe knows nothing here, and every sample counts as quiet."""
    return adds >= SHARE * best


def sort(samples, best, adds_of=lambda sample: sample["adds"]):
    """Returns the samples that count, and how many were quiet: { "runs", "of", "enough" }. Not enough: all count."""
    quiet = [sample for sample in samples if is_quiet(adds_of(sample), best)]
    enough = len(quiet) >= min(ENOUGH, len(samples))
    return quiet if enough else samples, {"runs": len(quiet), "of": len(samples), "enough": enough}


def weaker(*counts):
    """Of a figure that is made of several: the count of which the fewest were quiet."""
    return min(counts, key=lambda count: (count["enough"], count["runs"]))


class Watch:
    """Probes CPUs while something is measured."""

    def __init__(self, cpus, best=0.0):
        self.cpus, self.best = list(cpus), best
        self._process = subprocess.Popen(child([WATCH_CORES, *map(str, self.cpus)]), stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)

    def begin(self):
        """Leaves out what was before."""
        self._take()

    def end(self, cpus=None):
        """Adds a cycle since begin(), on the CPU of these that had fewest; None: of all."""
        adds = [adds for cpu, (adds, _) in zip(self.cpus, self._take()) if not cpus or cpu in cpus]
        self.best = max(self.best, *adds)
        return round(min(adds), 3)

    def sort(self, samples):
        return sort(samples, self.best)

    def _take(self):
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


# ---- the engine's rows, of which each sample is [ns, adds, MHz] ----

def core(rows):
    """The best adds a cycle, and the median clock in MHz of the quiet samples. (0, None): not known."""
    samples = [sample for row in rows for sample in row["samples"] + (row["empty"] or [])]
    best = max((adds for _, adds, _ in samples), default=0)
    clocks = [mhz for _, adds, mhz in samples if is_quiet(adds, best)]
    return best, round(statistics.median(clocks)) if best else None


def figures(row, best):
    """The row of bench.json."""
    samples, quiet = _sorted(row["samples"], best)
    empty, quiet_empty = _sorted(row["empty"], best) if row["empty"] else ([0], quiet)
    middle = statistics.median_high
    return {"name": row["name"], "payload": row["payload"], "qps": row["qps"], "packet": row["packet"], "ns": min(samples),
            "net_ns": min(samples) - min(empty), "ns_median": middle(samples),
            "net_ns_median": middle(samples) - middle(empty), "runs": len(row["samples"]), "packets": row["packets"],
            "quiet": weaker(quiet, quiet_empty)}


def _sorted(samples, best):
    counted, quiet = sort(samples, best, adds_of=lambda sample: sample[1])
    return [ns for ns, _, _ in counted], quiet
