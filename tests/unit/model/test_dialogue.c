// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What requests and responses show together, and what limits a requester. */
#include <stdlib.h>

#include "roce/dialogue/follow_dialogue.h"
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/packets.h"
#include "userspace/observe/model/limit.h"

enum { WRITE_FIRST = 0x06, WRITE_MIDDLE = 0x07, WRITE_LAST = 0x08, WRITE_ONLY = 0x0a, READ_FIRST = 0x0d, READ_MIDDLE = 0x0e,
       READ_LAST = 0x0f, READ_ONLY = 0x10, ACKNOWLEDGE = 0x11, ATOMIC_ACK = 0x12, FETCH_ADD = 0x14 };
enum { ACK = 0x1f, RNR = 0x2e, NAK = 0x60 };

#define US 1000ull
#define SECOND 1000000000ull

/* Both ends of one connection, observed at one place. */
struct talk {
	struct snapshot_stream s;
	struct roce_dialogue d;
	__u64 now;
};

static struct talk talk_begin(void)
{
	struct talk t = { .now = 5 * SECOND };

	t.s.key = (struct roce_key){ .kind = KEY_CONNECTED, .qpn = 17 };
	t.s.stream.pair = (struct roce_pair){ .from = PAIR_EXPECT, .peer_qpn = 18, .first_psn = PAIR_NO_PSN, .path_mtu = 1024 };
	t.s.stream.path_mtu = 1024;
	return t;
}

static void request(struct talk *t, struct roce_packet p)
{
	__u64 before = stream_seen_before(&t->s.stream);

	assert_true(dialogue_wants(&p));
	engine_observe(&t->s.stream, &p, ICRC_GOOD, t->now, NULL);
	dialogue_request(&t->d, &t->s.stream, &p, stream_seen_before(&t->s.stream) > before, t->now);
	t->s.dialogue = &t->d;
}

/* A message of one packet that asks for an acknowledgement. */
static void write_to(struct talk *t, __u32 psn)
{
	struct roce_packet p = packet(WRITE_ONLY, psn);

	p.ackreq = 1;
	request(t, p);
}

static void answer(struct talk *t, __u8 opcode, __u32 psn, __u8 syndrome)
{
	struct roce_packet p = packet(opcode, psn);

	p.syndrome = syndrome;
	assert_true(dialogue_wants(&p));
	dialogue_response(&t->d, &t->s.stream, &p, t->now);
}

/* ---- latencies ---- */

static void buckets(void **state)
{
	(void)state;
	assert_int_equal(dialogue_bucket(0), 0);
	assert_int_equal(dialogue_bucket(1), 768);
	assert_int_equal(dialogue_bucket(2), 1024);
	assert_int_equal(dialogue_bucket(3), 1536);
	for (int i = 0; i < DIALOGUE_BUCKETS; i++) {
		struct roce_latency l = { 0 };

		latency_add(&l, dialogue_bucket(i), 1);
		latency_add(&l, dialogue_bucket(i + 1) - 1, 1);
		assert_int_equal(l.bucket[i], 2);
		assert_int_equal(l.most, dialogue_bucket(i + 1) - 1);
		assert_int_equal(l.sum, dialogue_bucket(i) + dialogue_bucket(i + 1) - 1);
		latency_add(&l, ~0ull >> 24, 1);
		assert_int_equal(l.bucket[DIALOGUE_BUCKETS - 1], i == DIALOGUE_BUCKETS - 1 ? 3 : 1);
	}
}

static void quantiles(void **state)
{
	struct roce_latency l = { 0 };

	(void)state;
	assert_int_equal(dialogue_quantile(&l, 0.5), 0);
	assert_int_equal(dialogue_mean(&l), 0);
	for (int i = 1; i <= 10000; i++)
		latency_add(&l, i * US, 1);
	for (double q = 0.01; q < 1; q += 0.01) {
		double is = dialogue_quantile(&l, q) / 1e3;

		assert_true(is > q * 10000 * 0.98 && is < q * 10000 * 1.02); /* evenly distributed */
	}
	l.bucket[0] = 5000000000; /* hours of messages */
	assert_true(dialogue_quantile(&l, 0.99) < dialogue_bucket(1));
	l = (struct roce_latency){ 0 };
	for (int i = 1; i <= 10000; i++)
		latency_add(&l, i * US, 1);
	assert_int_equal(dialogue_quantile(&l, 1), 10000 * US);
	assert_int_equal(dialogue_mean(&l), 5000500);
}

