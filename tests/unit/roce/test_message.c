// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files, 2 s, long 5 s
/* UC messages compared with a model of the receiver (kernel: rxe_resp.c, check_psn and check_op_seq), and immediate data. */
#include "tests/support/observe_old.h"
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/frame.h"
#include "tests/unit/long.h"
#include "tests/unit/packets.h"

#define MANY 20000 /* messages of a run with rare faults */
#define DENSE (test_long() ? MANY : MANY / 4) /* with many faults */
#define LONGEST 5 /* packets of a message */

enum { FIRST = 0x26, MIDDLE = 0x27, LAST = 0x28, ONLY = 0x2a, ONLY_IMM = 0x2b };

/* The sent packets: the message of each. PSN = index. */
struct message_sent {
	__u8 opcode;
	int message;
	int packets; /* of the message, if its First has the DMA length, else 0 */
};

/* One message in `unknown` does not carry its length. */
static int send_all(struct message_sent *sent, int messages, int longest, int unknown, uint64_t *r)
{
	int count = 0;

	for (int m = 0; m < messages; m++) {
		int packets = 1 + random_next(r) % longest;
		bool known = unknown > 1 && random_next(r) % unknown;

		for (int k = 0; k < packets; k++)
			sent[count++] = (struct message_sent){
				packets == 1 ? ONLY : k == 0 ? FIRST : k == packets - 1 ? LAST : MIDDLE, m,
				known ? packets : 0,
			};
	}
	return count;
}

/* The receiver: decides which messages are whole. */
struct message_receiver {
	int expected; /* PSN */
	bool dropping, in_message;
	int delivered;
	bool *was_delivered; /* index: message */
};

static void receiver_take(struct message_receiver *x, const struct message_sent *p, int psn)
{
	bool first = p->opcode == FIRST || p->opcode == ONLY;

	if (first) {
		x->dropping = false;
	} else if (x->dropping || psn != x->expected || !x->in_message) {
		x->dropping = true;
		return;
	}
	x->in_message = p->opcode == FIRST || p->opcode == MIDDLE;
	x->expected = psn + 1;
	if (!x->in_message) {
		x->delivered++;
		x->was_delivered[p->message] = true;
	}
}

/* A wire: the indexes of packets in the order of arrival. */
static int damage_drop(int *wire, int count, int one_in, uint64_t *r)
{
	int n = 0;

	for (int i = 0; i < count; i++)
		if (i < 50 || i > count - 50 || random_next(r) % one_in)
			wire[n++] = i;
	return n;
}

/* Swaps neighbours. */
static int damage_swap(int *wire, int count, int one_in, uint64_t *r)
{
	for (int i = 0; i < count; i++)
		wire[i] = i;
	for (int i = 50; i < count - 50; i++) {
		if (random_next(r) % one_in)
			continue;
		wire[i] = i + 1;
		wire[i + 1] = i;
		i++;
	}
	return count;
}

/* Repeats a packet some packets later. */
static int damage_duplicate(int *wire, int count, int one_in, uint64_t *r)
{
	int n = 0;

	for (int i = 0; i < count; i++) {
		wire[n++] = i;
		if (i > 50 && i < count - 50 && random_next(r) % one_in == 0)
			wire[n++] = i - random_next(r) % 4;
	}
	return n;
}

/* Drops, swaps and repeats. */
static int damage_all(int *wire, int count, int one_in, uint64_t *r)
{
	int n = 0;

	for (int i = 0; i < count; i++) {
		int die = i > 50 && i < count - 50 ? random_next(r) % (3 * one_in) : 3;

		if (die == 0)
			continue;
		wire[n++] = i;
		if (die == 1)
			wire[n++] = i - random_next(r) % 6;
		if (die == 2) {
			int back = 1 + random_next(r) % 4;

			memmove(wire + n - back, wire + n - 1 - back, back * sizeof(*wire));
			wire[n - 1 - back] = i;
		}
	}
	return n;
}

struct outcome {
	int delivered; /* by the receiver, including repetitions */
	int partial;   /* messages with some packets on the wire that were never delivered */
	int fewest;    /* the fewest messages that explain the partial ones, if packets were only dropped */
	__u64 messages, broken;
};

