// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The ring's arithmetic, beside what is counted message by message. */
#include <string.h>

#include "rxe_tests/rdma_stream/ring.h"
#include "tests/unit/cmocka_includes.h"
#include "userspace/traffic/streams/filler.h"

#define CAPACITY	12

/* Every message of the span belongs to one worker, in order, and shares differ by one at most. */
static void shares_of(struct ring_span all, unsigned int workers)
{
	uint64_t next = all.first, least = UINT64_MAX, most = 0;

	for (unsigned int i = 0; i < workers; i++) {
		struct ring_span share = ring_share(all, workers, i);

		assert_int_equal(share.first, next);
		next += share.count;
		least = share.count < least ? share.count : least;
		most = share.count > most ? share.count : most;
	}
	assert_int_equal(next, all.first + all.count);
	assert_true(most - least <= 1);
}

static void test_shares(void **state)
{
	static const unsigned int workers[] = { 1, 2, 4, 8, 16, 3, 7 };

	(void)state;
	for (uint64_t count = 0; count < 50; count++)
		for (size_t i = 0; i < sizeof(workers) / sizeof(workers[0]); i++)
			shares_of((struct ring_span){ 1000 + count, count }, workers[i]);
}

/* Counts the messages until the place is 0 again. */
static uint64_t counted_before_end(struct ring_span span)
{
	uint64_t n = 0;

	while (n < span.count && (!n || (span.first + n) % CAPACITY))
		n++;
	return n;
}

static void test_straddling(void **state)
{
	(void)state;
	for (uint64_t first = 0; first < 3 * CAPACITY; first++) {
		for (uint64_t count = 0; count <= CAPACITY; count++) {
			struct ring_span span = { first, count };

			assert_int_equal(ring_before_end(span, CAPACITY), counted_before_end(span));
		}
	}
}

/* Which worker's share straddles the end, or -1. */
static int straddler(struct ring_span all, unsigned int workers)
{
	int found = -1;

	for (unsigned int i = 0; i < workers; i++) {
		struct ring_span share = ring_share(all, workers, i);

		if (ring_before_end(share, CAPACITY) == share.count)
			continue;
		assert_int_equal(found, -1);
		found = i;
	}
	return found;
}

/* At most one does, and none where the end is between two shares. */
static void test_straddler(void **state)
{
	(void)state;
	for (unsigned int workers = 1; workers <= 16; workers *= 2)
		for (uint64_t first = 0; first < 2 * CAPACITY; first++)
			for (uint64_t count = 0; count <= CAPACITY; count++)
				straddler((struct ring_span){ first, count }, workers);
	assert_int_equal(straddler((struct ring_span){ 10, 8 }, 2), 0);	/* 10 11 | 12 13 and 14 .. 17 */
	assert_int_equal(straddler((struct ring_span){ 8, 8 }, 2), -1);	/* 8 .. 11 and 12 .. 15 */
	assert_int_equal(straddler((struct ring_span){ 6, 8 }, 2), 1);	/* 6 .. 9 and 10 11 | 12 13 */
}

/* A burst never straddles the end, because the ring holds whole bursts. */
static void test_bursts(void **state)
{
	(void)state;
	for (uint64_t first = 0; first < 5 * CAPACITY; first += 4)
		assert_int_equal(ring_before_end((struct ring_span){ first, 4 }, CAPACITY), 4);
}

static void test_hysteresis(void **state)
{
	struct ring_pressure p = { .upper = 9, .lower = 3 };

	(void)state;
	assert_false(ring_press(&p, 8, 100));
	assert_true(ring_press(&p, 9, 200));
	assert_false(ring_press(&p, 12, 300));
	assert_false(ring_press(&p, 4, 400));
	assert_true(ring_press(&p, 3, 500));
	assert_false(ring_press(&p, 8, 600));
	assert_true(ring_press(&p, 10, 700));
	assert_true(ring_press(&p, 0, 750));
	assert_int_equal(p.episodes.count, 2);
	assert_int_equal(p.episodes.total_ns, 350);
	assert_int_equal(p.episodes.longest_ns, 300);
	assert_false(p.episodes.on);
}

/* 0 % at the bottom: it ends when all is read. 100 % at the top: it begins when the ring is full. */
static void test_thresholds(void **state)
{
	struct ring_pressure p = { .upper = ring_threshold(4, 100), .lower = ring_threshold(4, 0) };

	(void)state;
	assert_int_equal(ring_threshold(1000, 75), 750);
	assert_int_equal(ring_threshold(2, 1), 1);
	assert_int_equal(ring_threshold(3, 50), 2);
	assert_false(ring_press(&p, 3, 0));
	assert_true(ring_press(&p, 4, 0));
	assert_false(ring_press(&p, 1, 0));
	assert_true(ring_press(&p, 0, 0));
}

static void test_credit(void **state)
{
	struct ring_credit c = { .capacity = 12, .unit = 4 };

	(void)state;
	assert_true(ring_fits(&c, 0));
	assert_true(ring_fits(&c, 8));
	assert_true(ring_fits(&c, 11));		/* within a burst */
	assert_false(ring_fits(&c, 12));
	c.handed_back = 3;
	assert_false(ring_fits(&c, 12));	/* not the whole burst */
	c.handed_back = 4;
	assert_true(ring_fits(&c, 12));
	c.paused = true;
	assert_false(ring_fits(&c, 12));
	assert_true(ring_fits(&c, 13));		/* a burst that has begun is completed */
}

/* What was there one turn before, another message, and each wrong byte are found. */
static void test_right(void **state)
{
	static char pattern[4096 + RING_FILLERS * FILLER_STEP], message[4096];

	(void)state;
	filler_make(pattern, sizeof(pattern));
	ring_header(message, 5000);
	memcpy(message + RING_HEADER, pattern + ring_filler(5000) * FILLER_STEP, sizeof(message) - RING_HEADER);
	assert_true(ring_right(message, sizeof(message), 5000));
	assert_true(ring_right(message, RING_HEADER, 5000));
	assert_false(ring_right(message, sizeof(message), 4988));
	for (size_t i = 0; i < sizeof(message); i += 97) {
		message[i] ^= 0x10;
		assert_false(ring_right(message, sizeof(message), 5000));
		message[i] ^= 0x10;
	}
	ring_header(message, 5012);
	assert_false(ring_right(message, sizeof(message), 5012));	/* the header alone is the new one */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_straddling),
		cmocka_unit_test(test_straddler),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_hysteresis),
		cmocka_unit_test(test_thresholds),
		cmocka_unit_test(test_credit),
		cmocka_unit_test(test_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