/* A waiting request's time has 40 bits of ns. */
static void late_clock(void **state)
{
	struct talk t = talk_begin();

	(void)state;
	t.now = (1ull << 40) - 10 * US;
	write_to(&t, 100);
	t.now += 30 * US;
	answer(&t, ACKNOWLEDGE, 100, ACK);
	assert_int_equal(t.d.ack.most, 30 * US);
	assert_int_equal(t.d.ack.timed, 1);
}

/* ---- numbers ---- */

/* Messages of three packets past the wrap of the PSN; one acknowledgement for two of them. */
static void outstanding(void **state)
{
	struct talk t = talk_begin();
	__u32 psn = 0xfffffe;

	(void)state;
	for (int i = 0; i < 4; i++, psn += 3) {
		struct roce_packet last = packet(WRITE_LAST, psn + 2);

		last.ackreq = 1;
		request(&t, packet(WRITE_FIRST, psn));
		request(&t, packet(WRITE_MIDDLE, psn + 1));
		request(&t, last);
		t.now += 10 * US;
	}
	assert_false(t.d.heard);
	assert_int_equal(t.d.outstanding, 12);
	answer(&t, ACKNOWLEDGE, 0xfffffe + 5, ACK);
	assert_int_equal(t.d.outstanding, 6);
	assert_int_equal(t.d.ack.timed, 2);
	assert_int_equal(t.d.ack.sum, 70 * US);
	answer(&t, ACKNOWLEDGE, 0xfffffe + 2, ACK); /* an old one */
	answer(&t, ACKNOWLEDGE, 0x800000, ACK); /* belongs to no request */
	assert_int_equal(t.d.outstanding, 6);
	answer(&t, ACKNOWLEDGE, 0xfffffe + 11, ACK);
	assert_int_equal(t.d.outstanding, 0);
	assert_int_equal(t.d.outstanding_most, 12);
	assert_int_equal(t.d.ack.timed, 4);
	assert_int_equal(t.d.waiting_ns, 40 * US);
}

/* ---- the sample ---- */

#define SENT 120000 /* requests of a long run, and room for those of the others */
#define FIRST 0xffff00u /* PSNs wrap soon */

/* What truly happened: the latency of each request, timed or not. */
struct test_truth {
	struct talk t;
	__u32 seed;
	bool read;
	__u64 sent_at[SENT], longest;
	int sent, answered, timed;
	double sum;
	struct roce_latency all; /* of each request, so that both quantiles are of buckets */
};

static struct test_truth *truth_begin(bool read)
{
	struct test_truth *x = calloc(1, sizeof(*x));

	assert_non_null(x);
	x->t = talk_begin();
	x->read = read;
	x->seed = 1;
	return x;
}

static __u32 dice(struct test_truth *x, __u32 sides)
{
	x->seed = x->seed * 1664525 + 1013904223;
	return (__u64)x->seed * sides >> 32;
}

static const struct roce_latency *measured(const struct test_truth *x)
{
	return x->read ? &x->t.d.read : &x->t.d.ack;
}

static const struct roce_pending *queue(const struct test_truth *x)
{
	return x->read ? &x->t.d.responses : &x->t.d.acks;
}

/* The queue is within its room, in order, and has only requests that are outstanding, each with the time when it was sent. */
static void check_queue(const struct test_truth *x)
{
	const struct roce_pending *q = queue(x);
	__u32 before = 0;

	assert_true(q->length <= DIALOGUE_PENDING);
	for (int i = 0; i < q->length; i++) {
		__u64 entry = q->entry[(q->begin + i) % DIALOGUE_PENDING];
		__u32 ahead = (entry - FIRST - x->answered) & PSN_MASK;

		assert_true(ahead >= before && ahead < (__u32)(x->sent - x->answered));
		assert_int_equal(entry >> 24, x->sent_at[x->answered + ahead] << 24 >> 24);
		before = ahead;
	}
}

static void ask(struct test_truth *x)
{
	assert_true(x->sent < SENT);
	x->sent_at[x->sent] = x->t.now;
	if (x->read)
		request(&x->t, read_request((FIRST + x->sent) & PSN_MASK, 10));
	else
		write_to(&x->t, (FIRST + x->sent) & PSN_MASK);
	x->sent++;
	check_queue(x);
}

/* How many of the next `count` requests to be answered are in the queue. Some are in it several times. */
static int queued(const struct test_truth *x, int count)
{
	const struct roce_pending *q = queue(x);
	int requests = 0, before = -1;

	for (int i = 0; i < q->length; i++) {
		int ahead = (q->entry[(q->begin + i) % DIALOGUE_PENDING] - FIRST - x->answered) & PSN_MASK;

		requests += ahead < count && ahead != before;
		before = ahead;
	}
	return requests;
}