/*
 * The observer sees some packets of each partial message in order. Packets of the next message may belong to the same one, as
 * far as the observer knows. They do not if the Last was seen in between, or the First of either message, which starts a
 * message or gives its length.
 */
static int fewest_messages(const struct message_sent *sent, int count, const bool *came, const bool *delivered)
{
	bool may_go_on = false;
	int fewest = 0;

	for (int i = 0, end; i < count; i = end) {
		bool any = false, first = came[i];

		for (end = i; end < count && sent[end].message == sent[i].message; end++)
			any |= came[end];
		if (!any)
			continue;
		fewest += !delivered[sent[i].message] && (first || !may_go_on);
		may_go_on = !came[end - 1] && (first ? !sent[i].packets : true);
	}
	return fewest;
}

static struct outcome run(int (*damage)(int *, int, int, uint64_t *), int messages, int longest, int unknown, int one_in,
			  uint64_t seed)
{
	int packets = messages * longest;
	struct message_sent *sent = calloc(packets, sizeof(*sent));
	int *wire = calloc(2 * packets, sizeof(*wire));
	bool *seen = calloc(messages, sizeof(*seen)), *came = calloc(packets, sizeof(*came));
	struct message_receiver x = { .was_delivered = calloc(messages, sizeof(bool)) };
	struct roce_stream s = { 0 };
	uint64_t r = seed;
	int count = send_all(sent, messages, longest, unknown, &r), n = damage(wire, count, one_in, &r);
	struct outcome o = { 0 };

	for (int i = 0; i < n; i++) {
		const struct message_sent *p = &sent[wire[i]];

		struct roce_packet seen_packet = packet(p->opcode, wire[i]);

		seen_packet.dma_length = p->packets * 1024;
		seen[p->message] = came[wire[i]] = true;
		receiver_take(&x, p, wire[i]);
		observe(&s, seen_packet);
		assert_true(COUNT(&s, messages) == (__u64)x.delivered);
	}
	for (int m = 0; m < messages; m++)
		o.partial += seen[m] && !x.was_delivered[m];
	o.delivered = x.delivered;
	o.messages = COUNT(&s, messages);
	o.broken = COUNT(&s, messages_broken);
	o.fewest = fewest_messages(sent, count, came, x.was_delivered);
	free(sent);
	free(wire);
	free(seen);
	free(came);
	free(x.was_delivered);
	return o;
}

/*
 * Isolated faults: every message that the receiver lost is counted exactly once. By default each damage and longest message has
 * one of the three values of `unknown`, in turn.
 */
static void alone(void **state)
{
	int (*const damages[])(int *, int, int, uint64_t *) = { damage_drop, damage_swap, damage_duplicate };

	(void)state;
	for (size_t d = 0; d < ROCE_ARRAY_SIZE(damages); d++) {
		for (int longest = 1, unknown = 1; longest <= LONGEST; unknown = unknown % 3 + 1, longest += unknown == 1) {
			struct outcome o;

			if (!test_long() && (d + longest) % 3 + 1 != (size_t)unknown)
				continue;
			o = run(damages[d], MANY, longest, unknown, 1000, 10 * d + longest);

			assert_true(o.messages == (__u64)o.delivered);
			assert_int_equal(o.broken, o.partial);
			assert_true(longest > 1 ? o.broken > 5 : o.broken == 0);
		}
	}
}

/* Dense faults: the receiver's messages are exact. The broken ones are never more than there were. */
static void in_heaps(void **state)
{
	int (*const damages[])(int *, int, int, uint64_t *) = {
		damage_drop, damage_swap, damage_duplicate, damage_all,
	};

	(void)state;
	for (size_t d = 0; d < ROCE_ARRAY_SIZE(damages); d++) {
		for (int one_in = 3; one_in <= 30; one_in *= 3) {
			struct outcome o = run(damages[d], DENSE, LONGEST, 1, one_in, 100 * d + one_in);

			assert_true(o.messages == (__u64)o.delivered);
			assert_true(o.broken <= (__u64)o.partial);
			assert_true(o.broken >= (__u64)o.partial * 3 / 4);
		}
	}
}

