/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Series of single streams. Only of a few: each stream is some thirty series to store. */
#ifndef USERSPACE_RENDER_PROMETHEUS_STREAMS_H
#define USERSPACE_RENDER_PROMETHEUS_STREAMS_H

#include "userspace/render/prometheus/metrics.h"

/*
 * Writes how many streams there are, how many were left out, and the series of the chosen ones. 0, or -1 with errno: no memory.
 */
int streams_write(FILE *out, const struct snapshot *s, const struct metrics_options *o);

#endif