/* Answers the next `count` requests: READs one by one, the others by one acknowledgement. */
static void reply(struct test_truth *x, int count)
{
	x->timed += queued(x, count);
	for (int i = 0; i < count; i++) {
		__u64 ns = x->t.now - x->sent_at[x->answered++];

		x->sum += ns;
		x->longest = ns > x->longest ? ns : x->longest;
		latency_add(&x->all, ns, 1);
		if (x->read || i == count - 1)
			answer(&x->t, x->read ? READ_ONLY : ACKNOWLEDGE, (FIRST + x->answered - 1) & PSN_MASK, ACK);
	}
	check_queue(x);
	assert_int_equal(measured(x)->timed, x->timed);
}

/* Every request was timed, and nothing differs from the truth. */
static void exact(const struct test_truth *x)
{
	const struct roce_latency *l = measured(x);

	assert_int_equal(l->timed, x->answered);
	assert_int_equal(dialogue_latencies(l), x->answered);
	assert_true(l->sum == x->sum);
	assert_int_equal(l->most, x->longest);
	assert_memory_equal(l->bucket, x->all.bucket, sizeof(l->bucket));
}

static void near(const char *what, double is, double should, double tolerance)
{
	if (is < should * (1 - tolerance) || is > should * (1 + tolerance))
		fail_msg("%s: %.0f, and truly %.0f", what, is, should);
}

/* A part was timed. Its figures are those of all, but for the chance of the draw. */
static void like_all(const struct test_truth *x)
{
	static const double part[] = { 0.1, 0.5, 0.9, 0.99 };
	const struct roce_latency *l = measured(x);

	assert_true(l->timed < (__u64)x->answered);
	near("count", dialogue_latencies(l), x->answered, 0.02);
	near("mean", dialogue_mean(l), x->sum / x->answered, 0.02);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(part); i++)
		near("quantile", dialogue_quantile(l, part[i]), dialogue_quantile(&x->all, part[i]), 0.06);
	assert_true(l->most <= x->longest);
}

/* `window` requests in flight; each time up to `together` are answered, and as many follow. */
static void keep_in_flight(struct test_truth *x, int window, int together, int count)
{
	for (int end = x->sent + count; x->sent < end;) {
		while (x->sent - x->answered < window)
			ask(x);
		x->t.now += US + dice(x, 20 * US);
		reply(x, 1 + dice(x, together));
	}
	reply(x, x->sent - x->answered);
}

/* At most 16 in flight: each one is timed. */
static void few(void **state)
{
	(void)state;
	for (int window = 1; window <= DIALOGUE_PENDING; window++) {
		for (int variant = 0; variant < 4; variant++) {
			struct test_truth *x = truth_begin(variant & 1);

			keep_in_flight(x, window, variant & 2 ? window : 1, 2000);
			exact(x);
			free(x);
		}
	}
}

static const int windows[] = { 17, 20, 31, 32, 33, 64, 100, 127, 128, 129, 256, 500, 1000, 2000 };

static void steady(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(windows); i++) {
		for (int variant = 0; variant < 2; variant++) {
			struct test_truth *x = truth_begin(i & 1);

			keep_in_flight(x, windows[i], variant ? windows[i] / 2 : 1, 10000 + 40 * windows[i]);
			like_all(x);
			assert_true(measured(x)->timed >= (__u64)x->answered * 5 / windows[i]); /* some 8 to 16 a window */
			free(x);
		}
	}
}

/* Bursts that are sent at once and answered one by one: the last one waits longest, and the queue drains each time. */
static void bursts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(windows); i++) {
		struct test_truth *x = truth_begin(i & 1);

		while (x->sent < 30000 + 40 * windows[i]) {
			for (int n = 0; n < windows[i]; n++)
				ask(x);
			while (x->answered < x->sent) {
				x->t.now += 10 * US;
				reply(x, 1);
			}
			x->t.now += SECOND;
		}
		like_all(x);
		free(x);
	}
}

/* Batches of eight: the latency repeats with each eighth request, as does the place of every 2^n-th one. */
static void batches(void **state)
{
	struct test_truth *x = truth_begin(true);

	(void)state;
	while (x->sent < 50000) {
		for (int n = 0; n < 8; n++) {
			x->t.now += n == 4 ? 800 * US : US;
			ask(x);
			if (x->sent - x->answered == 128)
				reply(x, 1);
		}
	}
	reply(x, x->sent - x->answered);
	like_all(x);
	free(x);
}

