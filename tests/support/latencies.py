# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Made-up latencies, as a stream program reports them: by userspace/traffic/streams/histogram.h, written anew."""
import collections
import math

STEPS = 32      # for each power of two


def bound(ns):
    """The largest value that falls into the same bucket."""
    shift = max(0, int(ns).bit_length() - STEPS.bit_length())
    return ((int(ns) >> shift) + 1 << shift) - 1


def reported(times_us):
    """(latency_us, latency_histogram) of a run whose messages took so long."""
    ns = sorted(round(us * 1e3) for us in times_us)
    bounds = [min(bound(each), ns[-1]) / 1e3 for each in ns]
    figures = {name: bounds[math.ceil(share * len(ns)) - 1] for name, share in (("p50", .5), ("p90", .9), ("p99", .99), ("p999", .999))}
    return ({"min": ns[0] / 1e3, **figures, "max": ns[-1] / 1e3, "mean": math.fsum(ns) / len(ns) / 1e3},
            [list(bucket) for bucket in sorted(collections.Counter(bounds).items())])
