// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files
/* The responder of a QP: roce/responder/respond.h against the rules of IBTA 9.7.4, 9.7.5 (RC) and 9.8.2 (UC), one by one. */
#include "roce/responder/respond.h"
#include "tests/unit/cmocka_includes.h"

#include <string.h>

#define MTU 1024
#define PSN 100 /* expected first */
#define VA 0x7f0000001000ull
#define AT 8192 /* of the region, in the memory */
#define BYTES 10000
#define RKEY 0xabcd
#define SLOT_AT 65536
#define SLOT_BYTES 3000
#define SLOTS 4

enum { SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM, SEND_ONLY, SEND_ONLY_IMM, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST,
       WRITE_LAST_IMM, WRITE_ONLY, WRITE_ONLY_IMM, READ };

static const __u8 peer[16] = { [10] = 0xff, 0xff, 10, 9, 0, 1 };
static const struct roce_region registered = { .va = VA, .at = AT, .bytes = BYTES, .rkey = RKEY, .index = 3 };

/* A QP, and what its last packet did. */
struct qp {
	struct roce_responder q;
	struct responder_step s;
	__u64 posted;
	const struct roce_region *region; /* of its rkey; NULL: none */
};

static struct qp qp_of(enum roce_service service)
{
	struct qp x = {
		.q = { .receive_at = SLOT_AT, .receive_bytes = SLOT_BYTES, .receive_slots = SLOTS, .qpn = 17, .peer_qpn = 99,
		       .path_mtu = MTU, .expected = PSN, .pkey = 0xffff, .service = service, .state = RESPONDER_READY,
		       .rnr_timer = 14 },
		.posted = 2, .region = &registered,
	};

	memcpy(x.q.peer, peer, sizeof(peer));
	return x;
}

/* low: the opcode without its service. dma: of a First or Only of a WRITE; its RETH points to the region's beginning. */
static struct roce_packet packet(const struct qp *x, __u32 low, __u32 psn, __u32 payload, __u32 dma)
{
	__u8 opcode = x->q.service << 5 | low;
	struct roce_packet p = {
		.kind = ROCE_PACKET, .opcode = opcode, .op = roce_opcodes[opcode], .service = opcode >> 5, .number = psn & 0xffffff,
		.payload_bytes = payload, .pad = -payload & 3, .dma_length = dma, .va = VA, .rkey = RKEY, .pkey = 0xffff, .dqpn = 17,
	};

	memcpy(p.src, peer, sizeof(peer));
	if (p.op & OP_IMMDT)
		p.immediate = 0x1000 + psn;
	return p;
}

/* Returns the refusal. */
static __u32 take_verdict(struct qp *x, struct roce_packet p, enum icrc_verdict icrc)
{
	responder_judge(&x->q, &p, icrc, x->region, x->posted, &x->s);
	if (!x->s.refusal)
		responder_commit(&x->q, &p, &x->s);
	return x->s.refusal;
}

static __u32 take(struct qp *x, struct roce_packet p)
{
	return take_verdict(x, p, ICRC_GOOD);
}

static __u32 take_new(struct qp *x, __u32 low, __u32 psn, __u32 payload, __u32 dma)
{
	return take(x, packet(x, low, psn, payload, dma));
}

static __u32 take_asking(struct qp *x, __u32 low, __u32 psn, __u32 payload, __u32 dma)
{
	struct roce_packet p = packet(x, low, psn, payload, dma);

	p.ackreq = 1;
	return take(x, p);
}

static void assert_answer(const struct qp *x, __u32 syndrome, __u32 psn)
{
	assert_true(x->s.answers);
	assert_int_equal(x->s.syndrome, syndrome);
	assert_int_equal(x->s.answer_psn, psn);
}

#define assert_silent(x) assert_false((x)->s.answers)
#define assert_taken(refusal) assert_int_equal(refusal, REFUSAL_NONE)
#define assert_refused(refusal, why) assert_int_equal(refusal, REFUSAL_##why)

static void assert_message(const struct roce_message_end *m, __u32 flags, __u64 at, __u32 length, __u32 placed, __u32 first, __u32 last)
{
	assert_true(m->valid);
	assert_int_equal(m->flags, flags);
	assert_int_equal(m->at, at);
	assert_int_equal(m->length, length);
	assert_int_equal(m->placed, placed);
	assert_int_equal(m->first_psn, first);
	assert_int_equal(m->last_psn, last);
}

/* ---- headers ---- */

static void test_header(void **state)
{
	static const enum roce_service services[] = { SERVICE_RC, SERVICE_UC };
	struct roce_packet p;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct qp x = qp_of(services[i]), before = x;
		struct roce_packet good = packet(&x, WRITE_ONLY, PSN, 100, 100);

		assert_refused(take_verdict(&x, good, ICRC_BAD), icrc);
		assert_refused(take_verdict(&x, good, ICRC_UNCHECKED), icrc);
		p = good, p.src[15]++;
		assert_refused(take(&x, p), source);
		p = good, p.src[0]++;
		assert_refused(take(&x, p), source);
		p = good, p.tver = 1;
		assert_refused(take(&x, p), tver);
		p = good, p.pkey = 0xfffe;
		assert_refused(take(&x, p), pkey);
		p = good, p.opcode = 0x11, p.op = roce_opcodes[0x11], p.service = SERVICE_RC;
		assert_refused(take(&x, p), response);
		p = good, p.opcode = 0x81, p.op = roce_opcodes[0x81], p.service = SERVICE_CNP;
		assert_refused(take(&x, p), response);
		p = good, p.opcode ^= 0x20, p.service ^= 1;
		assert_refused(take(&x, p), service);
		assert_silent(&x);
		assert_memory_equal(&x.q, &before.q, sizeof(x.q));
		p = good, p.pkey = 0x7fff; /* a limited member may speak to a full one */
		assert_taken(take(&x, p));
		x.q.pkey = 0x7fff; /* and not to another limited one */
		assert_refused(take(&x, p), pkey);
		x.q.state = RESPONDER_RESET;
		assert_refused(take(&x, good), not_ready);
		assert_silent(&x);
	}
}

