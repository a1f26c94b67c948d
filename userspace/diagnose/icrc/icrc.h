/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why an ICRC is wrong. Every known mistake of roce/icrc/icrc_mistake.def, and every pair of them, is tried until one gives the
 * value on the wire. If none does, the linearity of the CRC tells which flipped bits explain it. This shares no code with
 * userspace/traffic/send/icrc_way.c, so that each can test the other.
 */
#ifndef USERSPACE_DIAGNOSE_ICRC_ICRC_H
#define USERSPACE_DIAGNOSE_ICRC_ICRC_H

#include "userspace/diagnose/icrc/icrc_place.h"
#include "userspace/observe/model/observer.h"

#define ICRC_STEPS 5
#define ICRC_HEADER 160 /* most bytes remembered of the packet before: all its headers */

/* The packet before. Mistakes with stale headers need it. */
struct icrc_before {
	struct roce_packet packet; /* kind ROCE_OTHER: there is none */
	__u8 header[ICRC_HEADER + OBSERVER_READABLE];
	bool whole; /* it was captured as a whole, so */
	__u32 right; /* its correct ICRC is known (first byte on the wire in the lowest bits) */
};

struct icrc_case {
	__u64 number; /* frame number */
	const struct observer_frame *frame;
	const struct roce_packet *packet; /* its verdict is ICRC_BAD */
	const struct icrc_before *of_stream; /* the packet before of the same stream, whatever its ICRC */
	const struct icrc_before *of_sender; /* the packet before of the same source address: all QPs may share a pipeline */
};

/* The bad ICRCs of one stream or one sender. All zero at first, of fixed size. */
struct icrc_study;

/* NULL: no memory. */
struct icrc_study *icrc_study_new(void);

/*
 * Studies one bad packet. After ICRC_STUDIED packets it only counts, so that a flood costs nothing. Returns whether its ICRC is right,
 * but in another place: that is a symptom of the stream, not of icrc_study_conclude().
 */
#define ICRC_STUDIED 16
bool icrc_study_take(struct icrc_study *s, const struct roce_key *stream, const struct icrc_case *c);

/* Adds packets of the same stream with a good ICRC. */
void icrc_study_good(struct icrc_study *s, __u64 packets);

/* Whether a packet of the stream has no ICRC, whatever its lengths say. */
bool icrc_study_is_unappended(const struct icrc_study *s);

/*
 * Adds the symptoms of ICRCs in another place. unappended: packets of the sender have none. Returns how many bad ones in fact
 * are none: icrc_study_conclude(), which comes later, leaves them out.
 */
__u64 icrc_study_places(struct icrc_study *s, struct symptoms *symptoms, bool unappended);

/* Whether icrc_study_conclude() leaves out the wrong ICRC of that frame, one of the first ICRC_STUDIED, as another packet's. */
bool icrc_study_leaves_out(const struct icrc_study *s, __u64 number);

/*
 * Adds the findings of the studies to *f. Pass all studies of a capture at once: what many streams share is one finding. false:
 * no memory.
 */
bool icrc_study_conclude(struct icrc_study *const *studies, size_t count, struct findings *f);

/* Whether a finding of these that is certain explains packets of this stream. */
bool icrc_study_is_explained(const struct icrc_study *s);

void icrc_study_free(struct icrc_study *s);

#endif