/* Some requests alone, then a burst: the burst has more weight, though no more of it are timed. */
static void alone_and_together(void **state)
{
	struct test_truth *x = truth_begin(false);

	(void)state;
	while (x->sent < 80000) {
		keep_in_flight(x, 1, 1, 100);
		for (int n = 100 + dice(x, 400); n; n--) {
			ask(x);
			x->t.now += dice(x, 100);
		}
		x->t.now += 1000 * US;
		while (x->answered < x->sent) {
			x->t.now += 10 * US;
			reply(x, 1);
		}
	}
	like_all(x);
	free(x);
}

/* Fewer and fewer, then more again, without ever an empty queue. */
static void up_and_down(void **state)
{
	struct test_truth *x = truth_begin(false);

	(void)state;
	while (x->sent < 80000) {
		int window = 1 + dice(x, dice(x, 2) ? 2000 : 30);

		for (int i = 0; i < 300; i++) {
			x->t.now += 1 + dice(x, 10 * US);
			if (x->sent - x->answered < window)
				ask(x);
			if (x->sent - x->answered > window)
				reply(x, 1 + dice(x, 2));
			else if (dice(x, 2) && x->sent - x->answered > 1)
				reply(x, 1);
		}
	}
	like_all(x);
	free(x);
}

/* After many in flight each one is timed again: at once if all were answered, else soon after 14 or fewer are in flight. */
static void many_then_few(void **state)
{
	(void)state;
	for (int window = 1; window <= 14; window++) {
		for (int drained = 0; drained < 2; drained++) {
			struct test_truth *x = truth_begin(false);
			__u64 timed;

			for (int n = 0; n < 1000; n++)
				ask(x);
			reply(x, drained ? 1000 : 1000 - window);
			for (int n = 0; !drained && n < 400; n++) {
				reply(x, 1);
				ask(x);
			}
			timed = x->t.d.ack.timed + queue(x)->length;
			for (int n = 0; n < 1000; n++) {
				ask(x);
				if (x->sent - x->answered > window)
					reply(x, 1);
			}
			assert_int_equal(x->t.d.ack.timed + queue(x)->length - timed, 1000);
			free(x);
		}
	}
}

/* Requests that are sent again are not timed again, and another connection begins with an empty queue. */
static void many_again(void **state)
{
	struct test_truth *x = truth_begin(false);
	struct roce_pending before;

	(void)state;
	for (int n = 0; n < 1000; n++)
		ask(x);
	before = x->t.d.acks;
	answer(&x->t, ACKNOWLEDGE, FIRST, NAK);
	for (int n = 0; n < 1000; n++)
		write_to(&x->t, (FIRST + n) & PSN_MASK);
	assert_int_equal(x->t.d.back_packets, 1000);
	assert_memory_equal(&x->t.d.acks, &before, sizeof(before));
	x->t.s.stream.pair.connection++;
	write_to(&x->t, (FIRST + 1000) & PSN_MASK);
	assert_int_equal(x->t.d.acks.length, 1);
	assert_int_equal(x->t.d.acks.shift, 0);
	assert_int_equal(x->t.d.ack.timed, 0);
	free(x);
}

/* ---- READs ---- */

static void reads(void **state)
{
	struct talk t = talk_begin();

	(void)state;
	request(&t, read_request(100, 3000));
	request(&t, packet(FETCH_ADD, 103));
	request(&t, read_request(104, 10));
	assert_int_equal(t.d.outstanding, 5);
	assert_int_equal(t.d.reads, 3);
	t.now += 10 * US;
	answer(&t, READ_FIRST, 100, ACK);
	t.now += 10 * US;
	answer(&t, READ_MIDDLE, 101, 0);
	assert_int_equal(t.d.reads, 3);
	answer(&t, READ_LAST, 102, ACK);
	assert_int_equal(t.d.reads, 2);
	assert_int_equal(t.d.outstanding, 2);
	answer(&t, READ_ONLY, 104, ACK); /* the atomic's response is lost */
	assert_int_equal(t.d.reads, 0);
	assert_int_equal(t.d.reads_most, 3);
	assert_int_equal(t.d.read.timed, 2);
	assert_int_equal(t.d.read.sum, 30 * US);
	assert_int_equal(t.d.ack.timed, 0);
}

