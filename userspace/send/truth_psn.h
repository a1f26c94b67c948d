/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The section "PSNs" of docs/rules.md: a stream's PSNs as positions that never wrap, and the ranges of missing ones. */
#ifndef USERSPACE_SEND_TRUTH_PSN_H
#define USERSPACE_SEND_TRUTH_PSN_H

#include <stdbool.h>
#include <stdint.h>

#define TRUTH_PSN_MASK 0xffffff

/* How a packet's PSN relates to the PSNs before it. */
enum arrival {
	IN_ORDER,
	AFTER_GAP,
	RECOVERED, /* was skipped before */
	AGAIN,
	ELSEWHERE, /* a resync */
};

struct psn_range {
	uint64_t begin, end; /* positions; end: the first one after the range */
};

struct truth_psn {
	uint64_t next; /* position of the expected PSN; its low 24 bits are that PSN */
	uint64_t gaps, skipped, recovered, duplicates, resyncs;
	struct psn_range *missing; /* oldest first: [first .. first + count - 1] */
	uint32_t first, count, room;
	uint32_t stepped; /* the last positions before `next`, so many, are those of unknown opcodes */
};

/* Forgets the missing PSNs and starts at this PSN. The caller resets the figures. */
void truth_psn_start(struct truth_psn *s, uint32_t psn);

/*
 * Handles a PSN that is not the expected one. free_jump: a jump forward is no loss. reliable: old PSNs are retransmissions.
 * Sets *position to the packet's position.
 */
enum arrival truth_psn_jump(struct truth_psn *s, uint32_t psn, bool free_jump, bool reliable, uint64_t *position);

/* A packet with an unknown opcode: takes the expected PSN, until a known packet comes with it. */
static inline void truth_psn_step(struct truth_psn *s, uint32_t psn)
{
	if (psn != (s->next & TRUTH_PSN_MASK))
		return;
	s->next++;
	s->stepped++;
}

static inline enum arrival truth_psn_take(struct truth_psn *s, uint32_t psn, bool free_jump, bool reliable, uint64_t *position)
{
	uint32_t behind = (s->next - psn) & TRUTH_PSN_MASK;

	if (behind && behind <= s->stepped)
		s->next -= behind;
	if (behind <= s->stepped || behind > TRUTH_PSN_MASK / 2)
		s->stepped = 0;
	if (psn == (s->next & TRUTH_PSN_MASK)) {
		*position = s->next++;
		return IN_ORDER;
	}
	return truth_psn_jump(s, psn, free_jump, reliable, position);
}

#endif
