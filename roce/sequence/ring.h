/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A ring of slots, which a sender writes one after the other (docs/rules.md): the address of the message that ends a slot counts
 * blocks as immediate data does elsewhere. Where the ring is not told, each message is a slot, and addresses that step by the same
 * length tell how long it is; the first wrap tells how many there are.
 */
#ifndef ROCE_SEQUENCE_RING_H
#define ROCE_SEQUENCE_RING_H

#include "roce/sequence/block.h"

#define RING_NONE (~0u)
#define RING_BACK (1u << 24) /* the number of the first slot that is learnt: so many may lie before it in memory */

roce_inline __u64 ring_bytes(const struct roce_ring *r)
{
	return (__u64)r->slot * r->slots;
}

/* Whether the monitor before this one was told another ring (--pin). */
roce_inline bool ring_is_other(const struct roce_ring_state *r, const struct roce_ring *told)
{
	__u64 differs = (r->ring.start ^ told->start) | (r->ring.slot ^ told->slot) | (r->ring.slots ^ told->slots);

	return r->row == RING_TOLD ? differs : told->slot;
}

/* The slot that ends with the message, or RING_NONE. */
roce_inline __u32 ring_slot(const struct roce_packet *p, const struct roce_ring_state *r)
{
	__u64 at = p->va - r->ring.start, bytes = ring_bytes(&r->ring), slot = r->ring.slot;

	if (!ring_is_known(r) || !slot)
		return RING_NONE;
	if (!ring_is_learnt(r))
		at = (at + p->dma_length) % bytes;
	return at % slot || (bytes && at >= bytes) || p->dma_length > slot ? RING_NONE : at / slot;
}

/* ---- learning ---- */

roce_inline void ring_forget(struct roce_stream *s)
{
	s->ring.row = 0;
	s->ring.ring.slots = 0;
	s->ring.span = 0;
	s->message.counts &= BLOCK_CHECK;
	s->message.immediate = s->blocks.newest = 0;
}

/* The ring goes round for the first time, after `slots`. */
roce_inline void ring_goes_round(struct roce_stream *s, const struct roce_packet *p, __u32 slots)
{
	struct roce_ring_state *r = &s->ring;
	__u32 before = (p->va - r->ring.start) / r->ring.slot;

	block_follow(s, p);
	s->message.immediate -= before;
	s->blocks.newest -= before;
	for (int i = 0; i < RING_MESSAGES; i++)
		r->message[i].slot -= r->message[i].slot == RING_NONE ? 0 : before;
	r->ring.start = p->va;
	r->ring.slots = slots;
}

/* A message that follows the one before directly, by its PSN. */
roce_inline void ring_learn(struct roce_stream *s, const struct roce_packet *p)
{
	struct roce_ring_state *r = &s->ring;
	__u64 on = p->va - s->last.va, slot = r->ring.slot, bytes = ring_bytes(&r->ring);
	bool ahead = slot && !(on % slot) && on < (bytes ?: 1ull << 63);

	if (!ring_is_learnt(r)) {
		if (slot && !(-on % slot) && -on / slot < RING_BACK)
			return; /* round, in a small ring */
		if (on != slot)
			r->row = 0;
		r->ring.slot = on < RING_NONE && on >= s->last.dma_length ? on : 0;
		r->row += r->ring.slot != 0;
		r->ring.start = p->va - slot * RING_BACK;
	} else if ((!bytes || p->va - r->ring.start < bytes) && (ahead || on == slot - bytes)) {
		return; /* the next slot, or a later one */
	} else if (!bytes && !(-on % slot) && -on / slot < RING_BACK) {
		ring_goes_round(s, p, -on / slot + 1);
	} else {
		ring_forget(s);
	}
}

/* ---- messages of several packets ---- */

roce_inline void ring_remember(struct roce_ring_state *r, __u32 slot)
{
	__u32 at = r->next++ % RING_MESSAGES;

	roce_opaque(at);
	if (at >= RING_MESSAGES)
		return;
	r->message[at].last = r->last;
	r->message[at].slot = slot;
}

/* The slot that this Last ends, or RING_NONE. */
roce_inline __u32 ring_recall(const struct roce_ring_state *r, __u32 psn)
{
	__u32 slot = RING_NONE;

	for (int i = 0; i < RING_MESSAGES; i++)
		if (r->message[i].last == (BLOCK_BEGUN | psn))
			slot = r->message[i].slot;
	return slot;
}

/* ---- packets ---- */

/* Takes the address of a WRITE. Returns the slot that ends with its message, or RING_NONE. */
roce_inline __u32 ring_address(struct roce_stream *s, struct roce_packet *p)
{
	struct roce_ring_state *r = &s->ring;
	__u32 more = 0, slot;

	if (!p->dma_length)
		return RING_NONE;
	if (r->row != RING_TOLD && r->last == (BLOCK_BEGUN | ((p->number - 1) & PSN_MASK)))
		ring_learn(s, p);
	slot = ring_slot(p, r);
	if (!(p->op & OP_LAST) && p->payload_bytes)
		more = (p->dma_length - 1) / p->payload_bytes;
	p->ends = (p->number + more) & PSN_MASK;
	r->last = BLOCK_BEGUN | p->ends;
	if (!(p->op & OP_LAST))
		ring_remember(r, slot);
	return slot;
}

/*
 * A packet with OP_RING: tells the functions of blocks what they would read in immediate data. Call it while roce_last still
 * describes the message before. A packet without: the monitor before this one was told of a ring, this one was not (--pin).
 */
roce_inline void ring_follow(struct roce_stream *s, struct roce_packet *p)
{
	__u32 slot = RING_NONE;

	if (!(p->op & OP_RING)) {
		block_change(s);
		return;
	}
	if (!s->by_ring || ring_is_other(&s->ring, &p->ring)) {
		block_change(s);
		s->by_ring = true;
		s->ring.ring = p->ring;
		s->ring.row = p->ring.slot ? RING_TOLD : 0;
	}
	if (p->op & OP_RETH)
		slot = ring_address(s, p);
	else if (p->op & OP_LAST)
		slot = ring_recall(&s->ring, p->number);
	p->imm = (struct roce_imm){ .step = ring_is_known(&s->ring), .slots = ring_is_known(&s->ring) ? s->ring.ring.slots : 0 };
	p->immediate = slot == RING_NONE ? 0 : slot;
	if (p->imm.slots && !s->ring.span)
		s->message.counts |= BLOCK_CHECK; /* block_ends() measures it */
	if (p->op & OP_LAST && (slot != RING_NONE || !p->imm.step))
		p->op |= OP_IMMDT;
	else if (p->op & OP_FIRST && slot != RING_NONE)
		p->op |= OP_SLOT;
}

/* Without all of its headers: where immediate data is one of them, nobody knows which values are left out. */
roce_inline void ring_cut(struct roce_stream *s, const struct roce_packet *p)
{
	if (roce_opcodes[p->opcode] & OP_IMMDT && !s->by_ring)
		block_change(s);
}

roce_rare stream_ring(struct roce_stream *s, struct roce_packet *p)
{
	if (s && p && p->op & OP_CUT)
		ring_cut(s, p);
	else if (s && p)
		ring_follow(s, p);
	return 0;
}

#endif
