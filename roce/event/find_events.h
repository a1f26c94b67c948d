/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the events of a packet by comparing the stream's counters before and after roce_observe(). Callers that do not need events
 * pay nothing.
 */
#ifndef ROCE_EVENT_FIND_EVENTS_H
#define ROCE_EVENT_FIND_EVENTS_H

#include "roce/event/event.h"
#include "roce/sequence/block.h"

/* The PSN the stream expects, or EVENT_NO_PSN. */
roce_inline __u32 event_expected(const struct roce_stream *s)
{
	return s->met ? s->psn.next & PSN_MASK : EVENT_NO_PSN;
}

roce_inline __u32 event_trusted(const struct roce_stream *s)
{
	return s->trusted | s->mistrusted;
}

/*
 * Call before roce_observe(), under the same guard. A caller that keeps *b need not look before each packet, but again when
 * roce_may_have_events() holds after one.
 */
roce_inline void roce_save(const struct roce_stream *s, struct roce_before *b)
{
#define EVENT(...)
#define EVENT_OF(name, from, ...) b->counter[BEFORE_##from] = s->counters.value[COUNTER_##from];
#include "roce/event/event.def"
#undef EVENT
	for (__u32 i = 0; i < ROCE_LINTS; i++)
		b->lint[i] = s->lint[i];
	b->waited = s->sequence.waited;
	b->changes = s->message.changes;
	b->expected = event_expected(s);
	b->trusted = event_trusted(s);
}

/* BPF reads one after the other: its stack cannot hold all. User space is faster with several at a time. */
#ifdef __bpf__
#define event_step(x) roce_opaque(x)
#else
#define event_step(x)
#endif

/*
 * Whether to call roce_find_events() after a packet. changes: of the last roce_save(). kinds: from roce_packet_events().
 * trusted: event_trusted() before the packet.
 */
roce_inline bool roce_may_have_events(const struct roce_stream *s, __u32 changes, __u32 kinds, __u32 trusted)
{
	return kinds || s->message.changes != changes || (s->trusted && !trusted);
}

/* Events of the packet itself. Also for packets without a stream, or not whole. */
roce_inline __u32 roce_packet_events(const struct roce_packet *p, enum icrc_verdict icrc)
{
	__u32 kinds = 0;

	if (p->kind == ROCE_MALFORMED)
		return ROCE_EVENT(malformed);
	if (p->kind == ROCE_FRAGMENT)
		return ROCE_EVENT(ip_fragment);
	if (p->kind != ROCE_PACKET)
		return 0;
	if (icrc == ICRC_BAD)
		return ROCE_EVENT(icrc_bad);
	kinds |= p->length_wrong * ROCE_EVENT(malformed);
	if (!p->op)
		kinds |= ROCE_EVENT(unknown_opcode);
	if (p->op & OP_CNP)
		kinds |= ROCE_EVENT(cnp);
	if ((p->tos & 3) == 3)
		kinds |= ROCE_EVENT(ecn_ce);
	if (p->op & OP_ACK && (p->syndrome >> 5 & 3) == 1)
		kinds |= ROCE_EVENT(rnr_nak);
	if (p->op & OP_ACK && (p->syndrome >> 5 & 3) == 3)
		kinds |= ROCE_EVENT(nak);
	return kinds;
}

/* 1 if now > before, else 0. Without a branch: the BPF verifier could not follow that many. */
roce_inline __u32 event_rose(__u32 now, __u32 before)
{
	__u64 difference = (__u64)before - now;

	roce_opaque(difference);
	return difference >> 63;
}

/* 1 if a counter rose by so much, 0 if it fell or stayed: blocks_incomplete may fall. */
roce_inline __u32 event_rises(__u32 by)
{
	__u64 difference = -(__s64)(__s32)by;

	roce_opaque(difference);
	return difference >> 63;
}

/*
 * Call after roce_observe(), still under the guard. kinds: from roce_packet_events(). Returns whether there is any event; if
 * not, only e->kinds is set.
 */
roce_inline bool roce_find_events(const struct roce_stream *s, const struct roce_before *b, const struct roce_packet *p,
				  __u32 kinds, struct roce_event *e)
{
	__u64 moved = s->sequence.waited ^ b->waited, keep;
	__u32 lints = 0, habits = 0;

#define EVENT(...)
#define EVENT_OF(name, from, ...)                                                          \
	moved |= s->counters.value[COUNTER_##from] ^ b->counter[BEFORE_##from];            \
	event_step(moved);
#include "roce/event/event.def"
#undef EVENT
	for (__u32 i = 0; i < ROCE_LINTS; i++) {
		moved |= s->lint[i] ^ b->lint[i];
		event_step(moved);
	}
	e->kinds = kinds;
	if (!moved && !kinds)
		return false;
	keep = s->trusted && !b->trusted ? 0 : ~0ull;
	roce_opaque(keep);
	for (__u32 i = 0; i < ROCE_LINTS; i++) {
		lints |= event_rose(s->lint[i], b->lint[i] & keep) << i;
		roce_reload();
	}
	e->lints = lints;
	for (__u32 i = 0; i < ROCE_LINTS; i++)
		if (LINT_HABITS >> i & 1)
			habits |= stream_is_habit(s, i) << i;
	e->expected = b->expected;
	e->seen = p->number;
/* By how much a counter has risen. All of it, if the first good ICRC has reset the counters. */
#define EVENT_SINCE(from) (s->counters.value[COUNTER_##from] - (b->counter[BEFORE_##from] & keep))
	e->skipped = EVENT_SINCE(psn_skipped);
	e->recovered = EVENT_SINCE(psn_recovered);
	e->broken = EVENT_SINCE(messages_broken);
	e->imm_skipped = EVENT_SINCE(imm_skipped);
	e->imm_seen = p->immediate >> (p->imm.shift & 31) & ~p->imm.outside; /* not told to a packet that no stream took */
	e->ring = (p->op & OP_RING) / OP_RING;
	e->imm_expected = block_back(s, p, e->imm_seen, e->imm_skipped);
#define EVENT(...)
#define EVENT_OF(name, from, ...) kinds |= event_rises(EVENT_SINCE(from)) << EVENT_##name;
#include "roce/event/event.def"
#undef EVENT
#undef EVENT_SINCE
	kinds |= event_rose(lints & ~habits, 0) << EVENT_lint;
	kinds |= event_rose(s->sequence.waited, b->waited) << EVENT_psn_stray;
	e->kinds = kinds;
	return kinds;
}

#endif
