/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * READs and their responses: what the request's length and the path MTU ask for, compared with what comes. A response has as many
 * packets as the length takes; First, Last and Only have an AETH, a Middle has none (IBTA 9.4.4, 9.3.5).
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_READS_H
#define USERSPACE_DIAGNOSE_FLOW_READS_H

#include "userspace/diagnose/finding/packet.h"
#include "userspace/diagnose/finding/step.h"
#include "userspace/diagnose/finding/symptom.h"
#include "userspace/diagnose/flow/twice.h"

#define READS_LAST 64  /* requests that are remembered */
#define READS_MISSING 64 /* a power of two */
#define READS_EARLY 16 /* responses that may have overtaken their request in the capture */

struct read_request {
	__u64 frame, end; /* end: address behind what it reads */
	__u32 psn, bytes;
	bool again; /* it was sent again, or asks again for a part of another one */
};

/* Of a stream of RC requests. */
struct reads {
	struct read_request list[READS_LAST]; /* the next one is list[count % READS_LAST] */
	__u32 count;
	__u32 newest; /* PSN of the newest request of any kind */
	bool behind;  /* the latest new request is a READ: the next one tells how many PSNs it takes */
	bool blind;   /* of a READ nobody knows how long it is */
	/* path MTUs, the surest first; 0: not known */
	__u32 told;    /* by the pair */
	__u32 by_psns; /* by what READs take, ... */
	__u32 votes;   /* ... so many of them, less those that say another one */
	__u32 filled;  /* by the requester's First and Middle packets */
	__u32 answered; /* by the first full response, if what a READ takes agrees */
	struct {
		bool open;
		bool known; /* which READ it answers */
		bool anew;  /* its packets did not come before */
		bool shifted; /* all of it is right but for the PSN */
		__u32 next, end; /* PSN behind its latest packet, and behind its READ */
	} response; /* the one that is being sent */
	__u32 missing[READS_MISSING]; /* PSN + 1 of responses that were left out, by the low bits of the PSN; 0: none */
	__u64 whole, cut; /* responses of several packets, with and without a Last */
	struct symptom_seen cut_shown[FINDING_EVIDENCE];
	struct symptom_seen early[READS_EARLY]; /* responses that no request asks for, so far */
	size_t early_count;
};

/* Another sequence of PSNs begins. */
void reads_anew(struct reads *r);

/*
 * Takes the PSNs of a READ out of the gap behind it: where the engine does not know the path MTU, it counts them as skipped. r: may
 * be NULL. Before reads_request().
 */
void reads_before_gap(const struct reads *r, struct doctor_step *step);

/* A request was sent, a READ or another one. *reads (NULL: no READ so far) is allocated when it is needed. */
void reads_request(struct reads **reads, const struct doctor_packet *taken);

/*
 * A response came, or an acknowledgement. sent: the opcodes of the latest requests. symptoms: of the stream of responses. step:
 * the response there, which gets to know whether responses are missing before it, or whether it was missing itself.
 */
void reads_answer(struct reads *r, const struct twice *sent, struct symptoms *symptoms, struct doctor_step *step,
		  const struct doctor_packet *taken);

/* Whether a READ with this PSN was sent again, or asks for a part of another one. r: may be NULL. */
bool reads_again(const struct reads *r, __u32 psn);

/* Adds the symptoms of responses that nobody asked for, and of those that never end. All packets of both directions were taken. */
void reads_conclude(struct reads *r, const struct twice *sent, struct symptoms *symptoms);

#endif
