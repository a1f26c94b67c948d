// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The stream table of user space: every stream is found again; growth, its limit, and evicted streams. */
#include <stdlib.h>

#include "tests/unit/cmocka_includes.h"
#include "userspace/observe/model/faults.h"
#include "userspace/observe/model/table.h"

static struct roce_key key_of(__u32 i)
{
	/* neighbours differ in one field only, not always the same one */
	struct roce_key key = { .qpn = i / 8, .side = i & 1, .kind = i >> 1 & 1 };

	key.dst[15] = i >> 2 & 1;
	return key;
}

static void grows_and_finds(void **state)
{
	enum { STREAMS = 50000 };
	struct snapshot s = { .complete = true };
	struct table t = { .max = STREAMS };

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (__u32 i = 0; i < STREAMS; i++) {
			struct roce_key key = key_of(i);
			struct roce_stream *stream = table_find(&t, &key);

			assert_non_null(stream);
			assert_int_equal(stream->used, round);
			assert_int_equal(stream->ud.dqpn, round ? i : 0);
			stream->used = 1;
			stream->ud.dqpn = i;
		}
	}
	assert_int_equal(t.count, STREAMS);
	assert_null(table_find(&t, &(struct roce_key){ .qpn = 0xffffff }));
	s.streams = table_take(&t, &s.stream_count);
	assert_int_equal(s.stream_count, STREAMS);
	assert_int_equal(t.count, 0);
	snapshot_finish(&s);
	for (__u32 i = 0; i < STREAMS; i++) {
		struct roce_key key = key_of(i);

		assert_int_equal(snapshot_find(&s, &key)->stream.ud.dqpn, i);
	}
	assert_null(snapshot_find(&s, &(struct roce_key){ .qpn = 0xffffff }));
	assert_null(snapshot_find(NULL, &(struct roce_key){ 0 }));
	snapshot_free(&s);
}

/* Totals include the counters of trusted connected streams. Those of --udp and of UD have totals of their own. */
static void finish_sums(void **state)
{
	static const __u8 services[] = { SERVICE_RC, SERVICE_UC, SERVICE_UD, SERVICE_UDP, SERVICE_UC };
	struct snapshot s = { 0 };
	struct table t = { .max = 10 };

	(void)state;
	for (__u32 i = 0; i < ROCE_ARRAY_SIZE(services); i++) {
		struct roce_key key = { .qpn = i, .kind = services[i] == SERVICE_UDP ? KEY_UDP : KEY_CONNECTED };
		struct roce_stream *stream = table_find(&t, &key);

		stream->service = services[i];
		stream->trusted = i < 4;
		stream->counters.value[COUNTER_psn_skipped] = 10;
		stream->counters.value[COUNTER_psn_recovered] = 4;
		stream->counters.value[COUNTER_messages_broken] = 1;
		stream->counters.value[COUNTER_roce_packets] = 100; /* counted for all streams at another place */
		stream->lint[LINT_tver] = 1;
		stream->lint[LINT_reserved_bits] = i ? 50 : 100; /* of every packet of the first stream: a habit */
	}
	s.streams = table_take(&t, &s.stream_count);
	snapshot_finish(&s);
	assert_int_equal(s.totals.value[COUNTER_psn_skipped], 20);
	assert_int_equal(s.totals.value[COUNTER_psn_lost], 12);
	assert_int_equal(s.totals.value[COUNTER_roce_packets], 0);
	assert_int_equal(s.totals.value[COUNTER_messages_broken], 2);
	assert_int_equal(s.totals.value[COUNTER_udp_skipped], 10);
	assert_int_equal(s.totals.value[COUNTER_udp_recovered], 4);
	assert_int_equal(s.totals.value[COUNTER_udp_lost], 6);
	assert_int_equal(s.totals.value[COUNTER_udp_messages_broken], 1);
	assert_int_equal(s.totals.value[COUNTER_ud_lost], 6);
	assert_int_equal(s.totals.value[COUNTER_lints], 5 + 4 * 50);
	assert_int_equal(s.streams[2].stream.counters.value[COUNTER_psn_lost], 6);
	snapshot_free(&s);
}

