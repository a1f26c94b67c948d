/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The section "Messages" of docs/rules.md for UC. It follows two things. The receiver has at most one message open, and drops
 * packets that do not continue it (IBTA 9.8.2.2). The newest message has the packet farthest in the sequence; it may be broken
 * for the receiver, but counts once.
 */
#ifndef USERSPACE_TRAFFIC_SEND_TRUTH_UC_H
#define USERSPACE_TRAFFIC_SEND_TRUTH_UC_H

#include "roce/packet/opcode.h"
#include "userspace/traffic/send/truth_psn.h"

struct truth_uc {
	/* state of the receiver */
	bool open;
	bool only_first; /* only its First has come */
	bool late;	 /* that First came late: if the message breaks, it was counted when its PSNs were skipped */
	uint32_t expected; /* PSN */
	/* the newest message */
	bool unended;	 /* neither its Last nor an Only has come; if it is not the open message, it is broken and counted */
	uint64_t first;	 /* position of its First */
	uint64_t more;	 /* how many packets follow the First; UINT64_MAX: unknown */
	uint64_t messages, broken;
};

struct truth_part {
	uint32_t op;	 /* roce_opcodes[] */
	uint32_t psn;
	uint64_t position;
	uint64_t newest; /* position of the packet farthest in the sequence */
	enum arrival arrival;
	uint32_t dma_length, payload_bytes;
};

/* Call it for the first packet of a stream. */
void truth_uc_start(struct truth_uc *u);
/* PSNs that seemed to be late are another sequence: the open message is the newest. */
void truth_uc_restart(struct truth_uc *u);
void truth_uc_first(struct truth_uc *u, const struct truth_part *p);
void truth_uc_mismatch(struct truth_uc *u, const struct truth_part *p);

static inline void truth_uc_take(struct truth_uc *u, const struct truth_part *p)
{
	if (p->op & OP_FIRST) {
		truth_uc_first(u, p);
	} else if (!u->open || p->psn != u->expected) {
		truth_uc_mismatch(u, p);
	} else {
		u->expected = (u->expected + 1) & TRUTH_PSN_MASK;
		u->only_first = false;
		u->open = !(p->op & OP_LAST);
		u->messages += !u->open;
		if (!u->late || p->arrival == IN_ORDER)
			u->unended = u->open;
	}
}

#endif
