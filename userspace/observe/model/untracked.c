// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/observe/model/untracked.h"

bool untracked_add(struct untracked_sum *sum, const struct roce_untracked *one)
{
	struct roce_untracked_stream *more = realloc(sum->list, (sum->count + UNTRACKED_KEPT) * sizeof(*more));

	if (!more)
		return false;
	sum->list = more;
	for (int i = 0; i < UNTRACKED_KEPT; i++)
		if (one->stream[i].key.kind != KEY_NONE)
			sum->list[sum->count++] = one->stream[i];
	for (int i = 0; i < UNTRACKED_RANKS; i++)
		if (one->rank[i] > sum->rank[i])
			sum->rank[i] = one->rank[i];
	return true;
}

/* HyperLogLog; below 2.5 streams a rank, by how many ranks nobody has. */
static __u64 estimate(const __u8 rank[UNTRACKED_RANKS])
{
	double m = UNTRACKED_RANKS, sum = 0, found;
	int free_ranks = 0;

	for (int i = 0; i < UNTRACKED_RANKS; i++) {
		sum += ldexp(1, -rank[i]);
		free_ranks += !rank[i];
	}
	found = 0.7213 / (1 + 1.079 / m) * m * m / sum;
	if (found <= 2.5 * m && free_ranks)
		found = m * log(m / free_ranks);
	return llround(found);
}

static int by_key(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct roce_key));
}

static int by_packets(const void *a, const void *b)
{
	const struct roce_untracked_stream *x = a, *y = b;

	return x->packets > y->packets ? -1 : x->packets < y->packets ? 1 : by_key(a, b);
}

/* Joins what several writers know of a stream. packets: at least, from here on. Returns whether all streams are in the list. */
static bool join(struct untracked_sum *sum)
{
	size_t kept = 0;
	bool all = true;

	if (sum->count)
		qsort(sum->list, sum->count, sizeof(*sum->list), by_key);
	for (size_t i = 0; i < sum->count; i++) {
		struct roce_untracked_stream e = sum->list[i];

		all &= !e.before;
		e.packets -= e.before;
		if (kept && !by_key(&sum->list[kept - 1], &e))
			sum->list[kept - 1].packets += e.packets;
		else
			sum->list[kept++] = e;
	}
	sum->count = kept;
	return all;
}

void untracked_finish(struct untracked_sum *sum, struct untracked *u)
{
	*u = (struct untracked){ .estimate = !join(sum) };
	u->streams = u->estimate ? estimate(sum->rank) : sum->count;
	if (u->streams < sum->count)
		u->streams = sum->count;
	if (sum->count)
		qsort(sum->list, sum->count, sizeof(*sum->list), by_packets);
	u->count = sum->count < UNTRACKED_SHOWN ? sum->count : UNTRACKED_SHOWN;
	if (u->count)
		memcpy(u->worst, sum->list, u->count * sizeof(*u->worst));
	free(sum->list);
	*sum = (struct untracked_sum){ 0 };
}
