// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sends numbered packets through a bad network in memory into the receiver, and compares with counting by hand. */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/clock.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/receiver.h"
#include "userspace/traffic/streams/sender.h"

/* The programs exit without freeing their memory: that is no leak. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

#define MAX_PACKETS	20000
#define MAX_FLOWS	16

static struct test_packet {
	struct stream_header header;
	uint32_t length;
	bool lost;
} packets[MAX_PACKETS];

static struct stream_options options;
static uint32_t seed;

static uint32_t dice(uint32_t sides)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % sides;
}

static struct stream_sender *make_sender(uint64_t size, uint64_t messages, unsigned int flows)
{
	options = (struct stream_options){
		.send = true, .size = size, .messages = messages, .flows = flows, .idle = 2, .wait = 30,
	};
	return sender_new(&options, 1472);
}

static unsigned int send_all(struct stream_sender *s)
{
	struct sender_flow *flow;
	unsigned int count = 0;

	while ((flow = sender_next_flow(s, now_ns()))) {
		assert_true(count < MAX_PACKETS);
		packets[count].length = sender_packet(s, flow, &packets[count].header, now_ns(), 0);
		packets[count].lost = false;
		assert_true(packets[count].length >= sizeof(struct stream_header));
		count++;
	}
	return count;
}

static void shuffle(unsigned int count, uint32_t reach)
{
	for (unsigned int i = 0; i + reach < count; i++) {
		unsigned int j = i + dice(reach);
		struct test_packet swap = packets[i];

		packets[i] = packets[j];
		packets[j] = swap;
	}
}

static void receive(struct stream_receiver *r, const struct test_packet *p)
{
	receiver_take(r, &p->header, p->length, now_ns(), 0);
}

static void receive_ends(const struct stream_sender *s, struct stream_receiver *r)
{
	struct stream_header end;

	for (unsigned int i = 0; i < 2 * options.flows; i++) {
		sender_end_marker(s, &s->flows[i % options.flows], &end);
		receiver_take(r, &end, sizeof(end), now_ns(), 0);
	}
}

/* How many messages lack a packet; *lost: the number of lost packets. */
static uint64_t broken_messages(unsigned int count, uint64_t *lost)
{
	static bool broken[MAX_FLOWS][MAX_PACKETS];
	uint64_t n = 0;

	*lost = 0;
	for (unsigned int i = 0; i < count; i++) {
		bool *b = &broken[be16toh(packets[i].header.flow)][be64toh(packets[i].header.message)];

		if (!packets[i].lost)
			continue;
		++*lost;
		n += !*b;
		*b = true;
	}
	return n;
}

/* Reordered, some lost, some twice. None of the last 100 packets arrives: only the end markers show their loss. */
static void test_bad_network(void **state)
{
	struct stream_sender *s = make_sender(10000, 2000, 7);
	struct stream_receiver *r = receiver_new(&options);
	struct stream_report sent = {}, got = {};
	unsigned int count = send_all(s);
	uint64_t lost, broken;

	(void)state;
	seed = 3;
	assert_int_equal(s->packets_per_message, 7);
	assert_int_equal(s->packet_bytes, 1429);
	assert_int_equal(count, 14000);
	shuffle(count, 300);
	for (unsigned int i = 0; i < count; i++) {
		packets[i].lost = !dice(50) || i >= count - 100;
		for (int copies = packets[i].lost ? 0 : 1 + !dice(20); copies; copies--)
			receive(r, &packets[i]);
	}
	assert_false(receiver_end_seen(r));
	receive_ends(s, r);
	assert_true(receiver_end_seen(r));
	sender_report(s, &sent);
	receiver_report(r, &got);
	broken = broken_messages(count, &lost);
	assert_int_equal(sent.packets, count);
	assert_int_equal(sent.messages, 2000);
	assert_int_equal(sent.payload_bytes, 2000 * 10000);
	assert_int_equal(got.packets, count - lost);
	assert_int_equal(got.packets_lost, lost);
	assert_int_equal(got.messages, 2000 - broken);
	assert_int_equal(got.messages_lost, broken);
	assert_int_equal(got.size, 10000);
	assert_int_equal(got.flows, 7);
}

