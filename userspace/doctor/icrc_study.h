/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What userspace/doctor/icrc.c keeps of the bad packets, and userspace/doctor/icrc_conclude.c concludes from. */
#ifndef USERSPACE_DOCTOR_ICRC_STUDY_H
#define USERSPACE_DOCTOR_ICRC_STUDY_H

#include "userspace/doctor/icrc_flip.h"
#include "userspace/doctor/icrc_try.h"

/* What explains a packet: of most that are wrong by chance, nothing does. */
struct icrc_detail {
	struct flips flips;
	__u64 fits[EXPLANATION_WORDS]; /* struct icrc_attempt */
};

struct icrc_studied {
	__u64 number;	     /* of the frame */
	__u32 right, found;  /* the ICRC's bytes on the wire, the first one lowest */
	__u32 behind[ICRC_STEPS]; /* struct icrc_attempt */
	__u32 bits;	     /* of the packet, among which flipped ones were looked for */
	__u32 fitting;	     /* explanations */
	struct icrc_detail *detail; /* NULL: nothing explains it */
};

struct icrc_study {
	struct roce_key stream;
	__u64 bad, good; /* packets */
	__u32 count;	 /* studied */
	__u32 counted;	 /* by the one who concludes: for which finding the stream has been counted */
	struct icrc_studied packet[ICRC_STUDIED];
};

#endif