/* ---- RC ---- */

static void test_rc_order(void **state)
{
	struct qp x = qp_of(SERVICE_RC);

	(void)state;
	assert_taken(take_new(&x, WRITE_FIRST, PSN, MTU, 2 * MTU + 5));
	assert_int_equal(x.s.at, AT);
	assert_int_equal(x.s.bytes, MTU);
	assert_silent(&x);
	assert_taken(take_asking(&x, WRITE_MIDDLE, PSN + 1, MTU, 0));
	assert_int_equal(x.s.at, AT + MTU);
	assert_answer(&x, AETH_ACK, PSN + 1);
	assert_int_equal(x.q.msn, 0);
	assert_taken(take_asking(&x, WRITE_LAST, PSN + 2, 5, 0));
	assert_int_equal(x.s.at, AT + 2 * MTU);
	assert_answer(&x, AETH_ACK, PSN + 2);
	assert_message(&x.s.ended, 0, AT, 2 * MTU + 5, 2 * MTU + 5, PSN, PSN + 2);
	assert_int_equal(x.s.ended.region, 3);
	assert_int_equal(x.q.msn, 1);
	assert_int_equal(x.q.receives, 0);
	assert_taken(take_new(&x, WRITE_ONLY_IMM, PSN + 3, 7, 7));
	assert_message(&x.s.ended, MESSAGE_IMMEDIATE, AT, 7, 7, PSN + 3, PSN + 3);
	assert_int_equal(x.s.ended.immediate, 0x1000 + PSN + 3);
	assert_int_equal(x.s.ended.receive, 0);
	assert_int_equal(x.q.receives, 1);
	assert_int_equal(x.q.msn, 2);
}

static void test_rc_duplicate(void **state)
{
	struct qp x = qp_of(SERVICE_RC), before;

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_taken(take_new(&x, WRITE_ONLY, PSN + i, 100, 100));
	before = x;
	assert_refused(take_new(&x, WRITE_ONLY, PSN + 2, 100, 100), duplicate);
	assert_answer(&x, AETH_ACK, PSN + 4);
	assert_int_equal(x.s.bytes, 0);
	assert_false(x.s.ended.valid);
	assert_refused(take_new(&x, WRITE_ONLY, PSN + 5 - (1 << 23), 100, 100), duplicate); /* the oldest */
	assert_answer(&x, AETH_ACK, PSN + 4);
	assert_refused(take_new(&x, READ, PSN + 2, 0, 100), duplicate); /* was refused then, too */
	assert_silent(&x);
	assert_memory_equal(&x.q, &before.q, sizeof(x.q));
	assert_refused(take_new(&x, WRITE_ONLY, PSN + 5 + (1 << 23) - 1, 100, 100), ahead); /* the farthest */
}

static void test_rc_sequence_nak(void **state)
{
	struct qp x = qp_of(SERVICE_RC);

	(void)state;
	assert_refused(take_new(&x, WRITE_ONLY, PSN + 1, 100, 100), ahead);
	assert_answer(&x, AETH_NAK_SEQUENCE, PSN);
	for (int i = 2; i < 10; i++) {
		assert_refused(take_asking(&x, WRITE_ONLY, PSN + i, 100, 100), ahead);
		assert_silent(&x);
	}
	assert_refused(take_new(&x, WRITE_ONLY, PSN - 1, 100, 100), duplicate);
	assert_answer(&x, AETH_ACK, PSN - 1);
	assert_taken(take_new(&x, WRITE_ONLY, PSN, 100, 100));
	assert_refused(take_new(&x, WRITE_ONLY, PSN + 3, 100, 100), ahead);
	assert_answer(&x, AETH_NAK_SEQUENCE, PSN + 1);
}

static void test_rc_rnr(void **state)
{
	static const __u32 wants[] = { SEND_ONLY, SEND_ONLY_IMM, SEND_FIRST, WRITE_ONLY_IMM };

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(wants); i++) {
		struct qp x = qp_of(SERVICE_RC);
		__u32 bytes = wants[i] == SEND_FIRST ? MTU : 100;

		x.posted = 0;
		assert_refused(take_new(&x, wants[i], PSN, bytes, 100), no_receive);
		assert_answer(&x, AETH_RNR | 14, PSN);
		assert_int_equal(x.q.expected, PSN);
		assert_int_equal(x.q.state, RESPONDER_READY);
		assert_refused(take_new(&x, WRITE_ONLY, PSN + 1, 100, 100), ahead); /* sent before the RNR NAK came */
		assert_silent(&x);
		assert_refused(take_new(&x, wants[i], PSN, bytes, 100), no_receive);
		assert_answer(&x, AETH_RNR | 14, PSN);
		x.posted = 1;
		assert_taken(take_new(&x, wants[i], PSN, bytes, 100));
	}
	for (int endless = 0; endless < 2; endless++) {
		struct qp x = qp_of(SERVICE_RC);

		x.q.endless = endless;
		for (int i = 0; i < 10; i++)
			assert_int_equal(take_new(&x, SEND_ONLY, PSN + i, 8, 0), i < 2 || endless ? REFUSAL_NONE :
					 i == 2 ? REFUSAL_no_receive : REFUSAL_ahead);
	}
}

