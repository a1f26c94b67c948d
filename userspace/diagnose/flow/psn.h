/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the PSNs of a stream are counted. Each wrong way to count is a model that predicts the next PSN from the packet before.
 * If `plus 1` fails and a model is right for nearly all packets, the model names the mistake.
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_PSN_H
#define USERSPACE_DIAGNOSE_FLOW_PSN_H

#include "userspace/diagnose/finding/step.h"
#include "userspace/diagnose/finding/symptom.h"
#include "userspace/diagnose/flow/message.h"

#define PSN_NEAR 64 /* PSNs within which a packet may be late or a duplicate; a power of two */
#define PSN_UNITS 8 /* units of payload: 1, 2, 4, ... 128 bytes */

struct psn_study {
	struct doctor_step before; /* the packet before, if `met` */
	bool met;
	bool begun;	/* `begin` is valid */
	bool excused;	/* the packet before was out of place */
	bool vacant;	/* the one with the PSN `counted` was damaged: it comes again */
	__u32 first, first_content, first_op; /* of the first packet: PSN, content, OP_* */
	__u64 first_frame;
	__u32 begin;	/* PSN of the latest message's first packet */
	__u32 counted;	/* PSN of the packet before, or the one it should have had */
	__u64 steps;	/* steps between packets that could be judged */
	__u64 right;	/* steps of +1 */
	__u64 still;	/* steps of 0 to a different packet */
	__u64 within, between; /* 0 inside a message, +1 from one message to the next */
	__u64 swapped;
	__u64 units[PSN_UNITS]; /* steps equal to the payload of the packet before, in this unit */
	__u64 restarts, restarts_within; /* messages that begin with the first message's PSN again; steps of +1 inside them */
	__u32 stride;	/* the most frequent step of late */
	__u64 stride_votes, stride_seen;
	__u32 ones, zeroes; /* bits of the PSN that were ever 1, and those that were ever 0 */
	__u32 wrap_bits; /* width of the counter at the last early wrap */
	__u64 wraps, wrap_behind; /* early wraps; right steps since the last one */
	struct {
		__u32 psn, content; /* psn + 1; 0: none */
		bool read;
	} recent[PSN_NEAR]; /* by the low bits of the PSN */
	__u64 outliers;
	__u32 outlier_psn;
	bool outliers_same;
	struct {
		__u64 frame;
		__u32 expected, found;
	} odd[FINDING_EVIDENCE]; /* the first steps that are not +1 */
	size_t odd_count;
};

/* Takes packet p. next: the packet after p, or NULL. */
enum psn_how psn_study_take(struct psn_study *s, struct symptoms *symptoms, const struct doctor_step *p,
			    const struct doctor_step *next);

/*
 * Adds the symptom of a wrong way to count. payload: equal steps of more than 1 are losses if it is missing, and perhaps losses
 * if that is not known. false: it counts right, as far as can be seen.
 */
bool psn_study_conclude(const struct psn_study *s, struct symptoms *symptoms, enum message_payload payload);

#endif
