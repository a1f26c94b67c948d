// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages and answers in memory: sender and receiver agree on what is complete, in whatever order it comes. */
#include <arpa/inet.h>
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "userspace/traffic/streams/ping_pong.h"

/* The programs exit without freeing their memory: that is no leak. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

#define PACKETS	5

static struct stream_options options = { .send = true, .ping_pong = true, .size = 7001, .messages = 40, .flows = 3 };

struct wire {
	struct ping_pong p;
	struct stream_receiver *r;
	struct stream_header answer[PACKETS];
	uint32_t length[PACKETS];
	unsigned int answered, turn;
};

static const char *send_message(void *context, struct sender_flow *flow)
{
	struct wire *w = context;
	struct stream_header h[PACKETS + 1], last = {};
	uint32_t length[PACKETS + 1], n = 0;

	while ((length[n] = sender_packet(w->p.s, flow, &h[n], now_ns(), 1)))
		assert_true(++n <= PACKETS);
	assert_int_equal(n, PACKETS);
	assert_true(h[0].flags & STREAM_FLAG_PING);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = (i + w->turn) % n;

		receiver_take_header(w->r, &h[k], length[k], now_ns(), 0);
		assert_int_equal(w->r->asked, i == n - 1);
		assert_true(ping_pong_sound(&h[k], length[k]));
		assert_false(ping_pong_sound(&h[k], length[k] - 1));
		last = h[k];
	}
	for (uint32_t i = 0; i < n; i++) {
		w->length[i] = ping_pong_answer(&last, i, &w->answer[i]);
		assert_int_equal(w->length[i], length[i]);
		assert_true(w->answer[i].packet == h[i].packet && w->answer[i].message == h[i].message);
	}
	w->answered = 0;
	return NULL;
}

/* One packet at a time, each twice, and never the first one first. */
static const char *await(void *context, uint16_t flow, uint64_t timeout_ns)
{
	struct wire *w = context;
	unsigned int k = (w->answered++ + ++w->turn) % PACKETS;

	assert_int_equal(ntohs(w->answer[k].flow), flow);
	assert_true(timeout_ns <= PING_PONG_LOST_NS);
	assert_false(w->p.answered);
	ping_pong_take(&w->p, &w->answer[k], w->length[k], now_ns());
	ping_pong_take(&w->p, &w->answer[k], w->length[k], now_ns());
	return NULL;
}

static void test_whole_run(void **state)
{
	struct wire *w = calloc(1, sizeof(*w));

	(void)state;
	w->r = receiver_new(&options);
	w->p.s = sender_new(&options, 1472);
	w->p.s->begin_ns -= PING_PONG_WARM_UP_NS;
	w->p.context = w;
	w->p.send = send_message;
	w->p.await = await;
	assert_null(ping_pong_run(&w->p));
	assert_int_equal(w->p.s->messages, 40);
	assert_int_equal(w->r->messages, 40);
	assert_int_equal(w->p.latency.count, 40);
	assert_int_equal(w->p.unanswered, 0);
	for (unsigned int i = 0; i < options.flows; i++)
		assert_in_range(w->p.s->flows[i].message, 13, 14);
}

static const char *fails(void *context, struct sender_flow *flow)
{
	(void)context, (void)flow;
	return "no way";
}

static void test_error_ends_it(void **state)
{
	struct ping_pong *p = calloc(1, sizeof(*p));

	(void)state;
	p->s = sender_new(&options, 1472);
	p->send = fails;
	assert_string_equal(ping_pong_run(p), "no way");
}

static struct stream_header header(uint32_t size, uint32_t index, uint32_t packets)
{
	return (struct stream_header){
		.message_size = htonl(size), .packet_in_message = htonl(index), .packets_in_message = htonl(packets),
	};
}

/* An answer is never larger than what asked for it. */
static void test_unsound(void **state)
{
	static const struct { uint32_t size, index, packets; size_t length; bool sound; } cases[] = {
		{ 48, 0, 1, 48, true }, { 100, 0, 1, 100, true }, { 100, 0, 1, 99, false }, { 65000, 0, 1, 100, false },
		{ 100, 0, 0, 100, false }, { 100, 1, 1, 100, false }, { 200, 1, 2, 100, true }, { 150, 1, 2, 75, true },
		{ 95, 0, 2, 48, false }, { 97, 1, 3, 33, false }, { 0, 0, 1, 0, false },
		{ UINT32_MAX, 0, UINT32_MAX, 1, false }, { 10, 7, 8, 2, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stream_header h = header(cases[i].size, cases[i].index, cases[i].packets);

		assert_int_equal(ping_pong_sound(&h, cases[i].length), cases[i].sound);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_run),
		cmocka_unit_test(test_error_ends_it),
		cmocka_unit_test(test_unsound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
