// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* PSN arithmetic, and the window against a model that remembers every PSN. */
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

/* psn_advance() and psn_fill() against one flag a number. */
static void whole_words(void **state)
{
	bool flags[PSN_WINDOW]; /* by number % PSN_WINDOW */
	struct roce_psn w;
	uint64_t r = 2;

	(void)state;
	psn_start(&w, 0xfffff0);
	memset(flags, true, sizeof(flags));
	for (int i = 0; i < 20000; i++) {
		__u64 n = random_next(&r) % (i % 7 ? 200 : 70000), next = w.next;
		bool as_seen = random_next(&r) % 2;
		__u64 from, count;
		__u32 filled = 0;

		psn_advance(&w, n, as_seen);
		assert_true(w.next == next + n);
		for (__u64 k = n > PSN_WINDOW ? n - PSN_WINDOW : 0; k < n; k++)
			flags[(next + k) % PSN_WINDOW] = as_seen;
		from = w.next - random_next(&r) % (PSN_WINDOW + 1);
		count = random_next(&r) % (w.next - from + 1);
		for (__u64 k = from; k < from + count; k++) {
			filled += !flags[k % PSN_WINDOW];
			flags[k % PSN_WINDOW] = true;
		}
		assert_int_equal(psn_fill(&w, from, count), filled);
		for (__u64 k = 0; k < PSN_WINDOW; k++)
			assert_int_equal(psn_marked(&w, k), flags[k]);
	}
}

/* Every PSN that was jumped over and has not come. */
struct model {
	bool missing[CIRCLE];
	__u32 next;
	bool reliable;
	__u64 gaps, skipped, recovered, duplicates, resyncs;
};

static void model_take(struct model *m, __u32 psn)
{
	long ahead = ((long)psn - m->next + CIRCLE) % CIRCLE;
	long behind = CIRCLE - ahead;

	if (ahead < CIRCLE / 2 && ahead <= PSN_GAP_MAX) {
		m->gaps += ahead > 0;
		m->skipped += ahead;
		for (long i = 0; i < ahead; i++)
			m->missing[(m->next + i) % CIRCLE] = true;
		m->missing[psn] = false;
		m->next = (psn + 1) % CIRCLE;
	} else if (behind <= CIRCLE / 2 && (behind <= PSN_WINDOW || m->reliable)) {
		/* beyond the window no holes are remembered */
		if (behind <= PSN_WINDOW && m->missing[psn]) {
			m->missing[psn] = false;
			m->recovered++;
		} else {
			m->duplicates++;
		}
	} else {
		m->resyncs++;
		memset(m->missing, false, sizeof(m->missing));
		m->next = (psn + 1) % CIRCLE;
	}
}

/* What comes next: mostly the expected PSN, else a drop, a repetition, a straggler, a far jump. */
static __u32 draw(const struct model *m, uint64_t *r)
{
	int die = random_next(r) % 1000;

	if (die < 800)
		return m->next;
	if (die < 880)
		return m->next + random_next(r) % 8;
	if (die < 884)
		return m->next + random_next(r) % 70000;
	if (die < 998)
		return m->next - 1 - random_next(r) % (die % 2 ? 40 : 1500);
	return random_next(r);
}

static void run_window(__u8 opcode, bool reliable)
{
	struct model *m = calloc(1, sizeof(*m));
	struct roce_stream s = { 0 };
	uint64_t r = opcode + 3;

	m->reliable = reliable;
	m->next = 0xfffe00;
	for (int i = 0; i < 100000; i++) {
		__u32 psn = (i ? draw(m, &r) : m->next) & PSN_MASK;

		model_take(m, psn);
		observe(&s, packet(opcode, psn));
		assert_true((s.psn.next & PSN_MASK) == m->next);
		assert_true(COUNT(&s, psn_gaps) == m->gaps);
		assert_true(COUNT(&s, psn_skipped) == m->skipped);
		assert_true(COUNT(&s, psn_recovered) == m->recovered);
		assert_true(COUNT(&s, psn_duplicates) == m->duplicates);
		assert_true(COUNT(&s, psn_resyncs) == m->resyncs);
	}
	assert_true(m->recovered > 1000 && m->duplicates > 1000 && m->resyncs > 10);
	free(m);
}

static void window_rc(void **state)
{
	(void)state;
	run_window(0x04, true);
}

static void window_uc(void **state)
{
	(void)state;
	run_window(0x24, false);
}

static void window_ud(void **state)
{
	(void)state;
	run_window(0x64, false);
}

static void window_xrc(void **state)
{
	(void)state;
	run_window(0xa4, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distance), cmocka_unit_test(whole_words), cmocka_unit_test(window_rc),
		cmocka_unit_test(window_uc), cmocka_unit_test(window_ud), cmocka_unit_test(window_xrc),
	};

	return cmocka_run_group_tests_name("psn", tests, NULL, NULL);
}
