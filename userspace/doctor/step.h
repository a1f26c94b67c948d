/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One packet that has a place in its stream's sequence, as the rules for PSNs, messages and loss see it. It waits until the
 * next one has come, since that tells whether its PSN was out of place.
 */
#ifndef USERSPACE_DOCTOR_STEP_H
#define USERSPACE_DOCTOR_STEP_H

#include "roce/event.h"

struct step {
	__u64 frame;
	struct roce_event event;
	__u32 psn;
	__u32 op; /* OP_* */
	__u32 content; /* a hash of what is not its PSN */
	__u32 payload;
	__u32 dma_length;
	__u32 immediate;
	__u8 opcode;
	__u8 service;
	bool apart;   /* the one before was not shown */
	bool damaged; /* its ICRC is wrong although the stream's are right */
};

/* How it follows the one before. */
enum psn_how {
	PSN_FIRST,     /* none was before it */
	PSN_FOLLOWS,
	PSN_LEAPS,     /* PSNs are left out before it */
	PSN_ELSEWHERE, /* late, again, or far away */
	PSN_TAKEN,     /* its PSN or itself is wrong, but the sequence goes on as if it had been the next, */
	PSN_RESUMES,   /* here: what the engine says of this packet's PSN is that one's fault */
};

#endif
