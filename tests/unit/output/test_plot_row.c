// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bins of time: nothing is lost when they widen, and merged shards equal a single one. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_includes.h"
#include "userspace/render/output/plot.h"

#define SHARDS 7

static __u64 dice = 1;

static __u64 draw(void)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	return dice ^= dice << 17;
}

static void put(struct plot_row *r, __u64 time, __u64 bytes)
{
	struct plot_cell *cell = plot_row_at(r, time);

	assert_true(r->last - r->first < PLOT_BINS);
	assert_true(time >> r->shift >= r->first && time >> r->shift <= r->last);
	cell->packets++;
	cell->bytes += bytes;
	cell->mark[MARK_BAD]++;
}

static void check_sums(struct plot_row *r, __u64 packets, __u64 bytes)
{
	for (__u64 i = r->first; i <= r->last; i++) {
		packets -= plot_row_cell(r, i)->packets;
		bytes -= plot_row_cell(r, i)->bytes;
		assert_int_equal(plot_row_cell(r, i)->packets, plot_row_cell(r, i)->mark[MARK_BAD]);
	}
	assert_int_equal(packets, 0);
	assert_int_equal(bytes, 0);
}

static void check_equal(struct plot_row *a, struct plot_row *b)
{
	assert_int_equal(a->shift, b->shift);
	assert_int_equal(a->first, b->first);
	assert_int_equal(a->last, b->last);
	for (__u64 i = a->first; i <= a->last; i++)
		assert_memory_equal(plot_row_cell(a, i), plot_row_cell(b, i), sizeof(struct plot_cell));
}

/* base: the first time; range: the most by which the others are later. */
static void run(__u64 base, __u64 range, int packets)
{
	struct plot_row *all = calloc(1, sizeof(*all)), *sum = calloc(1, sizeof(*sum)), *back = calloc(1, sizeof(*back));
	struct plot_row *shard = calloc(SHARDS, sizeof(*shard));
	__u64 bytes = 0;

	for (int i = 0; i < packets; i++) {
		__u64 time = base + (range ? draw() % range : 0), length = draw() % 9000;

		put(all, time, length);
		put(&shard[draw() % SHARDS], time, length);
		bytes += length;
	}
	check_sums(all, packets, bytes);
	for (int i = 0; i < SHARDS; i++) {
		plot_row_add(sum, &shard[i]);
		plot_row_add(back, &shard[SHARDS - 1 - i]);
	}
	check_equal(all, sum);
	check_equal(all, back);
	free(all);
	free(sum);
	free(back);
	free(shard);
}

static void test_shards(void **state)
{
	(void)state;
	run(0, 0, 10);
	run(1763724000000000000ull, 0, 10);
	for (int bits = 1; bits < 63; bits++) {
		run(1763724000000000000ull, 1ull << bits, 300);
		run(0, 1ull << bits, 300);
	}
	run(0, ~0ull, 1000);
	run(~0ull - 1000, 1000, 1000);
}

/* After a merge the last PSN is the later one. */
static void test_psn(void **state)
{
	struct plot_row *r = calloc(1, sizeof(*r));

	(void)state;
	for (__u64 i = 0; i < 100000; i++)
		plot_row_at(r, i * 1000)->psn = i + 1;
	for (__u64 i = r->first; i < r->last; i++)
		assert_int_equal(plot_row_cell(r, i)->psn, (((i + 1) << r->shift) - 1) / 1000 + 1);
	assert_int_equal(plot_row_cell(r, r->last)->psn, 100000);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shards),
		cmocka_unit_test(test_psn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
