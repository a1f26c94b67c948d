/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What goes wrong: which packets (exact, periodic, or at random with a seed), and how. A fault without at, every and p hits
 * every packet (message) of its QPs. Faults that lose, repeat, delay or damage packets (drop, duplicate, reorder, corrupt) need
 * one of the three.
 */
#ifndef USERSPACE_TRAFFIC_SEND_FAULT_H
#define USERSPACE_TRAFFIC_SEND_FAULT_H

#include "userspace/traffic/send/packet.h"
#include "userspace/traffic/send/plan.h"

/* The stage at which a fault is applied. */
enum fault_stage {
	FAULT_LEAVE,   /* whether and when the packet leaves; applied by the planner */
	FAULT_PACKET,  /* the packet's fields, before the headers are composed: PSN mistakes, grammar, wrong lengths */
	FAULT_FRAME,   /* the frame's bytes, before the ICRC is computed */
	FAULT_ICRC,    /* how the ICRC is computed */
	FAULT_AFTER,   /* the frame's bytes, after the ICRC is computed */
};

/* What at, every and p count: packets of a QP, or its messages. In each message one packet is hit. */
enum fault_unit {
	UNIT_PACKETS,
	UNIT_BEGINS,  /* the message's First or Only */
	UNIT_ENDS,    /* the message's Last or Only */
	UNIT_FIRSTS,  /* the message's First, not an Only */
	UNIT_MIDDLES, /* the message's first Middle */
	UNIT_LASTS,   /* the message's Last, not an Only */
};

enum fault_kind {
#define FAULT(name, unit, stage, needs, keys, words) FAULT_##name,
#include "userspace/traffic/send/fault.def"
#undef FAULT
	FAULT_KINDS
};

struct send_fault {
	enum fault_kind kind;
	double p;	       /* 0: not at random */
	uint64_t every, at;    /* 0: not given; packets of a QP are counted from 1 */
	int64_t qp;	       /* index; -1: all QPs */
	uint32_t by, by_most;  /* reorder, duplicate: packets of the same QP */
	uint64_t value;	       /* meaning depends on the kind */
	bool has_value;
	/* corrupt: bits from `bit` of byte `byte`; burst: number of consecutive bits; -1: drawn at random */
	int64_t byte, bit;
	uint32_t burst;
	enum { WHERE_PAYLOAD_OR_ICRC, WHERE_PAYLOAD, WHERE_ICRC, WHERE_HEADERS, WHERE_ANYWHERE } where;

	uint64_t countdown;    /* p: packets until the next hit */
	uint64_t hits;	       /* packets that it was applied to */
};

/*
 * Parses --fault KIND:KEY=VALUE,... and adds it to plan->faults. Returns NULL, or the error without a full stop, valid until
 * the next call.
 */
const char *fault_parse(struct send_plan *plan, const char *text);

/*
 * Checks that the complete plan can have its faults: for example a QP of that index, or a RETH for a mistake in it. Returns
 * NULL, or the error as above.
 */
const char *fault_check(const struct send_plan *plan);

enum fault_stage fault_stage(enum fault_kind kind);
const char *fault_name(enum fault_kind kind);

/* Prints the list for --help, one line per fault. */
void fault_help(void);

/*
 * Whether the fault counts this packet: a packet of its QP and, for faults in messages, the packet of the message that is hit.
 * Then sets *number to the number, from 1, that at and every are compared with. Call it before any fault has changed the
 * packet.
 */
bool fault_concerns(const struct send_fault *f, const struct send_packet *p, uint64_t *number);

/* For a fault with p: the number of packets (as fault_concerns() counts them) from the last hit to the next, at least 1. */
uint64_t fault_draw(const struct send_fault *f, uint64_t *random);

/* The most bytes by which the fault can make a frame longer than the longest frame without faults. */
uint32_t fault_growth(const struct send_fault *f, const struct send_plan *plan);

/*
 * Stage FAULT_PACKET. A change to p->psn affects only this packet; a change to p->qp->psn affects all later ones. The packet
 * takes its usual share of the message, whatever its payload_bytes become. Returns false if the packet is not made at all (and
 * takes no PSN).
 */
bool fault_packet(const struct send_fault *f, const struct send_plan *plan, struct send_packet *p);

/* Stages FAULT_FRAME and FAULT_ICRC, before frame_seal(). */
void fault_frame(const struct send_fault *f, const struct send_packet *p, struct send_frame *frame);

/* Stage FAULT_AFTER. */
void fault_after(const struct send_fault *f, struct send_frame *frame, uint64_t *random);

/* The next number of the sequence (xorshift64*). *state must not be 0. */
static inline uint64_t fault_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

/* ---- fault.def as a table ---- */

/* What a fault needs in the plan. */
enum {
	NEEDS_IPV4 = 1 << 0,
	NEEDS_IPV6 = 1 << 1,
	NEEDS_PAD = 1 << 2,	  /* payload that is not a multiple of 4 */
	NEEDS_RETH = 1 << 3,
	NEEDS_IMM = 1 << 4,
	NEEDS_REQUEST = 1 << 5,	  /* UC or RC */
	NEEDS_CONNECTED = 1 << 6, /* no datagrams */
};

struct fault_row {
	const char *name; /* with _ for - */
	enum fault_unit unit;
	enum fault_stage stage;
	unsigned int needs;
	const char *keys;
};

extern const struct fault_row fault_rows[FAULT_KINDS];

#endif
