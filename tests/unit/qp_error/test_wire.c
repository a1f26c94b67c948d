// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is taken from packets between two QPs: the place of a refused packet in its message, and what has been acknowledged. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_includes.h"
#include "userspace/diagnose/qp_error/wire.h"

enum { OWN = 17, PEER = 18, RKEY = 0x1234 };
enum { SEND_ONLY = 0x04, WRITE_FIRST = 0x06, WRITE_MIDDLE = 0x07, WRITE_LAST = 0x08, WRITE_ONLY = 0x0a, READ = 0x0c, ACK = 0x11 };
enum { NAK_SEQUENCE = 0x60, NAK_ACCESS = 0x62, RNR = 0x2c };

static const struct wire_ends ends = { .source = { [10] = 0xff, 0xff, 10, 9, 0, 1 }, .destination = { [10] = 0xff, 0xff, 10, 9, 0, 2 },
				       .qpn = OWN, .peer_qpn = PEER };
static struct wire_reader *reader;
static struct why_wire wire;

static void see(const struct roce_packet *p)
{
	struct observer_frame frame = { .bytes = (const __u8 *)"" };
	struct observer_parsed parsed = { .packet = *p, .icrc = ICRC_GOOD };

	wire_reader_see(reader, &(struct analysis_seen){ .frame = &frame, .parsed = &parsed });
}

static struct roce_packet packet(__u8 opcode, __u32 psn, bool request)
{
	struct roce_packet p = { .kind = ROCE_PACKET, .opcode = opcode, .op = roce_opcodes[opcode], .number = psn,
				 .dqpn = request ? PEER : OWN };

	memcpy(p.src, request ? ends.source : ends.destination, sizeof(p.src));
	memcpy(p.dst, request ? ends.destination : ends.source, sizeof(p.dst));
	return p;
}

static void ask(__u8 opcode, __u32 psn, __u32 rkey, __u32 payload)
{
	struct roce_packet p = packet(opcode, psn, true);

	p.rkey = rkey;
	p.va = 0x7000;
	p.dma_length = 3 * payload;
	p.payload_bytes = payload;
	see(&p);
}

static void answer(__u32 psn, __u8 syndrome)
{
	struct roce_packet p = packet(ACK, psn, false);

	p.syndrome = syndrome;
	see(&p);
}

static int begin(void **state)
{
	(void)state;
	reader = wire_reader_new(&ends);
	return !reader;
}

static void finish(void)
{
	wire_reader_end(reader, &wire);
}

static void test_middle_refused(void **state)
{
	(void)state;
	ask(WRITE_ONLY, 0xfffffe, RKEY, 64);
	answer(0xfffffe, 0x1f);
	ask(WRITE_FIRST, 0xffffff, RKEY, 1024);
	ask(WRITE_MIDDLE, 0, 0, 1024);
	ask(WRITE_LAST, 1, 0, 500);
	answer(0, NAK_ACCESS);
	finish();
	assert_true(wire.has_nak && wire.nak.has_packet && wire.nak.has_reth && wire.nak.rkey_worked);
	assert_int_equal(wire.nak.packet, 1);
	assert_int_equal(wire.nak.rkey, RKEY);
	assert_int_equal(wire.nak.length, 3 * 1024);
	assert_int_equal(wire.acknowledged, 2); /* the NAK acknowledges what is before it */
	assert_int_equal(wire.requests, 4);
	assert_int_equal(wire.answers, 2);
	assert_int_equal(wire.naks[2], 1);
}

/* A READ has the PSNs of its responses: the request behind it is a new one, and an ACK of it none of elsewhere. */
static void test_read(void **state)
{
	struct wire_ends with_mtu = ends;

	with_mtu.path_mtu = 1024;
	free(reader);
	reader = wire_reader_new(&with_mtu);
	(void)state;
	ask(READ, 5, RKEY, 1024);
	answer(7, 0x1f);
	ask(WRITE_ONLY, 8, RKEY, 64);
	answer(8, 0x1f);
	ask(READ, 6, RKEY, 1024);
	finish();
	assert_int_equal(wire.acknowledged, 4);
	assert_int_equal(wire.retransmitted, 1);
	assert_false(wire.acks_elsewhere);
}

