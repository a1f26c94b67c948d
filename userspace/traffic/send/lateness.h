/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How late packets left, from the buckets of struct send_memory. */
#ifndef USERSPACE_TRAFFIC_SEND_LATENESS_H
#define USERSPACE_TRAFFIC_SEND_LATENESS_H

#include <stdbool.h>

#include "bpf/slot.h"

/* The largest lateness of the bucket, in ns. */
__u64 lateness_of_bucket(__u32 bucket);

/*
 * The lateness in ns that the fraction q (0..1] of the packets did not exceed. It is a bucket's end, so up to a quarter more
 * than the true value. 0 if nothing was paced.
 */
__u64 lateness_quantile(const struct send_memory *m, double q);

/*
 * Whether packets left at the plan's rate. A slow sender falls behind ever more: at a rate 1 % too low, half of the packets are
 * late by half a percent of the run or more. between: ns from one burst to the next, or 0. A whole burst is due at once, so its
 * packets are late by the time that the outlet needs for them.
 */
bool lateness_kept_rate(const struct send_memory *m, __u64 between);

#endif