/* Late end markers of an earlier run, and foreign datagrams, change nothing. */
static void test_strangers(void **state)
{
	struct stream_sender *old = make_sender(100, 10, 1), *s = make_sender(100, 10, 1);
	struct stream_receiver *r = receiver_new(&options);
	struct stream_report got = {};
	unsigned int count;

	(void)state;
	old->run = s->run + 1;
	receive_ends(old, r);
	count = send_all(s);
	for (unsigned int i = 0; i < count; i++) {
		receive(r, &packets[i]);
		receiver_take(r, "hello", 5, now_ns(), 0);
		receive_ends(old, r);
	}
	assert_false(receiver_end_seen(r));
	receive_ends(s, r);
	receiver_report(r, &got);
	assert_int_equal(got.packets, 10);
	assert_int_equal(got.packets_lost, 0);
	assert_int_equal(got.messages_lost, 0);
	assert_int_equal(r->foreign, 10 + 20);
	assert_int_equal(got.end_seen, STREAM_YES);
}

static void test_all_lost_but_the_end(void **state)
{
	struct stream_sender *s = make_sender(3000, 10, 2);
	struct stream_receiver *r = receiver_new(&options);
	struct stream_report got = {};

	(void)state;
	send_all(s);
	receive_ends(s, r);
	receiver_report(r, &got);
	assert_int_equal(got.packets, 0);
	assert_int_equal(got.packets_lost, 30);
	assert_int_equal(got.messages_lost, 10);
	assert_int_equal(got.run_ns, 0);
}

/* Without an end marker the run ends after the idle time. Without any packet it ends after the waiting time. */
static void test_never_hangs(void **state)
{
	struct stream_sender *s = make_sender(100, 1, 1);
	struct stream_receiver *r = receiver_new(&options);
	struct stream_report got = {};
	uint64_t now = now_ns();

	(void)state;
	r->ready_ns = now;
	assert_false(receiver_over(r, now + 29 * NSEC_PER_SEC));
	assert_true(receiver_over(r, now + 30 * NSEC_PER_SEC));
	send_all(s);
	receiver_take(r, &packets[0].header, packets[0].length, now, 0);
	assert_false(receiver_over(r, now + 1 * NSEC_PER_SEC));
	assert_true(receiver_over(r, now + 2 * NSEC_PER_SEC));
	receiver_report(r, &got);
	assert_int_equal(got.end_seen, STREAM_NO);
	assert_int_equal(got.packets_lost, 0);
}

/* The whole packet with what a sender lets follow the header. */
static char *with_filler(const struct test_packet *p)
{
	static char pattern[4096], whole[2048];

	filler_make(pattern, sizeof(pattern));
	memcpy(whole, &p->header, sizeof(p->header));
	memcpy(whole + sizeof(p->header), pattern + (p->header.flags >> STREAM_FILLER_SHIFT) * FILLER_STEP,
	       p->length - sizeof(p->header));
	return whole;
}

static void verified(const struct stream_receiver *r, int checked, int wrong)
{
	struct stream_report got = {};
	json_t *payload;

	receiver_report(r, &got);
	payload = got.payload;
	assert_int_equal(json_integer_value(json_object_get(payload, "checked")), checked);
	assert_int_equal(json_integer_value(json_object_get(payload, "wrong")), wrong);
	assert_int_equal(receiver_status(r, &got), wrong > 0);
}

