/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events of one packet. roce/event/find_events.h finds them. */
#ifndef ROCE_EVENT_EVENT_H
#define ROCE_EVENT_EVENT_H

#include "roce/stream/stream.h"

enum roce_event_kind {
#define EVENT(name, ...) EVENT_##name,
#include "roce/event/event.def"
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
#include "roce/event/event.def"
#undef EVENT
};

/* The counters that show events. */
enum event_counter {
#define EVENT(...)
#define EVENT_OF(name, counter, ...) BEFORE_##counter,
#include "roce/event/event.def"
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

#endif
