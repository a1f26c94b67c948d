// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Faults: events, counters and ranks of streams agree. */
#include <string.h>

#include "tests/unit/cmocka_includes.h"
#include "userspace/observe/model/faults.h"

static const char *const event_name[] = {
#define EVENT(name, ...) #name,
#include "roce/event/event.def"
#undef EVENT
};

/* A stream with one event of this kind, counted once. */
static struct roce_stream stream_with(int kind, bool trusted, enum roce_service service)
{
	const struct roce_event e = { .kinds = 1u << kind, .lints = 1, .skipped = 1, .recovered = 1, .broken = 1, .imm_skipped = 1 };
	struct roce_stream s = { .trusted = trusted, .service = service };

	faults_count(&s, &e, e.kinds);
	return s;
}

/* Kinds that no stream counts. */
static bool has_no_stream(int kind)
{
	return kind == EVENT_malformed || kind == EVENT_ip_fragment;
}

static void events_and_counters(void **state)
{
	const struct roce_stream none = { 0 };

	(void)state;
	for (int kind = 0; kind < ROCE_EVENTS; kind++) {
		bool fault = kind != EVENT_cnp && kind != EVENT_ecn_ce;
		struct roce_stream s = stream_with(kind, true, SERVICE_UC);
		struct fault_rank rank = fault_rank(&s);

		if (!!faults_of_event(1u << kind, true, SERVICE_UC) != fault)
			fail_msg("%s is %s fault", event_name[kind], fault ? "no" : "a");
		if (faults_rose(&s, NULL) != (fault && !has_no_stream(kind)) || faults_rose(&s, &none) != faults_rose(&s, NULL))
			fail_msg("%s: counters that tell of faults are said to have %s", event_name[kind], fault ? "stayed" : "risen");
		/* the gap caused the loss, and comes before what recovers it */
		if (fault_rank_any(&rank) != (faults_rose(&s, NULL) && kind != EVENT_psn_recovered))
			fail_msg("%s: rank %llu, %llu", event_name[kind], rank.faults, rank.lesser);
		assert_false(faults_rose(&s, &s));
	}
}

/* Events that are no fault of an untrusted stream do not raise its rank either. */
static void not_judged(void **state)
{
	(void)state;
	for (int kind = 0; kind < ROCE_EVENTS; kind++) {
		bool sequence = ROCE_EVENTS_OF_SEQUENCE >> kind & 1;

		for (int untrusted = 0; untrusted < 2; untrusted++) {
			enum roce_service service = untrusted ? SERVICE_RC : SERVICE_UD;
			struct roce_stream s = stream_with(kind, !untrusted, service);
			struct fault_rank rank = fault_rank(&s);
			__u32 kinds = faults_of_event(1u << kind, !untrusted, service);

			assert_int_equal(kinds, sequence ? 0 : (1u << kind) & FAULT_EVENTS);
			if (fault_rank_any(&rank) != (kinds && !has_no_stream(kind)))
				fail_msg("%s: rank %llu, %llu", event_name[kind], rank.faults, rank.lesser);
		}
	}
}

/* A packet that waits for a verdict is an event already, so it is a lesser fault of its stream, and --fail-on psn_strays means it. */
static void waiting(void **state)
{
	static const struct {
		enum probation_kind probation;
		enum roce_service service;
		bool trusted, fault;
	} cases[] = {
		{ PROBATION_GAP, SERVICE_RC, true, true },	  { PROBATION_ELSEWHERE, SERVICE_UDP, true, true },
		{ PROBATION_AGAIN, SERVICE_RC, true, false }, { PROBATION_NONE, SERVICE_RC, true, false },
		{ PROBATION_GAP, SERVICE_UD, true, false },	  { PROBATION_GAP, SERVICE_RC, false, false },
	};
	struct faults f = { .counter[COUNTER_psn_strays] = true };

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(cases); i++) {
		struct snapshot_stream one = {
			.stream = { .trusted = cases[i].trusted, .service = cases[i].service, .probation = cases[i].probation },
		};
		struct snapshot s = { .streams = &one, .stream_count = 1 };
		struct fault_rank rank = fault_rank(&one.stream);

		assert_int_equal(fault_rank_any(&rank), cases[i].fault);
		assert_int_equal(faults_seen(&f, &s), cases[i].fault);
	}
}