/* An evicted stream leaves the totals as they are, and all of what streams count is either a total or has one. */
static void evicted(void **state)
{
	static const __u8 services[] = { SERVICE_RC, SERVICE_UD, SERVICE_UDP };

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(services); i++) {
		struct snapshot_stream *one = calloc(1, sizeof(*one));
		struct snapshot kept = { .streams = one, .stream_count = 1 }, gone = { 0 };

		one->stream = (struct roce_stream){ .service = services[i], .trusted = true, .lint[LINT_tver] = 3 };
		for (int c = 0; c < ROCE_STREAM_COUNTERS; c++)
			one->stream.counters.value[c] = c == COUNTER_psn_lost ? 0 : 1000 + (c == COUNTER_psn_skipped) * 5000;
		roce_add_stream(&gone.totals, &one->stream);
		snapshot_finish(&kept);
		snapshot_finish(&gone);
		assert_memory_equal(&kept.totals, &gone.totals, sizeof(gone.totals));
		snapshot_free(&kept);
	}
}

static bool seen(const struct snapshot *s, const char *list)
{
	const char *bad;
	struct faults f = { 0 };

	assert_true(faults_parse(&f, list, &bad));
	return faults_seen(&f, s);
}

static void fault_lists(void **state)
{
	struct snapshot s = { 0 };
	struct faults f = faults_default();
	const char *bad;

	(void)state;
	s.totals.value[COUNTER_psn_duplicates] = 1;
	assert_false(faults_seen(&f, &s));
	s.totals.value[COUNTER_icrc_bad] = 1;
	assert_true(faults_seen(&f, &s));
	assert_true(seen(&s, "psn_duplicates,naks"));
	s.totals.value[COUNTER_psn_duplicates] = 0;
	assert_false(seen(&s, "psn_duplicates,naks"));
	assert_false(faults_parse(&f, "naks,nak", &bad));
	assert_string_equal(bad, "nak");
	assert_false(faults_parse(&f, "", &bad));
	assert_false(faults_parse(&f, "naks,", &bad));
	assert_false(faults_parse(&f, "naks,refused", &bad)); /* there is no receiver */
	f.receives = true;
	assert_true(faults_parse(&f, "refused,naks", &bad) && f.refused && !f.incomplete && f.counter[COUNTER_naks]);
	assert_true(faults_parse(&f, "incomplete", &bad) && !f.refused && f.incomplete);
}

/* A name means the streams of --udp as well, and UD's only where it says so. */
static void fault_names(void **state)
{
	struct snapshot_stream one = { .stream = { .trusted = true, .counters.value[COUNTER_roce_packets] = 9 } };
	struct snapshot s = { .totals.value[COUNTER_udp_gaps] = 1 };

	(void)state;
	assert_true(seen(&s, "naks,psn_gaps"));
	assert_true(seen(&s, "udp_gaps"));
	assert_false(seen(&s, "psn_lost,udp_lost,psn_strays"));
	s = (struct snapshot){ .totals.value[COUNTER_ud_lost] = 1 };
	assert_true(seen(&s, "ud_lost"));
	assert_false(seen(&s, "psn_lost"));

	s = (struct snapshot){ .totals.value[COUNTER_lints] = 1 };
	assert_true(seen(&s, "lint"));
	assert_true(seen(&s, "lints"));
	s = (struct snapshot){ .streams = &one, .stream_count = 1 };
	one.stream.lint[LINT_reserved_bits] = 8;
	assert_true(seen(&s, "icrc_bad,reserved_bits"));
	assert_false(seen(&s, "tver"));
	one.stream.lint[LINT_reserved_bits] = 9;
	assert_false(seen(&s, "reserved_bits")); /* a habit */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_and_finds), cmocka_unit_test(finish_sums), cmocka_unit_test(evicted),
		cmocka_unit_test(fault_lists), cmocka_unit_test(fault_names),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
