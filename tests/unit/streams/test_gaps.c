// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The gap tracker compared with an array of received numbers, under random loss, duplication and reordering. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "userspace/traffic/streams/gaps.h"

#define NUMBERS	200000
#define RUNS	20

static uint32_t seed;

static uint32_t dice(uint32_t sides)
{
	seed = seed * 1664525 + 1013904223;	/* Numerical Recipes' generator: the same run every time */
	return (seed >> 8) % sides;
}

struct model {
	bool seen[NUMBERS];
	uint64_t unique, duplicates, next;
};

static void see_both(struct gaps *g, struct model *m, uint64_t n)
{
	assert_int_equal(gaps_see(g, n), m->seen[n] ? GAPS_DUPLICATE : GAPS_NEW);
	m->duplicates += m->seen[n];
	m->unique += !m->seen[n];
	m->seen[n] = true;
	if (n >= m->next)
		m->next = n + 1;
}

static void shuffle(uint32_t *order, uint32_t reach)
{
	for (uint32_t i = 0; i < NUMBERS; i++)
		order[i] = i;
	for (uint32_t i = 0; i + reach < NUMBERS; i++) {
		uint32_t j = i + dice(reach), swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
}

static void compare_ranges(const struct gaps *g, const struct model *m)
{
	for (int i = 0; i < 1000; i++) {
		uint32_t first = dice(NUMBERS - 50), count = 1 + dice(50);
		bool all = true;

		for (uint32_t n = first; n < first + count; n++)
			all &= m->seen[n];
		assert_int_equal(gaps_all_seen(g, first, count), all);
	}
}

/* Swaps neighbours at up to `reach`, drops one in `loss`, repeats one in `repeat`. */
static void random_run(uint32_t reach, uint32_t loss, uint32_t repeat)
{
	struct gaps *g = calloc(1, sizeof(*g));
	struct model *m = calloc(1, sizeof(*m));
	uint32_t *order = calloc(NUMBERS, sizeof(*order));

	shuffle(order, reach);
	for (uint32_t i = 0; i < NUMBERS; i++) {
		if (!dice(loss))
			continue;
		see_both(g, m, order[i]);
		if (!dice(repeat))
			see_both(g, m, order[i > 100 ? i - dice(100) : i]);
	}
	assert_int_equal(g->seen, m->unique);
	assert_int_equal(g->duplicates, m->duplicates);
	assert_int_equal(g->late, 0);
	assert_int_equal(gaps_lost(g, 0), m->next - m->unique);
	assert_int_equal(gaps_lost(g, NUMBERS), NUMBERS - m->unique);
	compare_ranges(g, m);
	free(order);
	free(m);
	free(g);
}

static void test_against_model(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < RUNS; run++) {
		seed = run;
		random_run(1 + dice(2000), 2 + dice(200), 2 + dice(100));
	}
}

static void test_long_jump_clears_window(void **state)
{
	struct gaps *g = calloc(1, sizeof(*g));

	(void)state;
	gaps_see(g, 5);
	assert_int_equal(gaps_see(g, 5 + 3ull * GAPS_WINDOW), GAPS_NEW);
	assert_int_equal(gaps_see(g, 5 + 3ull * GAPS_WINDOW - 1), GAPS_NEW);
	assert_int_equal(gaps_see(g, 5 + 2ull * GAPS_WINDOW + 1), GAPS_NEW);
	assert_int_equal(gaps_lost(g, 0), 6 + 3ull * GAPS_WINDOW - 4);
	free(g);
}

static void test_older_than_window_is_late(void **state)
{
	struct gaps *g = calloc(1, sizeof(*g));

	(void)state;
	gaps_see(g, GAPS_WINDOW);
	assert_int_equal(gaps_see(g, 1), GAPS_NEW);
	assert_int_equal(gaps_see(g, 0), GAPS_LATE);
	assert_int_equal(g->late, 1);
	assert_int_equal(g->seen, 2);
	free(g);
}

static void test_widen(void **state)
{
	struct gaps *g = calloc(1, sizeof(*g));

	(void)state;
	assert_int_equal(gaps_widen(g, 3), 3);
	assert_int_equal(gaps_widen(g, 0xfffffff0), 0xfffffff0);
	g->next = 0x100000002ull;
	assert_int_equal(gaps_widen(g, 0xffffffff), 0xffffffffull);
	assert_int_equal(gaps_widen(g, 1), 0x100000001ull);
	assert_int_equal(gaps_widen(g, 7), 0x100000007ull);
	free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_model),
		cmocka_unit_test(test_long_jump_clears_window),
		cmocka_unit_test(test_older_than_window_is_late),
		cmocka_unit_test(test_widen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
