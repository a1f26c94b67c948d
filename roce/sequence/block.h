/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Blocks (docs/rules.md): the packets of a stream up to one with immediate data. They are judged by the wire, as PSNs are, not by
 * the receiver, as messages are: a late packet completes its block. Where the immediate data counts, it tells which blocks have
 * not come.
 *
 * Nearly all ends of blocks are block_is_next(). What else is to be done comes after the packet has its place in the sequence.
 */
#ifndef ROCE_SEQUENCE_BLOCK_H
#define ROCE_SEQUENCE_BLOCK_H

#include "roce/message/message.h"
#include "roce/sequence/psn.h"

#define BLOCK_NO_VALUE (1ll << 40)
#define BLOCK_ROUND_LEAST 256 /* a counter of fewer bits cannot be told from one that begins again */

/* How the packet was taken. */
enum block_how {
	BLOCK_TAKEN,	 /* it has its place in the sequence */
	BLOCK_BEYOND,	 /* it waits behind a large gap */
	BLOCK_ELSEWHERE, /* it waits, and may be of another sequence */
};

roce_inline bool stream_is_reliable(const struct roce_packet *p)
{
	return p->service == SERVICE_RC || p->service == SERVICE_XRC || p->service == SERVICE_RD;
}

/* The counter's value in the immediate data. */
roce_inline __u32 block_value(const struct roce_packet *p)
{
	return p->immediate >> p->imm.shift & ~p->imm.outside;
}

roce_inline __u32 block_begin_behind(__u32 psn)
{
	return BLOCK_BEGUN | ((psn + 1) & PSN_MASK);
}

/* Takes the immediate data of a packet in order, if nothing has happened since the last, and it is the next value of a counter. */
roce_inline bool block_is_next(struct roce_message *m, struct roce_counters *c, const struct roce_packet *p)
{
	__u32 value = block_value(p);

	if (m->counts != MESSAGE_IMM_STEPS || value - m->immediate != m->step)
		return false;
	m->immediate = value;
	m->begin = block_begin_behind(p->number);
	c->value[COUNTER_blocks]++;
	return true;
}

/* The stream's number of a PSN that is less than half of the circle away. */
roce_inline __u64 block_number(const struct roce_stream *s, __u32 psn)
{
	return s->psn.next + psn_distance(s->psn.next & PSN_MASK, psn & PSN_MASK);
}

/* Another sequence: nothing that was missing comes any more. */
roce_inline void block_forget_all(struct roce_stream *s)
{
	s->message.begin = 0;
	for (int i = 0; i < BLOCKS_OPEN; i++)
		s->blocks.packets[i] = 0;
}

/* From here on something else counts blocks: nothing remains of what has counted them, and of those that are open. */
roce_inline void block_change(struct roce_stream *s)
{
	struct roce_message *m = &s->message;

	m->immediate = m->step = m->begin = 0;
	m->counts &= BLOCK_CHECK;
	__builtin_memset(&s->blocks, 0, sizeof(s->blocks));
	__builtin_memset(&s->ring, 0, sizeof(s->ring));
	s->by_ring = false;
}

/* ---- values ---- */

/* The bits of immediate data, shifted, that are not of the counter. */
roce_inline __u32 block_outside(const struct roce_stream *s, const struct roce_packet *p)
{
	return p->imm.outside | (s->blocks.bits ? ~0u << s->blocks.bits : 0);
}

/* A difference of two values, forward on the counter's circle. Without a branch, because the verifier follows each. */
roce_inline __u32 block_forward(const struct roce_stream *s, const struct roce_packet *p, __u32 on)
{
	__u32 round = (__s32)on >> 31;

	roce_opaque(round);
	return (on & ~block_outside(s, p)) + (p->imm.slots & round);
}

/* The value that lies `values` before this one. */
roce_inline __u32 block_back(const struct roce_stream *s, const struct roce_packet *p, __u32 value, __u32 values)
{
	if (p->imm.slots)
		values %= p->imm.slots;
	return block_forward(s, p, value - values * s->message.step);
}

/*
 * How many values of the counter the packet's is away from the last one, or BLOCK_NO_VALUE. back: it lies before the last one, and the
 * result is how far.
 */
