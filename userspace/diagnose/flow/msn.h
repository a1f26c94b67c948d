/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the MSN of a responder's acknowledgements counts. It goes up by 1, modulo 2^24, with each message that is completed, and
 * begins with 0 (IBTA 9.7.7.1). As for PSNs (psn.h), each wrong way to count predicts the next MSN.
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_MSN_H
#define USERSPACE_DIAGNOSE_FLOW_MSN_H

#include "userspace/diagnose/finding/symptom.h"

enum msn_way {
	MSN_PACKETS, /* goes up by 1 with each packet */
	MSN_ANSWERS, /* ... with each acknowledgement */
	MSN_SWAPPED, /* counts messages, its lowest byte first */
	MSN_WAYS
};

/* An acknowledgement, with what has been completed since the one before. */
struct msn_step {
	__u64 frame;
	__u32 psn, msn;
	__u32 packets, messages;
};

struct msn_study {
	bool known;	 /* `psn` and `msn` are those of the latest acknowledgement */
	__u32 psn, msn;
	__u32 from;	 /* the MSN in front of the first packet since all is known, if it counts packets; */
	__u64 messages;	 /* ... messages that are complete since */
	__u32 first_msn; /* of the first acknowledgement since all is known; */
	__u64 first_messages; /* ... messages that were complete then */
	bool based;	 /* of the first acknowledgement of the stream it is known what has been completed: */
	struct {
		__u64 frame;
		__u32 psn;  /* the stream's first PSN */
		__u32 base; /* the MSN in front of it, if messages count */
		__u32 expected, found;
	} start;
	__u64 acks;
	__u64 steps, odd; /* acknowledgements behind another one, and those whose MSN is wrong */
	__u64 way[MSN_WAYS], could[MSN_WAYS]; /* those that count in that way, and those that would differ if they did */
	__u64 still, still_most; /* in a row, with completed messages and without a step */
	__u32 still_msn;
	__u32 wrap_bits; /* width of the counter at the last early wrap */
	__u64 wraps, wrapped; /* early wraps; acknowledgements since the first one */
};

/* What has been completed is not known up to the next acknowledgement. */
void msn_study_forget(struct msn_study *m);

/*
 * Takes the first acknowledgement since msn_study_forget(). s: with what has been completed since the stream's first PSN, `start`;
 * whole: that is known.
 */
void msn_study_begin(struct msn_study *m, const struct msn_step *s, bool whole, __u32 start);

/* Takes an acknowledgement of later packets than the one before. */
void msn_study_take(struct msn_study *m, struct symptoms *symptoms, const struct msn_step *s);

/* Adds the symptom of a wrong way to count, or drops it. start: the connection's first PSN; PAIR_NO_PSN: not known. */
void msn_study_conclude(const struct msn_study *m, struct symptoms *symptoms, __u32 start);

#endif
