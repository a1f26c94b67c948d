// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The pacer with a simulated clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lib/clock.h"
#include "userspace/traffic/streams/pacing.h"

#define START	(5 * NSEC_PER_SEC)

/* Sends units of `size` from START until `end`, and wakes `late` ns after each departure. Returns the number of units. */
static uint64_t run(struct pacer *p, uint64_t size, uint64_t end, uint64_t late)
{
	uint64_t now = START, count = 0;

	while (now < end) {
		uint64_t next;

		while (pacer_due(p, now)) {
			pacer_sent(p, size, now);
			count++;
		}
		next = pacer_departure(p);
		now = (next > now ? next : now) + late;
	}
	return count;
}

static void test_unpaced_is_always_due(void **state)
{
	struct pacer p;

	(void)state;
	pacer_start(&p, 0, START);
	assert_true(pacer_due(&p, START));
	pacer_sent(&p, 1 << 30, START);
	assert_true(pacer_due(&p, START));
	assert_int_equal(pacer_departure(&p), 0);
}

static void test_punctual_departures(void **state)
{
	struct pacer p;

	(void)state;
	pacer_start(&p, 1000, START);
	for (uint64_t k = 0; k < 5000; k++) {
		uint64_t due = START + k * NSEC_PER_MSEC;

		assert_int_equal(pacer_departure(&p), due);
		assert_false(pacer_due(&p, due - 1));
		assert_true(pacer_due(&p, due));
		pacer_sent(&p, 1, due);
	}
}

static void test_mean_rate_survives_late_wakeups(void **state)
{
	static const uint64_t late[] = { 0, 60 * NSEC_PER_USEC, NSEC_PER_MSEC };
	struct pacer p;

	(void)state;
	for (size_t i = 0; i < sizeof(late) / sizeof(late[0]); i++) {
		pacer_start(&p, 125e6, START);		/* 1 Gbit/s of 4 KiB: 61036 in 2 s */
		assert_in_range(run(&p, 4096, START + 2 * NSEC_PER_SEC, late[i]), 61000, 61040);
		assert_int_equal(p.slipped_ns, 0);
	}
}

/* After 100 ms overslept, catches up within about 100 ms. No millisecond has more than 2 ms' worth beyond twice the rate. */
static void test_catches_up_without_burst(void **state)
{
	uint64_t at = START + 1100 * NSEC_PER_MSEC, in_this_ms = 0, ms = 0;
	struct pacer p;

	(void)state;
	pacer_start(&p, 1e6, START);
	assert_in_range(run(&p, 1, START + NSEC_PER_SEC, 0), 1000000, 1000001);
	for (uint64_t now = at; now < at + 150 * NSEC_PER_MSEC; now += NSEC_PER_USEC) {
		if (now / NSEC_PER_MSEC != ms) {
			ms = now / NSEC_PER_MSEC;
			in_this_ms = 0;
		}
		while (pacer_due(&p, now)) {
			pacer_sent(&p, 1, now);
			in_this_ms++;
		}
		assert_true(in_this_ms <= 4010);
		if (now == at + 20 * NSEC_PER_MSEC)
			assert_true(p.units < 1050000);
	}
	assert_in_range(p.units, 1249990, 1250001);
}

/* At each time all have sent what a single one with the whole rate would have sent. */
static void test_several_begin_in_turn(void **state)
{
	static const double rate = 6.25e6;	/* 50 Mbit/s: 1526 messages in 1 s */
	static const uint64_t size = 4096;
	static struct pacer p[100];
	uint64_t sent = 0;

	(void)state;
	for (unsigned int i = 0; i < 100; i++)
		pacer_start_turn(&p[i], rate / 100, START, size, i, 100);
	for (uint64_t now = START; now < START + NSEC_PER_SEC; now += 100 * NSEC_PER_USEC) {
		double due = (now - START) / 1e9 * rate / size;

		for (unsigned int i = 0; i < 100; i++) {
			while (pacer_due(&p[i], now)) {
				pacer_sent(&p[i], size, now);
				sent++;
			}
		}
		assert_true(sent >= due - .01 && sent <= due + 1.01);
	}
	assert_in_range(sent, 1525, 1527);
	pacer_start_turn(&p[0], 0, START, size, 50, 100);
	assert_true(pacer_due(&p[0], START));
}

static void test_gives_up_a_long_backlog(void **state)
{
	struct pacer p;

	(void)state;
	pacer_start(&p, 1000, START);
	assert_true(pacer_due(&p, START + 10 * NSEC_PER_SEC));
	assert_int_equal(p.slipped_ns, 10 * NSEC_PER_SEC - PACER_BACKLOG_NS);
}

static void test_gives_up_at_the_end(void **state)
{
	struct pacer p;

	(void)state;
	pacer_start(&p, 1000, START);
	pacer_sent(&p, 100, START);
	pacer_end(&p, START + 102 * NSEC_PER_MSEC);
	assert_int_equal(p.slipped_ns, 0);
	pacer_end(&p, START + 103 * NSEC_PER_MSEC);
	assert_int_equal(p.slipped_ns, 3 * NSEC_PER_MSEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unpaced_is_always_due),
		cmocka_unit_test(test_punctual_departures),
		cmocka_unit_test(test_mean_rate_survives_late_wakeups),
		cmocka_unit_test(test_catches_up_without_burst),
		cmocka_unit_test(test_several_begin_in_turn),
		cmocka_unit_test(test_gives_up_a_long_backlog),
		cmocka_unit_test(test_gives_up_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
