// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The stream table of user space: every stream is found again; growth, its limit, and evicted streams. */
#include <stdlib.h>

#include "tests/unit/cmocka_includes.h"
#include "userspace/model/faults.h"
#include "userspace/model/table.h"

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
			assert_int_equal(stream->dqpn, round ? i : 0);
			stream->used = 1;
			stream->dqpn = i;
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

		assert_int_equal(snapshot_find(&s, &key)->stream.dqpn, i);
	}
	assert_null(snapshot_find(&s, &(struct roce_key){ .qpn = 0xffffff }));
	assert_null(snapshot_find(NULL, &(struct roce_key){ 0 }));
	snapshot_free(&s);
}

/* Totals include the counters of trusted connected streams, and of no others. */
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
		stream->counters.value[COUNTER_roce_packets] = 100; /* counted for all streams at another place */
	}
	s.streams = table_take(&t, &s.stream_count);
	snapshot_finish(&s);
	assert_int_equal(s.totals.value[COUNTER_psn_skipped], 20);
	assert_int_equal(s.totals.value[COUNTER_psn_lost], 12);
	assert_int_equal(s.totals.value[COUNTER_roce_packets], 0);
	assert_int_equal(s.streams[2].stream.counters.value[COUNTER_psn_lost], 6);
	snapshot_free(&s);
}

static void fault_lists(void **state)
{
	struct roce_totals totals = { 0 };
	struct faults f = faults_default();
	const char *bad;

	(void)state;
	totals.value[COUNTER_psn_duplicates] = 1;
	assert_false(faults_seen(&f, &totals));
	totals.value[COUNTER_icrc_bad] = 1;
	assert_true(faults_seen(&f, &totals));
	assert_true(faults_parse(&f, "psn_duplicates,naks", &bad));
	assert_true(faults_seen(&f, &totals));
	totals.value[COUNTER_psn_duplicates] = 0;
	assert_false(faults_seen(&f, &totals));
	assert_false(faults_parse(&f, "naks,nak", &bad));
	assert_string_equal(bad, "nak");
	assert_false(faults_parse(&f, "", &bad));
	assert_false(faults_parse(&f, "naks,", &bad));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_and_finds), cmocka_unit_test(finish_sums), cmocka_unit_test(fault_lists),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
