// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The first faults are the same for every order of the shards, and all faults are counted. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_includes.h"
#include "userspace/observe/offline/fault_list.h"

#define FRAMES 5000

static const struct observer_parsed parsed = { .packet = { .kind = ROCE_PACKET, .dqpn = 17 }, .has_stream = true,
					   .key = { .qpn = 17, .kind = KEY_CONNECTED } };
static const struct roce_stream trusted = { .trusted = true, .service = SERVICE_UC },
				untrusted = { .service = SERVICE_UC },
				datagrams = { .trusted = true, .service = SERVICE_UD };

static void see(struct fault_list *l, __u64 number, __u32 kinds, const struct roce_stream *stream)
{
	struct roce_event event = { .kinds = kinds, .skipped = number };

	fault_list_see(l, &(struct analysis_seen){ .number = number, .parsed = &parsed, .event = &event, .stream = stream,
						   .shard = number % ANALYSIS_SHARDS });
}

/* Every third frame has a fault. */
static void see_some(struct fault_list *l, __u64 number)
{
	see(l, number, number % 3 ? ROCE_EVENT(ecn_ce) : number % 2 ? ROCE_EVENT(psn_gap) | ROCE_EVENT(cnp) : ROCE_EVENT(icrc_bad),
	    &trusted);
}

static void check(struct fault_list *l, size_t most)
{
	size_t want = FRAMES / 3 < most ? FRAMES / 3 : most;

	fault_list_finish(l);
	assert_int_equal(l->count, want);
	for (size_t i = 0; i < want; i++) {
		assert_int_equal(l->faults[i].number, 3 * (i + 1));
		assert_int_equal(l->faults[i].event.kinds, i % 2 ? ROCE_EVENT(icrc_bad) : ROCE_EVENT(psn_gap));
		assert_int_equal(l->faults[i].event.skipped, 3 * (i + 1));
		assert_int_equal(l->faults[i].key.qpn, 17);
	}
	assert_int_equal(l->packets, FRAMES / 3);
	assert_int_equal(l->kind[EVENT_psn_gap], 833);
	assert_int_equal(l->kind[EVENT_icrc_bad], 833);
	assert_int_equal(l->kind[EVENT_cnp] + l->kind[EVENT_ecn_ce], 0);
	fault_list_free(l);
}

static void test_order(void **state)
{
	static const size_t mosts[] = { 0, 1, 2, 100, 833, 1666, 1667, 100000 };
	struct fault_list l;

	(void)state;
	for (size_t m = 0; m < ROCE_ARRAY_SIZE(mosts); m++) {
		assert_true(fault_list_init(&l, mosts[m], NULL));
		for (int i = 1; i <= FRAMES; i++)
			see_some(&l, i);
		check(&l, mosts[m]);
		/* backwards, and in jumps */
		assert_true(fault_list_init(&l, mosts[m], NULL));
		for (int i = FRAMES; i; i--)
			see_some(&l, i);
		check(&l, mosts[m]);
		assert_true(fault_list_init(&l, mosts[m], NULL));
		for (int i = 0; i < FRAMES; i++)
			see_some(&l, i * 1237 % FRAMES + 1);
		check(&l, mosts[m]);
	}
}

/* PSNs count as faults where the totals count them. */
static void test_what_is_none(void **state)
{
	struct fault_list l;

	(void)state;
	assert_true(fault_list_init(&l, 10, NULL));
	see(&l, 1, ROCE_EVENT(psn_gap) | ROCE_EVENT(message_broken), &untrusted);
	see(&l, 2, ROCE_EVENT(psn_gap) | ROCE_EVENT(imm_gap), &datagrams);
	see(&l, 3, ROCE_EVENT(psn_resync), NULL);
	see(&l, 4, ROCE_EVENT(psn_gap) | ROCE_EVENT(icrc_bad), &untrusted);
	see(&l, 5, ROCE_EVENT(malformed), NULL);
	see(&l, 6, ROCE_EVENT(lint) | ROCE_EVENT(psn_duplicate), &datagrams);
	see(&l, 7, 0, &trusted);
	see(&l, 8, ROCE_EVENT(nak), &trusted);
	fault_list_finish(&l);
	assert_int_equal(l.count, 4);
	assert_int_equal(l.faults[0].event.kinds, ROCE_EVENT(icrc_bad));
	assert_int_equal(l.faults[1].event.kinds, ROCE_EVENT(malformed));
	assert_int_equal(l.faults[2].event.kinds, ROCE_EVENT(lint));
	assert_int_equal(l.faults[3].event.kinds, ROCE_EVENT(nak));
	fault_list_free(&l);
}

/* The faults of the streams that a filter selects. A packet without stream is selected by its addresses. */
static void test_filter(void **state)
{
	static const char *const texts[] = { "17", "uc", "18", "not 17", "lost" };
	static const __u64 packets[] = { 4, 3, 0, 0, 1 };
	struct roce_stream lossy = trusted;
	char mistake[FILTER_MISTAKE];
	struct fault_list l;

	(void)state;
	lossy.counters.value[COUNTER_psn_skipped] = 1;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(texts); i++) {
		struct filter *f = filter_parse(texts[i], mistake);

		assert_true(fault_list_init(&l, 2, f));
		see(&l, 1, ROCE_EVENT(icrc_bad), &untrusted);
		see(&l, 2, ROCE_EVENT(icrc_bad), &datagrams);
		see(&l, 3, ROCE_EVENT(nak), &trusted);
		see(&l, 4, ROCE_EVENT(psn_gap), &lossy);
		fault_list_finish(&l);
		assert_int_equal(l.packets, packets[i]);
		assert_int_equal(l.count, packets[i] < 2 ? packets[i] : 2);
		fault_list_free(&l);
		filter_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_what_is_none),
		cmocka_unit_test(test_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