/* Dense losses, with lengths in some, most or none of the messages: the fewest messages that explain the losses. */
static void lengths(void **state)
{
	int revealed = 0, hidden = 0;

	(void)state;
	for (int unknown = 1; unknown <= 1000; unknown = unknown < 4 ? unknown + 1 : unknown * 10) {
		for (int one_in = 2; one_in <= 30; one_in += 1 + one_in / 3) {
			struct outcome o = run(damage_drop, DENSE, LONGEST, unknown, one_in, 7 * unknown + one_in);

			assert_int_equal(o.broken, o.fewest);
			assert_true(o.fewest <= o.partial);
			revealed += unknown > 100 ? o.fewest : 0;
			hidden += unknown == 1 ? o.fewest : 0;
		}
	}
	assert_true(revealed > hidden + DENSE / 20); /* lengths reveal more */
}

/* With lengths, also for late and repeated packets: never more than there were. */
static void lengths_in_heaps(void **state)
{
	int (*const damages[])(int *, int, int, uint64_t *) = {
		damage_drop, damage_swap, damage_duplicate, damage_all,
	};

	(void)state;
	for (size_t d = 0; d < ROCE_ARRAY_SIZE(damages); d++) {
		for (int one_in = 3; one_in <= 30; one_in *= 3) {
			struct outcome o = run(damages[d], DENSE, LONGEST, 1000, one_in, 100 * d + one_in);

			assert_true(o.messages == (__u64)o.delivered);
			assert_true(o.broken <= (__u64)o.partial);
			assert_true(o.broken >= (__u64)o.partial * 3 / 4);
		}
	}
}

static __u64 broken_of(const char *names, const int *psns)
{
	struct roce_stream s = { 0 };

	for (int i = 0; names[i]; i++)
		observe(&s, packet(names[i] == 'F' ? FIRST : names[i] == 'M' ? MIDDLE : names[i] == 'L' ? LAST : ONLY,
				   psns[i]));
	return COUNT(&s, messages_broken);
}

/* Single cases. Each row is the order on the wire. */
static void by_hand(void **state)
{
	(void)state;
	assert_int_equal(broken_of("OFML", (int[]){ 9, 10, 11, 12 }), 0);
	assert_int_equal(broken_of("MLO", (int[]){ 9, 10, 11 }), 0); /* first packet seen in the middle */
	assert_int_equal(broken_of("OFM", (int[]){ 9, 10, 11 }), 0); /* still open at the end */
	assert_int_equal(broken_of("OFLO", (int[]){ 9, 10, 12, 13 }), 1); /* a Middle lost */
	assert_int_equal(broken_of("OFMO", (int[]){ 9, 10, 11, 13 }), 1); /* the Last lost */
	assert_int_equal(broken_of("OMLO", (int[]){ 9, 11, 12, 13 }), 1); /* the First lost */
	assert_int_equal(broken_of("OO", (int[]){ 9, 13 }), 0); /* lost as a whole */
	assert_int_equal(broken_of("OMFLO", (int[]){ 9, 11, 10, 12, 13 }), 1); /* the First late */
	assert_int_equal(broken_of("OFLMO", (int[]){ 9, 10, 12, 11, 13 }), 1); /* the Middle late */
	assert_int_equal(broken_of("OFFLML", (int[]){ 9, 10, 12, 11, 13, 14 }), 2); /* the Last late, into the next */
	assert_int_equal(broken_of("OFLFLML", (int[]){ 9, 10, 11, 12, 11, 13, 14 }), 1); /* a Last repeated */
	assert_int_equal(broken_of("OFOML", (int[]){ 9, 10, 9, 11, 12 }), 1); /* an Only repeated */
	assert_int_equal(broken_of("OFMFML", (int[]){ 9, 10, 11, 10, 12, 13 }), 1); /* a First repeated */
	assert_int_equal(broken_of("OFFLO", (int[]){ 9, 10, 10, 11, 12 }), 0); /* ... immediately: the message still completes */
	assert_int_equal(broken_of("OFMMLO", (int[]){ 9, 10, 11, 11, 12, 13 }), 1); /* a Middle repeated */
	assert_int_equal(broken_of("OMLFML", (int[]){ 9, 11, 12, 10, 14, 15 }), 2); /* F10 late, then F13 lost */
	assert_int_equal(broken_of("MFML", (int[]){ 19, 10, 20, 21 }), 0); /* first packet seen in the middle, and a First late */
	assert_int_equal(broken_of("OFMFML", (int[]){ 9, 10, 11, 11, 12, 13 }), 1); /* F11 does not repeat F10 */
}