/* A Last with immediate data wants its receive only then; what came before it stays. */
static void test_rc_rnr_last(void **state)
{
	struct qp x = qp_of(SERVICE_RC);

	(void)state;
	x.posted = 0;
	assert_taken(take_new(&x, WRITE_FIRST, PSN, MTU, MTU + 1));
	assert_refused(take_new(&x, WRITE_LAST_IMM, PSN + 1, 1, 0), no_receive);
	assert_answer(&x, AETH_RNR | 14, PSN + 1);
	assert_false(x.s.broken.valid || x.s.ended.valid);
	x.posted = 1;
	assert_taken(take_new(&x, WRITE_LAST_IMM, PSN + 1, 1, 0));
	assert_message(&x.s.ended, MESSAGE_IMMEDIATE, AT, MTU + 1, MTU + 1, PSN, PSN + 1);
}

/* A request that breaks the rules, after a First (0: as the first packet). */
static void check_fatal(struct roce_packet p, bool inside, enum roce_refusal why, __u32 syndrome)
{
	struct qp x = qp_of(SERVICE_RC);

	if (inside)
		assert_taken(take_new(&x, WRITE_FIRST, PSN, MTU, 3 * MTU));
	p.number = x.q.expected;
	assert_int_equal(take(&x, p), why);
	assert_answer(&x, syndrome, p.number);
	assert_int_equal(x.q.expected, p.number);
	assert_int_equal(x.q.state, RESPONDER_ERROR);
	assert_false(x.s.ended.valid);
	assert_int_equal(x.s.broken.valid, inside);
	if (inside)
		assert_message(&x.s.broken, MESSAGE_INCOMPLETE, AT, 3 * MTU, MTU, PSN, PSN);
	for (int i = -1; i < 3; i++) {
		assert_refused(take_asking(&x, WRITE_ONLY, p.number + i, 100, 100), error);
		assert_silent(&x);
		assert_false(x.s.broken.valid || x.s.ended.valid);
	}
}

static void test_rc_fatal(void **state)
{
	struct qp x = qp_of(SERVICE_RC);
	static const __u8 unknown[] = { READ, 0x13, 0x14, 0x15, 0x16, 0x17, 0x1c, 0x1d, 0x1f };
	static const __u8 headless[] = { SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM, WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM };
	static const __u8 nested[] = { SEND_FIRST, SEND_ONLY, SEND_ONLY_IMM, WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM, SEND_MIDDLE,
				       SEND_LAST };

	(void)state;
	for (size_t i = 0; i < sizeof(unknown); i++)
		for (int inside = 0; inside < 2; inside++)
			check_fatal(packet(&x, unknown[i], 0, 0, 0), inside, REFUSAL_operation, AETH_NAK_INVALID);
	for (size_t i = 0; i < sizeof(headless); i++)
		check_fatal(packet(&x, headless[i], 0, MTU, 0), false, REFUSAL_order, AETH_NAK_INVALID);
	for (size_t i = 0; i < sizeof(nested); i++)
		check_fatal(packet(&x, nested[i], 0, MTU, MTU), true, REFUSAL_order, AETH_NAK_INVALID);
}

/* ---- addresses ---- */

static __u32 write_to(const struct roce_region *region, __u64 va, __u32 dma)
{
	struct qp x = qp_of(SERVICE_RC);
	struct roce_packet p = packet(&x, dma > MTU ? WRITE_FIRST : WRITE_ONLY, PSN, dma > MTU ? MTU : dma, dma);
	__u32 refusal;

	x.region = region;
	p.va = va;
	refusal = take(&x, p);
	if (refusal) {
		assert_answer(&x, refusal == REFUSAL_length ? AETH_NAK_INVALID : AETH_NAK_ACCESS, PSN);
		assert_int_equal(x.s.bytes, 0);
	} else {
		assert_int_equal(x.s.at, dma ? region->at + (va - region->va) : RESPONDER_NOWHERE);
	}
	return refusal;
}

static void test_bounds(void **state)
{
	static const struct roce_region top = { .va = -100ull, .at = 0, .bytes = 99, .rkey = RKEY };
	static const struct roce_region huge = { .va = VA, .at = 0, .bytes = 1ull << 33, .rkey = RKEY };

	(void)state;
	assert_taken(write_to(&registered, VA, BYTES));
	assert_refused(write_to(&registered, VA, BYTES + 1), bounds);
	assert_taken(write_to(&registered, VA + BYTES - 1, 1)); /* the last byte */
	assert_refused(write_to(&registered, VA + BYTES - 1, 2), bounds);
	assert_refused(write_to(&registered, VA + BYTES, 1), bounds);
	assert_refused(write_to(&registered, VA - 1, 1), bounds);
	assert_refused(write_to(&registered, VA - 1, BYTES), bounds);
	assert_refused(write_to(&registered, -1ull, 2), bounds); /* around the end of all addresses */
	assert_refused(write_to(&registered, -1ull - BYTES, BYTES), bounds);
	assert_refused(write_to(&registered, 0, 0xffffffff), bounds);
	assert_refused(write_to(&registered, VA + (1ull << 32), 1), bounds);
	assert_taken(write_to(&top, -100ull, 99));
	assert_taken(write_to(&top, -2ull, 1));
	assert_refused(write_to(&top, -1ull, 1), bounds);
	assert_refused(write_to(&top, -2ull, 2), bounds);
	assert_refused(write_to(&top, -100ull, 200), bounds); /* its end wraps */
	assert_refused(write_to(&top, 0, 1), bounds);
	assert_refused(write_to(NULL, VA, 1), rkey);
	assert_taken(write_to(NULL, VA, 0)); /* IBTA 9.7.4.1.4: no bytes, no rkey */
	assert_taken(write_to(&huge, VA, 1u << 31));
	assert_refused(write_to(&huge, VA, (1u << 31) + 1), length);
	assert_refused(write_to(&huge, VA, 0xffffffff), length);
}

