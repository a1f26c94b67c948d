/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What userspace/diagnose/icrc/icrc.c keeps of the bad packets. userspace/diagnose/icrc/icrc_conclude.c concludes from it. */
#ifndef USERSPACE_DIAGNOSE_ICRC_ICRC_STUDY_H
#define USERSPACE_DIAGNOSE_ICRC_ICRC_STUDY_H

#include "userspace/diagnose/icrc/icrc_try.h"
#include "userspace/diagnose/solver/icrc_flip.h"
#include "userspace/diagnose/solver/icrc_solve.h"

/* The explanations of a packet. Most ICRCs that are wrong by chance have none. */
struct icrc_detail {
	struct flips flips;
	__u64 fits[EXPLANATION_WORDS]; /* see struct icrc_attempt */
};

struct icrc_studied {
	__u64 number;	     /* frame number */
	__u32 psn;
	__u32 right, found;  /* the ICRC's bytes on the wire, the first one in the lowest bits */
	__u32 behind[ICRC_STEPS]; /* see struct icrc_attempt */
	__u32 bits;	     /* bits of the packet in which flips were tried */
	bool blank;	     /* perhaps it has no ICRC (BLANK_DOUBTED, BLANK_WORD) */
	bool moved;	     /* its ICRC is that of another packet */
	bool short_of_icrc;  /* its payload is that of a packet whose last four bytes are read as the ICRC */
	__u32 fitting;	     /* number of explanations */
	struct icrc_detail *detail; /* NULL: no explanation */
	struct solve_packet kept; /* a copy of the packet; frame NULL: not kept, because it has an explanation or there is no room */
};

/* Wrong ICRCs of which something else than a mistake in the CRC is told (icrc_another.h). */
enum icrc_left_out { LEFT_OUT_NONE, LEFT_OUT_MOVED, LEFT_OUT_ALL };

struct icrc_study {
	struct roce_key stream;
	__u64 bad, good; /* packets with a bad and with a good ICRC */
	__u32 count;	 /* packets studied */
	__u32 counted;	 /* number of the latest finding that counted this stream */
	bool explained;	 /* a finding that is certain counted it */
	__u64 blank;	 /* of the bad ones: those that perhaps have no ICRC, */
	bool unappended; /* ... and in fact have none */
	struct icrc_places places;
	struct symptoms moved; /* ICRCs of another packet, if they are told: */
	enum icrc_left_out left_out;
	struct icrc_studied packet[ICRC_STUDIED];
};

/* How many wrong ICRCs icrc_study_conclude() leaves out: those that are none, and those of other packets, if they are told. */
__u64 icrc_study_left_out(const struct icrc_study *s);

#endif