/* The path MTU is unknown: the responses show how many PSNs a READ uses. */
static void unknown_span(void **state)
{
	struct talk t = talk_begin();

	(void)state;
	t.s.stream.path_mtu = t.s.stream.pair.path_mtu = 0;
	request(&t, read_request(100, 3000));
	assert_int_equal(t.d.outstanding, 1);
	answer(&t, READ_FIRST, 100, ACK);
	answer(&t, READ_MIDDLE, 101, 0);
	answer(&t, READ_LAST, 102, ACK);
	assert_int_equal(t.d.outstanding, 0);
	write_to(&t, 103);
	assert_int_equal(t.d.outstanding, 1);
}

/* Two CPUs whose clocks differ: an answer that seems to come before its request took no time. */
static void clocks_differ(void **state)
{
	struct talk t = talk_begin();

	(void)state;
	write_to(&t, 100);
	t.now -= 300;
	answer(&t, ACKNOWLEDGE, 100, ACK);
	assert_int_equal(t.d.ack.timed, 1);
	assert_int_equal(t.d.ack.most, 0);
	assert_true(t.d.waiting_ns == 0);
	t.now += 500;
	write_to(&t, 101);
	t.now += 10 * US;
	answer(&t, ACKNOWLEDGE, 101, ACK);
	assert_int_equal(t.d.ack.most, 10 * US);
}

/* An acknowledgement of what was not sent says nothing. */
static void acknowledged_ahead(void **state)
{
	(void)state;
	for (__u32 ahead = 1; ahead <= 70000; ahead = ahead * 3 + 1) {
		struct talk t = talk_begin();

		write_to(&t, 100);
		answer(&t, ACKNOWLEDGE, 100 + ahead, ACK);
		answer(&t, READ_ONLY, 100 + ahead, ACK);
		assert_int_equal(t.d.outstanding, 1);
		write_to(&t, 101);
		assert_int_equal(t.d.outstanding, 2);
		answer(&t, ACKNOWLEDGE, 101, ACK);
		assert_int_equal(t.d.outstanding, 0);
		assert_int_equal(t.d.ack.timed, 2);
	}
}

/* ---- beginnings ---- */

static void beginnings(void **state)
{
	struct roce_packet bad = packet(WRITE_ONLY, 7), cnp = packet(0x81, 0), uc = packet(0x2a, 0);
	struct talk t = talk_begin();
	__u64 sent;

	(void)state;
	assert_false(dialogue_wants(&cnp) || dialogue_wants(&uc));
	answer(&t, ACKNOWLEDGE, 99, ACK); /* of requests before the first packet seen */
	assert_false(t.d.heard);
	t.s.stream.pair.from = PAIR_UNKNOWN;
	write_to(&t, 100);
	assert_false(t.d.met);
	t.s.stream.pair.from = PAIR_NETLINK;
	write_to(&t, 101);
	write_to(&t, 102);
	assert_int_equal(t.d.outstanding, 2); /* 100 was before the first packet seen */
	answer(&t, ACKNOWLEDGE, 102, ACK);
	assert_int_equal(t.d.outstanding, 0);
	write_to(&t, 103);
	sent = t.d.sent;
	t.now += SECOND;
	write_to(&t, 0x700000); /* a stray so far */
	assert_int_equal(t.d.sent, sent);
	write_to(&t, 0x700001); /* a resync; its earlier waiting time is kept */
	assert_int_equal(t.d.waiting_ns, SECOND);
	assert_int_equal(COUNT(&t.s.stream, psn_resyncs), 1);
	assert_int_equal(t.d.outstanding, 1);
	assert_true(t.d.sent > sent);
	t.s.stream.pair.connection = 5; /* another connection: responses of the old one no longer count */
	answer(&t, ACKNOWLEDGE, 0x700001, ACK);
	assert_int_equal(t.d.outstanding, 1);
	write_to(&t, 0x700002);
	assert_int_equal(t.d.outstanding, 1);
	assert_int_equal(t.d.ack.timed, 2);
	assert_int_equal(t.d.waiting_ns, SECOND);
	/* another stream at the same place */
	t.s.stream = (struct roce_stream){ .pair = t.s.stream.pair };
	t.now++;
	engine_observe(&t.s.stream, &bad, ICRC_BAD, t.now, NULL);
	dialogue_request(&t.d, &t.s.stream, &bad, false, t.now);
	assert_int_equal(t.d.ack.timed, 2); /* not trusted: nothing starts */
	write_to(&t, 7);
	assert_int_equal(t.d.ack.timed, 0);
	assert_int_equal(t.d.outstanding, 1);
	assert_false(t.d.heard);
}

/* ---- going back ---- */

