/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A snapshot in Prometheus's text format 0.0.4. Names are those of roce/stream/counters.def: rocescope_NAME[_total] (docs/json.md). */
#ifndef USERSPACE_RENDER_PROMETHEUS_METRICS_H
#define USERSPACE_RENDER_PROMETHEUS_METRICS_H

#include <stdio.h>

#include "userspace/observe/model/snapshot.h"

struct host;
struct metrics_memory;

struct metrics_options {
	size_t streams;		     /* how many streams of snapshot_shown() get their own series: the worst and the busiest */
	const struct snapshot *known; /* the snapshot of the last interval: owners of its streams are valid; may be NULL */
	const __u8 *limits;	     /* enum limit of each of its streams; NULL: not computed */
	__u64 room;		     /* most streams in the table */
	bool events;		     /* events are requested */
	__u64 events_suppressed;     /* events left out beyond their limit */
	__u64 took;		     /* ns that the snapshot took */
	struct metrics_memory *memory; /* the same one in each call; NULL: there is only one call */
};

/* counters.def in Prometheus's words. name: with _total if the counter only rises. */
struct metrics_counter {
	const char *name, *type, *words;
};

extern const struct metrics_counter metrics_counters[ROCE_COUNTERS];

#define METRICS_STREAMS 10000 /* limit: each has some 3 KB of text */

#define METRICS_GROUPS 1000

struct host_counter;

/* Counters of devices and drivers. */
void metrics_write_counters(FILE *out, const struct host_counter *list, size_t count);

/* Of this process. seconds: since watching began; took: ns that the answer's figures took. */
void metrics_write_process(FILE *out, double seconds, __u64 took);

/* host may be NULL. Returns 0, or -1 with errno if writing failed. */
int metrics_write(FILE *out, const struct snapshot *s, const struct host *host, const struct metrics_options *o);

#endif
