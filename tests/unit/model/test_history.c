// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files, 1 s, long 4 s
/* The history of faults compared with a full search through everything that was added. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_includes.h"
#include "tests/unit/frame.h"
#include "tests/unit/long.h"
#include "userspace/observe/model/history.c"

#define STREAMS 40
#define ADDED_MOST 20000
#define ADDED (test_long() ? ADDED_MOST : 7000) /* each gap is compared with all others */
#define PORTS 3

struct added {
	__u32 stream, port;
	__u64 time, suppressed;
	struct roce_event event;
};

static struct added all[ADDED_MOST];

static struct roce_key key_of(__u32 stream)
{
	return (struct roce_key){ .qpn = stream, .kind = KEY_CONNECTED };
}

static bool is_gap(const struct added *a)
{
	return a->event.kinds & ROCE_EVENT(psn_gap);
}

static void add(struct history *h, const struct added *a)
{
	struct roce_key key = key_of(a->stream);

	history_add(h, &key, &a->event, a->time, a->port, a->suppressed);
}

/* Some at nearly the same moments, most far apart; a CPU's clock may be behind. */
static void make(uint64_t *r)
{
	__u64 time = 1;

	for (int i = 0; i < ADDED; i++) {
		__u32 stream = random_next(r) % STREAMS;

		time += random_next(r) % 4 ? HISTORY_TOGETHER / 8 * (random_next(r) % 4) : random_next(r) % 1000000000;
		all[i] = (struct added){
			.stream = stream, .port = stream % PORTS, .time = time - random_next(r) % 2,
			.suppressed = random_next(r) % 10 ? 0 : 7,
			.event = { .kinds = random_next(r) % (1u << ROCE_EVENTS),
				   .skipped = 1 + random_next(r) % (1u << random_next(r) % 18) },
		};
	}
}

static bool has_neighbour(int i)
{
	for (int k = 0; k < ADDED; k++) {
		__u64 apart = all[k].time > all[i].time ? all[k].time - all[i].time : all[i].time - all[k].time;

		if (is_gap(&all[k]) && all[k].port == all[i].port && all[k].stream != all[i].stream && apart <= HISTORY_TOGETHER)
			return true;
	}
	return false;
}

static void check_last(const struct history_stream *s, const struct history_stream *want)
{
	assert_int_equal(s->kept, want->kept);
	for (__u64 back = 1; back <= HISTORY_FAULTS && back <= s->kept; back++) {
		const struct history_fault *got = &s->last[(s->kept - back) % HISTORY_FAULTS];
		const struct history_fault *kept = &want->last[(s->kept - back) % HISTORY_FAULTS];

		assert_int_equal(got->time, kept->time);
		assert_int_equal(got->event.kinds, kept->event.kinds);
	}
}

static void against_all(void **state)
{
	struct history_stream want[STREAMS] = { 0 };
	struct history *h = history_new();
	uint64_t r = 7;
	(void)state;

	make(&r);
	for (int i = 0; i < ADDED; i++) {
		struct history_stream *w = &want[all[i].stream];
		__u32 kinds = all[i].event.kinds & FAULT_EVENTS, bucket = 0;

		add(h, &all[i]);
		if (!kinds)
			continue;
		w->faults++;
		w->suppressed += all[i].suppressed;
		w->last[w->kept % HISTORY_FAULTS] = (struct history_fault){ all[i].time, all[i].event };
		w->last[w->kept++ % HISTORY_FAULTS].event.kinds = kinds;
		if (!is_gap(&all[i]))
			continue;
		while (all[i].event.skipped >> (bucket + 1))
			bucket++;
		w->burst[bucket < HISTORY_BURSTS ? bucket : HISTORY_BURSTS - 1]++;
		*(has_neighbour(i) ? &w->together : &w->alone) += 1;
	}
	for (__u32 i = 0; i < STREAMS; i++) {
		struct roce_key key = key_of(i);
		const struct history_stream *s = history_of(h, &key);

		assert_non_null(s);
		assert_int_equal(s->faults, want[i].faults);
		assert_int_equal(s->suppressed, want[i].suppressed);
		assert_int_equal(s->interface, i % PORTS);
		assert_memory_equal(s->burst, want[i].burst, sizeof(s->burst));
		assert_int_equal(s->together, want[i].together);
		assert_int_equal(s->alone, want[i].alone);
		assert_true(s->together && s->alone);
		check_last(s, &want[i]);
	}
	history_free(h);
}

