// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files, 4 s, long 40 s
/*
 * A capture analysed by one thread and by several: the same streams, totals and events. The frames of a shard come in their
 * order and one at a time. Everything is compiled with the thread sanitizer, which checks concurrent accesses.
 */
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/cmocka_includes.h"
#include "tests/unit/frame.h"
#include "tests/unit/long.h"
#include "userspace/observe/offline/analysis.h"

enum { FRAMES_LONG = 60000, FRAMES_SHORT = 4000, QPS = 50 };
#define START 1700000000ull /* s */
#define ALONE (4 << 20) /* bytes that the analysis reads before it starts other threads (16 pieces of 256 KiB) */
#define FRAMES (test_long() ? FRAMES_LONG : FRAMES_SHORT)

/* What was seen. It has no lock: the analysis must make that safe. */
struct seen_shard {
	__u64 frames, last, digest;
};

struct seen_all {
	struct seen_shard shards[ANALYSIS_SHARDS];
	bool in_order;
	__u64 last;
};

static void see(void *context, const struct analysis_seen *seen)
{
	struct seen_all *all = context;
	struct seen_shard *s = &all->shards[seen->shard];
	const __u64 facts[] = { seen->number, seen->time, seen->event->kinds, seen->event->expected,
				seen->stream ? seen->stream->last_seen : 0,
				seen->stream ? seen->stream->counters.value[COUNTER_psn_skipped] : 0 };

	if (seen->number <= s->last)
		fail_msg("shard %u: frame %llu after %llu", seen->shard, seen->number, s->last);
	s->last = seen->number;
	s->frames++;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(facts); i++)
		s->digest = (s->digest ^ facts[i]) * 0x9e3779b97f4a7c15;
	if (all->in_order && seen->number != ++all->last)
		fail_msg("frame %llu instead of %llu", seen->number, all->last);
}

/* Losses, bad ICRCs, other traffic, and times that do not always rise. */
static struct frame_spec nth_frame(int i)
{
	struct frame_spec spec = { .opcode = 0x24, .dqpn = 0x100 + i % QPS, .psn = i / QPS + i / 977, .payload = 1000 };

	spec.bad_icrc = i % 1001 == 1000;
	if (i % 501 == 500)
		spec.port = 53;
	return spec;
}

/* mad: the number of the frame that is a management datagram; FRAMES: none. */
static void make_capture(char *path, int mad)
{
	const __u32 header[] = { 0xa1b2c3d4, 4 << 16 | 2, 0, 0, 262144, 1 };
	int file = mkstemp(path);
	FILE *f = fdopen(file, "w");

	assert_non_null(f);
	fwrite(header, sizeof(header), 1, f);
	for (int i = 0; i < FRAMES; i++) {
		static struct test_frame frame;
		struct frame_spec spec = nth_frame(i);
		__u32 us = i * 10 + (i % 7 == 0 ? 5000 : 0);

		if (i == mad)
			spec = (struct frame_spec){ .opcode = 0x64, .dqpn = 1, .sqpn = 1, .payload = 256 };
		frame_build(&frame, &spec);
		fwrite((__u32[]){ START + us / 1000000, us % 1000000, frame.length, frame.length }, 16, 1, f);
		fwrite(frame.bytes, frame.length, 1, f);
	}
	/* both readings of the file together: a third at least with several threads */
	assert_true(2 * ftell(f) > ALONE * 3 / 2);
	assert_int_equal(fclose(f), 0);
}

static void analyse(const char *path, const struct expected *expected, size_t max_streams, unsigned int threads,
		    struct seen_all *all, struct snapshot *s)
{
	struct analysis_settings settings = { .expected = expected, .max_streams = max_streams, .threads = threads,
					      .see = see, .context = all };

	*all = (struct seen_all){ .in_order = expected || threads == 1 };
	/* as two files: frame numbers continue from one to the other */
	assert_int_equal(analysis_run(&settings, (char *const[]){ (char *)path, (char *)path }, 2, s), 2);
	assert_true(s->complete);
	assert_int_equal(s->totals.value[COUNTER_frames], 2 * FRAMES);
}

static void same_for_all(const char *path, const struct expected *expected, size_t max_streams)
{
	static struct seen_all one, several;
	struct snapshot s1, sn;

	analyse(path, expected, max_streams, 1, &one, &s1);
	assert_true(s1.totals.value[COUNTER_psn_skipped] && s1.totals.value[COUNTER_icrc_bad]);
	assert_int_equal(!s1.totals.value[COUNTER_untracked_packets], max_streams > ANALYSIS_SHARDS);
	for (unsigned int threads = 2; threads <= 8; threads += threads == 2 ? 1 : 5) {
		analyse(path, expected, max_streams, threads, &several, &sn);
		assert_memory_equal(one.shards, several.shards, sizeof(one.shards));
		assert_memory_equal(&s1.totals, &sn.totals, sizeof(s1.totals));
		assert_true(s1.seconds == sn.seconds && s1.time.tv_nsec == sn.time.tv_nsec);
		assert_int_equal(s1.stream_count, sn.stream_count);
		assert_memory_equal(s1.streams, sn.streams, s1.stream_count * sizeof(*s1.streams));
		snapshot_free(&sn);
	}
	snapshot_free(&s1);
}

static void without_pairs(void **state)
{
	char path[] = "/tmp/test_analysis.XXXXXX";

	(void)state;
	make_capture(path, FRAMES);
	same_for_all(path, NULL, 100000);
	same_for_all(path, NULL, ANALYSIS_SHARDS); /* one stream a shard */
	unlink(path);
}

static void with_pairs(void **state)
{
	struct expected_pair pair = { .pair = { .from = PAIR_EXPECT, .first_psn = PAIR_NO_PSN } };
	struct expected expected = { .entries = &pair, .count = 1 };
	char path[] = "/tmp/test_analysis.XXXXXX";

	(void)state;
	make_capture(path, FRAMES);
	same_for_all(path, &expected, 100000);
	unlink(path);
}

/* In the middle, while several threads work. */
static void with_a_management_datagram(void **state)
{
	char path[] = "/tmp/test_analysis.XXXXXX";

	(void)state;
	make_capture(path, FRAMES * 3 / 4);
	same_for_all(path, NULL, 100000);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_pairs), cmocka_unit_test(with_pairs), cmocka_unit_test(with_a_management_datagram),
	};

	return cmocka_run_group_tests_name("analysis", tests, NULL, NULL);
}
