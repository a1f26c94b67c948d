/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Series of single streams: of few, since each is some thirty series to whoever stores them. */
#ifndef USERSPACE_PROMETHEUS_STREAMS_H
#define USERSPACE_PROMETHEUS_STREAMS_H

#include "userspace/prometheus/metrics.h"

/* How many there are, how many of them were left out, and the series of the others. 0, or -1 with errno: no memory. */
int streams_write(FILE *out, const struct snapshot *s, const struct metrics_options *o);

#endif
