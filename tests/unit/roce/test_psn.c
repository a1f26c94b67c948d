// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* PSN arithmetic, and the window. */
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/frame.h"
#include "tests/unit/packets.h"

#define CIRCLE (1 << 24)

static void distance(void **state)
{
	static const __u32 edges[] = { 0, 1, 2, 0x7ffffe, 0x7fffff, 0x800000, 0x800001, 0xfffffe, 0xffffff };
	uint64_t r = 1;

	(void)state;
	for (int i = 0; i < 1000000; i++) {
		__u32 a = i < 81 ? edges[i / 9] : random_next(&r) & PSN_MASK;
		__u32 b = i < 81 ? edges[i % 9] : random_next(&r) & PSN_MASK;
		long forward = ((long)b - (long)a + CIRCLE) % CIRCLE; /* steps from a to b */

		assert_int_equal(psn_distance(a, b), forward < CIRCLE / 2 ? forward : forward - CIRCLE);
	}
}

static void forward(struct roce_psn *w, __u64 seen, __u64 unseen, __u64 take)
{
	psn_plan(w, seen, unseen, take);
	psn_forward(w);
}

/* The window compared with one flag per number. test_model checks the memory beyond it. */
static void window(void **state)
{
	bool flags[PSN_WINDOW]; /* by number % PSN_WINDOW */
	struct roce_psn w;
	uint64_t r = 2;

	(void)state;
	psn_start(&w, 0xfffff0);
	memset(flags, true, sizeof(flags));
	for (int i = 0; i < 20000; i++) {
		__u64 n[3], next = w.next, from, count;
		__u32 found = 0;

		for (int k = 0; k < 3; k++)
			n[k] = random_next(&r) % 2 ? random_next(&r) % (i % 7 ? 200 : 70000) : 0;
		if (i % 2 == 0) {
			forward(&w, n[0], n[1], n[2]);
		} else {
			memset(n, 0, sizeof(n));
			n[2] = psn_step(&w);
			assert_int_equal(n[2], flags[next % PSN_WINDOW]);
		}
		assert_true(w.next == next + n[0] + n[1] + n[2]);
		for (int k = 0; k < 3; k++)
			for (; n[k]; n[k]--)
				flags[next++ % PSN_WINDOW] = k != 1;
		from = w.next - random_next(&r) % (PSN_WINDOW + 1);
		count = random_next(&r) % (PSN_WINDOW + 1);
		for (__u64 k = from; k < from + count && k < w.next; k++) {
			found += !flags[k % PSN_WINDOW];
			flags[k % PSN_WINDOW] = true;
		}
		assert_int_equal(psn_recover(&w, from, count), found);
		for (__u64 k = 0; k < PSN_WINDOW; k++)
			assert_int_equal(*psn_word(&w, k) >> k % 64 & 1, flags[k]);
	}
}

/* Beyond the window, by hand: holes merge, shrink, split and disappear, and the oldest ones are forgotten. */
static void holes(void **state)
{
	struct roce_psn w;

	(void)state;
	psn_start(&w, 0);
	forward(&w, 0, 5000, 1);
	assert_true(w.hole[0].from == 0 && w.hole[0].count == 5001 - PSN_WINDOW && !w.hole[1].count);
	forward(&w, 0, 0, 2000);
	assert_true(w.hole[0].from == 0 && w.hole[0].count == 5000 && !w.hole[1].count);
	assert_int_equal(psn_recover(&w, 0, 10), 10);
	assert_int_equal(psn_recover(&w, 0, 10), 0);
	assert_int_equal(psn_recover(&w, 4990, 100), 10);
	assert_int_equal(psn_recover(&w, 1000, 1), 1);
	assert_true(w.hole[0].from == 1001 && w.hole[0].count == 3989);
	assert_true(w.hole[1].from == 10 && w.hole[1].count == 990 && !w.hole[2].count);
	assert_int_equal(psn_recover(&w, 0, 2000), 1989);
	assert_true(w.hole[0].from == 2000 && w.hole[0].count == 2990 && !w.hole[1].count);
	for (int i = 0; i < PSN_HOLES; i++) /* all but the last beyond the window */
		forward(&w, 0, 1, 1999);
	assert_true(w.hole[PSN_HOLES - 1].count == 1);
	assert_int_equal(psn_recover(&w, 2000, 1), 0);
	assert_int_equal(psn_recover(&w, 7001, 1), 1);
	assert_false(w.hole[PSN_HOLES - 1].count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distance), cmocka_unit_test(window), cmocka_unit_test(holes),
	};

	return cmocka_run_group_tests_name("psn", tests, NULL, NULL);
}
