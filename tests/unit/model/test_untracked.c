// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Streams without room: few of them are told exactly, and many by an estimate. What is said of a stream is never more than it had,
 * also in a flood of made-up ones, in which a stream with many packets is found.
 */
#include <stdlib.h>
#include <string.h>

#include "roce/stream/take_untracked.h"
#include "tests/unit/cmocka_includes.h"
#include "userspace/observe/model/untracked.h"

static void take(struct roce_untracked *u, __u32 qpn, __u64 seed)
{
	struct roce_packet p = { .dqpn = qpn, .service = SERVICE_UC };
	struct roce_key key = { .kind = KEY_CONNECTED, .qpn = qpn };

	key.src[15] = 1;
	key.dst[15] = p.dst[15] = 2;
	untracked_take(u, &key, &p, seed);
}

static struct untracked finished(struct roce_untracked *of, int count)
{
	struct untracked_sum sum = { 0 };
	struct untracked u;

	for (int i = 0; i < count; i++) {
		assert_int_equal(of[i].begun, of[i].ended);
		assert_true(untracked_add(&sum, &of[i]));
	}
	untracked_finish(&sum, &u);
	assert_null(sum.list);
	return u;
}

/* As many as find a place in their set, whatever the seed. */
static void test_few(void **state)
{
	static struct roce_untracked none;

	(void)state;
	assert_int_equal(finished(&none, 1).streams, 0);
	assert_int_equal(finished(&none, 1).count, 0);
	for (int streams = 1; streams <= UNTRACKED_WAYS; streams++) {
		struct roce_untracked one = { 0 };
		struct untracked u;

		for (int q = 1; q <= streams; q++)
			for (int n = 0; n < 10 * q; n++)
				take(&one, q, 77);
		u = finished(&one, 1);
		assert_int_equal(u.streams, streams);
		assert_false(u.estimate);
		assert_int_equal(u.count, streams);
		for (int i = 0; i < streams; i++) {
			assert_int_equal(u.worst[i].key.qpn, streams - i);
			assert_int_equal(u.worst[i].dqpn, streams - i);
			assert_int_equal(u.worst[i].packets, 10 * (streams - i));
			assert_int_equal(u.worst[i].service, SERVICE_UC);
			assert_int_equal(u.worst[i].dst[15], 2);
		}
	}
}

/* Two CPUs know the same streams. */
static void test_joined(void **state)
{
	struct roce_untracked two[2] = { 0 };
	struct untracked u;

	(void)state;
	for (int n = 0; n < 30; n++)
		take(&two[n % 2], 5, 1);
	take(&two[1], 6, 1);
	u = finished(two, 2);
	assert_int_equal(u.streams, 2);
	assert_int_equal(u.worst[0].key.qpn, 5);
	assert_int_equal(u.worst[0].packets, 30);
	assert_int_equal(u.worst[1].packets, 1);
}

/* Each number of streams from few to a million is estimated within 15 % (five times the standard error). */
static void test_estimate(void **state)
{
	static struct roce_untracked one;
	__u32 qpn = 0;

	(void)state;
	memset(&one, 0, sizeof(one));
	for (__u32 streams = 100; streams <= 1000000; streams *= 10) {
		struct untracked u;

		while (qpn < streams)
			take(&one, ++qpn * 2654435761u, 12345);
		u = finished(&one, 1);
		assert_true(u.estimate);
		assert_in_range(u.streams, streams * 85ull / 100, streams * 115ull / 100);
	}
}

/* A tenth of the packets are of three streams, all others of streams that come once. */
static void test_flood(void **state)
{
	static struct roce_untracked one;
	__u64 had[3] = { 0 };
	struct untracked u;
	int found = 0;

	(void)state;
	memset(&one, 0, sizeof(one));
	srand(7);
	for (int n = 0; n < 200000; n++) {
		int which = rand() % 30;

		if (which < 3)
			had[which]++;
		take(&one, which < 3 ? (__u32)which + 1 : (__u32)rand() * 7919u + 1000, 99);
	}
	u = finished(&one, 1);
	for (size_t i = 0; i < u.count; i++) {
		if (u.worst[i].key.qpn > 3) {
			assert_in_range(u.worst[i].packets, 1, 20); /* it came once, or a few times by chance */
			continue;
		}
		found++;
		assert_true(u.worst[i].packets <= had[u.worst[i].key.qpn - 1]);
		assert_true(u.worst[i].packets > had[u.worst[i].key.qpn - 1] / 2);
	}
	assert_int_equal(found, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few), cmocka_unit_test(test_joined), cmocka_unit_test(test_estimate), cmocka_unit_test(test_flood),
	};

	return cmocka_run_group_tests_name("untracked", tests, NULL, NULL);
}