/* A DMA length of 2^31 bytes to its end. */
static void test_longest(void **state)
{
	static const struct roce_region huge = { .va = VA, .at = 5, .bytes = 1ull << 31, .rkey = RKEY };
	struct qp x = qp_of(SERVICE_RC);

	(void)state;
	x.region = &huge;
	assert_taken(take_new(&x, WRITE_FIRST, PSN, MTU, 1u << 31));
	for (__u32 i = 1; i < (1u << 31) / MTU - 1; i++) {
		if (take_new(&x, WRITE_MIDDLE, PSN + i, MTU, 0))
			fail();
	}
	assert_taken(take_new(&x, WRITE_LAST, PSN + (1u << 31) / MTU - 1, MTU, 0));
	assert_int_equal(x.s.at, 5 + (1ull << 31) - MTU);
	assert_message(&x.s.ended, 0, 5, 1u << 31, 1u << 31, PSN, PSN + (1u << 31) / MTU - 1);
}

/* ---- lengths ---- */

struct length {
	__u32 low, payload, dma;
	int pad; /* -1: the right one */
};

static __u32 with_length(struct length l)
{
	struct qp x = qp_of(SERVICE_RC);
	struct roce_packet p = packet(&x, l.low, PSN, l.payload, l.dma);
	__u32 refusal;

	if (!(p.op & OP_FIRST))
		assert_taken(take_new(&x, l.low >= WRITE_FIRST ? WRITE_FIRST : SEND_FIRST, PSN, MTU, l.dma));
	p.number = x.q.expected;
	if (l.pad >= 0)
		p.pad = l.pad;
	refusal = take(&x, p);
	if (refusal)
		assert_answer(&x, AETH_NAK_INVALID, p.number);
	return refusal;
}

static void test_length(void **state)
{
	static const struct length right[] = {
		{ WRITE_FIRST, MTU, MTU + 1, -1 }, { WRITE_MIDDLE, MTU, 2 * MTU + 1, -1 }, { WRITE_LAST, 1, MTU + 1, -1 },
		{ WRITE_LAST, MTU, 2 * MTU, -1 }, { WRITE_LAST_IMM, 3, MTU + 3, -1 }, { WRITE_ONLY, 0, 0, -1 }, { WRITE_ONLY, MTU, MTU, -1 },
		{ WRITE_ONLY_IMM, 0, 0, -1 }, { SEND_FIRST, MTU, 0, -1 }, { SEND_MIDDLE, MTU, 0, -1 }, { SEND_LAST, 1, 0, -1 },
		{ SEND_LAST, MTU, 0, -1 }, { SEND_ONLY, 0, 0, -1 }, { SEND_ONLY, MTU, 0, -1 }, { SEND_ONLY_IMM, 0, 0, -1 },
	}, wrong[] = {
		{ WRITE_FIRST, MTU - 1, 5000, -1 }, { WRITE_FIRST, MTU + 1, 5000, -1 }, { WRITE_FIRST, MTU, 5000, 1 },
		{ WRITE_FIRST, MTU, MTU, -1 }, { WRITE_FIRST, MTU, 5, -1 }, { WRITE_FIRST, 0, 0, -1 }, { WRITE_FIRST, MTU, 0, -1 },
		{ WRITE_MIDDLE, MTU - 4, 5000, -1 }, { WRITE_MIDDLE, MTU + 4, 5000, -1 }, { WRITE_MIDDLE, MTU, 5000, 3 },
		{ WRITE_MIDDLE, MTU, 2 * MTU, -1 }, { WRITE_MIDDLE, MTU, MTU + 1, -1 }, { WRITE_MIDDLE, 0, 5000, -1 },
		{ WRITE_LAST, 0, MTU + 1, -1 }, { WRITE_LAST, 2, MTU + 1, -1 }, { WRITE_LAST, 4, MTU + 5, -1 },
		{ WRITE_LAST, MTU, 3 * MTU, -1 }, { WRITE_LAST, MTU + 1, 2 * MTU + 1, -1 }, { WRITE_LAST_IMM, 0, MTU + 1, -1 },
		{ WRITE_ONLY, 5, 4, -1 }, { WRITE_ONLY, 3, 4, -1 }, { WRITE_ONLY, 0, 4, -1 }, { WRITE_ONLY, 4, 0, -1 },
		{ WRITE_ONLY, MTU + 1, MTU + 1, -1 }, { WRITE_ONLY_IMM, 1, 0, -1 }, { SEND_FIRST, MTU - 1, 0, -1 },
		{ SEND_FIRST, MTU + 1, 0, -1 }, { SEND_FIRST, MTU, 0, 1 }, { SEND_MIDDLE, 0, 0, -1 }, { SEND_LAST, 0, 0, -1 },
		{ SEND_LAST, MTU + 1, 0, -1 }, { SEND_ONLY, MTU + 1, 0, -1 }, { WRITE_ONLY, 4, 4, 1 }, { WRITE_ONLY, 3, 3, 0 },
		{ WRITE_LAST, 2, MTU + 2, 3 }, { SEND_ONLY, 8, 0, 2 },
	};

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(right); i++)
		assert_taken(with_length(right[i]));
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(wrong); i++)
		assert_refused(with_length(wrong[i]), length);
}

/* ---- SEND ---- */