roce_inline __s64 block_values(const struct roce_stream *s, const struct roce_packet *p, bool back)
{
	__u32 step = s->message.step, on = block_value(p) - s->message.immediate;

	on = block_forward(s, p, back ? -on : on);
	if (!step || on % step || on / step > MESSAGE_IMM_GAP)
		return BLOCK_NO_VALUE;
	return on / step;
}

/*
 * A ring may have gone round more than once. packets: PSNs from the last value to this one. A sender that is more than half of the
 * ring ahead of what they explain has gone back: BLOCK_NO_VALUE.
 */
roce_inline __s64 block_round(const struct roce_stream *s, const struct roce_packet *p, __s64 values, __u64 packets)
{
	__u32 slots = p->imm.slots, span = s->ring.span;
	__u64 more;

	if (!slots || !span || values == BLOCK_NO_VALUE)
		return values;
	more = (packets + span / 2) / span + slots / 2 - values;
	if (more >> 63)
		return BLOCK_NO_VALUE;
	return values + (more - (more && !(slots & 1))) / slots * slots;
}

/*
 * The first value of another sequence. Of immediate data nobody knows what was between. A ring goes on where it was, or begins
 * again; what is ahead by more than half of it, is behind.
 */
roce_inline __s64 block_anew(const struct roce_stream *s, const struct roce_packet *p)
{
	__u32 value = block_value(p), on = block_forward(s, p, value - s->message.immediate);

	if (!p->imm.slots)
		return value != s->message.immediate;
	return !value || !on || on > p->imm.slots / 2 || on > MESSAGE_IMM_GAP ? 1 : on;
}

/* Brings `missing` up to the last value. */
roce_inline void block_follow(struct roce_stream *s, const struct roce_packet *p)
{
	__u32 on = block_forward(s, p, s->message.immediate - s->blocks.newest), values = on / (s->message.step ?: 1);

	s->blocks.missing = values < 64 ? s->blocks.missing << values : 0;
	s->blocks.newest = s->message.immediate;
}

/* A value that is not expected: learns the step. Returns how many values it is on after all, or BLOCK_NO_VALUE. */
roce_inline __s64 block_learn(struct roce_stream *s, const struct roce_packet *p)
{
	struct roce_message *m = &s->message;
	__u32 value = block_value(p), on = (value - m->immediate) & ~p->imm.outside, round = m->immediate + m->step - value;

	if (p->imm.step) {
		m->step = p->imm.step;
		s->blocks.missing = 0;
		if (block_counts(s))
			return BLOCK_NO_VALUE;
		m->counts |= MESSAGE_IMM_STEPS;
		return 1; /* the first one */
	}
	if (block_counts(s) && !p->imm.outside && !(round & (round - 1)) && round >= BLOCK_ROUND_LEAST && m->immediate < round) {
		s->blocks.bits = __builtin_popcount(round - 1); /* the counter has fewer bits, and goes round */
		return 1;
	}
	if (!on)
		return BLOCK_NO_VALUE;
	if (on != m->step)
		m->counts &= BLOCK_CHECK;
	m->counts++;
	m->step = on;
	s->blocks.missing = 0;
	s->blocks.bits = 0;
	return BLOCK_NO_VALUE;
}

/* Counts what the values say. values: how many they are on. heals: skipped PSNs will be sent again, so a jump means nothing. */
roce_inline void block_count_values(struct roce_stream *s, const struct roce_packet *p, __s64 values, bool heals)
{
	bool accepted = p->service != SERVICE_UC || p->op & OP_RING || s->message.next == ((p->number + 1) & PSN_MASK);
	__u64 *v = s->counters.value, left = values > 1 ? values - 1 : 0, jump;
	struct roce_blocks *b = &s->blocks;

	if (values == BLOCK_NO_VALUE) {
		b->behind = 0;
		return;
	}
	b->missing = (values < 64 ? b->missing << values : 0) | (left < 64 ? (1ull << left) - 1 : ~0ull);
	jump = values + b->behind;
	if (!accepted) {
		b->behind = jump < 255 ? jump : 255;
	} else {
		b->behind = 0;
		v[COUNTER_imm_gaps] += jump > 1 && !heals;
		v[COUNTER_imm_skipped] += jump > 1 && !heals ? jump - 1 : 0;
	}
	v[COUNTER_blocks_missing] += heals ? 0 : left;
	s->message.changes += left || jump > 1;
}