static void back_is(const struct talk *t, int nak, int rnr, int gap, int timeout, int packets)
{
	assert_int_equal(t->d.back[DIALOGUE_NAK], nak);
	assert_int_equal(t->d.back[DIALOGUE_RNR], rnr);
	assert_int_equal(t->d.back[DIALOGUE_GAP], gap);
	assert_int_equal(t->d.back[DIALOGUE_TIMEOUT], timeout);
	assert_int_equal(t->d.back_packets, packets);
}

static void back(void **state)
{
	struct talk t = talk_begin();
	struct roce_packet p;

	(void)state;
	for (int psn = 100; psn < 110; psn++)
		write_to(&t, psn);
	answer(&t, ACKNOWLEDGE, 104, NAK);
	assert_int_equal(t.d.outstanding, 6); /* it acknowledges the packets before it */
	for (int psn = 104; psn < 112; psn++)
		write_to(&t, psn);
	back_is(&t, 1, 0, 0, 0, 6);
	answer(&t, ACKNOWLEDGE, 111, ACK);
	write_to(&t, 112);
	write_to(&t, 113);
	for (int i = 0; i < 3; i++) {
		answer(&t, ACKNOWLEDGE, 112, RNR);
		write_to(&t, 112);
		write_to(&t, 113);
	}
	back_is(&t, 1, 3, 0, 0, 12);
	for (int i = 0; i < 2; i++) {
		write_to(&t, 112);
		write_to(&t, 113);
	}
	back_is(&t, 1, 3, 0, 2, 16);
	answer(&t, ACKNOWLEDGE, 113, ACK);
	assert_int_equal(t.d.ack.timed, 14);
	request(&t, read_request(114, 4096));
	answer(&t, READ_FIRST, 114, ACK);
	answer(&t, READ_LAST, 117, ACK);
	p = read_request(115, 3072);
	p.va += 1024;
	request(&t, p);
	back_is(&t, 1, 3, 1, 2, 17);
	assert_int_equal(t.d.outstanding, 0);
	/* an acknowledgement ends the effect of earlier NAKs */
	write_to(&t, 118);
	answer(&t, ACKNOWLEDGE, 118, RNR);
	answer(&t, ACKNOWLEDGE, 118, ACK);
	write_to(&t, 119);
	write_to(&t, 119);
	back_is(&t, 1, 3, 1, 3, 18);
}

/* Late packets are no retransmissions. Behind a loss before the observer, some of them look like it. */
static void late(void **state)
{
	struct talk t = talk_begin();

	(void)state;
	write_to(&t, 100);
	write_to(&t, 102);
	write_to(&t, 101);
	write_to(&t, 103);
	back_is(&t, 0, 0, 0, 0, 0);
	assert_int_equal(t.d.outstanding, 4);
	write_to(&t, 105); /* 104 was lost */
	write_to(&t, 106);
	answer(&t, ACKNOWLEDGE, 104, NAK);
	for (int psn = 104; psn < 108; psn++)
		write_to(&t, psn);
	back_is(&t, 1, 0, 0, 0, 2);
}

/* ---- limits ---- */

static enum limit limit(struct talk *t, struct talk *before)
{
	struct snapshot now = { .streams = &t->s, .stream_count = 1, .time.tv_sec = t->now / SECOND,
				.time.tv_nsec = t->now % SECOND };
	struct snapshot previous = { .streams = &before->s, .stream_count = 1 };

	t->s.dialogue = &t->d;
	before->s.dialogue = &before->d;
	return limit_of(&t->s, &now, &previous);
}

/*
 * Selective repeat: each lost packet is sent again alone, though others were sent after it. It goes back where the next one
 * follows; the newest one alone cannot tell, and counts as going back.
 */
static void selective(void **state)
{
	(void)state;
	for (int step = 2; step < 9; step++) {
		struct talk t = talk_begin(), before;
		int alone = 0;

		for (int psn = 100; psn < 200; psn++)
			write_to(&t, psn);
		before = t;
		for (int psn = 110; psn < 190; psn += step, alone++) {
			answer(&t, ACKNOWLEDGE, psn, NAK);
			write_to(&t, psn);
			assert_int_equal(limit(&t, &before), LIMIT_LOSS);
		}
		write_to(&t, 200);
		back_is(&t, 0, 0, 0, 0, 0);
		assert_int_equal(t.d.selective[DIALOGUE_NAK], alone);
		t.now += SECOND / 2;
		before = t;
		write_to(&t, 195); /* by its timer */
		assert_int_equal(limit(&t, &before), LIMIT_TIMER);
		write_to(&t, 201);
		assert_int_equal(t.d.selective[DIALOGUE_TIMEOUT], 1);
		assert_int_equal(t.d.timeout_ns, SECOND / 2);
		write_to(&t, 196);
		write_to(&t, 197);
		back_is(&t, 0, 0, 0, 1, 2);
		write_to(&t, 202);
		answer(&t, ACKNOWLEDGE, 202, RNR);
		write_to(&t, 202); /* nothing was sent after it */
		back_is(&t, 0, 1, 0, 1, 3);
		assert_int_equal(t.d.selective[DIALOGUE_NAK], alone);
	}
}

