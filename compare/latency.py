# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Latencies of several runs as those of one row. A run has its figures, `latency_us`, and if its tool tells it a distribution,
`latency_histogram`: [[upper bound in us, count], ...] (userspace/traffic/streams/histogram.h). Pure.
"""
import itertools
import math
import statistics

QUANTILES = {"p50": .5, "p90": .9, "p99": .99, "p999": .999}
NAMES = ("min", *QUANTILES, "max", "mean")
ROUNDING = 1e-9     # of sums of shares


def shares(histograms):
    """[(upper bound in us, share of the messages)], ascending, of all histograms. Each histogram has the same weight."""
    found = {}
    for histogram in histograms:
        total = sum(count for _, count in histogram)
        for bound, count in histogram:
            found.setdefault(bound, []).append(count / total / len(histograms))
    return [(bound, math.fsum(each)) for bound, each in sorted(found.items())]


def quantile(parts, q):
    """The least bound of shares() that at least the fraction q of the messages does not exceed."""
    sums = itertools.accumulate(share for _, share in parts)
    return next((bound for (bound, _), below in zip(parts, sums) if below >= q - ROUNDING), parts[-1][0])


def merged(runs):
    """
    (latency_us, latency_histogram) of [(latency_us, latency_histogram)] that are one run together: each message has the same weight.
    (None, None): one of them has no distribution.
    """
    if not runs or not all(histogram for _, histogram in runs):
        return None, None
    counts = {}
    for _, histogram in runs:
        for bound, count in histogram:
            counts[bound] = counts.get(bound, 0) + count
    histogram = [list(bucket) for bucket in sorted(counts.items())]
    parts, totals = shares([histogram]), [sum(count for _, count in each) for _, each in runs]
    mean = math.fsum(figures["mean"] * total for (figures, _), total in zip(runs, totals)) / sum(totals)
    return {"min": min(figures["min"] for figures, _ in runs), **{name: quantile(parts, q) for name, q in QUANTILES.items()},
            "max": max(figures["max"] for figures, _ in runs), "mean": mean}, histogram


def pooled(runs):
    """
    `latency_pooled_us` of a row (docs/json.md). Every run has the same weight. None: no run has latencies.
    """
    timed = [run for run in runs if run.get("latency_us")]
    if not timed:
        return None
    known = {name: [run["latency_us"][name] for run in timed if run["latency_us"].get(name) is not None] for name in NAMES}
    found = {"from": "medians", "runs": len(timed), **{name: _of(known[name], statistics.median) for name in NAMES},
             "min": _of(known["min"], min), "max": _of(known["max"], max), "mean": _of(known["mean"], statistics.fmean),
             "spread": {name: _of(known[name], lambda each: {"least": min(each), "most": max(each)}) for name in NAMES},
             "stalls": None}
    if all(run.get("latency_histogram") for run in timed):
        parts = shares([run["latency_histogram"] for run in timed])
        found.update({"from": "histograms", **{name: quantile(parts, q) for name, q in QUANTILES.items()}})
        found["stalls"] = _stalls(found, parts)
    return found


def _of(values, pick):
    return pick(values) if values else None


def _stalls(figures, parts):
    """What makes a mean that is above its p99: the share of the messages that took longer, and their share of all the time."""
    above = [(bound, share) for bound, share in parts if bound > figures["p99"]]
    if figures["mean"] <= figures["p99"] or not above:
        return None
    return {"above_us": figures["p99"], "messages": math.fsum(share for _, share in above),
            "time": math.fsum(bound * share for bound, share in above) / math.fsum(bound * share for bound, share in parts)}
