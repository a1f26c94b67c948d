/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of one packet. They are derived by comparing the stream's counters before and after roce_observe(). Callers that do
 * not need events pay nothing.
 */
#ifndef ROCE_EVENT_H
#define ROCE_EVENT_H

#include "roce/observe.h"

enum roce_event_kind {
#define EVENT(name, ...) EVENT_##name,
#include "roce/event.def"
#undef EVENT
	ROCE_EVENTS
};

#define ROCE_EVENT(name) (1u << EVENT_##name)
_Static_assert(ROCE_EVENTS <= 32 && ROCE_LINTS <= 32, "sets of them are words");

/* Events of sequence, messages and blocks: that of a packet that waits, and those of counters, which see roce_before. */
enum {
	ROCE_EVENTS_OF_SEQUENCE = ROCE_EVENT(psn_stray)
#define EVENT(...)
#define EVENT_OF(name, ...) | ROCE_EVENT(name)
#include "roce/event.def"
#undef EVENT
};

/* The counters that show events. */
enum event_counter {
#define EVENT(...)
#define EVENT_OF(name, counter, ...) BEFORE_##counter,
#include "roce/event.def"
#undef EVENT
	EVENT_COUNTERS
};

#define EVENT_NO_PSN 0xffffffffu

/* A stream before the packet. */
struct roce_before {
	__u64 counter[EVENT_COUNTERS]; /* enum event_counter */
	__u32 lint[ROCE_LINTS];
	__u32 expected; /* PSN, or EVENT_NO_PSN */
	__u32 trusted; /* also set if trust returns with this packet and keeps the counters */
	__u32 waited;
	__u32 changes; /* of the stream's messages: while they stay the same, there is no event but those of the packet */
};

struct roce_event {
	__u32 kinds;	/* ROCE_EVENT() of each; 0: nothing */
	__u32 lints;	/* 1 << LINT_* of each; habits as well, which alone are no event */
	__u32 expected; /* PSN expected before the packet, EVENT_NO_PSN: none. Used for kinds of reason psn, valid for all */
	__u32 seen;	/* the packet's PSN */
	__u32 skipped;	/* psn_gap: number of PSNs */
	__u32 recovered; /* psn_recovered: number of PSNs; a READ can recover several */
	__u32 broken;	/* message_broken: number of messages */
	__u32 imm_skipped; /* imm_gap: number of values */
	__u32 imm_expected; /* imm_gap: the first of them */
	__u32 imm_seen;	/* imm_gap, block_incomplete: the counter's value in the packet's immediate data */
	__u32 ring; /* these are slots of a ring */
};

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
roce_inline void roce_look(const struct roce_stream *s, struct roce_before *b)
{
#define EVENT(...)
#define EVENT_OF(name, from, ...) b->counter[BEFORE_##from] = s->counters.value[COUNTER_##from];
#include "roce/event.def"
#undef EVENT
	for (__u32 i = 0; i < ROCE_LINTS; i++)
		b->lint[i] = s->lint[i];
	b->waited = s->waited;
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
 * Whether to call roce_find_events() after a packet. changes: of the last roce_look(). kinds: from roce_packet_events().
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
	__u64 moved = s->waited ^ b->waited, keep;
	__u32 lints = 0, habits = 0;

#define EVENT(...)
#define EVENT_OF(name, from, ...)                                                          \
	moved |= s->counters.value[COUNTER_##from] ^ b->counter[BEFORE_##from];            \
	event_step(moved);
#include "roce/event.def"
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
#include "roce/event.def"
#undef EVENT
#undef EVENT_SINCE
	kinds |= event_rose(lints & ~habits, 0) << EVENT_lint;
	kinds |= event_rose(s->waited, b->waited) << EVENT_psn_stray;
	e->kinds = kinds;
	return kinds;
}

#endif
