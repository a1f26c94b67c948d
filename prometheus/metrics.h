/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A snapshot as Prometheus reads it (text format 0.0.4). Names are those of the contract: rocescope_NAME[_total]. */
#ifndef PROMETHEUS_METRICS_H
#define PROMETHEUS_METRICS_H

#include <stdio.h>

#include "userspace/filter.h"
#include "userspace/snapshot.h"

struct host;

struct metrics_options {
	size_t streams;		     /* so many of the worst and busiest get series of their own; 0: none */
	const struct filter *filter; /* among these; may be NULL */
};

/* host may be NULL. 0, or -1 with errno when it cannot be written. */
int metrics_write(FILE *out, const struct snapshot *s, const struct host *host, const struct metrics_options *o);

#endif