static void observe_imm(struct roce_stream *s, __u8 opcode, __u32 psn, __u32 immediate)
{
	struct roce_packet p = packet(opcode, psn);

	p.immediate = immediate;
	observe(s, p);
}

static void immediate_gaps(void **state)
{
	struct roce_stream s = { 0 };
	__u32 psn = 0, block = 0xfffffffa; /* wraps */

	(void)state;
	for (int i = 0; i < 10; i++)
		observe_imm(&s, ONLY_IMM, psn++, block++);
	assert_int_equal(COUNT(&s, imm_gaps), 0);
	psn += 3;
	block += 3; /* three blocks lost */
	observe_imm(&s, ONLY_IMM, psn++, block++);
	assert_int_equal(COUNT(&s, imm_gaps), 1);
	assert_int_equal(COUNT(&s, imm_skipped), 3);
	observe_imm(&s, ONLY_IMM, psn - 2, block - 2); /* one of them late: no further loss */
	observe_imm(&s, ONLY_IMM, psn++, block++);
	assert_int_equal(COUNT(&s, imm_gaps), 1);
	observe_imm(&s, ONLY_IMM, psn++, 0x40000000); /* the field is used otherwise */
	observe_imm(&s, ONLY_IMM, psn++, 0x40000003);
	assert_int_equal(COUNT(&s, imm_gaps), 1);
	for (int i = 0; i < 10; i++)
		observe_imm(&s, ONLY_IMM, psn++, 42); /* and a value that is no counter */
	assert_int_equal(COUNT(&s, imm_gaps), 1);
}

/* RC retransmits losses: no block is missing, whatever the order on the wire. */
static void immediate_heals(void **state)
{
	enum { RC_ONLY_IMM = 0x05 };
	struct roce_stream s = { 0 };

	(void)state;
	for (__u32 i = 0; i < 10; i++)
		observe_imm(&s, RC_ONLY_IMM, i, i);
	for (__u32 i = 12; i < 15; i++) /* 10 and 11 lost */
		observe_imm(&s, RC_ONLY_IMM, i, i);
	for (__u32 i = 10; i < 20; i++) /* goes back */
		observe_imm(&s, RC_ONLY_IMM, i, i);
	assert_int_equal(COUNT(&s, psn_lost) + COUNT(&s, psn_skipped) - COUNT(&s, psn_recovered), 0);
	assert_int_equal(COUNT(&s, messages), 20);
	assert_int_equal(COUNT(&s, imm_gaps), 0);
	observe_imm(&s, RC_ONLY_IMM, 20, 23); /* the application skips three */
	assert_int_equal(COUNT(&s, imm_gaps), 1);
	assert_int_equal(COUNT(&s, imm_skipped), 3);
}

/* On RC, a block that never comes again hides no later jump. */
static void immediate_after_loss(void **state)
{
	enum { RC_ONLY_IMM = 0x05 };
	struct roce_stream s = { 0 };

	(void)state;
	for (__u32 i = 0; i < 20; i++)
		if (i != 10)
			observe_imm(&s, RC_ONLY_IMM, i, i);
	assert_int_equal(COUNT(&s, psn_skipped) - COUNT(&s, psn_recovered), 1);
	assert_int_equal(COUNT(&s, imm_gaps), 0);
	observe_imm(&s, RC_ONLY_IMM, 20, 22);
	assert_int_equal(COUNT(&s, imm_gaps), 1);
	assert_int_equal(COUNT(&s, imm_skipped), 2);
}

static bool old; /* as kernels before 5.17 */

static __attribute__((noinline)) void take(struct roce_stream *s, struct roce_packet *p)
{
	if (old)
		observe_old(s, p, ICRC_GOOD, 0, NULL);
	else
		observe(s, *p);
}

