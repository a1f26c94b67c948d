/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Remembers what was exported, so that no counter falls. Prometheus takes a counter that falls by one for a restart from 0, and
 * counts its whole value again.
 */
#ifndef USERSPACE_RENDER_PROMETHEUS_MEMORY_H
#define USERSPACE_RENDER_PROMETHEUS_MEMORY_H

#include "roce/dialogue/dialogue.h"
#include "roce/stream/stream.h"

/* The numbers of a dialogue that only rise: consecutive 64-bit words. */
#define DIALOGUE_RISING (offsetof(struct roce_dialogue, begun) - offsetof(struct roce_dialogue, waiting_ns))

/* A sum over the streams in the table: its last value, and what streams that left had counted. */
struct memory_sum {
	__u64 last, left;
};

/* All zero at first. */
struct metrics_memory {
	__u64 totals[ROCE_COUNTERS];
	struct memory_sum lints[ROCE_LINTS];
	struct memory_sum dialogue[DIALOGUE_RISING / sizeof(__u64)];
};

/* Returns the value to export. */
static inline __u64 memory_add(struct memory_sum *m, __u64 now)
{
	if (now < m->last)
		m->left += m->last - now;
	m->last = now;
	return m->left + now;
}

/*
 * For totals, which include evicted streams. They fall only if the first ICRC verified shows that a stream is none. If later
 * ICRCs show that it is one, all its counts come back.
 */
static inline __u64 memory_most(__u64 *most, __u64 now)
{
	if (now > *most)
		*most = now;
	return *most;
}

#endif
