// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "userspace/traffic/streams/histogram.h"

#define VALUES	100000

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Compared with sorted values of all magnitudes: never below the true quantile, at most 1/32 above. */
static void test_quantiles_against_sorting(void **state)
{
	static const double quantiles[] = { .001, .1, .5, .9, .99, .999, 1 };
	struct histogram *h = calloc(1, sizeof(*h));
	uint64_t *values = calloc(VALUES, sizeof(*values)), x = 88172645463325252ull;

	(void)state;
	for (int i = 0; i < VALUES; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		values[i] = x >> (x >> 3) % 64;
		histogram_add(h, values[i]);
	}
	qsort(values, VALUES, sizeof(*values), ascending);
	assert_true(h->min == values[0] && h->max == values[VALUES - 1]);
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		uint64_t rank = (uint64_t)(quantiles[i] * VALUES + .999999);
		uint64_t want = values[rank - 1], got = histogram_quantile(h, quantiles[i]);

		assert_true(got >= want && got - want <= want / HISTOGRAM_STEPS);
	}
	free(values);
	free(h);
}

static void test_small_values_are_exact(void **state)
{
	struct histogram *h = calloc(1, sizeof(*h));

	(void)state;
	for (uint64_t v = 0; v < 2 * HISTOGRAM_STEPS; v++)
		histogram_add(h, v);
	for (uint64_t v = 0; v < 2 * HISTOGRAM_STEPS; v++)
		assert_int_equal(histogram_quantile(h, (v + 1.0) / (2 * HISTOGRAM_STEPS)), v);
	free(h);
}

/* The buckets have each value once, and the mean does not come from them. */
static void test_mean_and_buckets(void **state)
{
	struct histogram *h = calloc(1, sizeof(*h));
	uint64_t count = 0, below = 0;

	(void)state;
	for (uint64_t v = 1; v <= 10001; v += 100)
		histogram_add(h, v);
	assert_true(histogram_mean(h) == 5001);
	for (unsigned int b = 0; b < HISTOGRAM_BUCKETS; b++) {
		if (!h->bucket[b])
			continue;
		count += h->bucket[b];
		assert_true(histogram_top(h, b) > below);
		below = histogram_top(h, b);
	}
	assert_int_equal(count, h->count);
	assert_int_equal(below, 10001);
	free(h);
}

static void test_merge(void **state)
{
	struct histogram *all = calloc(1, sizeof(*all)), *part = calloc(3, sizeof(*part));

	(void)state;
	for (uint64_t v = 3; v < 1000000; v = v * 5 / 3) {
		histogram_add(all, v);
		histogram_add(&part[1 + v % 2], v);
	}
	for (int i = 1; i < 3; i++)
		histogram_merge(&part[0], &part[i]);
	assert_memory_equal(all, &part[0], sizeof(*all));
	memset(&part[1], 0, sizeof(part[1]));
	histogram_merge(&part[0], &part[1]);
	assert_memory_equal(all, &part[0], sizeof(*all));
	free(all);
	free(part);
}

static void test_ends(void **state)
{
	struct histogram *h = calloc(1, sizeof(*h));

	(void)state;
	assert_int_equal(histogram_quantile(h, .5), 0);
	assert_true(histogram_mean(h) == 0);
	histogram_add(h, UINT64_MAX);
	assert_true(histogram_quantile(h, .5) == UINT64_MAX);
	histogram_add(h, 0);
	assert_int_equal(histogram_quantile(h, .5), 0);
	free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles_against_sorting),
		cmocka_unit_test(test_small_values_are_exact),
		cmocka_unit_test(test_mean_and_buckets),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