/* Blocks as the rules of docs/rules.md have them. */
static void assert_blocks(const struct roce_stream *s, __u64 blocks, __u64 incomplete, __u64 missing)
{
	assert_int_equal(COUNT(s, blocks), blocks);
	assert_int_equal(COUNT(s, blocks_incomplete), incomplete);
	assert_int_equal(COUNT(s, blocks_missing), missing);
}

/*
 * Frames of a sensor bridge: eight WRITE Onlys, the last with page | PSN << 12. Its receiver adds (psn - next) & 0xffffff up: one
 * swapped pair is 16,777,216 packets lost. Here it is none.
 */
static void bridge(struct roce_stream *s, __u32 psn)
{
	struct roce_packet p = packet(psn % 8 == 7 ? ONLY_IMM : ONLY, psn);

	p.imm.shift = 12;
	p.imm.outside = 0xfff00000;
	p.immediate = psn << 12 | (psn / 8 % 2);
	take(s, &p);
}

static void swapped(void **state)
{
	static const __u32 swaps[] = { 83, 87, 95, 103, 112, 118 }; /* with the one behind: inside a frame, and its end with the next */
	struct roce_stream s = { 0 };
	__u32 order[160];

	(void)state;
	for (__u32 i = 0; i < ROCE_ARRAY_SIZE(order); i++)
		order[i] = i;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(swaps); i++) {
		order[swaps[i]] = swaps[i] + 1;
		order[swaps[i] + 1] = swaps[i];
	}
	for (__u32 i = 0; i < ROCE_ARRAY_SIZE(order); i++)
		bridge(&s, order[i]);
	assert_int_equal(COUNT(&s, psn_skipped), ROCE_ARRAY_SIZE(swaps));
	assert_int_equal(COUNT(&s, psn_recovered), ROCE_ARRAY_SIZE(swaps));
	assert_blocks(&s, 20, 0, 0);
	assert_int_equal(COUNT(&s, imm_skipped), 0);
	assert_int_equal(s.message.step, 8);
}

static void bridge_all(struct roce_stream *s, __u32 from, __u32 end, const __u32 *lost, size_t count)
{
	for (__u32 psn = from; psn < end; psn++) {
		bool drop = false;

		for (size_t i = 0; i < count; i++)
			drop |= psn == lost[i];
		if (!drop)
			bridge(s, psn);
	}
}

/* Which block a missing packet belongs to, and that it comes late. */
static void incomplete(void **state)
{
	static const __u32 lost[] = { 83, 103, 112, 127, 128, 143, 151 };
	struct roce_stream s = { 0 };

	(void)state;
	bridge_all(&s, 0, 240, lost, ROCE_ARRAY_SIZE(lost));
	/* 83 and 112: of blocks that have ended. 103: the end of one. 127 and 128: an end, and of the next. 143, 151: two ends */
	assert_blocks(&s, 30 - 4, 3, 4);
	bridge(&s, 83);
	assert_blocks(&s, 26, 2, 4);
	bridge(&s, 103);
	assert_blocks(&s, 27, 2, 3);
	bridge(&s, 103); /* again */
	assert_blocks(&s, 27, 2, 3);
	bridge(&s, 127);
	assert_blocks(&s, 28, 2, 2);
	bridge(&s, 128);
	bridge(&s, 112);
	assert_blocks(&s, 28, 0, 2);
	bridge(&s, 151);
	bridge(&s, 143);
	assert_blocks(&s, 30, 0, 0);
	bridge_all(&s, 240, 320, NULL, 0);
	assert_blocks(&s, 40, 0, 0);
	assert_int_equal(COUNT(&s, imm_gaps), 3);
	assert_int_equal(COUNT(&s, imm_skipped), 4);
}

/* The same as kernels before 5.17 do it, and what is behind their window. */
static void incomplete_old(void **state)
{
	static const __u32 lost[] = { 83, 1700 };
	struct roce_stream s = { 0 };

	old = true;
	incomplete(state);
	bridge_all(&s, 0, 2000, lost, ROCE_ARRAY_SIZE(lost));
	assert_blocks(&s, 250, 2, 0);
	bridge(&s, 1700);
	assert_blocks(&s, 250, 1, 0);
	bridge_all(&s, 2000, 2400, NULL, 0);
	assert_blocks(&s, 300, 1, 0);
	old = false;
}