/* ---- incomplete blocks ---- */

/* Counts the block of the numbers from .. end - 1: a packet of it is missing. Remembers it, if it is not too long. */
roce_inline void block_add(struct roce_stream *s, __u64 from, __u64 end)
{
	struct roce_blocks *b = &s->blocks;

	s->message.changes++;
	s->counters.value[COUNTER_blocks_incomplete]++;
	if (end - from > 65535)
		return;
	for (int i = BLOCKS_OPEN - 1; i; i--) {
		b->from[i] = b->from[i - 1];
		b->packets[i] = b->packets[i - 1];
	}
	b->from[0] = from & PSN_MASK;
	b->packets[0] = end - from;
}

/* Takes an incomplete block from those that are remembered. */
roce_inline void block_remove(struct roce_stream *s, __u32 at)
{
	struct roce_blocks *b = &s->blocks;

	s->message.changes++;
	s->counters.value[COUNTER_blocks_incomplete]--;
	for (__u32 i = 0; i < BLOCKS_OPEN - 1; i++) {
		if (i < at)
			continue;
		b->from[i] = b->from[i + 1];
		b->packets[i] = b->packets[i + 1];
	}
	b->packets[BLOCKS_OPEN - 1] = 0;
}

/* Which remembered block the PSN belongs to; BLOCKS_OPEN: none. */
roce_inline __u32 block_find(struct roce_blocks *b, __u32 psn)
{
	b->at = BLOCKS_OPEN;
	for (__u32 i = 0; i < BLOCKS_OPEN; i++)
		if (((psn - b->from[i]) & PSN_MASK) < b->packets[i])
			b->at = i;
	return b->at;
}

/* The numbers from .. end - 1 of the remembered block. false: there is none at this place. */
roce_inline bool block_range(const struct roce_stream *s, __u32 at, __u64 *from, __u64 *end)
{
	roce_opaque(at);
	if (at >= BLOCKS_OPEN)
		return false;
	*from = block_number(s, s->blocks.from[at]);
	*end = *from + s->blocks.packets[at];
	return true;
}

/* ---- packets ---- */

/* Whether the packet with this PSN was seen, as far as the windows reach. */
roce_inline bool block_has_come(struct roce_stream *s, __u32 psn)
{
	__u64 number = block_number(s, psn);

	return (__s64)(s->psn.next - number) > 0 && !psn_lacks(&s->psn, number, number + 1);
}

/* A missing packet has come. */
roce_inline void block_heal(struct roce_stream *s, __u32 psn)
{
	__u32 at = block_find(&s->blocks, psn);
	__u64 from, end;

	if (block_range(s, at, &from, &end) && !psn_lacks(&s->psn, from, end))
		block_remove(s, at);
}

/*
 * Where the block that ends with `number` begins. left: values left out since the last block, which ended before `begun`; not 0. If
 * all of them can be equally long, they are; otherwise what is missing belongs to those that were left out.
 */
roce_inline __u64 block_from(struct roce_stream *s, __u64 begun, __u64 number, __u64 left)
{
	__u64 packets = number + 1 - begun, span = packets / (left + 1);

	s->blocks.span = s->blocks.shared || packets % (left + 1) || span > 65535 ? 0 : span;
	return number + 1 - (s->blocks.span ?: 1);
}

