/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A snapshot as Prometheus reads it (text format 0.0.4). Names are those of roce/counters.def: rocescope_NAME[_total]
 * (docs/json.md).
 */
#ifndef USERSPACE_PROMETHEUS_METRICS_H
#define USERSPACE_PROMETHEUS_METRICS_H

#include <stdio.h>

#include "userspace/model/snapshot.h"

struct host;
struct metrics_memory;

struct metrics_options {
	size_t streams;		     /* of those that snapshot_shown() has so many, the worst and busiest, get series of their own */
	const struct snapshot *known; /* the one of the last interval, whose streams' owners hold; may be NULL */
	const __u8 *limits;	     /* enum limit of each of its streams; NULL: nobody asked */
	__u64 room;		     /* for so many streams */
	bool events;		     /* they are had, */
	__u64 events_suppressed;     /* ... but for those beyond the limit */
	__u64 took;		     /* ns, to take the snapshot */
	struct metrics_memory *memory; /* the same each time; NULL: this is the only time */
};

/* counters.def, in Prometheus's words; name: with _total behind what only rises. */
struct metrics_counter {
	const char *name, *type, *words;
};

extern const struct metrics_counter metrics_counters[ROCE_COUNTERS];

#define METRICS_STREAMS 10000 /* at most: some 3 KB of text each */

/* host may be NULL. 0, or -1 with errno when it cannot be written. */
int metrics_write(FILE *out, const struct snapshot *s, const struct host *host, const struct metrics_options *o);

#endif
