/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The bad packets of one sender. The code for mistakes, constant values and flipped bits shares this. */
#ifndef USERSPACE_DIAGNOSE_ICRC_ICRC_SENDER_H
#define USERSPACE_DIAGNOSE_ICRC_ICRC_SENDER_H

#include "userspace/diagnose/icrc/icrc_study.h"

/*
 * Weights among all findings: no receiver takes a wrong ICRC; single flips are damage on the path. `Unexplained` (always a
 * candidate) means that all ICRCs are wrong. It comes before explanations of single packets.
 */
enum { WEIGHT_UNEXPLAINED = 951, WEIGHT_MISTAKE = 950, WEIGHT_LANE = 948, WEIGHT_BIT = 946, WEIGHT_FLIP = 565 };

/* A finding must be less likely by chance than this: in one packet, and in the whole capture. */
#define CHANCE 1e-4
#define CHANCE_OF_ALL 1e-2
#define ICRC_ROUNDS 16 /* most findings of one sort, and candidates, of one sender */

struct icrc_sample {
	const struct icrc_studied *packet;
	struct icrc_study *study;
	bool again; /* identical to an earlier one */
	bool done;  /* a finding explains it */
	bool chosen;
};

/* The bad packets of one source address. */
struct icrc_sender {
	struct icrc_sample *samples;
	__u32 count;
	__u64 bad, good; /* packets of its streams with a bad and with a good ICRC */
	size_t others;	 /* number of senders, with this one */
	__u32 reported;	 /* findings and candidates so far */
	__u32 open;	 /* samples without an explanation; identical ones count once */
	double mean_bits; /* of a packet */
	struct findings *to;
	__u32 *round;
	__u32 *solved; /* senders for which solve() was called */
};

/* Appends to the text. */
void icrc_append(char text[FINDING_TEXT], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a finding from the chosen samples. The caller fills in its kind, text and fix. NULL: no memory. */
struct finding *icrc_add_finding(struct icrc_sender *s, bool certain, int weight);

/* "; 12 of 16 bad packets that were looked into (of 4000); other packets of these streams have a right ICRC" */
void icrc_append_share(struct finding *f, const struct icrc_sender *s);

/* Samples without an explanation; identical ones count once. */
__u32 icrc_count_open(const struct icrc_sender *s);

/*
 * Expected number of chance agreements: sets of at least `least` packets of one sender that agree in one of `classes`, if each
 * ICRC is random and `solutions` of the 2^32 values belong to a class.
 */
double icrc_chance(const struct icrc_sender *s, double classes, double solutions, __u32 least);

/* ---- mistakes and values: userspace/diagnose/icrc/icrc_named.c; false: no memory ---- */

/* Counts the packets of each explanation: of the chosen samples, or of those that nothing explains yet. */
void icrc_count_votes(const struct icrc_sender *s, bool chosen, __u32 votes[EXPLANATIONS_MOST]);

/* The simplest explanation among those with the most votes. */
__u32 icrc_find_best(const __u32 votes[EXPLANATIONS_MOST]);

/* all: its votes. */
bool icrc_report_mistake(struct icrc_sender *s, __u32 best, __u32 all);

/* Explanations of few packets. Pairs of mistakes are left out where one flipped bit is an explanation too. */
bool icrc_report_rare_mistakes(struct icrc_sender *s);

/* Packets without an ICRC, of a sender of which others have one. */
bool icrc_report_absent(struct icrc_sender *s);

/* One ICRC in at least `least` packets that should have different ones. Samples must be sorted by the ICRC found. */
bool icrc_report_constants(struct icrc_sender *s, __u32 least);

/* ---- other parameters: userspace/diagnose/icrc/icrc_solved.c; false: no memory ---- */

/* Solves for the parameters of the CRC in packets that nothing else explains. */
bool icrc_report_solved(struct icrc_sender *s);

/* ---- fields that go in with another value: userspace/diagnose/icrc/icrc_field.c ---- */

struct icrc_field {
	__u8 field; /* index for flip_field_name() */
	__u32 votes; /* 0: none */
};

/* The field that explains most packets, by bits that differ from packet to packet. */
struct icrc_field icrc_find_best_field(const struct icrc_sender *s);

/* false: no memory */
bool icrc_report_field(struct icrc_sender *s, struct icrc_field best);

/* ---- flipped bits: userspace/diagnose/icrc/icrc_flipped.c; false: no memory ---- */

/*
 * Expected number of groups with at least `votes` packets, if each of `flipped` packets had a random bit flipped in one of
 * `lanes`. A finding names a lane only if random flips do not explain it.
 */
double icrc_coincidence(__u32 flipped, __u32 votes, double lanes);

/* How flips may agree. */
enum icrc_agreement { AT_PLACE, AT_OFFSET, LANE_OF_FRAME, LANE_OF_PAYLOAD };

struct icrc_flip_group {
	enum icrc_agreement agreement;
	__u32 width; /* width of the bus, else 0 */
	__u64 key;
	__u32 votes;
	double score; /* bits of evidence */
	const struct flip *flip;
	bool same_offset;
};

/* The group with the most evidence; if equal, the first one, which has the widest bus. score 0: no group. */
bool icrc_find_best_group(const struct icrc_sender *s, struct icrc_flip_group *best);

bool icrc_report_flip_group(struct icrc_sender *s, const struct icrc_flip_group *g);

/* Flipped bits at random places. */
bool icrc_report_single_flips(struct icrc_sender *s);

#endif
