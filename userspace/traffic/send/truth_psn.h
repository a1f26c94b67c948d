/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The section "PSNs" of docs/rules.md: a stream's PSNs as positions that never wrap, and the ranges of missing ones. */
#ifndef USERSPACE_TRAFFIC_SEND_TRUTH_PSN_H
#define USERSPACE_TRAFFIC_SEND_TRUTH_PSN_H

#include <stdbool.h>
#include <stdint.h>

#define TRUTH_PSN_MASK 0xffffff

/* How a packet's PSN relates to the PSNs before it. */
enum arrival {
	IN_ORDER,
	AFTER_GAP,
	RECOVERED, /* was skipped before */
	AGAIN,	   /* seen before, or too old to know */
	ELSEWHERE, /* not near the others: it may be of another sequence */
};

/* What the rules need of a packet. */
struct psn_packet {
	uint32_t psn;
	uint32_t what; /* differs between different packets */
	bool free_jump; /* a response that begins: a jump forward is no loss */
	bool reliable, response;
	bool begins, ends; /* a message */
};

struct psn_range {
	uint64_t begin, end; /* positions; end: the first one after the range */
};

/* Packets that may be of another sequence. They are judged again if they are. */
struct psn_probation {
	enum { NO_PROBATION, AFTER_LARGE_GAP, FAR_AWAY, SEEN_BEFORE } kind;
	uint64_t *position;
	struct psn_packet *packet;
	uint32_t count, room;
	uint32_t row;	 /* the last ones, so many, follow each other */
	uint64_t next;	 /* the position that continues it */
	bool differs;	 /* a packet differs from the one that had its PSN before */
	bool interleaved; /* it continues the other sequence */
};

#define PSN_SAMPLES 8

struct truth_psn {
	uint64_t next; /* position of the expected PSN; its low 24 bits are that PSN */
	uint64_t begin; /* position of the first PSN */
	uint64_t gaps, skipped, recovered, duplicates, unknown, resyncs, strays, interleaved;
	uint64_t messages; /* completed by packets that were new; not for UC */
	struct psn_range *missing; /* oldest first: [first .. first + count - 1] */
	uint32_t first, count, room;
	uint64_t unknown_before; /* what was missing before this position is forgotten */
	uint32_t unknown_psns; /* the last positions before `next`, so many, are those of unknown opcodes */
	struct psn_probation probation;
	bool restarted; /* the last packet proved another sequence, ... */
	bool by_run;	/* ... by PSNs that had been seen */
	/* another sequence that was left, or came between */
	bool has_interleaved;
	uint64_t interleaved_next;
	uint32_t alternations;
	/* of reliable services: position and `what` of some packets */
	struct { uint64_t position; uint32_t what; bool set; } sample[PSN_SAMPLES];
};

/* Forgets the missing PSNs and starts at this PSN. The caller resets the figures. */
void truth_psn_start(struct truth_psn *s, uint32_t psn);

/* Takes a packet that is not simply the next one. */
enum arrival truth_psn_judge(struct truth_psn *s, const struct psn_packet *p, uint64_t *position);

void truth_psn_free(struct truth_psn *s);

/* A packet with an unknown opcode: takes the expected PSN, until a known packet comes with it. */
static inline void truth_psn_step(struct truth_psn *s, uint32_t psn)
{
	if (psn != (s->next & TRUTH_PSN_MASK))
		return;
	s->next++;
	s->unknown_psns++;
}

/* Sets *position to the packet's position. */
static inline enum arrival truth_psn_take(struct truth_psn *s, const struct psn_packet *p, uint64_t *position)
{
	s->restarted = false;
	if (p->psn != (s->next & TRUTH_PSN_MASK) || s->unknown_psns || s->probation.kind != NO_PROBATION ||
	    s->next % 256 == 0 || s->next == s->begin)
		return truth_psn_judge(s, p, position);
	*position = s->next++;
	s->messages += p->ends;
	return IN_ORDER;
}

#endif
