# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
How much steadier one row is than another: the ratio of the standard deviations of their runs, with a confidence interval by
Fisher's distribution of the ratio of two variances. Pure, no lab.
"""
import functools
import math
import statistics

from compare.noise import CONFIDENCE, STEPS


def f_probability(f, above, below):
    """P(F <= f) of Fisher's F with so many degrees of freedom above and below the line: the integral of its density, by Simpson's rule."""
    # F = below / above * tan(u)^2: the integrand becomes sin(u)^(above - 1) cos(u)^(below - 1), on a short interval
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


def deviations(a, b):
    """
    (ratio, lower bound, upper bound) of the standard deviations of figures a by those of b, two or more of each. None: those of b do
    not differ. The bounds are right where runs are distributed normally.
    """
    ratio = statistics.variance(a) / statistics.variance(b) if statistics.variance(b) else None
    if ratio is None:
        return None
    rest, freedom = (1 + CONFIDENCE) / 2, (len(a) - 1, len(b) - 1)
    return tuple(map(math.sqrt, (ratio, ratio / f_bound(rest, *freedom), ratio * f_bound(rest, *reversed(freedom)))))