static void usual(void **state)
{
	static const enum roce_counter want[] = { COUNTER_psn_lost, COUNTER_messages_broken, COUNTER_icrc_bad, COUNTER_malformed,
						  COUNTER_unknown_opcodes, COUNTER_psn_resyncs, COUNTER_udp_lost,
						  COUNTER_udp_messages_broken, COUNTER_udp_resyncs };
	struct faults f = faults_default();
	size_t count = 0;

	(void)state;
	for (int c = 0; c < ROCE_COUNTERS; c++)
		count += f.counter[c];
	assert_int_equal(count, ROCE_ARRAY_SIZE(want));
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(want); i++) {
		struct snapshot s = { 0 };

		s.totals.value[want[i]] = 1;
		assert_true(faults_seen(&f, &s));
		assert_true(faults_highlights(want[i]));
	}
}

static void worst_first(void **state)
{
	/* in rising order of faults */
	static const struct roce_stream streams[] = {
		{ .trusted = true },
		{ .trusted = true, .counters.value[COUNTER_udp_packets] = 9 },
		{ .trusted = true, .counters.value[COUNTER_naks] = 1 },
		{ .trusted = true, .lint[0] = 2 },
		{ .trusted = true, .counters.value = { [COUNTER_psn_gaps] = 3, [COUNTER_psn_skipped] = 2, [COUNTER_psn_recovered] = 2 } },
		{ .trusted = true, .counters.value = { [COUNTER_psn_gaps] = 1, [COUNTER_psn_skipped] = 3, [COUNTER_psn_recovered] = 2 } },
		{ .counters.value[COUNTER_icrc_bad] = 2 },
	};

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(streams); i++) {
		for (size_t k = 0; k < ROCE_ARRAY_SIZE(streams); k++) {
			struct fault_rank a = fault_rank(&streams[i]), b = fault_rank(&streams[k]);
			int order = fault_rank_compare(&a, &b);

			assert_int_equal(order < 0 ? -1 : order > 0, i > k ? -1 : i < k);
		}
	}
}

/* Reserved bits in every packet are no fault, in all but one they are; any other lint is one even in all. */
static void habits(void **state)
{
	const struct roce_stream before = { .trusted = true, .counters.value[COUNTER_roce_packets] = 5, .lint[LINT_reserved_bits] = 5 };
	static const struct {
		enum roce_lint lint;
		bool trusted, habit;
		__u64 packets, rocev1, bad;
		__u32 had;
	} cases[] = {
		{ LINT_reserved_bits, true, true, 9, 0, 0, 9 },
		{ LINT_reserved_bits, true, true, 0, 9, 0, 9 },
		{ LINT_reserved_bits, true, true, 12, 0, 3, 9 }, /* those with a bad ICRC are not looked at */
		{ LINT_reserved_bits, false, true, 9, 0, 9, 9 }, /* but on a stream without a good one */
		{ LINT_reserved_bits, true, true, 1ull << 40, 0, 0, LINT_COUNT_MOST },
		{ LINT_reserved_bits, true, false, 10, 0, 0, 9 },
		{ LINT_reserved_bits, false, false, 12, 0, 12, 9 },
		{ LINT_reserved_bits, true, false, 0, 0, 0, 1 }, /* a single event as a stream (faults_count()) */
		{ LINT_reserved_bits, true, false, 1ull << 40, 0, 0, LINT_COUNT_MOST - 1 },
		{ LINT_df_unset, true, false, 9, 0, 0, 9 },
		{ LINT_udp_length, true, false, 9, 0, 0, 9 },
	};

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(cases); i++) {
		struct roce_stream s = { .trusted = cases[i].trusted };
		struct fault_rank rank;

		s.counters.value[COUNTER_roce_packets] = cases[i].packets;
		s.counters.value[COUNTER_rocev1_packets] = cases[i].rocev1;
		s.counters.value[COUNTER_icrc_bad] = cases[i].bad;
		s.lint[cases[i].lint] = cases[i].had;
		if (stream_is_habit(&s, cases[i].lint) != cases[i].habit)
			fail_msg("case %zu is %s habit", i, cases[i].habit ? "no" : "a");
		s.counters.value[COUNTER_icrc_bad] = 0;
		rank = fault_rank(&s);
		if (!cases[i].bad)
			assert_int_equal(fault_rank_any(&rank), !cases[i].habit);
		if (!cases[i].bad)
			assert_int_equal(faults_rose(&s, &before), !cases[i].habit && s.lint[cases[i].lint] > before.lint[cases[i].lint]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_and_counters), cmocka_unit_test(not_judged), cmocka_unit_test(waiting), cmocka_unit_test(usual),
		cmocka_unit_test(worst_first), cmocka_unit_test(habits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
