/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What Prometheus was told before, so that no counter falls: to it one that does, be it by one, began anew from 0, and all that
 * it ever had counts once more.
 */
#ifndef USERSPACE_PROMETHEUS_MEMORY_H
#define USERSPACE_PROMETHEUS_MEMORY_H

#include "roce/dialogue.h"

/* The numbers of a dialogue that only rise: one after the other, words of 64 bits. */
#define DIALOGUE_RISING (offsetof(struct roce_dialogue, begun) - offsetof(struct roce_dialogue, waiting_ns))

/* A sum over the streams of the table, as it was, and what it had of those that have left. */
struct memory_sum {
	__u64 last, left;
};

/* All zero at first. */
struct metrics_memory {
	__u64 totals[ROCE_COUNTERS];
	struct memory_sum lints[ROCE_LINTS];
	struct memory_sum dialogue[DIALOGUE_RISING / sizeof(__u64)];
};

/* What is told of it, now. */
static inline __u64 memory_add(struct memory_sum *m, __u64 now)
{
	if (now < m->last)
		m->left += m->last - now;
	m->last = now;
	return m->left + now;
}

/*
 * Of totals, which have what evicted streams counted. They fall only where a stream turns out to be none, by its first ICRC that
 * was verified, and is back with all it had if it is one after all.
 */
static inline __u64 memory_most(__u64 *most, __u64 now)
{
	if (now > *most)
		*most = now;
	return *most;
}

#endif
