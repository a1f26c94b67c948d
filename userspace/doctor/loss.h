/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What of a stream is missing, late, or comes again. PSNs that are left out are held until the message around them has
 * ended: if it is whole nevertheless, no packet is missing, but the sender's PSN has leapt.
 */
#ifndef USERSPACE_DOCTOR_LOSS_H
#define USERSPACE_DOCTOR_LOSS_H

#include "userspace/doctor/sign.h"
#include "userspace/doctor/step.h"

struct loss_gap {
	__u64 frame;
	__u32 expected, seen, skipped;
};

/* Gaps that are not judged yet. */
struct loss_held {
	struct loss_gap gap[FINDING_EVIDENCE];
	__u64 gaps, skipped, largest;
};

struct loss {
	struct loss_held between, inside; /* before the open message's first packet, and behind it */
	__u64 gaps, skipped, largest;
	__u64 recovered, again, jumps;
	__u32 late; /* PSN + 1 of the packet before, if that came late; 0: it did not */
	__u64 healed;	    /* damaged packets that were a gap's reason */
	__u64 damaged;	    /* since the last gap */
	__u64 last, period; /* packets of the stream at the last gap, and between gaps; 0: not always the same */
	__u64 packets;
	bool periodic;
	__u32 missing_from, missing_end; /* PSNs of the last gap */
};

/* Returns how many packets are newly missing before this one. */
__u32 loss_take(struct loss *l, struct signs *signs, const struct step *p, enum psn_how how);

/* A message begins; unended: the one before has not ended. */
void loss_begins(struct loss *l, struct signs *signs, bool unended);

/*
 * A message of so many packets ends; whole: nothing of it is missing; all: nor is a message before it. Without the latter it may be
 * the beginning of one message and the end of another: so it is where as many PSNs are left out as whole messages have.
 */
void loss_judge(struct loss *l, struct signs *signs, bool whole, bool all, __u32 packets);

/* What is held is missing; the signs of what was counted get their packets. reliable: what comes again was sent again. */
void loss_conclude(struct loss *l, struct signs *signs, bool reliable);

#endif