static void test_read_without_mtu(void **state)
{
	(void)state;
	ask(READ, 5, RKEY, 1024);
	answer(7, 0x1f);
	finish();
	assert_false(wire.acks_elsewhere);
}

static void test_first_refused(void **state)
{
	(void)state;
	ask(WRITE_ONLY, 5, RKEY, 64);
	answer(5, 0x1f);
	ask(WRITE_ONLY, 6, RKEY + 1, 64);
	answer(6, NAK_ACCESS);
	finish();
	assert_true(wire.has_nak && wire.nak.has_packet && !wire.nak.rkey_worked);
	assert_int_equal(wire.nak.packet, 0);
	assert_int_equal(wire.nak.rkey, RKEY + 1);
}

/* A NAK without its packet, and packets of others. */
static void test_unseen(void **state)
{
	struct roce_packet p;

	(void)state;
	answer(99, NAK_ACCESS);
	p = packet(WRITE_ONLY, 7, true);
	p.dqpn = 99;
	see(&p);
	p = packet(WRITE_ONLY, 7, true);
	p.src[15] = 9;
	see(&p);
	finish();
	assert_true(wire.has_nak && !wire.nak.has_packet && !wire.has_first);
	assert_int_equal(wire.requests, 0);
}

static void test_silence(void **state)
{
	(void)state;
	ask(SEND_ONLY, 5, 0, 64);
	answer(5, 0x1f);
	for (int i = 0; i < 3; i++)
		ask(SEND_ONLY, 6, 0, 2048);
	finish();
	assert_int_equal(wire.retransmitted, 2);
	assert_int_equal(wire.acknowledged, 1);
	assert_int_equal(wire.largest_answered, 64);
	assert_int_equal(wire.unanswered_largest, 2048);
	assert_false(wire.acks_elsewhere);
}

/* A PSN that a NAK asks for: one that was sent, and was lost; or another one. */
static void test_asked_for(void **state)
{
	(void)state;
	for (int inside = 0; inside < 2; inside++) {
		begin(NULL);
		ask(WRITE_FIRST, 0xfffffe, RKEY, 1024);
		ask(WRITE_MIDDLE, 0xffffff, 0, 1024);
		ask(WRITE_LAST, 0, 0, 1024);
		answer(inside ? 0 : 1, 0x60);
		finish();
		assert_true(wire.has_first_nak);
		assert_int_equal(wire.first_nak_inside, inside);
	}
}

static void test_psns(void **state)
{
	(void)state;
	ask(SEND_ONLY, 0x1000, 0, 64);
	answer(0, NAK_SEQUENCE);
	answer(0x500000, 0x1f);
	answer(0x1000, RNR);
	finish();
	assert_true(wire.has_first_nak && wire.acks_elsewhere);
	assert_int_equal(wire.first_psn, 0x1000);
	assert_int_equal(wire.first_nak_psn, 0);
	assert_int_equal(wire.rnr_naks, 1);
	assert_int_equal(wire.acknowledged, 0);
	assert_false(wire.has_nak);
}

/* More messages than are remembered. */
static void test_many(void **state)
{
	(void)state;
	for (__u32 i = 0; i < 10000; i++)
		ask(WRITE_ONLY, i, RKEY, 64);
	answer(100, NAK_ACCESS);
	answer(9999, NAK_ACCESS);
	finish();
	assert_int_equal(wire.requests, 10000);
	assert_false(wire.nak.has_packet);
	assert_int_equal(wire.naks[2], 2);
}

#define TEST(f) cmocka_unit_test_setup(f, begin)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(test_middle_refused), TEST(test_first_refused), TEST(test_read), TEST(test_read_without_mtu), TEST(test_unseen), TEST(test_silence),
					    TEST(test_psns), cmocka_unit_test(test_asked_for), TEST(test_many) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
