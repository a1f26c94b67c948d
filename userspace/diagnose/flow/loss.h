/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets of a stream that are missing, late or come again. Skipped PSNs are held until the message around them has ended. If
 * the message is whole nevertheless, no packet is missing: the sender's PSN has jumped.
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_LOSS_H
#define USERSPACE_DIAGNOSE_FLOW_LOSS_H

#include "userspace/diagnose/finding/step.h"
#include "userspace/diagnose/finding/symptom.h"

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
	__u32 late, back; /* PSN + 1 of the packet before if it came late, or if the sender went back to it; else 0 */
	__u32 span; /* PSNs that it takes */
	__u64 late_packets, late_psns; /* packets in a row, up to that one, that came late, and their PSNs; overtaken ones are none */
	__u16 ahead; /* IPv4 identification of the latest packet with a new PSN; 0: none */
	__u64 resent; /* missing PSNs that came when the sender went back: they were lost, not overtaken */
	bool wants;   /* the receiver has asked for a missing PSN, namely: */
	__u32 wanted;
	bool answers; /* the packets that come late now begin with that one */
	bool came;    /* it came so, perhaps because the sender went back, */
	__u64 came_packets, came_psns; /* ... with those behind it */
	struct loss_gap came_gap;
	__u64 healed;	    /* skipped PSNs that damaged packets explain */
	__u64 damaged;	    /* damaged packets since the latest good one */
	__u64 apart;	    /* packets before which others were not shown: perhaps damaged ones */
	struct loss_gap start; /* in front of the first packet, where the first PSN is known; skipped 0: none */
	__u64 taken_out; /* skipped PSNs that turned out to be none, */
	struct { /* ... and the gaps in which no others are */
		__u64 frame[FINDING_EVIDENCE];
		size_t count;
	} no_gaps;
	bool bounded;	    /* so many are missing, at most: */
	__u64 most;
	__u64 last, period; /* packets of the stream at the last gap, and between gaps; period 0: it varies */
	__u64 packets;
	bool periodic;
	__u32 missing_from, missing_end; /* PSNs of the last gap, */
	__u64 missing; /* ... of which so many have not come yet */
	/* Packets that come again: why does the sender go back? */
	enum loss_call called; /* what was seen since it went back last */
	bool again_now, spent; /* the packet before came again; spent: what was seen before it went back is forgotten */
	enum loss_call again_by; /* why it went back last */
	__u32 went_back; /* PSN at which it went back last */
	__u32 again_psn; /* of the packet before */
	struct {
		__u64 packets; /* that came again for this reason */
		struct loss_gap first;
	} again_for[CALLS];
	struct loss_gap uncalled_gap[FINDING_EVIDENCE]; /* of CALL_NONE */
};

/* Returns the number of PSNs newly missing before this packet. */
__u32 loss_take(struct loss *l, struct symptoms *symptoms, const struct doctor_step *p, enum psn_how how);

/* The receiver asks for a PSN that is missing here. */
void loss_want(struct loss *l, __u32 psn);

/* PSNs that were counted as skipped before that frame were none. all: no others were skipped there. */
void loss_take_out(struct loss *l, __u64 frame, __u32 psns, bool all);

/* Takes back a packet that came again: it is a copy. */
void loss_take_back(struct loss *l);

/* A message begins. unended: the message before has not ended. */
void loss_begins(struct loss *l, struct symptoms *symptoms, bool unended);

/*
 * A message of `packets` packets ends. whole: none of its packets is missing. all: no message before it is missing either. If
 * it is whole, but `all` is not known, it may be the beginning of one message and the end of another. That is assumed if the
 * skipped PSNs are a multiple of `packets`.
 */
void loss_judge(struct loss *l, struct symptoms *symptoms, bool whole, bool all, __u32 packets);

/*
 * Judges the gaps still held as missing packets, and sets the packets of each symptom. reliable: duplicates are
 * retransmissions, and what came when the sender went back was lost before.
 */
void loss_conclude(struct loss *l, struct symptoms *symptoms, bool reliable);

/* Fills in the symptom of the packets that came again for this reason. false: there are none. */
bool loss_share(const struct loss *l, enum loss_call why, struct symptom *symptom);

/*
 * Fills in the symptom of the packets that came again without a gap, a damaged packet or a NAK before them. false: they are
 * fewer than FINDING_PACKETS, or not all packets were shown.
 */
bool loss_uncalled(const struct loss *l, struct symptom *symptom);

#endif