/* One wrong bit in each place of a payload; the payload of the packet before; a packet that came twice counts once. */
static void test_wrong_payload(void **state)
{
	struct stream_sender *s = make_sender(1400, 1400, 1);
	struct stream_receiver *r = receiver_new(&options);
	unsigned int count = send_all(s);

	(void)state;
	options.verify = 1;
	for (unsigned int i = 0; i < count; i++) {
		char *whole = with_filler(&packets[i]);

		if (i >= sizeof(struct stream_header))
			whole[i] ^= 1 << i % 8;
		for (int copies = 0; copies < 2; copies++)
			receiver_take(r, whole, packets[i].length, now_ns(), 0);
	}
	verified(r, 1400, 1400 - sizeof(struct stream_header));
	r = receiver_new(&options);
	for (unsigned int i = 1; i < count; i++) {
		char *whole = with_filler(&packets[i - 1]);

		memcpy(whole, &packets[i].header, sizeof(packets[i].header));
		receiver_take(r, whole, packets[i].length, now_ns(), 0);
	}
	verified(r, 1399, 1399);
}

/* --verify all, 1/N, off; and a sender of an older version, whose payload nobody knows. */
static void test_samples(void **state)
{
	struct stream_sender *s = make_sender(100, 100, 1);
	unsigned int count = send_all(s);

	(void)state;
	for (uint32_t every = 0; every <= 7; every++) {
		struct stream_receiver *r = receiver_new(&options);
		struct stream_report got = {};

		options.verify = every;
		for (unsigned int i = 0; i < count; i++)
			receiver_take(r, with_filler(&packets[i]), packets[i].length, now_ns(), 0);
		if (every)
			verified(r, (count + every - 1) / every, 0);
		packets[0].header.packet = htobe64(count);
		packets[0].header.flags = 0;
		receive(r, &packets[0]);
		receiver_report(r, &got);
		assert_true(json_is_null(got.payload));
		packets[0].header.packet = 0;
		packets[0].header.flags = 1 << STREAM_FILLER_SHIFT;
	}
}

/* Longer than the pattern's period, and moved by whole packets. */
static void test_long_filler(void **state)
{
	enum { BYTES = 300000, MORE = 8192 };
	char *pattern = malloc(filler_room(BYTES + MORE));

	(void)state;
	filler_make(pattern, filler_room(BYTES + MORE));
	for (unsigned int f = 1; f <= STREAM_FILLERS; f++) {
		char *at = pattern + f * FILLER_STEP;

		assert_true(filler_right(at, BYTES, f, 0));
		assert_true(filler_right(at + 1000, BYTES - 1000, f, 1000));
		assert_false(filler_right(at + 1000, BYTES - 1000, f, 1001));
		assert_false(filler_right(at, BYTES, f % STREAM_FILLERS + 1, 0));
		for (unsigned int moved = 256; moved <= MORE; moved *= 2)
			assert_false(filler_right(at + moved, 256, f, 0));
		for (unsigned int i = 0; i < BYTES; i += 997) {
			at[i] ^= 1;
			assert_false(filler_right(at, BYTES, f, 0));
			at[i] ^= 1;
		}
	}
	assert_true(filler_right(pattern, 0, 1, 0));
	free(pattern);
}

/* ---- the list of gaps ---- */

#define NUMBERS	(3 * GAPS_WINDOW)

static bool came[2][NUMBERS];

/* Reads the list, and checks that it has each missing number once, and each run of them in one line. */
static void judge_gaps(const char *path, const uint64_t *totals, uint64_t told)
{
	static bool missing[2][NUMBERS];
	FILE *file = fopen(path, "r");
	unsigned int flow, qpn;
	uint64_t first, count, lines = 0;
	char heading[64];

	memset(missing, 0, sizeof(missing));
	assert_non_null(fgets(heading, sizeof(heading), file));
	assert_string_equal(heading, "flow,qpn,first,count\n");
	for (; fscanf(file, "%u,%u,%lu,%lu\n", &flow, &qpn, &first, &count) == 4; lines++) {
		assert_true(flow < 2 && qpn == 17 + flow && count && first + count <= totals[flow]);
		assert_true(!first || came[flow][first - 1]);
		assert_true(first + count == totals[flow] || came[flow][first + count]);
		for (uint64_t n = first; n < first + count; n++) {
			assert_false(missing[flow][n]);
			missing[flow][n] = true;
		}
	}
	assert_true(feof(file));
	assert_int_equal(lines, told);
	for (flow = 0; flow < 2; flow++)
		for (uint64_t n = 0; n < totals[flow]; n++)
			assert_int_equal(missing[flow][n], !came[flow][n]);
	fclose(file);
}