static void test_send_slots(void **state)
{
	struct qp x = qp_of(SERVICE_RC);
	__u32 psn = PSN;

	(void)state;
	x.posted = 100;
	for (int i = 0; i < 2 * SLOTS + 1; i++) {
		__u64 at = SLOT_AT + i % SLOTS * SLOT_BYTES;

		assert_taken(take_new(&x, SEND_FIRST, psn, MTU, 0));
		assert_int_equal(x.s.at, at);
		assert_taken(take_new(&x, SEND_MIDDLE, psn + 1, MTU, 0));
		assert_int_equal(x.s.at, at + MTU);
		assert_taken(take_new(&x, i & 1 ? SEND_LAST : SEND_LAST_IMM, psn + 2, SLOT_BYTES - 2 * MTU, 0)); /* fills it */
		assert_message(&x.s.ended, MESSAGE_SEND | (i & 1 ? 0 : MESSAGE_IMMEDIATE), at, SLOT_BYTES, SLOT_BYTES, psn, psn + 2);
		assert_int_equal(x.s.ended.receive, i);
		psn += 3;
	}
	assert_taken(take_new(&x, SEND_FIRST, psn, MTU, 0));
	assert_taken(take_new(&x, SEND_MIDDLE, psn + 1, MTU, 0));
	assert_refused(take_new(&x, SEND_LAST, psn + 2, SLOT_BYTES - 2 * MTU + 1, 0), length);
	assert_answer(&x, AETH_NAK_INVALID, psn + 2);
	assert_message(&x.s.broken, MESSAGE_SEND | MESSAGE_INCOMPLETE, SLOT_AT + (2 * SLOTS + 1) % SLOTS * SLOT_BYTES, 0, 2 * MTU, psn,
		       psn + 1);
}

/* Without buffers, a receive takes immediate data only. */
static void test_send_nowhere(void **state)
{
	struct qp x = qp_of(SERVICE_UC);

	(void)state;
	x.q.receive_slots = 0;
	assert_taken(take_new(&x, SEND_ONLY_IMM, PSN, 0, 0));
	assert_message(&x.s.ended, MESSAGE_SEND | MESSAGE_IMMEDIATE, RESPONDER_NOWHERE, 0, 0, PSN, PSN);
	assert_refused(take_new(&x, SEND_ONLY, PSN + 1, 1, 0), length);
	assert_refused(take_new(&x, SEND_FIRST, PSN + 1, MTU, 0), length);
}

/* ---- PSNs ---- */

static void test_wrap(void **state)
{
	struct qp x = qp_of(SERVICE_RC);

	(void)state;
	x.q.expected = 0xfffffe;
	x.q.msn = 0xffffff;
	assert_taken(take_new(&x, WRITE_FIRST, 0xfffffe, MTU, 2 * MTU + 1));
	assert_taken(take_new(&x, WRITE_MIDDLE, 0xffffff, MTU, 0));
	assert_int_equal(x.q.expected, 0);
	assert_refused(take_new(&x, WRITE_MIDDLE, 0xffffff, MTU, 0), duplicate);
	assert_answer(&x, AETH_ACK, 0xffffff);
	assert_refused(take_new(&x, WRITE_ONLY, 1, 1, 1), ahead);
	assert_answer(&x, AETH_NAK_SEQUENCE, 0);
	assert_taken(take_asking(&x, WRITE_LAST, 0, 1, 0));
	assert_answer(&x, AETH_ACK, 0);
	assert_int_equal(x.q.msn, 0);
	assert_message(&x.s.ended, 0, AT, 2 * MTU + 1, 2 * MTU + 1, 0xfffffe, 0);
}

/* ---- UC ---- */

static void test_uc_any_first(void **state)
{
	struct qp x = qp_of(SERVICE_UC);
	__u32 psn = PSN;

	(void)state;
	for (int i = 0; i < 20; i++) { /* no PSN at which a message may not begin; none is a loss inside of one */
		psn += i * 77777;
		assert_taken(take_asking(&x, WRITE_FIRST, psn, MTU, MTU + 1));
		assert_silent(&x); /* UC never answers */
		assert_taken(take_asking(&x, WRITE_LAST, psn + 1, 1, 0));
		assert_silent(&x);
		assert_message(&x.s.ended, x.s.ended.flags & MESSAGE_LATE, AT, MTU + 1, MTU + 1, psn & 0xffffff, (psn + 1) & 0xffffff);
		assert_false(x.s.broken.valid);
		psn += 2;
	}
}

static void test_uc_late_first(void **state)
{
	struct qp x = qp_of(SERVICE_UC);

	(void)state;
	assert_taken(take_new(&x, WRITE_ONLY, PSN + 5, 4, 4));
	assert_message(&x.s.ended, 0, AT, 4, 4, PSN + 5, PSN + 5);
	assert_taken(take_new(&x, WRITE_ONLY, PSN + 4, 4, 4));
	assert_message(&x.s.ended, MESSAGE_LATE, AT, 4, 4, PSN + 4, PSN + 4);
	assert_taken(take_new(&x, WRITE_ONLY, PSN + 6, 4, 4));
	assert_message(&x.s.ended, 0, AT, 4, 4, PSN + 6, PSN + 6);
}

/* A packet is missing: the rest of the message is dropped, and its Last tells. */
static void test_uc_gap(void **state)
{
	struct qp x = qp_of(SERVICE_UC);

	(void)state;
	assert_taken(take_new(&x, WRITE_FIRST, PSN, MTU, 4 * MTU));
	assert_taken(take_new(&x, WRITE_MIDDLE, PSN + 1, MTU, 0));
	assert_refused(take_new(&x, WRITE_LAST_IMM, PSN + 3, MTU, 0), gap);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE | MESSAGE_IMMEDIATE, AT, 4 * MTU, 2 * MTU, PSN, PSN + 3);
	assert_int_equal(x.s.ended.immediate, 0x1000 + PSN + 3);
	assert_int_equal(x.q.receives, 0); /* a receive is used up by what is complete */
	assert_int_equal(x.q.msn, 0);
	assert_refused(take_new(&x, WRITE_MIDDLE, PSN, MTU, 0), rest); /* with the First's PSN */
	assert_false(x.s.broken.valid || x.s.ended.valid);
	assert_taken(take_new(&x, WRITE_FIRST, PSN + 4, MTU, 4 * MTU));
	assert_refused(take_new(&x, WRITE_MIDDLE, PSN + 6, MTU, 0), gap);
	assert_refused(take_new(&x, WRITE_MIDDLE, PSN + 5, MTU, 0), rest); /* late: it does not repair the message */
	assert_refused(take_new(&x, WRITE_LAST, PSN + 7, MTU, 0), rest);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE, AT, 4 * MTU, MTU, PSN + 4, PSN + 7);
}

