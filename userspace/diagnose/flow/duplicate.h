/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Duplicates: requests that come again though the responder has acknowledged them. It answers those that ask (IBTA 9.7.5.1): with
 * the PSN that it has acknowledged last, or with theirs. A READ is executed again.
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_DUPLICATE_H
#define USERSPACE_DIAGNOSE_FLOW_DUPLICATE_H

#include "userspace/diagnose/finding/packet.h"
#include "userspace/diagnose/finding/symptom.h"

#define DUPLICATE_ACKS 64 /* a power of two */

/* Of a stream of RC requests. All zero at first, and when its PSNs begin anew. */
struct duplicates {
	bool met, heard;
	__u32 newest, last; /* PSN of the newest request, if `met`; and of the last packet of its response, if it is a READ, at most */
	__u32 behind; /* PSN behind the newest acknowledged one, if `heard` */
	__u32 msn; /* of the answer that said so */
	__u32 acks[DUPLICATE_ACKS]; /* PSN + 1 of the latest ACKs, by the low bits of the PSN; 0: none */
	bool again; /* duplicates of these PSNs came, and nothing that was sent behind them is acknowledged: */
	__u32 lowest, highest;
	bool behind_them; /* something was sent behind them, from this PSN on: */
	__u32 fresh;
	/* duplicates since the latest answer */
	struct {
		__u64 asks;    /* those that ask for an answer, */
		__u64 latest_asks; /* and of them those since the requester went back last */
		__u32 returns; /* how often it went back to duplicates that asked before */
		__u32 latest; /* PSN of the latest that asks */
		bool executed; /* one of them is a READ or an atomic */
		__u64 from, to; /* ns: the first of `asks`; and the latest, or the first new request behind them */
		bool passed; /* such a request came */
		struct symptom_seen shown[FINDING_EVIDENCE]; /* the first of `asks` */
	} waiting;
	/* what was found, of all sequences */
	__u64 answered, silent; /* how often duplicates were answered, or were not */
	__u64 unanswered;	/* packets of `silent` */
	struct symptom_seen shown[FINDING_EVIDENCE]; /* the first of `unanswered` */
};

/* Another sequence of PSNs begins. What was found stays. */
void duplicates_anew(struct duplicates *d);

/* A request was sent. */
void duplicates_request(struct duplicates *d, const struct doctor_packet *taken);

/* An answer with an AETH came. symptoms: of the requests. usual (ns): the longest wait for an answer; 0: not known. */
void duplicates_answer(struct duplicates *d, struct symptoms *symptoms, const struct doctor_packet *taken, __u64 usual);

/* Adds the symptom of duplicates that are not answered. All packets of both directions were taken. */
void duplicates_conclude(struct duplicates *d, struct symptoms *symptoms, __u64 usual);

#endif