/* A ring of six slots, each a WRITE, by RC: what is sent again counts once, and nothing is missing. */
static void ring_of_rc(void **state)
{
	const struct roce_blocks_by by = { .by_ring = true };
	struct roce_stream s = { 0 };

	(void)state;
	for (__u32 psn = 0; psn < 200; psn++) {
		for (__u32 again = psn == 100 ? 40 : psn; again <= psn; again++) { /* 100 PSNs are sent, and 60 of them again */
			struct roce_packet p = packet(again % 2 ? 0x08 : 0x06, again);

			if (psn == 70)
				break; /* lost, and sent again */
			p.dma_length = 2048;
			p.va = 0x1000 + again / 2 % 6 * 2048;
			roce_tell_blocks(&p, &by);
			observe(&s, p);
		}
	}
	assert_int_equal(COUNT(&s, psn_duplicates), 60 - 1);
	assert_int_equal(s.ring.ring.slots, 6);
	assert_blocks(&s, 100, 0, 0);
}

/* A ring that was learnt is another one as soon as an address lies behind its last slot. */
static void ring_grows(void **state)
{
	const struct roce_blocks_by by = { .by_ring = true };
	struct roce_stream s = { 0 };

	(void)state;
	for (__u32 psn = 0; psn < 19; psn++) {
		struct roce_packet p = packet(0x2a, psn);

		assert_int_equal(s.ring.ring.slots, psn <= 6 ? 0 : 6);
		p.dma_length = 2048;
		p.va = 0x1000 + (psn == 18 ? 6 : psn % 6) * 2048;
		roce_tell_blocks(&p, &by);
		observe(&s, p);
	}
	assert_int_equal(s.ring.ring.slots, 0);
}

/* A ring of six slots that is told, each of two WRITEs: the second one ends the slot. Where it is lost, the slot is missing. */
static void ring_is_told(void **state)
{
	const struct roce_blocks_by by = { .ring = { .start = 0x1000, .slot = 2048, .slots = 6 }, .by_ring = true };
	struct roce_stream s = { 0 };

	(void)state;
	for (__u32 psn = 0; psn < 40; psn++) {
		struct roce_packet p = packet(0x2a, psn);

		p.dma_length = 1024;
		p.va = 0x1000 + psn % 12 * 1024;
		roce_tell_blocks(&p, &by);
		if (psn != 25)
			observe(&s, p);
	}
	assert_blocks(&s, 19, 0, 1);
}

/* A correlator's step of 2048; then messages that share a value; then a counter of eight bits, which goes round. */
static void steps(void **state)
{
	struct roce_stream s = { 0 };
	__u32 psn = 0;

	(void)state;
	for (__u32 i = 0; i < 100; i++)
		if (i != 50 && i != 51)
			observe_imm(&s, ONLY_IMM, i, 2048 * i - 2048 * 20); /* round at 2^32 */
	assert_blocks(&s, 98, 0, 2);
	assert_int_equal(s.message.step, 2048);
	assert_int_equal(COUNT(&s, imm_skipped), 2);

	memset(&s, 0, sizeof(s));
	for (__u32 i = 0; i < 20; i++) {
		for (int k = 0; k < 4; k++)
			if (i != 10 && !(i == 14 && k == 1))
				observe_imm(&s, ONLY_IMM, psn + k, i * 7);
		psn += 4;
	}
	assert_blocks(&s, 19 + 4 * 3, 1, 1); /* the first four values were not known to count: each message was a block */
	assert_int_equal(s.message.step, 7);

	memset(&s, 0, sizeof(s));
	for (__u32 i = 0; i < 1000; i++)
		if (i % 256 != 255 || i < 300) /* once it was seen to go round, the last value of a round is missed as any other */
			observe_imm(&s, ONLY_IMM, i, i & 0xff);
	assert_blocks(&s, 998, 0, 2);
}

