/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose turn it is: which QP's packet is made next. A QP that has sent its messages is left out. */
#ifndef USERSPACE_SEND_ORDER_H
#define USERSPACE_SEND_ORDER_H

#include "userspace/send/packet.h"
#include "userspace/send/plan.h"

struct order {
	enum send_order kind;
	struct send_qp *qp;
	const uint32_t *turn;
	size_t turns, at;   /* ORDER_SEQUENCE: the place in it */
	uint32_t active;    /* QPs that have something to send */
	uint32_t current;   /* whose turn it is */
	uint32_t left;	    /* ORDER_WEIGHTS: packets of this turn */
};

/* qp: [plan->qps], messages_left set. The plan's turns stay in use. */
void order_start(struct order *o, const struct plan *plan, struct send_qp *qp);

/* NULL: nobody has anything to send. */
struct send_qp *order_next(struct order *o);

/* That QP's packet was made; ended: it was its message's last one. */
void order_made(struct order *o, struct send_qp *qp, bool ended);

#endif