/* A window of `window` packets. Each acknowledged packet lets the next one leave after `reaction`, or at its own pace. */
static enum limit run(int window, __u64 reaction, __u64 pace)
{
	struct talk t = talk_begin(), before;
	int sent = 0;

	before = t;
	for (; sent < window; sent++, t.now += pace)
		write_to(&t, sent);
	before = t;
	for (int i = 0; i < 1000; i++) {
		if (!pace)
			t.now += 1000 * US / window;
		answer(&t, ACKNOWLEDGE, sent - window, ACK);
		t.now += pace ? pace / 2 : reaction;
		write_to(&t, sent++);
		t.now += pace - pace / 2;
	}
	return limit(&t, &before);
}

static void limits(void **state)
{
	struct talk t = talk_begin(), before;

	(void)state;
	t.s.dialogue = NULL;
	assert_int_equal(limit_of(&t.s, NULL, NULL), LIMIT_UNKNOWN);
	assert_int_equal(run(1, US, 0), LIMIT_WINDOW);
	assert_int_equal(run(16, US, 0), LIMIT_WINDOW);
	assert_int_equal(run(1, 900 * US, 0), LIMIT_SENDER);
	assert_int_equal(run(1, 0, 1000 * US), LIMIT_SENDER);
	assert_int_equal(run(16, 0, 1000 * US), LIMIT_SENDER);

	write_to(&t, 100);
	before = t;
	t.now += SECOND - 1;
	assert_int_not_equal(limit(&t, &before), LIMIT_STALLED);
	t.now++;
	assert_int_equal(limit(&t, &before), LIMIT_STALLED);
	answer(&t, ACKNOWLEDGE, 100, RNR); /* the peer responds */
	write_to(&t, 100);
	assert_int_equal(limit(&t, &before), LIMIT_RECEIVER);
	t.now += 300 * US;
	write_to(&t, 100);
	assert_int_equal(limit(&t, &before), LIMIT_TIMER);
	assert_int_equal(t.d.timeout_ns, 300 * US);
	answer(&t, ACKNOWLEDGE, 100, NAK);
	write_to(&t, 100);
	assert_int_equal(limit(&t, &before), LIMIT_LOSS);
	assert_int_equal(t.d.timeout_ns, 300 * US);
	answer(&t, ACKNOWLEDGE, 100, ACK);
	before = t;
	assert_int_equal(limit(&t, &before), LIMIT_IDLE);
	t.now += 100 * SECOND;
	write_to(&t, 101);
	assert_int_equal(limit(&t, &before), LIMIT_SENDER); /* it was idle and has just started */
}

static void named_windows(void **state)
{
	static const char rxe[] = "129 PSNs outstanding: RXE_MAX_UNACKED_PSNS = 128 of rxe, or LOG_TX_PSN_WINDOW = 7 of ConnectX";
	static const char sixteen[] = "16 READs outstanding: max_rd_atomic of the QP, or its queue (tx depth)";
	static const char one[] = "1 PSN outstanding: the queue of the QP (tx depth), or a window of its device";
	static const struct {
		__u32 outstanding, reads;
		__u64 packets, messages, payload;
		const char *kind;
		__u32 at;
		const char *text;
	} cases[] = {
		{ 129, 0, 9000, 9000, 1, "psns", 129, rxe },
		{ 128, 0, 9000, 90, 1, "psns", 128, NULL },
		{ 128, 0, 9000, 9000, 1, "requests", 128, NULL }, /* perftest's tx depth is 128 */
		{ 2048, 0, 9000, 9000, 1, "requests", 2048, NULL },
		{ 1, 0, 9000, 9000, 1, "requests", 1, one },
		{ 2000, 3, 9000, 9000, 1, "requests", 2000, NULL }, /* READs among SENDs */
		{ 129, 3, 9000, 9000, 1, "psns", 129, NULL },
		/* 16 READs of an HCA: of 1, 8, 9 and 2048 packets */
		{ 16, 16, 9000, 0, 0, "reads", 16, sixteen },
		{ 128, 16, 9000, 0, 0, "reads", 16, sixteen },
		{ 144, 16, 9000, 0, 0, "reads", 16, sixteen },
		{ 32768, 16, 9000, 0, 0, "reads", 16, sixteen },
		{ 2048, 1, 9000, 0, 0, "reads", 1, NULL },
		/* rxe: a READ begins with the 129th PSN at most; READs of 1, 3, 9, 16, 2048 packets */
		{ 129, 129, 9000, 0, 0, "psns", 129, rxe },
		{ 129, 43, 9000, 0, 0, "psns", 129, rxe },
		{ 137, 16, 9000, 0, 0, "psns", 137, NULL },
		{ 144, 9, 9000, 0, 0, "psns", 144, NULL },
		{ 128 + 2048, 2, 9000, 0, 0, "psns", 128 + 2048, NULL },
		{ 128, 128, 9000, 0, 0, "reads", 128, NULL }, /* RXE_MAX_QP_RD_ATOM */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct roce_dialogue d = { .outstanding_most = cases[i].outstanding, .reads_most = cases[i].reads };
		struct snapshot_stream s = { .dialogue = &d };
		__u64 *v = s.stream.counters.value;
		struct window w;

		v[COUNTER_roce_packets] = cases[i].packets;
		v[COUNTER_messages] = cases[i].messages;
		v[COUNTER_payload_bytes] = cases[i].payload;
		w = window_of(&s);
		assert_string_equal(w.kind, cases[i].kind);
		assert_int_equal(w.at, cases[i].at);
		if (cases[i].text)
			assert_string_equal(w.text, cases[i].text);
	}
}