/* A Middle comes twice. */
static void test_uc_repeated(void **state)
{
	struct qp x = qp_of(SERVICE_UC);

	(void)state;
	assert_taken(take_new(&x, WRITE_FIRST, PSN, MTU, 4 * MTU));
	assert_taken(take_new(&x, WRITE_MIDDLE, PSN + 1, MTU, 0));
	assert_refused(take_new(&x, WRITE_MIDDLE, PSN + 1, MTU, 0), gap);
	assert_refused(take_new(&x, WRITE_MIDDLE, PSN + 2, MTU, 0), rest);
	assert_refused(take_new(&x, WRITE_LAST, PSN + 3, MTU, 0), rest);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE, AT, 4 * MTU, 2 * MTU, PSN, PSN + 3);
}

/* The Last is lost: the next First tells. */
static void test_uc_no_last(void **state)
{
	struct qp x = qp_of(SERVICE_UC);

	(void)state;
	assert_taken(take_new(&x, WRITE_FIRST, PSN, MTU, 3 * MTU));
	assert_taken(take_new(&x, WRITE_MIDDLE, PSN + 1, MTU, 0));
	assert_taken(take_new(&x, WRITE_ONLY, PSN + 3, 4, 4));
	assert_message(&x.s.broken, MESSAGE_INCOMPLETE, AT, 3 * MTU, 2 * MTU, PSN, PSN + 1);
	assert_message(&x.s.ended, 0, AT, 4, 4, PSN + 3, PSN + 3);
}

/* The end of one message and the beginning of the next are lost: by its length, two messages are broken. */
static void test_uc_two(void **state)
{
	struct qp x = qp_of(SERVICE_UC);

	(void)state;
	assert_taken(take_new(&x, WRITE_FIRST, PSN, MTU, 3 * MTU));
	assert_refused(take_new(&x, WRITE_MIDDLE, PSN + 4, MTU, 0), gap);
	assert_message(&x.s.broken, MESSAGE_INCOMPLETE, AT, 3 * MTU, MTU, PSN, PSN);
	assert_false(x.s.ended.valid);
	assert_refused(take_new(&x, WRITE_LAST, PSN + 5, 4, 0), rest);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE | MESSAGE_HEADLESS, RESPONDER_NOWHERE, 0, 0, PSN + 4, PSN + 5);
	assert_taken(take_new(&x, WRITE_FIRST, PSN + 6, MTU, 3 * MTU));
	assert_refused(take_new(&x, WRITE_LAST, PSN + 11, MTU, 0), gap);
	assert_message(&x.s.broken, MESSAGE_INCOMPLETE, AT, 3 * MTU, MTU, PSN + 6, PSN + 6);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE | MESSAGE_HEADLESS, RESPONDER_NOWHERE, 0, 0, PSN + 11, PSN + 11);
	assert_taken(take_new(&x, WRITE_FIRST, PSN + 12, MTU, 3 * MTU));
	assert_refused(take_new(&x, WRITE_MIDDLE, PSN + 15, MTU, 0), gap); /* the first PSN behind the message */
	assert_message(&x.s.broken, MESSAGE_INCOMPLETE, AT, 3 * MTU, MTU, PSN + 12, PSN + 12);
}

/* The Last of an earlier message comes late, into another one: by IBTA 9.8.2.2 that is dropped, too. Each is counted once. */
static void test_uc_earlier_last(void **state)
{
	struct qp x = qp_of(SERVICE_UC);

	(void)state;
	assert_taken(take_new(&x, WRITE_FIRST, PSN, MTU, 2 * MTU));
	assert_taken(take_new(&x, WRITE_FIRST, PSN + 2, MTU, 3 * MTU));
	assert_message(&x.s.broken, MESSAGE_INCOMPLETE, AT, 2 * MTU, MTU, PSN, PSN);
	assert_refused(take_new(&x, WRITE_LAST_IMM, PSN + 1, MTU, 0), gap);
	assert_false(x.s.broken.valid || x.s.ended.valid); /* its message was given up, and is counted */
	assert_refused(take_new(&x, WRITE_LAST_IMM, PSN - 1, MTU, 0), rest);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE | MESSAGE_HEADLESS | MESSAGE_LATE | MESSAGE_IMMEDIATE, RESPONDER_NOWHERE, 0, 0,
		       PSN - 1, PSN - 1);
	assert_false(x.s.broken.valid);
	assert_refused(take_new(&x, WRITE_MIDDLE, PSN + 3, MTU, 0), rest);
	assert_refused(take_new(&x, WRITE_LAST, PSN + 4, MTU, 0), rest);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE, AT, 3 * MTU, MTU, PSN + 2, PSN + 4);
}

