# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which differences between rows are more than noise. Pure, no lab.

Two rows are compared by pairs: their runs of the same block, which ran within minutes of each other, so that what changes
slowly on a machine is the same for both. The logarithms of the ratios have a mean and, by Student's t, a confidence interval.
A table has several comparisons. Each gets its part of the 5 % (Bonferroni), so that all of them are right with 95 %.
"""
import functools
import math
import statistics

from compare import join, latency
from compare.transport import PING_PONG

ENOUGH = 5          # pairs, below which nothing is claimed
CONFIDENCE = 0.95   # of all comparisons of a table together
STEPS = 2000        # of the numeric integral: quantiles are right to 1e-6


def f_probability(f, above, below):
    """P(F <= f) of Fisher's F with so many degrees of freedom above and below the line: the integral of its density, by Simpson's rule."""
    # F = below / above * tan(u)^2: the integrand becomes sin(u)^(above - 1) cos(u)^(below - 1), smooth on a short interval
    end = math.atan(math.sqrt(f * above / below))
    width = end / STEPS
    values = [math.sin(i * width) ** (above - 1) * math.cos(i * width) ** (below - 1) for i in range(STEPS + 1)]
    total = values[0] + values[-1] + 4 * math.fsum(values[1:-1:2]) + 2 * math.fsum(values[2:-1:2])
    scale = 2 * math.exp(math.lgamma((above + below) / 2) - math.lgamma(above / 2) - math.lgamma(below / 2))
    return scale * total * width / 3


@functools.cache
def f_bound(probability, above, below):
    """The f with P(F <= f) = probability."""
    low, high = 0.0, 1.0
    while f_probability(high, above, below) < probability:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if f_probability(middle, above, below) < probability else (low, middle)
    return high


def t_bound(probability, freedom):
    """The t with P(|T| <= t) = probability, of Student's t with so many degrees of freedom: its square is F with 1 above the line."""
    return math.sqrt(f_bound(probability, 1, freedom))


def deviations(a, b):
    """
    (ratio, lower bound, upper bound) of the standard deviations of figures a by those of b, two or more of each. None: those of b do
    not differ. The bounds are right where runs are distributed normally.
    """
    if not statistics.variance(b):
        return None
    ratio, rest, freedom = statistics.variance(a) / statistics.variance(b), (1 + CONFIDENCE) / 2, (len(a) - 1, len(b) - 1)
    return tuple(map(math.sqrt, (ratio, ratio / f_bound(rest, *freedom), ratio * f_bound(rest, *reversed(freedom)))))


def plain_interval(values, comparisons=1):
    """(mean, lower bound, upper bound) of the mean of these values."""
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((each - mean) ** 2 for each in values) / (len(values) - 1))
    half = t_bound(1 - (1 - CONFIDENCE) / comparisons, len(values) - 1) * deviation / math.sqrt(len(values))
    return mean, mean - half, mean + half


def interval(logs, comparisons=1):
    """The same of logarithms, as ratios."""
    return tuple(map(math.exp, plain_interval(logs, comparisons)))


def judged(low, high):
    return "more" if low > 1 else "less" if high < 1 else "noise"


def compare(a, b, comparisons=1):
    """
    a, b: {block: figure} of two rows; blocks without both figures, or with one that is 0, do not count. comparisons: of the
    table. Returns { "pairs", "ratio" (a / b), "low", "high", "verdict" }: more, less, noise, or "too few" pairs.
    """
    logs = [math.log(a[block] / b[block]) for block in a if a[block] and b.get(block)]
    if len(logs) < ENOUGH:
        ratio = math.exp(math.fsum(logs) / len(logs)) if logs else None
        return {"pairs": len(logs), "ratio": ratio, "low": None, "high": None, "verdict": "too few"}
    ratio, low, high = interval(logs, comparisons)
    return {"pairs": len(logs), "ratio": ratio, "low": low, "high": high, "verdict": judged(low, high)}


