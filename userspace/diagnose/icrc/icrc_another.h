/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Wrong ICRCs that are right for another packet of the same sender, a few packets later or earlier: where a core keeps frames in one
 * FIFO and their CRCs in another, the two may run out of step. Each right ICRC counts for one packet only, so that one that stays the
 * same is no such symptom. A damaged packet carries the right ICRC of the one that is sent again for it, which is none either.
 */
#ifndef USERSPACE_DIAGNOSE_ICRC_ICRC_ANOTHER_H
#define USERSPACE_DIAGNOSE_ICRC_ICRC_ANOTHER_H

#include "userspace/diagnose/icrc/icrc.h"

#define ANOTHER_REACH 32 /* packets of the sender, later and earlier; a power of two */

/* One packet of a sender. */
struct icrc_another_packet {
	__u64 number; /* frame number; 0: its ICRC was not checked */
	const struct roce_key *stream; /* it outlives the sender */
	__u64 in_stream; /* how many packets of its stream came before */
	__u32 right, found;
	__u32 psn;
	__u32 payload; /* hash of it; 0: none, or not known, as for a sender without wrong ICRCs so far */
	struct icrc_study *study; /* of a wrong ICRC whose packet is not found yet, the stream's; NULL: any other packet */
	bool taken; /* the right ICRC is that of another packet */
};

/* So many packets at each distance: [ANOTHER_REACH + 3] has the ICRCs of packets that come three later. */
struct icrc_another_distances {
	__u64 packets[2 * ANOTHER_REACH + 1];
	__u64 all;
};

/* The latest packets of a sender. All zero at first, of fixed size. */
struct icrc_another {
	struct icrc_another_packet latest[ANOTHER_REACH]; /* by the low bits of their index */
	__u64 count;   /* packets taken */
	__u64 waits;   /* index of the latest wrong one, + 1 */
	__u64 wrong;   /* wrong ICRCs, */
	__u64 moved;   /* ... and those that are right for another packet */
	__u32 studied, named; /* of those moved: packets that were studied, and those that a mistake explains as well */
	int distance;  /* the latest one */
	__u32 farthest; /* the largest one, in either direction */
	/* in packets of the sender, and of the QP, where both packets are of it */
	struct icrc_another_distances of_sender, of_stream;
};

/* Takes a packet. Call behind icrc_study_take(). */
void icrc_another_take(struct icrc_another *o, const struct icrc_another_packet *packet);

/* Takes a packet whose ICRC was not checked. */
void icrc_another_pass(struct icrc_another *o);

/* Leaves out what was found of a stream that is none. */
void icrc_others_leave_out(struct icrc_another *o, const struct icrc_study *s);

/*
 * Adds the symptom of a stream, if its sender shows it. Returns how many of its wrong ICRCs icrc_study_conclude(), which comes
 * later, leaves out. Where most wrong ones of the sender are right for another packet, these are all: the others are of packets
 * that are not here.
 */
__u64 icrc_another_conclude(const struct icrc_another *o, struct icrc_study *s, struct symptoms *symptoms);

#endif
