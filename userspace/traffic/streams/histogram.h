/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Log-linear histogram of 64-bit values in fixed memory. 32 steps per power of two: a quantile is at most 1/32 above the true
 * value.
 */
#ifndef USERSPACE_TRAFFIC_STREAMS_HISTOGRAM_H
#define USERSPACE_TRAFFIC_STREAMS_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_STEPS_LOG2	5
#define HISTOGRAM_STEPS		(1 << HISTOGRAM_STEPS_LOG2)
#define HISTOGRAM_BUCKETS	((64 - HISTOGRAM_STEPS_LOG2 + 1) * HISTOGRAM_STEPS)

struct histogram {
	uint64_t count, min, max, sum;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

/* `h` starts as zeroes. */
void histogram_add(struct histogram *h, uint64_t value);

/* Adds all values of `from`. */
void histogram_merge(struct histogram *h, const struct histogram *from);

/* The smallest value that at least the fraction q (0..1) of all values does not exceed. 0: empty. */
uint64_t histogram_quantile(const struct histogram *h, double q);

/* The exact mean of all values. 0: empty. */
double histogram_mean(const struct histogram *h);

/* The largest value that falls into a bucket; at most the largest one seen. */
uint64_t histogram_top(const struct histogram *h, unsigned int bucket);

#endif
