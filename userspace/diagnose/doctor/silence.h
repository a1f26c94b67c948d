/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a requester asks for, and when acknowledgements last came: how long a silence lasts, compared with the usual one. */
#ifndef USERSPACE_DIAGNOSE_DOCTOR_SILENCE_H
#define USERSPACE_DIAGNOSE_DOCTOR_SILENCE_H

#include "userspace/diagnose/flow/responder.h"

struct doctor;

/* Of a stream of RC requests. All zero at first, and when its PSNs begin anew. */
struct silence {
	__u64 heard;  /* acknowledgements that came */
	bool refused; /* the latest answer is a NAK: the responder waits for what it names */
	__u64 asks;   /* packets behind the newest acknowledged one that asked for an answer since it came, */
	__u64 most;   /* ... and at most before one came */
	__u64 repeats; /* of them, those with the PSN of one before, or an earlier one */
	__u64 again;  /* packets before it that were sent since it came: the requester has not heard of it */
	__u64 from, to; /* ns: the first and the latest of `asks` */
	__u32 latest;	/* PSN of the latest of them */
	__u64 longest;	/* ns: from the first of them until the acknowledgement came, at most */
	struct symptom_seen shown[FINDING_EVIDENCE]; /* the first of `asks` */
};

/* A request was sent, at `time` (ns). r: what its responder has acknowledged. */
void silence_ask(struct silence *s, const struct responder_study *r, const struct roce_packet *p, __u64 frame, __u64 time);

/* An answer with an AETH came, at `time` (ns), before r takes it. */
void silence_answer(struct silence *s, const struct responder_study *r, const struct roce_packet *p, __u64 time);

/*
 * Adds the symptoms of acknowledgements that stop, and of messages that are never finished, when all packets were taken and
 * before the streams are concluded.
 */
void silence_conclude(struct doctor *d);

#endif
