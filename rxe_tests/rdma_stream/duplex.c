// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --ping-pong: both ends are requester and responder, with one completion queue. */
#include "lib/clock.h"
#include "rxe_tests/rdma_stream/rdma_stream.h"

#define NAP_NS	(20 * NSEC_PER_MSEC)	/* how often to check for a signal */
#define SPIN_NS	NSEC_PER_MSEC		/* the same with --poll */
#define DONE_NS	(5 * NSEC_PER_SEC)	/* how long sends may take to complete at the end */

static const char *error_of(const struct rdma_duplex *u)
{
	return u->q->error ? u->q->error : u->p->error;
}

/* Of a completion with an error only its status is valid (ibv_poll_cq(3)). */
static void take(struct rdma_duplex *u, const struct ibv_wc *wc, uint64_t now)
{
	if (wc->status != IBV_WC_SUCCESS && !responder_broken(u->p, wc)) {
		if (!u->q->error)
			u->q->error = ibv_wc_status_str(wc->status);
		return;
	}
	if (wc->status == IBV_WC_SUCCESS && !(wc->opcode & IBV_WC_RECV)) {
		requester_take(u->q->poster, wc, now);
		return;
	}
	responder_take(u->p, wc, now);
	responder_post_again(u->p, wc);
	/* of UD and SEND the flow is what a packet says, and anybody may send one to a QPN */
	if (!u->p->r->completed || u->p->r->completed_flow >= u->q->self->flows)
		return;
	u->due = true;
	u->flow = u->p->r->completed_flow;
	u->message = u->p->r->completed_message;
	if (u->ping_pong.s)
		ping_pong_answered(&u->ping_pong, u->flow, u->message, now);
}

/* Takes what has come, or waits for it. Returns the number of completions. */
static int take_completions(struct rdma_duplex *u, uint64_t timeout_ns, int fd)
{
	uint64_t nap = u->q->d->queue->poll ? SPIN_NS : NAP_NS, limit = now_ns() + (timeout_ns < nap ? timeout_ns : nap), now;
	struct ibv_wc wc[RDMA_CQ_BATCH];
	int n;

	do {
		n = rdma_completions(u->q->d->queue, wc, timeout_ns < nap ? timeout_ns : nap, fd);
		now = now_ns();
	} while (!n && u->q->d->queue->poll && now < limit);
	if (n < 0)
		u->q->error = "the completion queue is broken";
	for (int i = 0; i < n; i++)
		take(u, &wc[i], now);
	return n;
}

/* Posts all packets of the flow's next message. */
static void post_message(struct rdma_duplex *u, struct sender_flow *flow)
{
	uint64_t message = flow->message;

	while (flow->message == message && !error_of(u)) {
		if (requester_room(u->q, flow))
			requester_post(u->q->poster, flow, now_ns(), clock_ns(CLOCK_REALTIME));
		else
			take_completions(u, NAP_NS, -1);
	}
}

static const char *send_message(void *context, struct sender_flow *flow)
{
	post_message(context, flow);
	return error_of(context);
}

static const char *await_answer(void *context, uint16_t flow, uint64_t timeout_ns)
{
	(void)flow;
	take_completions(context, timeout_ns, -1);
	return error_of(context);
}

const char *duplex_send(struct rdma_duplex *u)
{
	const char *error;
	uint64_t limit;

	requester_begin(u->q);
	u->ping_pong.s = u->q->poster->s;
	u->ping_pong.reliable = u->q->self->service == RDMA_RC;
	u->ping_pong.context = u;
	u->ping_pong.send = send_message;
	u->ping_pong.await = await_answer;
	error = ping_pong_run(&u->ping_pong);
	limit = now_ns() + DONE_NS;
	while (u->q->poster->outstanding && !error_of(u) && now_ns() < limit)
		take_completions(u, NAP_NS, -1);
	sender_finish(u->q->poster->s);
	return error ? error : error_of(u);
}

int duplex_answer(struct rdma_duplex *u, uint64_t timeout_ns, int fd)
{
	int n = take_completions(u, timeout_ns, fd);

	while (u->due && !error_of(u)) {
		struct sender_flow *flow = &u->q->poster->s->flows[u->flow];

		u->due = false;
		u->q->poster->s->may_start = true;
		flow->message = u->message;
		flow->packet = u->message * u->q->poster->s->packets_per_message;
		post_message(u, flow);
	}
	return n;
}
