// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>

#include "userspace/traffic/streams/histogram.h"

/* Values below HISTOGRAM_STEPS have a bucket each. Above, the exponent and the next five bits select the bucket. */
static unsigned int bucket_of(uint64_t value)
{
	unsigned int shift;

	if (value < HISTOGRAM_STEPS)
		return value;
	shift = 63 - __builtin_clzll(value) - HISTOGRAM_STEPS_LOG2;
	return (shift << HISTOGRAM_STEPS_LOG2) + (value >> shift);
}

static uint64_t bucket_top(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 2 * HISTOGRAM_STEPS)
		return bucket;
	shift = (bucket >> HISTOGRAM_STEPS_LOG2) - 1;
	return (((uint64_t)bucket - (shift << HISTOGRAM_STEPS_LOG2) + 1) << shift) - 1;
}

void histogram_add(struct histogram *h, uint64_t value)
{
	if (!h->count++ || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->sum += value;
	h->bucket[bucket_of(value)]++;
}

void histogram_merge(struct histogram *h, const struct histogram *from)
{
	if (from->count && (!h->count || from->min < h->min))
		h->min = from->min;
	if (from->max > h->max)
		h->max = from->max;
	h->count += from->count;
	h->sum += from->sum;
	for (unsigned int b = 0; b < HISTOGRAM_BUCKETS; b++)
		h->bucket[b] += from->bucket[b];
}

uint64_t histogram_top(const struct histogram *h, unsigned int bucket)
{
	uint64_t top = bucket_top(bucket);

	return top < h->max ? top : h->max;
}

double histogram_mean(const struct histogram *h)
{
	return h->count ? (double)h->sum / h->count : 0;
}

uint64_t histogram_quantile(const struct histogram *h, double q)
{
	uint64_t rank = (uint64_t)ceil(q * h->count), below = 0;

	if (rank >= h->count)
		return h->max;
	for (unsigned int b = 0; b < HISTOGRAM_BUCKETS; b++) {
		below += h->bucket[b];
		if (below && below >= rank)
			return histogram_top(h, b);
	}
	return h->max;
}