/* --imm step=2048: a value left out right behind the first one is missing. */
static void step_is_told(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	for (__u32 psn = 0; psn < 7; psn++) {
		struct roce_packet p = packet(ONLY_IMM, psn);

		p.imm.step = 2048;
		p.immediate = 2048 * psn;
		if (psn < 2 || psn > 4)
			observe(&s, p);
	}
	assert_blocks(&s, 4, 0, 3);
	assert_int_equal(COUNT(&s, imm_skipped), 3);
}

/* Three messages have each value. Where those of one are lost, the first message of the next lacks no packet. */
static void shared_value_lost(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	for (__u32 psn = 0; psn < 60; psn++)
		if (psn / 3 != 10)
			observe_imm(&s, ONLY_IMM, psn, psn / 3 * 7);
	assert_int_equal(COUNT(&s, blocks_missing), 1);
	assert_int_equal(COUNT(&s, blocks_incomplete), 0);
}

/* What is no counter: each immediate ends a block, and nothing is known to be missing. */
static void no_counter(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	for (__u32 i = 0; i < 100; i++)
		if (i != 33)
			observe_imm(&s, i % 4 == 3 ? ONLY_IMM : ONLY, i, 42);
	assert_blocks(&s, 25, 1, 0);
	memset(&s, 0, sizeof(s));
	for (__u32 i = 0; i < 100; i++)
		if (i != 33)
			observe_imm(&s, ONLY_IMM, i, i * i);
	assert_blocks(&s, 99, 1, 0);
}

/* Blocks longer than the window of PSNs, and longer than what is remembered. */
static void long_blocks(void **state)
{
	struct roce_stream s = { 0 };
	__u32 length = 3000;

	(void)state;
	for (__u32 i = 0; i < 20 * length; i++)
		if (i != 10 * length + 5 && i != 15 * length - 1)
			observe_imm(&s, i % length == length - 1 ? ONLY_IMM : ONLY, i, i / length);
	assert_blocks(&s, 19, 1, 1);
	observe_imm(&s, ONLY, 10 * length + 5, 0);
	assert_blocks(&s, 19, 0, 1);
	observe_imm(&s, ONLY_IMM, 15 * length - 1, 14);
	assert_blocks(&s, 20, 0, 0);
}

/* The longest block whose length is known: its end comes late, and the packet that it lacks is found in it. */
static void longest_block(void **state)
{
	const __u32 length = 65535, end = 6 * length - 1;
	struct roce_stream s = { 0 };

	(void)state;
	for (__u32 psn = 0; psn < 7 * length; psn++)
		if (psn != end && psn != end - 2)
			observe_imm(&s, psn % length == length - 1 ? ONLY_IMM : ONLY, psn, psn / length);
	assert_blocks(&s, 6, 0, 1);
	observe_imm(&s, ONLY_IMM, end, 5);
	assert_blocks(&s, 7, 1, 0);
}

/* UC: a receiver drops the rest of a broken message, and its immediate data; the block on the wire only lacks a packet. */
static void by_receiver(void **state)
{
	enum { LAST_IMM = 0x29 };
	struct roce_stream s = { 0 };
	__u32 psn = 0;

	(void)state;
	for (__u32 i = 0; i < 20; i++) {
		observe_imm(&s, FIRST, psn, 0);
		if (i != 10 && i != 11)
			observe_imm(&s, MIDDLE, psn + 1, 0);
		observe_imm(&s, LAST_IMM, psn + 2, i);
		psn += 3;
	}
	assert_blocks(&s, 20, 2, 0);
	assert_int_equal(COUNT(&s, imm_gaps), 1);
	assert_int_equal(COUNT(&s, imm_skipped), 2);
	assert_int_equal(COUNT(&s, messages_broken), 2);
}

/* Three messages with one value are one block, of which packets are missing; also if it is longer than what is remembered. */
static void shared(void **state)
{
	static const __u32 lengths[][2] = { { 10, 10 }, { 70000, 2 }, { 40000, 40000 } };

	(void)state;
	for (int n = 0; n < 6; n++) {
		struct roce_stream s = { 0 };
		__u32 psn = 0;

		while (psn < 10)
			observe_imm(&s, ONLY_IMM, psn, psn), psn++;
		for (int message = 0; message < 3; message++)
			for (__u32 length = lengths[n / 2][message > 0], i = 1; i <= length; i++, psn++)
				if (i != length / 2 || (message == 1 && n % 2)) /* the second one may be whole */
					observe_imm(&s, i == length ? ONLY_IMM : ONLY, psn, 10);
		assert_blocks(&s, 11, 1, 0);
		observe_imm(&s, ONLY_IMM, psn + 1, 11);
		assert_blocks(&s, 12, 2, 0);
	}
}

