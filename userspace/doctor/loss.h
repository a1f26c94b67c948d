/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets of a stream that are missing, late or come again. Skipped PSNs are held until the message around them has ended. If
 * the message is whole nevertheless, no packet is missing: the sender's PSN has jumped.
 */
#ifndef USERSPACE_DOCTOR_LOSS_H
#define USERSPACE_DOCTOR_LOSS_H

#include "userspace/doctor/sign.h"
#include "userspace/doctor/step.h"

struct loss_gap {
	__u64 frame;
	__u32 expected, seen, skipped;
};

/* Gaps not yet judged. */
struct loss_held {
	struct loss_gap gap[FINDING_EVIDENCE];
	__u64 gaps, skipped, largest;
};

struct loss {
	struct loss_held between, inside; /* before the first packet of the open message, and after it */
	__u64 gaps, skipped, largest;
	__u64 recovered, again, jumps;
	__u32 late; /* PSN + 1 of the packet before if it came late, else 0 */
	__u64 healed;	    /* skipped PSNs that damaged packets explain */
	__u64 damaged;	    /* damaged packets since the last gap */
	__u64 apart;	    /* packets before which others were not shown: perhaps damaged ones */
	bool bounded;	    /* so many are missing, at most: */
	__u64 most;
	__u64 last, period; /* packets of the stream at the last gap, and between gaps; period 0: it varies */
	__u64 packets;
	bool periodic;
	__u32 missing_from, missing_end; /* PSNs of the last gap */
};

/* Returns the number of PSNs newly missing before this packet. */
__u32 loss_take(struct loss *l, struct signs *signs, const struct step *p, enum psn_how how);

/* A message begins. unended: the message before has not ended. */
void loss_begins(struct loss *l, struct signs *signs, bool unended);

/*
 * A message of `packets` packets ends. whole: none of its packets is missing. all: no message before it is missing either. If
 * it is whole, but `all` is not known, it may be the beginning of one message and the end of another. That is assumed if the
 * skipped PSNs are a multiple of `packets`.
 */
void loss_judge(struct loss *l, struct signs *signs, bool whole, bool all, __u32 packets);

/*
 * Judges the gaps still held as missing packets, and sets the packets of each sign. reliable: duplicates are retransmissions.
 */
void loss_conclude(struct loss *l, struct signs *signs, bool reliable);

#endif
