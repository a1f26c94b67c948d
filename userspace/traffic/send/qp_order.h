/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chooses the QP whose packet is made next. QPs that have sent all their messages are skipped. */
#ifndef USERSPACE_TRAFFIC_SEND_QP_ORDER_H
#define USERSPACE_TRAFFIC_SEND_QP_ORDER_H

#include "userspace/traffic/send/packet.h"
#include "userspace/traffic/send/plan.h"

struct order {
	enum send_order kind;
	struct send_qp *qp;
	const uint32_t *turn;
	size_t turns, at;   /* ORDER_SEQUENCE: length of the sequence, and the index in it */
	uint32_t active;    /* QPs with packets left */
	uint32_t current;   /* the QP whose turn it is */
	uint32_t left;	    /* ORDER_WEIGHTS: packets left in this turn */
};

/* qp: [plan->qps], with messages_left set. plan->turn must stay valid. */
void order_start(struct order *o, const struct send_plan *plan, struct send_qp *qp);

/* NULL: no QP has packets left. */
struct send_qp *order_next(struct order *o);

/* Tells the order that the QP's packet was made. ended: it was the last one of its message. */
void order_made(struct order *o, struct send_qp *qp, bool ended);

#endif