/* A QP that is used again sends other packets with the PSNs of the old ones, and those that were missing then. Each counts once. */
static void used_again(void **state)
{
	enum { RC_FIRST = 0x00, RC_ONLY_IMM = 0x05 };
	struct roce_stream s = { 0 };

	(void)state;
	for (__u32 i = 0; i < 20; i++)
		if (i != 1)
			observe_imm(&s, RC_ONLY_IMM, i, i);
	for (__u32 i = 0; i < 10; i++)
		observe_imm(&s, RC_ONLY_IMM, i, 1000 + i);
	assert_int_equal(COUNT(&s, psn_restarts), 1);
	assert_int_equal(COUNT(&s, messages), 29);
	assert_int_equal(COUNT(&s, blocks), 29);
	memset(&s, 0, sizeof(s));
	observe_imm(&s, RC_FIRST, 100, 0);
	observe_imm(&s, RC_FIRST, 30, 0);
	observe_imm(&s, RC_ONLY_IMM, 99, 7);
	observe_imm(&s, RC_ONLY_IMM, 100, 8); /* the newest PSN */
	assert_int_equal(COUNT(&s, psn_restarts), 1);
	assert_int_equal(COUNT(&s, messages), 2);
	assert_int_equal(COUNT(&s, blocks), 2);
}

/* Where another sequence begins within a block, what the block lacked before and what it lacks then count once. */
static void goes_on_elsewhere(void **state)
{
	struct roce_stream s = { 0 };
	__u32 psn = 0;

	(void)state;
	for (; psn < 10; psn++)
		observe_imm(&s, ONLY_IMM, psn, psn);
	for (int sequence = 0; sequence < 2; sequence++, psn += 1000000)
		for (__u32 i = 0; i < 20; i++)
			if (i != 8)
				observe_imm(&s, i % 10 == 9 ? ONLY_IMM : ONLY, psn + i, 10);
	assert_int_equal(COUNT(&s, psn_restarts), 1);
	assert_blocks(&s, 11, 1, 0);
}

/* A receiver takes no Last alone, wherever on the circle it is, and so tells of no value that was left out. */
static void lasts_alone(void **state)
{
	enum { LAST_IMM = 0x29 };

	(void)state;
	for (__u32 begin = 0xfffff0; begin < 0x1ffffff; begin += 0x800000) {
		struct roce_stream s = { 0 };

		for (__u32 i = 0; i < 20; i++)
			observe_imm(&s, LAST_IMM, begin + 3 * i, i + i / 5);
		assert_int_equal(COUNT(&s, imm_gaps), 0);
		assert_int_equal(COUNT(&s, messages), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand), cmocka_unit_test(alone), cmocka_unit_test(in_heaps),
		cmocka_unit_test(lengths), cmocka_unit_test(lengths_in_heaps),
		cmocka_unit_test(immediate_gaps), cmocka_unit_test(immediate_heals),
		cmocka_unit_test(immediate_after_loss),
		cmocka_unit_test(swapped), cmocka_unit_test(incomplete), cmocka_unit_test(incomplete_old),
		cmocka_unit_test(ring_of_rc), cmocka_unit_test(steps), cmocka_unit_test(no_counter),
		cmocka_unit_test(ring_grows), cmocka_unit_test(ring_is_told), cmocka_unit_test(step_is_told),
		cmocka_unit_test(shared_value_lost), cmocka_unit_test(longest_block),
		cmocka_unit_test(long_blocks), cmocka_unit_test(by_receiver),
		cmocka_unit_test(shared), cmocka_unit_test(used_again), cmocka_unit_test(goes_on_elsewhere),
		cmocka_unit_test(lasts_alone),
	};

	return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
