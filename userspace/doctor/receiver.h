/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a known receiver would refuse, as far as one packet shows it: each is judged by the responder's own rules
 * (roce/respond.h) as if the packets before it had been right. Order and PSNs are judged elsewhere.
 */
#ifndef USERSPACE_DOCTOR_RECEIVER_H
#define USERSPACE_DOCTOR_RECEIVER_H

#include "userspace/doctor/doctor.h"
#include "userspace/doctor/sign.h"

/* All zero: no receiver is known. */
struct receiver {
	const struct told *told; /* outlives the receiver */
	__u64 packets; /* requests that went to it, and were judged */
};

/*
 * Why the receiver would refuse a request to its address, if all before was right and its ICRC is; REFUSAL_NONE: it would take it.
 * Fills in *example, for refusal_text().
 */
enum roce_refusal receiver_judge(const struct told *told, const struct roce_packet *p, struct receive_example *example);

/* Takes a packet whose ICRC is good, or of a stream without good ICRCs. */
void receiver_take(struct receiver *r, struct signs *signs, const struct doctor_packet *taken);

/* Concludes the signs of a stream, when all packets were taken. */
void receiver_conclude(const struct receiver *r, struct signs *signs);

#endif
