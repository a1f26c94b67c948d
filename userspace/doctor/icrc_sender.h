/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One sender's bad packets, and what is told of them: shared by those who look for mistakes, values and flipped bits. */
#ifndef USERSPACE_DOCTOR_ICRC_SENDER_H
#define USERSPACE_DOCTOR_ICRC_SENDER_H

#include "userspace/doctor/icrc_study.h"

/*
 * How important, among all that the doctor finds: no receiver takes a wrong ICRC; single flips are damage on the path. That all
 * are wrong and nothing explains it (a candidate always) comes before what explains single ones.
 */
enum { WEIGHT_UNEXPLAINED = 951, WEIGHT_MISTAKE = 950, WEIGHT_LANE = 948, WEIGHT_BIT = 946, WEIGHT_FLIP = 565 };

/* That what is told is nothing but chance is to be less probable than this: in one packet, and in all of the capture. */
#define CHANCE 1e-4
#define CHANCE_OF_ALL 1e-2
#define ICRC_ROUNDS 16 /* findings of one sort, and candidates, of one sender */

struct icrc_sample {
	const struct icrc_studied *packet;
	struct icrc_study *study;
	bool again; /* same as one before it */
	bool done;  /* something explains it that has been told */
	bool chosen;
};

/* The bad packets of one source address. */
struct icrc_sender {
	struct icrc_sample *samples;
	__u32 count;
	__u64 bad, good; /* packets of its streams */
	size_t others;	 /* senders there are, itself included */
	__u32 told;	 /* findings and candidates */
	__u32 open;	 /* samples that are not explained yet, those that are the same once */
	double mean_bits; /* of a packet */
	struct findings *to;
	__u32 *round;
};

/* Behind what is there. */
void icrc_append(char text[FINDING_TEXT], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "icrc 12 34 56 78" */
void icrc_print(char to[48], __u32 icrc);

/* What the chosen samples show, with kind, words and what to do still to be said. NULL: no memory. */
struct finding *icrc_tell(struct icrc_sender *s, bool certain, int weight);

/* "; 12 of 16 bad packets that were looked into (of 4000); other packets of these streams have a right ICRC" */
void icrc_append_share(struct finding *f, const struct icrc_sender *s);

/* Samples that are not explained yet, those that are the same once. */
__u32 icrc_count_open(const struct icrc_sender *s);

/*
 * How many sets of `least` packets or more of one sender are to be expected by chance, that agree in one of `classes`, if each
 * packet's ICRC is any, and `solutions` of the 2^32 values belong to a class.
 */
double icrc_chance(const struct icrc_sender *s, double classes, double solutions, __u32 least);

/* ---- mistakes and values: userspace/doctor/icrc_named.c; false: no memory ---- */

/* Each explanation's packets: of the chosen ones, or of those that nothing has explained yet. */
void icrc_count_votes(const struct icrc_sender *s, bool chosen, __u32 votes[EXPLANATIONS_MOST]);

/* The simplest of those with the most votes. */
__u32 icrc_find_best(const __u32 votes[EXPLANATIONS_MOST]);

/* all: its votes. */
bool icrc_tell_mistake(struct icrc_sender *s, __u32 best, __u32 all);

/* What fewer packets speak for: of two mistakes, none that one flipped bit explains as well. */
bool icrc_tell_rare_mistakes(struct icrc_sender *s);

/* One value for at least so many packets that ought to have different ones. Samples are in the order of what was found. */
bool icrc_tell_constants(struct icrc_sender *s, __u32 least);

/* ---- flipped bits: userspace/doctor/icrc_flipped.c; false: no memory ---- */

/* In what flips may agree. */
enum icrc_agreement { AT_PLACE, AT_OFFSET, LANE_OF_FRAME, LANE_OF_PAYLOAD };

struct icrc_flip_group {
	enum icrc_agreement agreement;
	__u32 width; /* of the bus; else 0 */
	__u64 key;
	__u32 votes;
	double score; /* bits of evidence */
	const struct flip *flip;
	bool same_offset;
};

/* The one with the most evidence; of the same evidence the first: the widest bus. score 0: there is none. */
bool icrc_find_best_group(const struct icrc_sender *s, struct icrc_flip_group *best);

bool icrc_tell_group(struct icrc_sender *s, const struct icrc_flip_group *g);

/* Bits that flip here and there. */
bool icrc_tell_single_flips(struct icrc_sender *s);

#endif
