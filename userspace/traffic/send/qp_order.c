// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/traffic/send/qp_order.h"

/* QPs with packets left are in a ring, in the order of their indexes. */
static void join(struct order *o, uint32_t qps)
{
	uint32_t first = qps, last = qps;

	for (uint32_t i = 0; i < qps; i++) {
		if (!o->qp[i].messages_left)
			continue;
		if (last == qps)
			first = i;
		else
			o->qp[last].next = i;
		o->qp[i].previous = last;
		last = i;
		o->active++;
	}
	if (o->active) {
		o->qp[last].next = first;
		o->qp[first].previous = last;
		o->current = first;
	}
}

static void leave(struct order *o, struct send_qp *qp)
{
	o->qp[qp->previous].next = qp->next;
	o->qp[qp->next].previous = qp->previous;
	o->active--;
}

static uint32_t weight(const struct order *o)
{
	return o->turn[o->current % o->turns];
}

/* A sequence that names only some QPs ends when those QPs do. */
static void count_named(struct order *o, const struct send_plan *plan)
{
	for (uint32_t i = 0; i < plan->qps; i++)
		o->qp[i].next = 0;
	for (size_t i = 0; i < o->turns; i++)
		o->qp[o->turn[i]].next = 1;
	for (uint32_t i = 0; i < plan->qps; i++)
		o->active += o->qp[i].next && o->qp[i].messages_left;
}

void order_start(struct order *o, const struct send_plan *plan, struct send_qp *qp)
{
	*o = (struct order){ .kind = plan->order, .qp = qp, .turn = plan->turn, .turns = plan->turns };
	if (o->kind == ORDER_SEQUENCE) {
		count_named(o, plan);
		return;
	}
	join(o, plan->qps);
	if (o->kind == ORDER_WEIGHTS && o->active)
		o->left = weight(o);
}

struct send_qp *order_next(struct order *o)
{
	if (!o->active)
		return NULL;
	if (o->kind != ORDER_SEQUENCE)
		return &o->qp[o->current];
	while (!o->qp[o->turn[o->at]].messages_left)
		o->at = (o->at + 1) % o->turns;
	return &o->qp[o->turn[o->at]];
}

static bool turn_ends(struct order *o, bool message_ended)
{
	switch (o->kind) {
	case ORDER_MESSAGE:
		return message_ended;
	case ORDER_WEIGHTS:
		return --o->left == 0;
	default:
		return true;
	}
}

void order_made(struct order *o, struct send_qp *qp, bool ended)
{
	bool done = ended && !qp->messages_left;

	if (o->kind == ORDER_SEQUENCE) {
		o->at = (o->at + 1) % o->turns;
		o->active -= done;
		return;
	}
	if (done)
		leave(o, qp);
	if (!turn_ends(o, ended) && !done)
		return;
	o->current = qp->next;
	if (o->kind == ORDER_WEIGHTS)
		o->left = weight(o);
}
