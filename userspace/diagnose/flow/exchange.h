/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the requests of a stream and the receiver's answers show of the sender: whether a NAK is heeded, and how long it waits for a
 * receiver that is not ready. Times are in ns, of any clock; 0: not known.
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_EXCHANGE_H
#define USERSPACE_DIAGNOSE_FLOW_EXCHANGE_H

#include "roce/packet/packet.h"
#include "userspace/diagnose/flow/responder.h"

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
	bool apart;  /* packets since then were not taken */
	bool shared; /* it may be of another stream: each that it fits has it */
};

struct exchange {
	struct exchange_rnr rnr;
	struct exchange_nak nak;
};

/* Another sequence of PSNs begins. What was counted stays. */
void exchange_anew(struct exchange *x);

/* Takes a request, before its responder (r) does. */
void exchange_request(struct exchange *x, const struct responder_study *r, const struct doctor_step *p, __u64 time);

/* An answer to these requests came, which their responder (r) has taken. */
void exchange_ack(struct exchange *x, const struct responder_study *r);

/* Takes a NAK, PSN sequence error, of these requests. shared: or of other ones. */
void exchange_nak(struct exchange *x, const struct responder_study *r, const struct roce_packet *p, __u64 frame, bool shared);

/* Takes an RNR NAK of these requests. */
void exchange_rnr(struct exchange *x, const struct roce_packet *p, __u64 time);

/* Adds those of another stream. */
void exchange_add_rnr(struct exchange_rnr *to, const struct exchange_rnr *r);

/* "0.01 ms": the time of an RNR NAK's timer field (IBTA 9.7.5.2.8, table 46). */
struct rnr_text {
	char text[16];
};
struct rnr_text rnr_text(__u32 timer);

/* Whether the oldest NAK that is not heeded is old enough: more came behind it than ever were on their way. */
bool exchange_ignores(const struct exchange *x, const struct responder_study *r);

/*
 * Adds the symptom of a NAK that is not heeded. streams: so many it may be of, all of which go on without it; 1: it is of this one.
 */
void exchange_conclude(const struct exchange *x, const struct responder_study *r, struct symptoms *symptoms, size_t streams);

#endif
