/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why an ICRC is wrong: every known mistake of roce/icrc_mistake.def, and combinations of two, are tried until one gives
 * the value on the wire; where none does, the CRC's linearity says whether flipped bits explain it, and which.
 * None of this is userspace/send/icrc_way.c's code: each is the other's judge.
 */
#ifndef USERSPACE_DOCTOR_ICRC_H
#define USERSPACE_DOCTOR_ICRC_H

#include "userspace/doctor/finding.h"
#include "userspace/model/observer.h"

#define ICRC_STEPS 5
#define ICRC_HEADER 160 /* bytes of the packet before that are remembered: all its headers */

/* The packet before, as the mistakes with stale headers need it. */
struct icrc_before {
	struct roce_packet packet; /* kind ROCE_OTHER: there was none */
	__u8 header[ICRC_HEADER + OBSERVER_READABLE];
	bool whole; /* it was seen as a whole, so that ... */
	__u32 right; /* ... its ICRC is known, as it ought to be; the first byte lowest */
};

struct icrc_case {
	__u64 number; /* of the frame */
	const struct observer_frame *frame;
	const struct roce_packet *packet; /* its verdict is ICRC_BAD */
	const struct icrc_before *of_stream; /* the packet before of the same stream, whatever its ICRC */
	const struct icrc_before *of_sender; /* ... of the same source address: a pipeline that is shared by all QPs */
};

/* What is known of one stream's (or one sender's) bad ICRCs. All zero at first. Of fixed size. */
struct icrc_study;

/* NULL: no memory. */
struct icrc_study *icrc_study_new(void);

/* Looks into one bad packet. After the first ICRC_STUDIED packets it only counts, so that a flood costs nothing. */
#define ICRC_STUDIED 16
void icrc_study_take(struct icrc_study *s, const struct roce_key *stream, const struct icrc_case *c);

/* Packets of the same stream whose ICRC was right. */
void icrc_study_good(struct icrc_study *s, __u64 packets);

/*
 * Adds what it has found. Studies of several streams (all of one capture) are handed in together, so that what is the same
 * in many streams is one finding. false: no memory.
 */
bool icrc_study_conclude(struct icrc_study *const *studies, size_t count, struct findings *f);

void icrc_study_free(struct icrc_study *s);

#endif
