/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a known receiver would refuse, as far as one packet shows it: each is judged by the responder's own rules
 * (roce/responder.h) as if the packets before it had been right. Order and PSNs are judged elsewhere.
 */
#ifndef USERSPACE_DOCTOR_RECEIVER_H
#define USERSPACE_DOCTOR_RECEIVER_H

#include "userspace/doctor/doctor.h"
#include "userspace/doctor/sign.h"

/* All zero: no receiver is known. */
struct receiver {
	const struct told *told;
	__u64 packets; /* requests that went to it, and were judged */
	const struct receiver_visit **peer; /* by QP of told->end: whose packets came first */
};

/* The packets of one stream to a QP of the receiver. */
struct receiver_visit {
	__u8 src[16];
	__u64 packets, first_frame;
	const struct rdma_qp_address *qp; /* NULL: there are none */
};

/* told must outlive the receiver. false: no memory. */
bool receiver_know(struct receiver *r, const struct told *told);

/* Takes a packet whose ICRC is good, or of a stream without good ICRCs. */
void receiver_take(struct receiver *r, struct receiver_visit *v, struct signs *signs, const struct doctor_packet *p);

/*
 * Concludes the signs of a stream. Call for each stream, in the order of their first packets; v must stay where it is until the
 * last call.
 */
void receiver_conclude(struct receiver *r, const struct receiver_visit *v, struct signs *signs);

void receiver_free(struct receiver *r);

#endif