/* A peer that no longer responds: stalled while requests wait, and until the requester has given up. */
static void silence(void **state)
{
	struct talk t = talk_begin(), before;

	(void)state;
	write_to(&t, 100);
	answer(&t, ACKNOWLEDGE, 100, ACK);
	for (int i = 0; i < 3; i++)
		request(&t, packet(WRITE_ONLY, 101)); /* without AckReq, until it is retransmitted */
	before = t;
	t.now += 59 * SECOND;
	assert_int_equal(limit(&t, &before), LIMIT_STALLED);
	t.now += SECOND;
	assert_int_equal(limit(&t, &before), LIMIT_IDLE);
	assert_int_equal(t.d.outstanding, 1);
	request(&t, packet(WRITE_ONLY, 101));
	assert_int_equal(limit(&t, &before), LIMIT_STALLED);
}

/* Without AckReq a receiver need not respond, and no response is no fault. */
static void unasked(void **state)
{
	struct talk t = talk_begin(), before;

	(void)state;
	write_to(&t, 100);
	answer(&t, ACKNOWLEDGE, 100, ACK);
	before = t;
	request(&t, packet(WRITE_ONLY, 101));
	t.now += 2 * SECOND;
	assert_int_equal(limit(&t, &before), LIMIT_SENDER);
	before = t;
	assert_int_equal(limit(&t, &before), LIMIT_IDLE);
	request(&t, read_request(102, 10));
	t.now += 2 * SECOND;
	assert_int_equal(limit(&t, &before), LIMIT_STALLED);
}

/* A READ that takes minutes; then its responses stop. */
static void long_read(void **state)
{
	struct talk t = talk_begin(), before;

	(void)state;
	request(&t, read_request(100, 1000 * 1024));
	answer(&t, READ_FIRST, 100, ACK);
	before = t;
	for (int psn = 101; psn < 300; psn++) {
		t.now += SECOND - 1;
		answer(&t, READ_MIDDLE, psn, 0);
	}
	assert_int_equal(limit(&t, &before), LIMIT_SENDER);
	t.now += SECOND;
	assert_int_equal(limit(&t, &before), LIMIT_STALLED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets), cmocka_unit_test(quantiles), cmocka_unit_test(late_clock),
		cmocka_unit_test(outstanding), cmocka_unit_test(few), cmocka_unit_test(steady), cmocka_unit_test(bursts),
		cmocka_unit_test(batches), cmocka_unit_test(alone_and_together), cmocka_unit_test(up_and_down),
		cmocka_unit_test(many_then_few), cmocka_unit_test(many_again),
		cmocka_unit_test(reads), cmocka_unit_test(unknown_span),
		cmocka_unit_test(acknowledged_ahead), cmocka_unit_test(clocks_differ),
		cmocka_unit_test(beginnings), cmocka_unit_test(back), cmocka_unit_test(selective),
		cmocka_unit_test(late), cmocka_unit_test(limits), cmocka_unit_test(named_windows),
		cmocka_unit_test(silence), cmocka_unit_test(unasked), cmocka_unit_test(long_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
