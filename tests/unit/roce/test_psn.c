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

/* All widths, with numbers that have higher bits as well, against arithmetic that does not overflow. */
static void distance_of_bits(void **state)
{
	uint64_t r = 3;

	(void)state;
	for (int i = 0; i < 1000000; i++) {
		__u32 bits = 1 + i % 64;
		__int128 circle = (__int128)1 << bits, half = circle / 2;
		__u64 from = random_next(&r), half_away = from + (random_next(&r) % 2 << (bits - 1)) + random_next(&r) % 5 - 2;
		__u64 to = random_next(&r) % 2 ? random_next(&r) : half_away;
		__int128 forward = (((__int128)to - from) % circle + circle) % circle;

		assert_true(roce_distance(from, to, bits) == (forward < half ? forward : forward - circle));
		assert_true(psn_distance(from, to) == roce_distance(from, to, 24));
	}
}

static void forward(struct roce_psn *w, __u64 seen, __u64 unseen, __u64 take)
{
	psn_plan(w, seen, unseen, take);
	psn_forward(w);
}

/*
 * Both windows compared with a flag for each number since the start. Within the own window there is a bit for each number, and
 * behind it psn_recover() finds what is missing as far back as PSN_REACH.
 */
static void windows(void **state)
{
	enum { NUMBERS = 1 << 26, PACKETS = 20000 };
	const __u64 start = 0xfffff0;
	bool *missing = calloc(NUMBERS, 1); /* by number - start */
	struct roce_psn w = { 0 };
	__u64 window = 0, reach;
	uint64_t r = 2;

	(void)state;
	psn_start(&w, start);
	for (int i = 0; i < PACKETS; i++) {
		__u64 n[3], next = w.next, from, count, end;
		__u32 found = 0;

		for (int k = 0; k < 3; k++)
			n[k] = random_next(&r) % 2 ? random_next(&r) % (i % 7 ? 200 : i % 77 ? 4000 : 65536) : 0;
		if (i % 2 == 0) {
			forward(&w, n[0], n[1], n[2]);
		} else {
			memset(n, 0, sizeof(n));
			n[2] = psn_step(&w, psn_is_whole(&w));
			assert_int_equal(n[2], next % PSN_PERIOD && !missing[(next < start + PSN_WINDOW ? next : next - PSN_WINDOW) - start]);
		}
		assert_true(w.next == next + n[0] + n[1] + n[2] && w.next < start + NUMBERS);
		memset(missing + (next + n[0] - start), true, n[1]);
		reach = w.next - start > PSN_REACH ? w.next - PSN_REACH : start;
		from = i % 3 ? w.next - random_next(&r) % (2 * PSN_WINDOW) : w.next - random_next(&r) % (PSN_REACH + 2000);
		if (from < start || from > w.next)
			from = start;
		count = random_next(&r) % (i % 5 ? PSN_WINDOW + 1 : 2);
		end = from + count < w.next ? from + count : w.next;
		for (__u64 k = from; k < end; k++) {
			if (k < reach || !missing[k - start])
				continue;
			found++;
			window += k < w.next - PSN_WINDOW;
			missing[k - start] = false;
		}
		assert_int_equal(psn_recover(&w, from, count), found);
		for (__u64 k = start; k < w.next; k += PSN_WINDOW / 2 + 7) /* numbers without a doubt */
			if (psn_is_unknown(&w, k))
				assert_true(k < reach);
		for (__u64 k = w.next > start + PSN_WINDOW ? w.next - PSN_WINDOW : start; k < w.next; k++)
			assert_int_equal(*psn_word(&w, k) >> k % 64 & 1, !missing[k - start]);
	}
	assert_true(window > 1000 && w.forgotten == 0);
	late_give(&w);
	free(missing);
}

/* By hand: the late window is taken when it is needed and given back when nothing is missing there any more. */
static void needed(void **state)
{
	struct roce_psn w = { 0 };
	__u64 end;

	(void)state;
	psn_start(&w, 0x1000);
	forward(&w, 0, 0, 5000);
	assert_null(late_of(&w));
	forward(&w, 0, 100, 1);
	forward(&w, 0, 0, PSN_WINDOW - 101);
	assert_null(late_of(&w)); /* the own window still has them */
	forward(&w, 0, 0, 1);
	assert_non_null(late_of(&w));
	assert_int_equal(late_of(&w)->count, 1);
	forward(&w, 0, 0, 2000);
	assert_true(late_of(&w)->count == 100);
	assert_int_equal(psn_recover(&w, 0x1000 + 5000 + 90, 1000), 10);
	assert_int_equal(psn_recover(&w, 0x1000 + 5000 + 90, 1), 0);
	assert_false(psn_is_unknown(&w, 0x1000));
	assert_int_equal(psn_recover(&w, 0x1000, 6000), 90);
	assert_null(late_of(&w));
	end = w.next + 3000;
	forward(&w, 0, 3000, 1); /* most of them fall behind the window at once */
	assert_true(late_of(&w)->count == 3001 - PSN_WINDOW);
	for (int i = 0; late_of(&w); i++) {
		assert_in_range(i, 0, (PSN_REACH + 3000) / 200 + 3);
		forward(&w, 0, 0, 200);
	}
	assert_true(w.next >= end + PSN_REACH && psn_is_unknown(&w, 0x1000) && w.unknown_before == end);
	assert_int_equal(w.forgotten, 0);
	w.late = PSN_NO_LATE;
	forward(&w, 0, 50, 2 * PSN_WINDOW);
	assert_true(w.forgotten == 50 && psn_recover(&w, w.next - 2 * PSN_WINDOW - 50, 50) == 0);
	assert_true(psn_is_unknown(&w, w.next - 2 * PSN_WINDOW - 1) && !psn_is_unknown(&w, w.next - 2 * PSN_WINDOW));
	forward(&w, 0, 20, 1);
	forward(&w, 0, 0, PSN_WINDOW); /* these leave the window later */
	assert_int_equal(w.forgotten, 70);
}

/* After a step back, what is missing in the late window as near as the own one reaches is forgotten. */
static void back(void **state)
{
	const __u64 hole = 0x2000;
	struct roce_psn w = { 0 };

	(void)state;
	psn_start(&w, hole);
	forward(&w, 0, 100, 2000);
	assert_true(late_of(&w)->count == 100);
	psn_back(&w, hole + 40 + PSN_WINDOW);
	assert_true(w.next == hole + 40 + PSN_WINDOW && late_of(&w)->count == 40);
	assert_int_equal(w.forgotten, 60);
	assert_true(psn_is_unknown(&w, hole + 99) && !psn_is_unknown(&w, hole + 100));
	assert_int_equal(psn_recover(&w, hole, 100), 40);
	assert_null(late_of(&w));
	forward(&w, 0, 100, 2000);
	assert_non_null(late_of(&w));
	psn_restart(&w, hole);
	assert_null(late_of(&w)); /* another sequence lacks nothing */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distance), cmocka_unit_test(distance_of_bits), cmocka_unit_test(windows), cmocka_unit_test(needed),
		cmocka_unit_test(back),
	};

	return cmocka_run_group_tests_name("psn", tests, NULL, NULL);
}
