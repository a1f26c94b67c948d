/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the requests of a stream and the receiver's answers show together: whether a NAK is heeded, how long the sender waits for a
 * receiver that is not ready, and what the MSN counts. Times are in ns, of any clock; 0: not known.
 */
#ifndef USERSPACE_DOCTOR_EXCHANGE_H
#define USERSPACE_DOCTOR_EXCHANGE_H

#include "roce/packet.h"
#include "userspace/doctor/sign.h"
#include "userspace/doctor/step.h"

#define EXCHANGE_ENDS 64 /* messages whose ends are remembered; a power of two */

/* RNR NAKs, and what the sender did then. */
struct exchange_rnr {
	__u64 naks, psns; /* psns: so many packets were refused, each once or several times */
	__u64 row, row_most; /* NAKs of one PSN in a row */
	__u64 again;	  /* packets that are sent again for it */
	__u64 waited, hurried; /* how often the sender waited for the timer, or not */
	__u64 shortest;	  /* ns: the shortest wait of `hurried` */
	__u32 least, most; /* values of the timer field, ordered by their times */
	__u32 psn, timer, next; /* of the latest NAK; the next packet that is sent again for it */
	__u64 time;	  /* of the latest NAK */
	bool met, open;	  /* open: packets from `next` on are sent again because of the NAK */
	bool answered;	  /* the packet itself was sent again */
};

/* The oldest NAK (PSN sequence error) that the sender has not heeded. */
struct exchange_nak {
	__u32 psn, newest; /* wanted; the newest request at that time */
	__u64 frame;
	__u64 heeded; /* NAKs before it which the sender heeded */
	bool open;
	bool apart; /* packets since then were not taken */
};

/* What the MSN of acknowledgements counts. */
struct exchange_msn {
	__u32 psn, msn;	 /* of the latest acknowledgement, if `known` */
	__u32 begin;	 /* the MSN in front of the first request, if it counts packets */
	__u64 messages;	 /* complete since then */
	__u64 steps;	 /* of the MSN that differ between packets and messages */
	__u64 by_packet; /* those that count packets */
	bool begun, known; /* begun: `from` is valid */
	size_t shown;
	struct {
		__u64 frame;
		__u32 expected, found;
	} odd[FINDING_EVIDENCE];
	__u32 from;  /* PSN of the first request since the ends below are complete */
	__u32 count; /* messages that ended since */
	__u32 ends[EXCHANGE_ENDS]; /* PSNs of the last ones' last packets */
};

struct exchange {
	bool met;
	__u32 first, newest; /* PSNs of requests, if `met` */
	bool acked;
	__u32 acked_psn; /* the newest one acknowledged */
	__u32 flight;	 /* so many PSNs were sent and not acknowledged, at most */
	struct exchange_rnr rnr;
	struct exchange_nak nak;
	struct exchange_msn msn;
};

/* Another sequence of PSNs begins. What was counted stays. */
void exchange_anew(struct exchange *x);

void exchange_request(struct exchange *x, const struct step *p, __u64 time);

/* Takes a positive acknowledgement of these requests. */
void exchange_ack(struct exchange *x, const struct roce_packet *p, __u64 frame);

/* Takes a NAK, PSN sequence error, of these requests. */
void exchange_nak(struct exchange *x, const struct roce_packet *p, __u64 frame);

/* Takes an RNR NAK of these requests. */
void exchange_rnr(struct exchange *x, const struct roce_packet *p, __u64 time);

/* Adds those of another stream. */
void exchange_add_rnr(struct exchange_rnr *to, const struct exchange_rnr *r);

/* "0.01 ms": the time of an RNR NAK's timer field (IBTA 9.7.5.2.8, table 46). */
struct rnr_text {
	char text[16];
};
struct rnr_text rnr_text(__u32 timer);

/* Adds the signs of a NAK that is not heeded, and of an MSN that counts packets. */
void exchange_conclude(const struct exchange *x, struct signs *signs);

#endif