/* Single packets, long bursts and the end are lost. Packets move by up to `reach`. */
static void lose(struct stream_receiver *r, unsigned int flow, uint64_t total, uint32_t reach)
{
	uint32_t *order = calloc(total, sizeof(*order));
	uint64_t burst = dice(total), length = dice(GAPS_WINDOW);

	for (uint32_t i = 0; i < total; i++)
		order[i] = i;
	for (uint32_t i = 0; i + reach < total; i++) {
		uint32_t j = i + dice(reach), swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
	for (uint64_t i = 0; i < total; i++) {
		uint64_t n = order[i];
		struct stream_packet p = { flow, n, n, 0, 1, 100 };

		if (!dice(100) || (n >= burst && n < burst + length) || n + 5 > total)
			continue;
		came[flow][n] = true;
		receiver_count(r, &p, now_ns());
	}
	free(order);
}

static void run_gaps(uint32_t reach, bool end_known)
{
	static const struct rdma_qp_address qps[] = { { .qpn = 17 }, { .qpn = 18 } };
	char path[] = "/tmp/rocescope_gaps_XXXXXX";
	struct stream_receiver *r = receiver_new(&options);
	uint64_t totals[2] = { NUMBERS, 1000 };

	memset(came, 0, sizeof(came));
	close(mkstemp(path));
	assert_true(receiver_gaps_begin(r, path));
	r->gaps_qp = qps;
	r->gaps_ordered = reach == 1;
	for (unsigned int flow = 0; flow < 2; flow++) {
		lose(r, flow, totals[flow], reach);
		if (end_known)
			receiver_end(r, flow, totals[flow], totals[flow], 2);
		else
			totals[flow] = r->flow[flow]->packets.next;
	}
	assert_true(receiver_gaps_end(r));
	judge_gaps(path, totals, r->gaps_told);
	unlink(path);
}

static void test_gaps(void **state)
{
	(void)state;
	for (seed = 1; seed < 5; ) {
		uint32_t run = seed;

		run_gaps(1, run & 1);
		run_gaps(2 + dice(1000), run & 1);
		seed = run + 1;
	}
	assert_false(receiver_gaps_begin(receiver_new(&options), "/none/gaps"));
	if (!access("/dev/full", W_OK)) {
		struct stream_receiver *r = receiver_new(&options);

		assert_false(receiver_gaps_begin(r, "/dev/full") && receiver_gaps_end(r));
	}
}

/* The second of two senders, each with the half of 1000 messages a second, has its first message a millisecond after the first one. */
static void test_senders_begin_in_turn(void **state)
{
	static const struct rate rates[] = { { 4e6, RATE_BITS }, { 500, RATE_PACKETS } };

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		uint64_t now = 5 * NSEC_PER_SEC;
		struct stream_sender *s;

		options = (struct stream_options){ .send = true, .size = 1000, .duration = 1, .flows = 1, .rate = rates[i] };
		s = sender_new_unsplit(&options, 1024);
		sender_begin_turn(s, now, 0, 2);
		assert_true(sender_due(s, now));
		sender_begin_turn(s, now, 1, 2);
		assert_false(sender_due(s, now + NSEC_PER_MSEC - 1));
		assert_true(sender_due(s, now + NSEC_PER_MSEC));
		free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_network),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_all_lost_but_the_end),
		cmocka_unit_test(test_never_hangs),
		cmocka_unit_test(test_wrong_payload),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_long_filler),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_senders_begin_in_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
