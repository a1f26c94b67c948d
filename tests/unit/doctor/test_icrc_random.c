// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files, 2 s, long 60 s
/*
 * Random ICRCs give no finding, however many there are: 10,000 streams of one sender, and 2,000 senders (400 and 200 without
 * `make test-long`). Without sanitizers, because it takes seconds.
 */
#include "roce/datagram/datagram.h"
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/frame.h"
#include "tests/unit/long.h"
#include "userspace/diagnose/icrc/icrc_study.h"

#define STREAMS 10000
#define SENDERS 2000

static uint64_t seed = 99;

static void take(struct icrc_study *s, struct test_frame *f, struct icrc_before *before, int number)
{
	struct observer_frame frame = { .bytes = f->bytes, .captured = f->length, .wire = f->length };
	struct roce_packet p;
	struct roce_key key;

	put(f->bytes + f->bth + 9, number, 3);
	put(f->bytes + f->payload, random_next(&seed), 8);
	put(f->bytes + f->icrc, random_next(&seed) >> 32, 4);
	roce_parse(f->bytes, f->length, f->length, NULL, &p);
	roce_stream_key(&p, &key);
	icrc_study_take(s, &key, &(struct icrc_case){ .number = number + 1, .frame = &frame, .packet = &p,
						      .of_stream = before, .of_sender = before });
	before->packet = p;
	memcpy(before->header, f->bytes, sizeof(before->header));
}

static void check(int streams, bool one_sender, int payload)
{
	static struct icrc_study *s[STREAMS];
	struct icrc_before before = {};
	struct findings found = {};

	for (int i = 0; i < streams; i++) {
		struct frame_spec spec = { .opcode = 0x2a, .dqpn = 17 + i, .payload = payload };
		struct test_frame f;

		frame_build(&f, &spec);
		if (!one_sender)
			put(f.bytes + f.l3 + 12, 0x0a000000 + i, 4);
		s[i] = icrc_study_new();
		for (int k = 0; k < ICRC_STUDIED; k++)
			take(s[i], &f, &before, i * ICRC_STUDIED + k);
	}
	assert_true(icrc_study_conclude(s, streams, &found));
	for (size_t i = 0; i < found.count; i++) {
		print_message("%s: %llu packets, %zu streams: %s\n", found.list[i].kind, found.list[i].packets, found.list[i].streams,
			      found.list[i].text);
		assert_false(found.list[i].certain);
	}
	assert_int_equal(found.count, 1);
	assert_string_equal(found.list[0].kind, "icrc-unexplained");
	for (int i = 0; i < streams; i++)
		icrc_study_free(s[i]);
	findings_free(&found);
}

static void one_sender(void **state)
{
	(void)state;
	check(test_long() ? STREAMS : STREAMS / 25, true, 64);
}

static void many_senders(void **state)
{
	(void)state;
	check(test_long() ? SENDERS : SENDERS / 10, false, 2048);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(one_sender), cmocka_unit_test(many_senders) };

	return cmocka_run_group_tests_name("doctor_icrc_random", tests, NULL, NULL);
}
