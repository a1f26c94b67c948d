// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Windows by hand, and against an array of all windows of a random run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/clock.h"
#include "userspace/traffic/streams/windows.h"

#define WINDOW_NS	(WINDOW_MS * NSEC_PER_MSEC)
#define BEGIN		1234567891ull	/* no multiple of a window: windows begin with the first packet */
#define GBPS_OF(bytes)	((bytes) * 8.0 / WINDOW_NS)

/* So many bytes in the middle of window n. */
static void add(struct windows *w, uint64_t n, uint64_t bytes)
{
	windows_add(w, BEGIN + n * WINDOW_NS + (n ? WINDOW_NS / 2 : 0), bytes);
}

static void test_start_and_end_are_left_out(void **state)
{
	struct windows w = {};

	(void)state;
	assert_true(windows_mean_gbps(&w) == 0 && windows_least_gbps(&w) == 0);
	for (uint64_t n = 0; n < 4; n++) {
		add(&w, n, 1000);
		assert_int_equal(w.counted, 0);		/* 0 and 1: warm-up, 2: the last complete one, 3: not complete */
	}
	add(&w, 4, 1);
	assert_int_equal(w.counted, 1);
	add(&w, 5, 1);
	assert_int_equal(w.counted, 2);
	assert_true(windows_mean_gbps(&w) == GBPS_OF(1000.0) && windows_least_gbps(&w) == GBPS_OF(1000.0));
	add(&w, 6, 1);
	assert_true(windows_mean_gbps(&w) == GBPS_OF(2001 / 3.0) && windows_least_gbps(&w) == GBPS_OF(1.0));
}

static void test_edges(void **state)
{
	struct windows w = {};

	(void)state;
	windows_add(&w, BEGIN, 1);
	windows_add(&w, BEGIN + WINDOW_NS - 1, 2);
	assert_int_equal(w.complete, 0);
	windows_add(&w, BEGIN + WINDOW_NS, 4);
	assert_int_equal(w.complete, 1);
	assert_int_equal(w.last, 3);
	assert_int_equal(w.open, 4);
}

static void test_gaps_are_windows_of_0(void **state)
{
	struct windows w = {};

	(void)state;
	add(&w, 0, 5);
	add(&w, 2, 7);
	add(&w, 1000000, 5);
	assert_int_equal(w.complete, 1000000);
	assert_int_equal(w.counted, 1000000 - WINDOWS_WARM_UP - 1);
	assert_int_equal(w.bytes, 7);
	assert_int_equal(w.least, 0);
}

/* A gap that begins in the warm-up, and one that ends there. */
static void test_gap_at_the_start(void **state)
{
	struct windows w = {}, v = {};

	(void)state;
	add(&w, 0, 5);
	add(&w, 4, 5);
	assert_int_equal(w.counted, 1);
	add(&v, 0, 5);
	add(&v, 2, 5);
	assert_int_equal(v.counted, 0);
	add(&v, 4, 5);
	assert_int_equal(v.counted, 1);
	assert_int_equal(v.least, 5);
}

static uint32_t seed = 1;

static uint32_t dice(uint32_t sides)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % sides;
}

static void test_against_all_windows(void **state)
{
	enum { MOST = 4000 };
	static uint64_t all[MOST];

	(void)state;
	for (int run = 0; run < 2000; run++) {
		uint64_t now = 0, sum = 0, least = 0, counted = 0, number = 0;
		struct windows w = {};

		memset(all, 0, sizeof(all));
		for (int packets = dice(200); packets; packets--) {
			uint64_t bytes = dice(10000);

			number = now / WINDOW_NS;
			all[number] += bytes;
			windows_add(&w, BEGIN + now, bytes);
			now += dice(10) ? dice(WINDOW_NS) : dice(20) * WINDOW_NS;
		}
		for (uint64_t n = WINDOWS_WARM_UP; n + 1 < number; n++) {
			least = !counted || all[n] < least ? all[n] : least;
			sum += all[n];
			counted++;
		}
		assert_int_equal(w.counted, counted);
		assert_int_equal(w.bytes, sum);
		assert_int_equal(w.least, least);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start_and_end_are_left_out),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_gaps_are_windows_of_0),
		cmocka_unit_test(test_gap_at_the_start),
		cmocka_unit_test(test_against_all_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