def change(before, after, comparisons=1):
    """
    The same of one row in two reports, whose runs are no pairs: before, after: figures. By Welch's t of the logarithms.
    """
    logs = [[math.log(figure) for figure in figures if figure] for figures in (before, after)]
    counts = [len(each) for each in logs]
    means = [math.fsum(each) / len(each) if each else None for each in logs]
    if min(counts) < ENOUGH:
        ratio = math.exp(means[1] - means[0]) if all(counts) else None
        return {"runs": min(counts), "ratio": ratio, "low": None, "high": None, "verdict": "too few"}
    spread = [math.fsum((log - mean) ** 2 for log in each) / (n - 1) / n for each, mean, n in zip(logs, means, counts)]
    half = 0.0
    if sum(spread):
        freedom = sum(spread) ** 2 / math.fsum(s ** 2 / (n - 1) for s, n in zip(spread, counts))
        half = t_bound(1 - (1 - CONFIDENCE) / comparisons, freedom) * math.sqrt(sum(spread))
    low, high = (math.exp(means[1] - means[0] + sign * half) for sign in (-1, 1))
    return {"runs": min(counts), "ratio": math.exp(means[1] - means[0]), "low": low, "high": high, "verdict": judged(low, high)}


# ---- of a report ----

# What rows are compared within.
SECTION = ("path", "flows", "ip", "size", "rate")


def figure(rate, run):
    """What a run is judged by: its goodput (Gbit/s); of ping-pong the mean latency (us), where less is better."""
    return (run["latency_us"] or {}).get("mean") if rate == PING_PONG else run["goodput_gbps"]


def figures(row):
    """{block: figure} of the runs that measure."""
    return {run["block"]: figure(row["rate"], run) for run in join.measuring(row["each"])}


def mean(row):
    """Of its figures. None: there are none."""
    return join.mean(figures(row).values())


def latencies(row):
    """latency_pooled_us of a row, also of a report that is older than that. None: it has no latencies."""
    if "latency_pooled_us" in row:
        return row["latency_pooled_us"]
    return latency.pooled(join.measuring(row["each"]) if "each" in row else [row])


def best_of(rows):
    """The row of a section with the best figure."""
    return (min if rows[0]["rate"] == PING_PONG else max)(rows, key=mean)


def place(row):
    """The section of a row, or of a comparison."""
    return tuple(row[key] for key in SECTION)


def sections(rows):
    """{place: rows} that ran and can be compared."""
    found = {}
    for row in rows:
        if row["status"] == "ok" and mean(row) is not None:
            found.setdefault(place(row), []).append(row)
    return found


def pairs_of(rows):
    """[(a, b)] of a section: the best one and each other; and each tool and ours on the same transport."""
    best = best_of(rows)
    return [(best, row) for row in rows if row is not best] + [pair for pair in tools_of(rows) if best not in pair]


def tools_of(rows):
    """[(ours, that of another tool on the same transport)] of a section."""
    return [(own, row) for row in rows for own in rows
            if own["tool"] == "rocescope" and own["transport"] == row["transport"] and own is not row]


def beside_tools(rows):
    """
    Each row of ours with that of each other tool on the same transport: its section, transport, tool, and compare() of ours and
    theirs. Each interval is that of its own comparison.
    """
    return [{**dict(zip(SECTION, where)), **name(theirs), **compare(figures(ours), figures(theirs))}
            for where, section in sections(rows).items() for ours, theirs in tools_of(section)]


def comparisons(rows):
    """The comparisons of a report's rows, by section. Each names its rows by transport and tool."""
    result = []
    for where, section in sections(rows).items():
        pairs = pairs_of(section)
        result += [{**dict(zip(SECTION, where)), "a": name(a), "b": name(b),
                    **compare(figures(a), figures(b), len(pairs))} for a, b in pairs]
    return result


def name(row):
    return {"transport": row["transport"], "tool": row["tool"]}


def common(before, after):
    """[(row of one report, the same row of another)] of those that ran in both."""
    earlier = {key(row): row for row in before if row["status"] == "ok"}
    return [(earlier[key(row)], row) for row in after if row["status"] == "ok" and key(row) in earlier]


def changes(before, after, comparisons=None):
    """
    What became of each row that both reports have: its section, { "transport", "tool", "before", "after", "p99": of both, ...change() }.
    comparisons: of which these are a part; None: there are no others.
    """
    both = common(before, after)
    return [{**dict(zip(SECTION, place(row))), **name(row), "before": mean(old), "after": mean(row),
             "p99": tuple((latencies(each) or {}).get("p99") for each in (old, row)),
             **change(figures(old).values(), figures(row).values(), comparisons or len(both))} for old, row in both]


def key(row):
    """What a row has in common with itself in another report."""
    return (*place(row), *(row[key] for key in ("transport", "tool", "operation")))