/* No packet of a message that has ended counts it again. */
static void test_uc_counted(void **state)
{
	struct qp x = qp_of(SERVICE_UC);

	(void)state;
	assert_taken(take_new(&x, WRITE_FIRST, PSN, MTU, 3 * MTU));
	assert_taken(take_new(&x, WRITE_MIDDLE, PSN + 1, MTU, 0));
	assert_taken(take_new(&x, WRITE_LAST, PSN + 2, MTU, 0));
	for (int i = 2; i > 0; i--) { /* they come twice */
		assert_refused(take_new(&x, i == 2 ? WRITE_LAST : WRITE_MIDDLE, PSN + i, MTU, 0), gap);
		assert_false(x.s.broken.valid || x.s.ended.valid);
	}
	assert_taken(take_new(&x, WRITE_FIRST, PSN + 3, MTU, 4 * MTU));
	assert_refused(take_new(&x, WRITE_LAST, PSN + 6, MTU, 0), gap);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE, AT, 4 * MTU, MTU, PSN + 3, PSN + 6);
	for (int i = 4; i < 6; i++) { /* they had another way */
		assert_refused(take_new(&x, WRITE_MIDDLE, PSN + i, MTU, 0), rest);
		assert_false(x.s.broken.valid || x.s.ended.valid);
	}
	assert_taken(take_new(&x, SEND_FIRST, PSN + 7, MTU, 0));
	for (int i = 2; i < 7; i++) { /* as far back as messages follow each other */
		assert_int_equal(take_new(&x, WRITE_LAST, PSN + i, MTU, 0), i == 2 ? REFUSAL_gap : REFUSAL_rest);
		assert_false(x.s.broken.valid || x.s.ended.valid);
	}
	assert_taken(take_new(&x, SEND_FIRST, PSN + 10, MTU, 0));
	assert_message(&x.s.broken, MESSAGE_INCOMPLETE | MESSAGE_SEND, SLOT_AT, 0, MTU, PSN + 7, PSN + 7);
	assert_refused(take_new(&x, SEND_LAST, PSN + 11, 0, 0), length); /* forged, in place of the right one */
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE | MESSAGE_SEND, SLOT_AT, 0, MTU, PSN + 10, PSN + 11);
	for (int i = 11; i < 15; i++) {
		assert_refused(take_new(&x, i < 14 ? SEND_MIDDLE : SEND_LAST, PSN + i, MTU, 0), rest);
		assert_false(x.s.broken.valid || x.s.ended.valid);
	}
	assert_taken(take_new(&x, WRITE_ONLY, PSN + 15, 4, 4));
	assert_message(&x.s.ended, 0, AT, 4, 4, PSN + 15, PSN + 15);
}

/* Refused First and Only inside of a message of five packets, of which two have come. */
static void test_uc_beside(void **state)
{
	static const struct {
		__u32 low, payload, dma;
		enum refusal { WRONG_KEY, WRONG_BOUNDS, WRONG_LENGTH, NO_RECEIVE, UNKNOWN } how;
	} cases[] = {
		{ WRITE_ONLY, 8, 8, WRONG_KEY }, { WRITE_ONLY_IMM, 8, 8, WRONG_KEY }, { WRITE_ONLY, 8, BYTES + 1, WRONG_BOUNDS },
		{ WRITE_ONLY, 8, 9, WRONG_LENGTH }, { SEND_ONLY, MTU + 1, 0, WRONG_LENGTH }, { SEND_ONLY, 8, 0, NO_RECEIVE },
		{ SEND_ONLY_IMM, 8, 0, NO_RECEIVE }, { WRITE_ONLY_IMM, 8, 8, NO_RECEIVE }, { READ, 0, 8, UNKNOWN },
		{ WRITE_FIRST, MTU, 3 * MTU, WRONG_KEY }, { WRITE_FIRST, MTU - 4, 3 * MTU, WRONG_LENGTH }, { SEND_FIRST, MTU, 0, NO_RECEIVE },
	};
	static const __u32 refusals[] = { REFUSAL_rkey, REFUSAL_bounds, REFUSAL_length, REFUSAL_no_receive, REFUSAL_operation };

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(cases); i++) {
		for (int at = -3; at < 9; at++) { /* its PSN, from that of the message */
			bool first = cases[i].low == WRITE_FIRST || cases[i].low == SEND_FIRST;
			bool ends = first && (at < 2 || at >= 5); /* what follows could be taken for packets of the message */
			struct qp x = qp_of(SERVICE_UC);

			assert_taken(take_new(&x, WRITE_FIRST, PSN, MTU, 5 * MTU));
			assert_taken(take_new(&x, WRITE_MIDDLE, PSN + 1, MTU, 0));
			x.region = cases[i].how == WRONG_KEY ? NULL : &registered;
			x.posted = cases[i].how == NO_RECEIVE ? 0 : 2;
			assert_int_equal(take_new(&x, cases[i].low, PSN + at, cases[i].payload, cases[i].dma), refusals[cases[i].how]);
			assert_int_equal(x.s.broken.valid, ends);
			assert_int_equal(x.s.ended.valid, cases[i].how != UNKNOWN && !ends);
			if (x.s.ended.valid)
				assert_message(&x.s.ended, MESSAGE_INCOMPLETE | MESSAGE_HEADLESS | (at < 2 ? MESSAGE_LATE : 0) |
					       (cases[i].low < WRITE_FIRST ? MESSAGE_SEND : 0) |
					       (cases[i].low == SEND_ONLY_IMM || cases[i].low == WRITE_ONLY_IMM ? MESSAGE_IMMEDIATE : 0),
					       RESPONDER_NOWHERE, 0, 0, (PSN + at) & 0xffffff, (PSN + at) & 0xffffff);
			for (int k = 2; k < 5; k++)
				assert_int_equal(take_new(&x, k < 4 ? WRITE_MIDDLE : WRITE_LAST, PSN + k, MTU, 0) == REFUSAL_NONE, !ends);
			if (!ends)
				assert_message(&x.s.ended, 0, AT, 5 * MTU, 5 * MTU, PSN, PSN + 4);
		}
	}
}

static void test_uc_headless(void **state)
{
	struct qp x = qp_of(SERVICE_UC);

	(void)state;
	assert_refused(take_new(&x, SEND_MIDDLE, PSN + 1, MTU, 0), gap);
	assert_refused(take_new(&x, SEND_LAST_IMM, PSN + 2, 7, 0), rest);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE | MESSAGE_HEADLESS | MESSAGE_SEND | MESSAGE_IMMEDIATE, RESPONDER_NOWHERE, 0, 0,
		       PSN + 1, PSN + 2);
	assert_refused(take_new(&x, WRITE_LAST, PSN, 7, 0), order); /* the right PSN, but of no message */
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE | MESSAGE_HEADLESS, RESPONDER_NOWHERE, 0, 0, PSN, PSN);
	assert_refused(take_new(&x, WRITE_LAST, PSN - 1, 7, 0), gap);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE | MESSAGE_HEADLESS | MESSAGE_LATE, RESPONDER_NOWHERE, 0, 0, PSN - 1, PSN - 1);
}

