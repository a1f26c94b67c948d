/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a known receiver would refuse, as far as one packet shows it: each is judged by the responder's own rules
 * (roce/responder/respond.h) as if the packets before it had been right. Order and PSNs are judged elsewhere.
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_RECEIVER_H
#define USERSPACE_DIAGNOSE_FLOW_RECEIVER_H

#include "userspace/diagnose/finding/packet.h"
#include "userspace/diagnose/finding/symptom.h"
#include "userspace/observe/model/endpoint.h"

#define RECEIVER_OPEN 128 /* requests remembered until they are answered; a power of two */

/* Requests of one stream that wait for the receiver's answer. */
struct receiver_requests {
	struct {
		__u64 frame;
		__u32 psn;
		enum finding_kind kind; /* FINDING_KINDS: none */
	} refused[RECEIVER_OPEN]; /* what it should not take; the oldest is replaced */
	__u32 next; /* place of the next one */
	__u32 open; /* how many wait */
	struct {
		__u64 frame;
		__u32 psn; /* + 1; 0: none */
	} fine[RECEIVER_OPEN]; /* RDMA WRITEs that it should take, by the low bits of their first PSNs */
	__u32 first;   /* PSN of the first of these, if `met` */
	bool met;
	bool accepted; /* one of them was acknowledged: the receiver is the one that is described */
	bool invalid;  /* a NAK, invalid request, came for one */
};

/* All zero: no receiver is known. */
struct doctor_receiver {
	const struct endpoint *endpoint; /* outlives the receiver */
	__u64 packets; /* requests that went to it, and were judged */
};

/*
 * Why the receiver would refuse a request to its address, if all before was right and its ICRC is; REFUSAL_NONE: it would take it.
 * Fills in *example, for refusal_text().
 */
enum roce_refusal receiver_judge(const struct endpoint *endpoint, const struct roce_packet *p, struct receive_example *example);

/*
 * Takes a packet whose ICRC is good, or of a stream without good ICRCs. *requests: of its stream, NULL at first; the caller frees it.
 */
void receiver_take(struct doctor_receiver *r, struct receiver_requests **requests, struct symptoms *symptoms,
		   const struct doctor_packet *taken);

/* Takes an ACK or NAK of these requests, which may be NULL: whether the receiver does as it is described. */
void receiver_answer(struct receiver_requests *requests, struct symptoms *symptoms, const struct roce_packet *p, __u64 frame);

/* Another sequence of PSNs begins. */
void receiver_anew(struct receiver_requests *requests);

/* Concludes the symptoms of a stream, when all packets were taken. */
void receiver_conclude(const struct doctor_receiver *r, const struct receiver_requests *requests, struct symptoms *symptoms);

#endif
