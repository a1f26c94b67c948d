/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a stream's PSNs really count. Each way to count wrong is a model that foretells the next PSN from the packet before; the
 * one that is right for nearly all packets, where plus 1 is not, names the mistake.
 */
#ifndef USERSPACE_DOCTOR_PSN_H
#define USERSPACE_DOCTOR_PSN_H

#include "userspace/doctor/sign.h"
#include "userspace/doctor/step.h"

#define PSN_NEAR 64 /* PSNs in which a packet may come late, or again; a power of two */
#define PSN_UNITS 8 /* counted units of payload: 1, 2, 4, ... 128 bytes */

struct psn_study {
	struct step before; /* the packet before, if met */
	bool met;
	bool begun;	/* `begin` is known */
	bool excused;	/* the packet before was out of place */
	__u32 first;	/* PSN of the first packet, */
	__u64 first_frame;
	__u32 begin;	/* of the latest message's first packet, */
	__u32 counted;	/* and of the packet before, or what it should have been */
	__u64 steps;	/* from a packet to the next: all that can be judged, */
	__u64 right;	/* and those of +1 */
	__u64 still;	/* 0, to another packet */
	__u64 within, between; /* by messages: 0 inside one, +1 from one to the next */
	__u64 swapped;
	__u64 units[PSN_UNITS]; /* by the payload of the packet before */
	__u64 restarts, restarts_within; /* the first PSN of all messages again, with the next message; +1 inside */
	__u32 stride;	/* the step that was seen most of late */
	__u64 stride_votes, stride_seen;
	__u32 ones, zeroes; /* bits of the PSN that were ever 1, and that were ever 0 */
	__u32 wrap_bits; /* of the last early wrap */
	__u64 wraps, wrap_behind; /* how often; packets that count right since the last one */
	struct {
		__u32 psn, content; /* psn: + 1, 0: none */
	} recent[PSN_NEAR]; /* by the lower bits of their PSN */
	__u64 outliers;
	__u32 outlier_psn;
	bool outliers_same;
	struct {
		__u64 frame;
		__u32 expected, found;
	} odd[FINDING_EVIDENCE]; /* the first ones that are not +1 */
	size_t odd_count;
};

/* next: the packet behind p, or NULL. */
enum psn_how psn_study_take(struct psn_study *s, struct signs *signs, const struct step *p, const struct step *next);

/* Adds the sign of the way it counts wrong. false: it counts right, as far as can be seen. */
bool psn_study_conclude(const struct psn_study *s, struct signs *signs);

#endif