/* What RC answers with a NAK drops the message on UC, and the QP goes on. */
static void test_uc_refused(void **state)
{
	struct qp x = qp_of(SERVICE_UC);

	(void)state;
	x.region = NULL;
	assert_refused(take_new(&x, WRITE_FIRST, PSN, MTU, 3 * MTU), rkey);
	assert_refused(take_new(&x, WRITE_MIDDLE, PSN + 1, MTU, 0), rest);
	assert_refused(take_new(&x, WRITE_LAST, PSN + 2, MTU, 0), rest);
	assert_silent(&x);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE | MESSAGE_HEADLESS, RESPONDER_NOWHERE, 0, 0, PSN, PSN + 2);
	x.region = &registered;
	assert_refused(take_new(&x, WRITE_ONLY, PSN + 3, 8, BYTES + 1), bounds);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE | MESSAGE_HEADLESS, RESPONDER_NOWHERE, 0, 0, PSN + 3, PSN + 3);
	assert_taken(take_new(&x, WRITE_FIRST, PSN + 4, MTU, 2 * MTU));
	assert_refused(take_new(&x, WRITE_LAST, PSN + 5, MTU - 4, 0), length);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE, AT, 2 * MTU, MTU, PSN + 4, PSN + 5);
	assert_taken(take_new(&x, WRITE_FIRST, PSN + 6, MTU, 3 * MTU));
	assert_refused(take_new(&x, SEND_MIDDLE, PSN + 7, MTU, 0), order);
	assert_refused(take_new(&x, WRITE_LAST, PSN + 8, MTU, 0), rest);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE, AT, 3 * MTU, MTU, PSN + 6, PSN + 8);
	assert_taken(take_new(&x, WRITE_FIRST, PSN + 9, MTU, 3 * MTU));
	assert_refused(take_new(&x, READ, PSN + 10, 0, 8), operation);
	assert_refused(take_new(&x, WRITE_MIDDLE, PSN + 11, MTU, 0), gap);
	assert_int_equal(x.q.state, RESPONDER_READY);
	x.posted = 0;
	assert_refused(take_new(&x, SEND_ONLY, PSN + 12, 8, 0), no_receive);
	assert_false(x.s.broken.valid);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE | MESSAGE_HEADLESS | MESSAGE_SEND, RESPONDER_NOWHERE, 0, 0, PSN + 12, PSN + 12);
	assert_taken(take_new(&x, WRITE_FIRST, PSN + 13, MTU, MTU + 1));
	assert_message(&x.s.broken, MESSAGE_INCOMPLETE, AT, 3 * MTU, MTU, PSN + 9, PSN + 11);
	assert_refused(take_new(&x, WRITE_LAST_IMM, PSN + 14, 1, 0), no_receive);
	assert_message(&x.s.ended, MESSAGE_INCOMPLETE | MESSAGE_IMMEDIATE, AT, MTU + 1, MTU, PSN + 13, PSN + 14);
	assert_silent(&x);
}

/* ---- a copy that fails ---- */

static void test_copy(void **state)
{
	struct qp rc = qp_of(SERVICE_RC), uc = qp_of(SERVICE_UC), before;
	struct roce_packet p = packet(&rc, WRITE_FIRST, PSN, MTU, 2 * MTU);

	(void)state;
	before = rc;
	responder_judge(&rc.q, &p, ICRC_GOOD, &registered, 0, &rc.s);
	assert_taken(rc.s.refusal);
	responder_fail(&rc.q, &p, &rc.s);
	assert_refused(rc.s.refusal, copy);
	assert_silent(&rc);
	assert_memory_equal(&rc.q, &before.q, sizeof(rc.q)); /* as if it had been lost */
	assert_taken(take(&rc, p));
	assert_taken(take_new(&uc, WRITE_FIRST, PSN, MTU, 2 * MTU));
	p = packet(&uc, WRITE_LAST, PSN + 1, MTU, 0);
	responder_judge(&uc.q, &p, ICRC_GOOD, &registered, 0, &uc.s);
	assert_taken(uc.s.refusal);
	responder_fail(&uc.q, &p, &uc.s);
	assert_message(&uc.s.ended, MESSAGE_INCOMPLETE, AT, 2 * MTU, MTU, PSN, PSN + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header), cmocka_unit_test(test_rc_order), cmocka_unit_test(test_rc_duplicate),
		cmocka_unit_test(test_rc_sequence_nak), cmocka_unit_test(test_rc_rnr), cmocka_unit_test(test_rc_rnr_last),
		cmocka_unit_test(test_rc_fatal), cmocka_unit_test(test_bounds), cmocka_unit_test(test_longest),
		cmocka_unit_test(test_length), cmocka_unit_test(test_send_slots), cmocka_unit_test(test_send_nowhere),
		cmocka_unit_test(test_wrap), cmocka_unit_test(test_uc_any_first), cmocka_unit_test(test_uc_late_first),
		cmocka_unit_test(test_uc_gap), cmocka_unit_test(test_uc_repeated), cmocka_unit_test(test_uc_no_last),
		cmocka_unit_test(test_uc_two), cmocka_unit_test(test_uc_earlier_last), cmocka_unit_test(test_uc_headless),
		cmocka_unit_test(test_uc_refused), cmocka_unit_test(test_uc_counted), cmocka_unit_test(test_uc_beside),
		cmocka_unit_test(test_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
