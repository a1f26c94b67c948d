// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <err.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/filler.h"
#include "rxe_tests/rdma_stream/rdma_stream.h"

#define NAP_NS		(100 * NSEC_PER_MSEC)	/* the longest time between checks for the end of the run */
#define STALL_NS	(5 * NSEC_PER_SEC)	/* give up without a completion for so long: rxe takes retry_cnt 7 as endless */

/* UD's SENDs always carry the immediate. */
static const enum ibv_wr_opcode opcodes[] = {
	[RDMA_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM, [RDMA_WRITE] = IBV_WR_RDMA_WRITE, [RDMA_SEND] = IBV_WR_SEND,
	[RDMA_SEND_IMM] = IBV_WR_SEND_WITH_IMM, [RDMA_READ] = IBV_WR_RDMA_READ,
};

static bool is_ud(const struct rdma_requester *q)
{
	return q->self->service == RDMA_UD;
}

static bool reads(const struct rdma_requester *q)
{
	return q->self->operation == RDMA_READ;
}

static size_t slot_of(const struct rdma_requester *q, unsigned int flow, uint64_t number)
{
	return (size_t)flow * q->window + number % q->window;
}

static size_t headers_bytes(const struct rdma_requester *q)
{
	size_t bytes = slot_of(q, q->self->flows, 0) * sizeof(*q->headers);

	return (bytes + FILLER_STEP - 1) / FILLER_STEP * FILLER_STEP;
}

/* The headers of all messages that may be outstanding, and behind them the pattern, which all messages share. */
static void register_source(struct rdma_requester *q)
{
	size_t headers = headers_bytes(q), pattern = filler_room(is_ud(q) ? q->self->path_mtu : q->self->size);

	q->mr = rdma_register(q->d, headers + pattern);
	q->headers = q->mr->addr;
	filler_make((char *)q->mr->addr + headers, pattern);
	if (is_ud(q))
		q->ah = rdma_peer_ah(q->d, q->peer);
}

void requester_register(struct rdma_requester *q)
{
	q->flow = calloc(q->self->flows, sizeof(*q->flow));
	for (unsigned int i = 0; q->flow && i < q->self->flows; i++) {
		q->flow[i].posted_ns = calloc(q->window, sizeof(uint64_t));
		if (!q->flow[i].posted_ns)
			err(1, "no memory");
	}
	if (!q->flow)
		err(1, "no memory");
	if (reads(q))
		q->mr = rdma_register(q->d, slot_of(q, q->self->flows, 0) * q->self->size);
	else
		register_source(q);
}

const char *requester_buffer(const struct rdma_requester *q, unsigned int flow, uint64_t message)
{
	return (char *)q->mr->addr + slot_of(q, flow, message) * q->self->size;
}

static void post(struct rdma_requester *q, struct ibv_send_wr *wr, unsigned int number, uint64_t now)
{
	struct rdma_flow *flow = &q->flow[number];
	struct ibv_send_wr *bad;

	wr->wr_id = number;
	wr->opcode = is_ud(q) ? IBV_WR_SEND_WITH_IMM : opcodes[q->self->operation];
	wr->send_flags = IBV_SEND_SIGNALED;
	flow->posted_ns[flow->posted++ % q->window] = now;
	if (!q->outstanding++)
		q->progress_ns = now;
	if (ibv_post_send(q->d->qp[number], wr, &bad))
		q->error = "the QP takes no more work requests";
}

/* What a message is made of: header and filler. Too short for a header it is filler only. */
static int gather(struct rdma_requester *q, struct ibv_sge sge[2], size_t slot, const struct stream_header *header,
		  size_t length)
{
	size_t begin = rdma_header_bytes(length);
	char *pattern = (char *)q->mr->addr + headers_bytes(q);

	if (begin)
		q->headers[slot] = *header;
	sge[0] = (struct ibv_sge){ (uintptr_t)&q->headers[slot], begin, q->mr->lkey };
	sge[1] = (struct ibv_sge){
		(uintptr_t)pattern + (header->flags >> STREAM_FILLER_SHIFT) * FILLER_STEP, length - begin, q->mr->lkey,
	};
	if (begin)
		return length > begin ? 2 : 1;
	sge[0] = sge[1];
	return 1;
}

/* Posts the flow's next message (UD: packet). The immediate data, where there is one, is its number. */
void requester_post(struct rdma_requester *q, struct sender_flow *flow, uint64_t now, uint64_t realtime)
{
	const struct rdma_qp_address *to = &q->peer->qp[flow->number];
	uint64_t number = flow->packet;
	size_t slot = slot_of(q, flow->number, number);
	struct ibv_send_wr wr = { .imm_data = htonl(number) };
	struct stream_header header;
	struct ibv_sge sge[2];
	uint32_t length = sender_packet(q->s, flow, &header, now, realtime);

	if (!length)
		return;
	wr.sg_list = sge;
	wr.num_sge = 1;
	if (reads(q)) {
		sge[0] = (struct ibv_sge){ (uintptr_t)requester_buffer(q, flow->number, number), length, q->mr->lkey };
		wr.wr.rdma.remote_addr = to->address + filler_of(flow->number, number) * FILLER_STEP;
		wr.wr.rdma.rkey = to->rkey;
	} else {
		wr.num_sge = gather(q, sge, slot, &header, length);
	}
	if (is_ud(q)) {
		wr.wr.ud.ah = q->ah;
		wr.wr.ud.remote_qpn = to->qpn;
		wr.wr.ud.remote_qkey = RDMA_QKEY;
	} else if (!reads(q)) {
		wr.wr.rdma.remote_addr = to->address + rdma_slot(q->peer, number) * q->self->size;
		wr.wr.rdma.rkey = to->rkey;
	}
	post(q, &wr, flow->number, now);
}

bool requester_room(const struct rdma_requester *q, const struct sender_flow *flow)
{
	return q->flow[flow->number].posted - q->flow[flow->number].completed < q->window;
}

/* A flow with something to send and room in its window. *over: all flows have sent everything. */
static struct sender_flow *ready_flow(struct rdma_requester *q, uint64_t now, bool *over)
{
	for (unsigned int i = 0; i < q->self->flows; i++) {
		struct sender_flow *flow = sender_next_flow(q->s, now);

		*over = !flow;
		if (!flow)
			return NULL;
		if (requester_room(q, flow))
			return flow;
	}
	return NULL;
}

/* Posts what is due and has room. Returns how long to wait for completions afterwards, in ns. */
static uint64_t post_due(struct rdma_requester *q, bool *over)
{
	uint64_t now = now_ns(), realtime = clock_ns(CLOCK_REALTIME), departure;

	for (int i = 0; i < RDMA_CQ_BATCH && sender_due(q->s, now) && !q->error; i++) {
		struct sender_flow *flow = ready_flow(q, now, over);

		if (!flow)
			return *over ? 0 : NAP_NS;
		requester_post(q, flow, now, realtime);
	}
	now = now_ns();
	departure = pacer_departure(&q->s->pacer);
	if (departure <= now)
		return 0;
	return departure - now < NAP_NS ? departure - now : NAP_NS;
}

void requester_take(struct rdma_requester *q, const struct ibv_wc *wc, uint64_t now)
{
	struct rdma_flow *flow = &q->flow[wc->wr_id];

	q->outstanding--;
	q->progress_ns = now;
	histogram_add(&q->latency, now - flow->posted_ns[flow->completed % q->window]);
	if (q->arrived)
		q->arrived(q->context, wc->wr_id, flow->completed, now);
	flow->completed++;
}

static void take_completions(struct rdma_requester *q, uint64_t timeout_ns)
{
	struct ibv_wc wc[RDMA_CQ_BATCH];
	int n = rdma_completions(q->d, wc, timeout_ns, q->wake_fd);
	uint64_t now = now_ns();

	if (n < 0)
		q->error = "the completion queue is broken";
	for (int i = 0; i < n; i++) {
		if (wc[i].status == IBV_WC_SUCCESS)
			requester_take(q, &wc[i], now);
		else if (!q->error)
			q->error = ibv_wc_status_str(wc[i].status);
	}
	if (q->outstanding && !q->error && now - q->progress_ns > STALL_NS)
		q->error = "the other end completes nothing any more";
}

static bool woken(const struct rdma_requester *q)
{
	struct pollfd p = { .fd = q->wake_fd, .events = POLLIN };

	return q->wake_fd >= 0 && poll(&p, 1, 0) > 0;
}

void requester_begin(struct rdma_requester *q)
{
	q->s = is_ud(q) ? sender_new(q->options, q->self->path_mtu) : sender_new_unsplit(q->options, q->self->path_mtu);
}

void requester_run(struct rdma_requester *q)
{
	bool over = false;

	requester_begin(q);
	while (!over && !q->error && !woken(q)) {
		uint64_t wait = post_due(q, &over);

		take_completions(q, over ? 0 : wait);
		report_progress(now_ns(), q->s->packets * q->s->wire_packets, q->s->bytes);
	}
	q->wake_fd = -1;
	while (q->outstanding && !q->error)
		take_completions(q, NAP_NS);
	sender_finish(q->s);
}

json_t *requester_totals(const struct rdma_requester *q)
{
	struct rdma_totals *totals = calloc(q->self->flows, sizeof(*totals));
	json_t *message;

	if (!totals)
		err(1, "no memory");
	for (unsigned int i = 0; i < q->self->flows; i++)
		totals[i] = (struct rdma_totals){ q->s->flows[i].packet, q->s->flows[i].message, q->flow[i].completed };
	message = rdma_totals_json(totals, q->self->flows, q->s->last_ns - q->s->begin_ns);
	free(totals);
	return message;
}
