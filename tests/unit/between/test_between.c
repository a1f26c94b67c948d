// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Two points joined: what cannot be told exactly is a range; and snapshots that are none. tests/between.test has whole streams. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_includes.h"

#include "userspace/diagnose/between/between.h"

#define NSEC 1000000000ull
#define T0 1000000000 /* s since 1970 */

/* A snapshot `second` s after T0 of a stream that is met at second 0 and not quiet: all PSNs from `first` on, but `skipped` ones. */
static json_t *snapshot(int second, unsigned int first, unsigned int passed, unsigned int skipped)
{
	char now[64];

	snprintf(now, sizeof(now), "2001-09-09T01:46:%02d.000000000Z", 40 + second);
	return json_pack("{s:s, s:s, s:f, s:b, s:{}, s:{}, s:[{s:s, s:s, s:i, s:n, s:s, s:s, s:b, s:i, s:i, s:i, s:i, s:i, s:s, s:s}]}",
			 "schema", "rocescope.snapshot/1", "time", now, "seconds", (double)second + 10, "complete", 1, "rates", "totals",
			 "streams", "src", "10.9.0.1", "dst", "10.9.0.2", "dqpn", 7, "sqpn", "service", "UC", "side", "request",
			 "icrc_trusted", 1, "roce_packets", passed - skipped, "psn_skipped", skipped, "psn_lost", skipped,
			 "first_psn", first, "next_psn", (first + passed) & PSN_MASK, "first_seen", "2001-09-09T01:46:40.000000000Z",
			 "last_seen", now);
}

static void take(struct between *b, enum between_point p, int second, unsigned int first, unsigned int passed, unsigned int skipped)
{
	json_t *o = snapshot(second, first, passed, skipped);

	assert_non_null(o);
	assert_true(between_take(b, p, o, (T0 + second) * NSEC));
	json_decref(o);
}

static struct between_figures figures(struct between *b)
{
	struct between_totals t = between_totals(b);

	assert_int_equal(t.streams, 1);
	return t.figures;
}

static void test_range(void **state)
{
	struct between b = { .most = 4 };
	struct between_figures f;

	(void)state;
	/* the PSNs wrap; 30 are lost between in the first second, and 3 before A */
	take(&b, BETWEEN_A, 1, 0xfffff0, 5000, 3);
	take(&b, BETWEEN_B, 1, 0xfffff0, 5000, 33);
	f = figures(&b);
	assert_int_equal(f.least, 30);
	assert_int_equal(f.most, 30);
	assert_int_equal(f.entered, 4997);
	/* A is 10 PSNs ahead, and misses none of them: its window says so */
	take(&b, BETWEEN_A, 2, 0xfffff0, 9000, 3);
	take(&b, BETWEEN_B, 2, 0xfffff0, 8990, 40);
	f = figures(&b);
	assert_int_equal(f.least, 37);
	assert_int_equal(f.most, 37);
	/* 3000 PSNs ahead, with 5 skipped since its snapshot before: perhaps among those 3000, perhaps behind them */
	take(&b, BETWEEN_A, 3, 0xfffff0, 14000, 8);
	take(&b, BETWEEN_B, 3, 0xfffff0, 11000, 47);
	f = figures(&b);
	assert_int_equal(f.least, 47 - 8);
	assert_int_equal(f.most, 47 - 3);
	/* B is ahead, and has skipped 4 */
	take(&b, BETWEEN_B, 4, 0xfffff0, 17000, 51);
	f = figures(&b);
	assert_int_equal(f.least, 47 - 8);
	assert_int_equal(f.most, 51 - 8);
	/* farther ahead than since its snapshot before: nothing new can be told */
	take(&b, BETWEEN_B, 5, 0xfffff0, 19000, 60);
	f = figures(&b);
	assert_int_equal(f.most, 51 - 8);
	between_free(&b);
}

/* Each member of a snapshot is left out, or of another type. It is refused or taken, without harm. */
static void test_strange(void **state)
{
	static const char *const keys[] = { "schema", "time", "seconds", "complete", "rates", "totals", "streams" };
	json_t *strange[] = { json_null(), json_string("x"), json_integer(-5), json_pack("[i]", 3), json_pack("{s:i}", "a", 1) };
	json_t *o, *stream, *value;
	const char *key;
	void *next;

	(void)state;
	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			struct between b = { .most = 4 };

			o = snapshot(1, 0, 10, 0);
			json_object_set(o, keys[k], strange[i]);
			between_take(&b, BETWEEN_A, o, T0 * NSEC);
			json_decref(o);
			between_free(&b);
		}
		o = snapshot(1, 0, 10, 0);
		stream = json_deep_copy(json_array_get(json_object_get(o, "streams"), 0));
		json_object_foreach_safe(stream, next, key, value) {
			struct between b = { .most = 4 };
			json_t *changed = json_deep_copy(o);

			json_object_set(json_array_get(json_object_get(changed, "streams"), 0), key, strange[i]);
			between_take(&b, BETWEEN_A, changed, T0 * NSEC);
			between_take(&b, BETWEEN_B, o, T0 * NSEC);
			between_totals(&b);
			json_decref(changed);
			between_free(&b);
		}
		json_decref(stream);
		json_decref(o);
		json_decref(strange[i]);
	}
}

/* Streams beyond --max-streams are counted, and take no memory. */
static void test_room(void **state)
{
	struct between b = { .most = 3 };

	(void)state;
	for (int qpn = 0; qpn < 10; qpn++) {
		json_t *o = snapshot(1, 0, 10, 0);

		json_object_set_new(json_array_get(json_object_get(o, "streams"), 0), "dqpn", json_integer(qpn));
		assert_true(between_take(&b, BETWEEN_A, o, T0 * NSEC));
		json_decref(o);
	}
	assert_int_equal(b.count, 3);
	assert_int_equal(b.left_out, 7);
	assert_int_equal(between_totals(&b).only[BETWEEN_A], 3);
	between_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_range), cmocka_unit_test(test_strange), cmocka_unit_test(test_room) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
