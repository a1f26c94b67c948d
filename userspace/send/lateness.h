/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How late packets left, out of the buckets of struct send_memory. */
#ifndef USERSPACE_SEND_LATENESS_H
#define USERSPACE_SEND_LATENESS_H

#include <stdbool.h>

#include "bpf/slot.h"

/* The largest lateness of the bucket, ns. */
__u64 lateness_of_bucket(__u32 bucket);

/*
 * ns that the fraction q (0..1] of the packets was late at most: a bucket's end, so up to a quarter more than the true value; 0
 * where nothing was paced.
 */
__u64 lateness_quantile(const struct send_memory *m, double q);

/*
 * Whether packets left at the plan's rate: a sender that is too slow falls behind ever more, so at a rate that is 1 % too
 * low half of the packets are late by half a percent of the run or more. between: ns from a burst to the next one, or 0: all
 * of a burst is to leave at once, and is late by what the way out needs for it.
 */
bool lateness_kept_rate(const struct send_memory *m, __u64 between);

#endif
