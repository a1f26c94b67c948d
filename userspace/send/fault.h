/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is to go wrong: which packets (exact, periodic, at random with a seed), and how. A fault with neither at, every nor p
 * is in every packet (message) of its QPs; one that loses, repeats, delays or damages packets (drop, duplicate, reorder,
 * corrupt) needs one of them.
 */
#ifndef USERSPACE_SEND_FAULT_H
#define USERSPACE_SEND_FAULT_H

#include "userspace/send/packet.h"
#include "userspace/send/plan.h"

/* When a fault is applied. */
enum fault_stage {
	FAULT_LEAVE,   /* whether and when the packet leaves: the planner's */
	FAULT_PACKET,  /* its fields, before headers are made: PSN mistakes, grammar, wrong lengths */
	FAULT_FRAME,   /* its bytes; the ICRC is made right for them afterwards */
	FAULT_ICRC,    /* how the ICRC is computed */
	FAULT_AFTER,   /* its bytes, the ICRC included, when that is there */
};

/* What at, every and p of a fault count: packets of a QP, or its messages, of each of which one packet is hit. */
enum fault_unit {
	UNIT_PACKETS,
	UNIT_BEGINS,  /* the message's First or Only */
	UNIT_ENDS,    /* its Last or Only */
	UNIT_FIRSTS,  /* its First, not an Only */
	UNIT_MIDDLES, /* its first Middle */
	UNIT_LASTS,   /* its Last, not an Only */
};

enum fault_kind {
#define FAULT(name, unit, stage, needs, keys, words) FAULT_##name,
#include "userspace/send/fault.def"
#undef FAULT
	FAULT_KINDS
};

struct fault {
	enum fault_kind kind;
	double p;	       /* 0: not at random */
	uint64_t every, at;    /* 0: not given; packets of a QP are counted from 1 */
	int64_t qp;	       /* index; -1: all of them */
	uint32_t by, by_most;  /* packets of the same QP: reorder, duplicate */
	uint64_t value;	       /* what the kind needs */
	bool has_value;
	/* corrupt: bits from `bit` of byte `byte`; burst: so many in a row; -1: drawn at random */
	int64_t byte, bit;
	uint32_t burst;
	enum { WHERE_PAYLOAD_OR_ICRC, WHERE_PAYLOAD, WHERE_ICRC, WHERE_HEADERS, WHERE_ANYWHERE } where;

	uint64_t countdown;    /* p: packets until the next one */
	uint64_t hits;	       /* packets it was applied to */
};

/*
 * --fault KIND:KEY=VALUE,...: adds to plan->faults. NULL, or what is wrong in words, without a full stop, valid until the next
 * call.
 */
const char *fault_parse(struct plan *plan, const char *text);

/*
 * Whether the plan, once it is complete, can have its faults at all: a QP of that index, a RETH for a mistake in it. NULL,
 * or what is wrong, as above.
 */
const char *fault_check(const struct plan *plan);

enum fault_stage fault_stage(enum fault_kind kind);
const char *fault_name(enum fault_kind kind);

/* The list for --help: a line each. */
void fault_help(void);

/*
 * Whether the packet is one that the fault counts: of its QP and, for mistakes in messages, the packet of the message that they
 * hit. Then *number is what at and every compare with, from 1. To be asked before any fault changed the packet.
 */
bool fault_concerns(const struct fault *f, const struct packet *p, uint64_t *number);

/* Of a fault with p: so many packets (as fault_concerns() counts them) from the last one hit to the next, at least 1. */
uint64_t fault_draw(const struct fault *f, uint64_t *random);

/* Bytes by which it can make a frame longer than the plan's longest without faults. */
uint32_t fault_growth(const struct fault *f, const struct plan *plan);

/*
 * Stage FAULT_PACKET. What it does to p->psn is this packet's only; to p->qp->psn, the next one's, it lasts. The packet takes
 * its usual share of the message, whatever becomes of payload_bytes. Returns false if the packet is not to be made at all
 * (and takes no PSN).
 */
bool fault_packet(const struct fault *f, const struct plan *plan, struct packet *p);

/* Stages FAULT_FRAME and FAULT_ICRC, before frame_seal(). */
void fault_frame(const struct fault *f, const struct packet *p, struct frame *frame);

/* Stage FAULT_AFTER. */
void fault_after(const struct fault *f, struct frame *frame, uint64_t *random);

/* The next number of a sequence (xorshift64*): *state is not 0. */
static inline uint64_t fault_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

#endif