static struct added gap_of(__u32 stream, __u64 time)
{
	return (struct added){ .stream = stream, .time = time, .event = { .kinds = ROCE_EVENT(psn_gap), .skipped = 1 } };
}

/* The stream with the oldest last fault makes room, whichever came first. */
static void is_bounded(void **state)
{
	struct history *h = history_new();
	struct roce_key key;
	(void)state;

	for (__u32 i = 0; i < HISTORY_STREAMS; i++)
		add(h, &(struct added){ .stream = i, .time = i, .event.kinds = ROCE_EVENT(icrc_bad) });
	add(h, &(struct added){ .stream = 0, .time = HISTORY_STREAMS, .event.kinds = ROCE_EVENT(icrc_bad) });
	for (__u32 i = 0; i < HISTORY_STREAMS / 2; i++) {
		struct added a = gap_of(HISTORY_STREAMS + i, HISTORY_STREAMS + i);

		add(h, &a);
	}
	assert_int_equal(h->count, HISTORY_STREAMS);
	for (__u32 i = 0; i < HISTORY_STREAMS * 3 / 2; i++) {
		key = key_of(i);
		assert_int_equal(!history_of(h, &key), i >= 1 && i <= HISTORY_STREAMS / 2);
	}
	key = key_of(0);
	assert_int_equal(history_of(h, &key)->faults, 2);
	history_free(h);
}

/* cnp and ecn_ce are no faults. */
static void no_faults(void **state)
{
	struct history *h = history_new();
	struct roce_key key = key_of(1);
	char words[HISTORY_WORDS];
	(void)state;

	add(h, &(struct added){ .stream = 1, .event.kinds = ROCE_EVENT(cnp) | ROCE_EVENT(ecn_ce) });
	assert_null(history_of(h, &key));
	add(h, &(struct added){ .stream = 1, .event.kinds = ROCE_EVENT(nak) });
	history_words(h, history_of(h, &key), words);
	assert_string_equal(words, "");
	history_free(h);
	history_free(NULL);
}

static const char *words_of(struct history *h, __u32 stream)
{
	static char words[HISTORY_WORDS];
	struct roce_key key = key_of(stream);

	history_words(h, history_of(h, &key), words);
	return words;
}

static void add_gap(struct history *h, __u32 stream, __u64 time)
{
	struct added a = gap_of(stream, time);

	add(h, &a);
}

#define SECOND 1000000000ull

static void says_who_loses(void **state)
{
	struct history *h = history_new();
	(void)state;

	for (__u32 i = 0; i < 10; i++)
		for (__u32 stream = 1; stream <= 3; stream++)
			add_gap(h, stream, i * SECOND + stream);
	assert_non_null(strstr(words_of(h, 2), "100 % of its gaps came within 10 ms of other streams'"));
	assert_non_null(strstr(words_of(h, 2), "; 3 streams lose: a port"));
	add_gap(h, 5, 10 * SECOND);
	assert_string_equal(words_of(h, 5), ""); /* one gap is too few for a pattern */
	for (__u32 i = 0; i < 1000; i++)
		add_gap(h, 4, SECOND * (20 + i));
	assert_non_null(strstr(words_of(h, 4), "1000 of the 1031 gaps of this interface are this stream's"));
	history_free(h);
}

/* Streams at random and independent: rare faults, and faults so frequent that they coincide. */
static void knows_chance(void **state)
{
	const __u64 seconds[] = { 10000, 10 };
	const char *const want[] = { "each at its own moments", "it is chance which" };
	uint64_t r = 3;
	(void)state;

	for (int often = 0; often < 2; often++) {
		struct history *h = history_new();

		for (__u32 i = 0; i < 2000; i++)
			add_gap(h, random_next(&r) % 50, SECOND * seconds[often] / 2000 * i + random_next(&r) % 1000000);
		for (__u32 stream = 0; stream < 50; stream++)
			assert_non_null(strstr(words_of(h, stream), want[often]));
		history_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_all), cmocka_unit_test(is_bounded), cmocka_unit_test(no_faults),
		cmocka_unit_test(says_who_loses), cmocka_unit_test(knows_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