/* Immediate data behind all that was seen, or late but before the next one. psn: of the packet that has it. */
roce_inline void block_ends(struct roce_stream *s, const struct roce_packet *p, __u32 psn, enum block_how how, bool late)
{
	bool check = s->message.counts & BLOCK_CHECK, reliable = stream_is_reliable(p), begun = s->message.begin & BLOCK_BEGUN;
	__u64 number = block_number(s, psn), from = begun ? block_number(s, s->message.begin) : s->psn.begin;
	__s64 values = block_counts(s) ? block_round(s, p, block_values(s, p, false), number + 1 - from) : BLOCK_NO_VALUE;
	struct roce_blocks *b = &s->blocks;
	bool lacks = how == BLOCK_BEYOND;
	__u64 packets;
	__u32 at;

	block_follow(s, p);
	if (block_counts(s) && !begun) { /* another sequence */
		b->missing = 0;
		values = block_anew(s, p);
		b->judged |= !values;
	}
	if (values == BLOCK_NO_VALUE)
		values = block_learn(s, p);
	block_count_values(s, p, values, reliable && check);
	s->counters.value[COUNTER_blocks] += values != 0;
	b->shared |= !values && !p->imm.slots;
	b->judged &= !values;
	if (begun && values != BLOCK_NO_VALUE && values > 1)
		from = block_from(s, from, number, values - 1);
	if (how == BLOCK_TAKEN && check && !reliable)
		lacks = psn_lacks(&s->psn, from, number + 1);
	at = values ? BLOCKS_OPEN : block_find(b, from - 1);
	roce_opaque(at);
	if (at < BLOCKS_OPEN) {
		packets = number + 1 - from + b->packets[at]; /* one more message of an incomplete block */
		b->packets[at] = packets & psn_before(packets, 65536);
		b->judged = !b->packets[at];
	} else if (lacks && (__s64)(number - from) > 0 && !b->judged) {
		block_add(s, from, number + 1);
		b->judged = number + 1 - from > 65535;
	}
	if (p->imm.slots && begun && values == 1 && !lacks && !late && number + 1 - from <= 65535)
		s->ring.span = number + 1 - from;
	s->message.immediate = b->newest = block_value(p);
	s->message.begin = how == BLOCK_ELSEWHERE ? 0 : block_begin_behind(psn);
	if (!late && how == BLOCK_TAKEN)
		s->message.counts = (s->message.counts & ~BLOCK_CHECK) | (b->behind ? BLOCK_CHECK : 0);
}

/* Late immediate data, before the newest. psn: of the packet that has it. */
roce_inline void block_ends_late(struct roce_stream *s, const struct roce_packet *p, __u32 psn)
{
	__u64 number = block_number(s, psn), newest = block_number(s, s->message.begin), from, end, bit = 0, *v = s->counters.value;
	__s64 values = block_counts(s) ? block_round(s, p, block_values(s, p, true), newest - 1 - number) : BLOCK_NO_VALUE;
	struct roce_blocks *b = &s->blocks;
	__u32 at;

	block_follow(s, p);
	if (values >= 1 && values <= 64)
		bit = 1ull << (values - 1);
	if (!values || (bit && !(b->missing & bit))) { /* one more message of a block that has come */
		block_heal(s, psn);
		return;
	}
	v[COUNTER_blocks]++;
	b->missing &= ~bit;
	if (stream_is_reliable(p))
		return;
	v[COUNTER_blocks_missing] -= bit && v[COUNTER_blocks_missing];
	at = block_find(b, psn);
	if (block_range(s, at, &from, &end)) { /* two blocks seemed to be one */
		block_remove(s, at);
		if (psn_lacks(&s->psn, number + 1, end))
			block_add(s, number + 1, end);
	} else {
		from = number + 1 - (b->span ?: 1);
	}
	if (psn_lacks(&s->psn, from, number + 1))
		block_add(s, from, number + 1);
}

/* Takes a packet, if it was new on the wire. Call it after the stream has taken the packet. */
roce_rare stream_block(struct roce_stream *s, const struct roce_packet *p, __u32 how)
{
	__u32 begin, psn;
	bool late;

	if (!s || !p)
		return 0;
	late = how == BLOCK_TAKEN && ((p->number + 1) & PSN_MASK) != (s->psn.next & PSN_MASK);
	begin = s->message.begin;
	psn = p->number;
	if (late && !s->psn.found)
		return 0; /* it was seen before, or nobody knows */
	if (!(p->op & OP_IMMDT)) {
		if (late)
			block_heal(s, psn);
		psn = p->ends;
		if (!late || !(p->op & OP_SLOT) || !block_has_come(s, psn))
			return 0;
	}
	if (begin == block_begin_behind(psn))
		return 0; /* the newest one again */
	if (late && begin && psn_distance(begin & PSN_MASK, psn) < 0)
		block_ends_late(s, p, psn);
	else
		block_ends(s, p, psn, how, late);
	return 0;
}

#endif
