// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <err.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "rxe_tests/rdma_stream/rdma_stream.h"
#include "userspace/traffic/streams/filler.h"

#define NAP_NS		(100 * NSEC_PER_MSEC)	/* the longest time between checks for the end of the run */
#define LIMIT_NAP_NS	NSEC_PER_MSEC		/* the same while a QP may have to wait for its turn */
#define STALL_NS	(5 * NSEC_PER_SEC)	/* give up without a completion for so long: rxe takes retry_cnt 7 as endless */

/* UD's SENDs always carry the immediate. */
static const enum ibv_wr_opcode opcodes[] = {
	[RDMA_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM, [RDMA_WRITE] = IBV_WR_RDMA_WRITE, [RDMA_SEND] = IBV_WR_SEND,
	[RDMA_SEND_IMM] = IBV_WR_SEND_WITH_IMM, [RDMA_READ] = IBV_WR_RDMA_READ,
	[RDMA_FETCH_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD, [RDMA_COMPARE_SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
};

static bool is_ud(const struct rdma_requester *q)
{
	return q->self->service == RDMA_UD;
}

static bool is_atomic(const struct rdma_requester *q)
{
	return rdma_is_atomic(q->self->operation);
}

/* ---- memory ---- */

static size_t slot_of(const struct rdma_requester *q, unsigned int flow, uint64_t number)
{
	return (size_t)flow * q->window + number % q->window;
}

/* The headers of all messages that may be outstanding. The CPU writes them: they are never in a device's memory. */
static void register_headers(struct rdma_requester *q)
{
	size_t bytes = slot_of(q, q->self->flows, 0) * sizeof(*q->headers);
	struct rdma_memory *m = rdma_allocate(q->d, RDMA_NORMAL, bytes);

	q->headers = (struct stream_header *)m->at;
	q->headers_mr = rdma_register(m, 0, bytes, IBV_ACCESS_LOCAL_WRITE);
}

/* The pattern of all fillers, which all messages share. Regions differ in their keys only. */
static void register_filler(struct rdma_requester *q)
{
	size_t bytes = filler_room(is_ud(q) ? q->self->path_mtu : q->self->size);
	unsigned int regions = q->o->regions ? q->self->flows * q->o->regions : 1;

	q->filler = rdma_allocate(q->d, q->o->pages, bytes);
	rdma_fill(q->filler, filler_make, bytes);
	q->filler_mr = calloc(regions, sizeof(*q->filler_mr));
	if (!q->filler_mr)
		err(1, "no memory");
	for (unsigned int i = 0; i < regions; i++)
		q->filler_mr[i] = rdma_register(q->filler, 0, bytes, IBV_ACCESS_LOCAL_WRITE);
}

/* A list has to fit beside the work requests of which no signal has come yet. */
static void adapt_to_window(struct rdma_requester *q)
{
	unsigned int most;

	q->link = q->self->ping_pong ? 1 : q->o->link < q->window ? q->o->link : q->window;
	most = q->self->ping_pong ? 1 : q->window - q->link + 1;
	q->signal = q->o->signal < most ? q->o->signal : most;
}

void requester_register(struct rdma_requester *q)
{
	adapt_to_window(q);
	q->flow = calloc(q->self->flows, sizeof(*q->flow));
	for (unsigned int i = 0; q->flow && i < q->self->flows; i++) {
		q->flow[i].posted_ns = calloc(q->window, sizeof(uint64_t));
		if (!q->flow[i].posted_ns)
			err(1, "no memory");
	}
	if (!q->flow)
		err(1, "no memory");
	if (rdma_fetches(q->self->operation)) {
		q->fetched = rdma_make_buffers(q->d, q->o, q->self->flows, q->window, q->self->size, IBV_ACCESS_LOCAL_WRITE);
		return;
	}
	register_headers(q);
	register_filler(q);
	if (is_ud(q))
		q->ah = rdma_peer_ah(q->d, q->peer);
}

const char *requester_fetched(const struct rdma_requester *q, unsigned int flow, uint64_t message)
{
	return rdma_readable(q->fetched.memory, rdma_buffer(&q->fetched, slot_of(q, flow, message)), q->self->size);
}

/* ---- posting ---- */

static const struct ibv_mr *filler_mr(const struct rdma_requester *q, unsigned int flow, uint64_t number)
{
	unsigned int regions = q->o->regions;

	return q->filler_mr[regions ? (size_t)flow * regions + number % regions : 0];
}

/* What a message is made of: header and filler. Too short for a header it is filler only. */
static int gather(struct rdma_requester *q, struct ibv_sge sge[2], unsigned int flow, uint64_t number,
		  const struct stream_header *header, size_t length)
{
	struct stream_header *at = &q->headers[slot_of(q, flow, number)];
	size_t begin = rdma_header_bytes(length), from = (header->flags >> STREAM_FILLER_SHIFT) * FILLER_STEP;
	struct ibv_sge filler = { (uintptr_t)q->filler->at + from, length - begin, filler_mr(q, flow, number)->lkey };

	if (!begin) {
		sge[0] = filler;
		return 1;
	}
	*at = *header;
	sge[0] = (struct ibv_sge){ (uintptr_t)at, begin, q->headers_mr->lkey };
	sge[1] = filler;
	return length > begin ? 2 : 1;
}

static int scatter(const struct rdma_requester *q, struct ibv_sge *sge, unsigned int flow, uint64_t number)
{
	size_t slot = slot_of(q, flow, number);

	*sge = (struct ibv_sge){ (uintptr_t)rdma_buffer(&q->fetched, slot), q->self->size,
				 rdma_region(&q->fetched, slot)->lkey };
	return 1;
}

/* Where it goes, or comes from. An atomic makes `number` `number` + 1. */
static void address(const struct rdma_requester *q, struct ibv_send_wr *wr, unsigned int flow, uint64_t number)
{
	const struct rdma_qp_address *to = &q->peer->qp[flow];
	uint64_t slot = rdma_slot(q->peer, number);

	if (is_ud(q)) {
		wr->wr.ud.ah = q->ah;
		wr->wr.ud.remote_qpn = to->qpn;
		wr->wr.ud.remote_qkey = RDMA_QKEY;
	} else if (is_atomic(q)) {
		wr->wr.atomic.remote_addr = to->address;
		wr->wr.atomic.rkey = to->rkey;
		wr->wr.atomic.compare_add = q->self->operation == RDMA_FETCH_ADD ? 1 : number;
		wr->wr.atomic.swap = number + 1;
	} else if (q->self->operation == RDMA_READ) {
		wr->wr.rdma.remote_addr = to->address + filler_of(flow, number) * FILLER_STEP;
		wr->wr.rdma.rkey = to->rkey;
	} else {
		wr->wr.rdma.remote_addr = to->address + slot * q->self->size;
		wr->wr.rdma.rkey = rdma_rkey(q->peer, flow, slot);
	}
	wr->qp_type.xrc.remote_srqn = to->srqn;
}

/* The work request of the flow's next message (UD: packet). wr_id: which one of the QP's work requests, and the flow. */
static void prepare(struct rdma_poster *p, unsigned int place, struct sender_flow *flow, uint64_t now, uint64_t realtime)
{
	struct rdma_requester *q = p->q;
	struct rdma_flow *f = &q->flow[flow->number];
	struct ibv_send_wr *wr = &p->wr[place];
	uint64_t number = flow->packet, n = f->posted++;
	struct stream_header header;
	uint32_t length = sender_packet(p->s, flow, &header, now, realtime);
	bool whole = !flow->index, last = p->closing && whole;

	*wr = (struct ibv_send_wr){ .wr_id = n << 16 | flow->number, .imm_data = htonl(number), .sg_list = p->sge[place] };
	wr->num_sge = rdma_fetches(q->self->operation) ? scatter(q, p->sge[place], flow->number, number)
						       : gather(q, p->sge[place], flow->number, number, &header, length);
	if (q->o->qp_rate.per_second)
		pacer_sent(&f->pacer, q->o->qp_rate.unit == RATE_BITS ? length : p->s->wire_packets, now);
	wr->opcode = is_ud(q) ? IBV_WR_SEND_WITH_IMM : opcodes[q->self->operation];
	address(q, wr, flow->number, number);
	if (q->o->inline_data)
		wr->send_flags |= IBV_SEND_INLINE;
	if (q->o->solicited && (last || (whole && flow->message % q->o->solicited == 0)))
		wr->send_flags |= IBV_SEND_SOLICITED;
	f->posted_ns[n % q->window] = now;
	if (!last && (n + 1) % q->signal)
		return;
	wr->send_flags |= IBV_SEND_SIGNALED;
	f->signalled = n + 1;
}

/* Posts those that are prepared, as a list. */
static void post(struct rdma_poster *p, unsigned int number, unsigned int count, uint64_t now)
{
	struct ibv_send_wr *bad;

	for (unsigned int i = 1; i < count; i++)
		p->wr[i - 1].next = &p->wr[i];
	if (p->q->link > 1 && p->q->o->solicited)
		p->wr[count - 1].send_flags |= IBV_SEND_SOLICITED;
	if (!p->outstanding)
		p->progress_ns = now;
	p->outstanding += count;
	p->lists++;
	if (ibv_post_send(p->q->d->qp[number], p->wr, &bad))
		p->q->error = "the QP takes no more work requests";
}

void requester_post(struct rdma_poster *p, struct sender_flow *flow, uint64_t now, uint64_t realtime)
{
	prepare(p, 0, flow, now, realtime);
	post(p, flow->number, 1, now);
}

bool requester_room(const struct rdma_requester *q, const struct sender_flow *flow)
{
	return q->flow[flow->number].posted - q->flow[flow->number].completed + q->link <= q->window;
}

/*
 * The last messages, one of each flow, are kept for flows whose last work request is not signalled: nothing else would tell
 * that it has completed.
 */
static bool closing(const struct rdma_poster *p)
{
	uint64_t kept = p->q->signal > 1 ? p->part.flows : p->q->link == 1;

	return p->closing || (p->part.messages && p->part.messages - p->s->messages_started <= kept);
}

/* A list of the flow's next messages. */
static void post_list(struct rdma_poster *p, struct sender_flow *flow, uint64_t now, uint64_t realtime)
{
	unsigned int n = 0;

	do
		prepare(p, n++, flow, now, realtime);
	while (n < p->q->link && !closing(p) && sender_has_packet(p->s, flow));
	post(p, flow->number, n, now);
}

static struct sender_flow *unsignalled_flow(const struct rdma_poster *p)
{
	for (unsigned int i = 0; i < p->part.flows; i++) {
		const struct rdma_flow *f = &p->q->flow[p->s->flows[i].number];

		if (f->signalled != f->posted)
			return &p->s->flows[i];
	}
	return NULL;
}

/* Whether --stagger and --qp-rate let the flow's next message leave now. */
static bool may_leave(struct rdma_poster *p, const struct sender_flow *flow, uint64_t now)
{
	const struct rdma_options *o = p->q->o;

	if (o->stagger_ms && now - p->s->begin_ns < flow->told * o->stagger_ms * NSEC_PER_MSEC)
		return false;
	return !o->qp_rate.per_second || pacer_due(&p->q->flow[flow->number].pacer, now);
}

/* A flow with something to send and room in its window. *over: all flows have sent everything. */
static struct sender_flow *ready_flow(struct rdma_poster *p, uint64_t now, bool *over)
{
	for (unsigned int i = 0; i < p->part.flows; i++) {
		struct sender_flow *flow = sender_next_flow(p->s, now), *unsignalled;

		p->closing = !flow || closing(p);
		unsignalled = p->closing ? unsignalled_flow(p) : NULL;
		if (unsignalled) {
			p->s->may_start = true;
			flow = unsignalled;
		}
		*over = !flow;
		if (!flow)
			return NULL;
		if (requester_room(p->q, flow) && may_leave(p, flow, now))
			return flow;
	}
	return NULL;
}

/* Posts what is due and has room. Returns how long to wait for completions afterwards, in ns. */
static uint64_t post_due(struct rdma_poster *p, bool *over)
{
	uint64_t now = now_ns(), realtime = clock_ns(CLOCK_REALTIME), departure;

	for (int i = 0; i < RDMA_CQ_BATCH && sender_due(p->s, now) && !p->q->error; i++) {
		struct sender_flow *flow = ready_flow(p, now, over);

		if (!flow)
			return *over ? 0 : p->q->o->stagger_ms || p->q->o->qp_rate.per_second ? LIMIT_NAP_NS : NAP_NS;
		post_list(p, flow, now, realtime);
	}
	now = now_ns();
	departure = pacer_departure(&p->s->pacer);
	if (departure <= now)
		return 0;
	return departure - now < NAP_NS ? departure - now : NAP_NS;
}

/* ---- completing ---- */

/* The QP's atomics execute in order, and nobody else changes its counter: number k finds k. */
static void check_atomic(struct rdma_requester *q, unsigned int flow, uint64_t number)
{
	uint64_t found;

	memcpy(&found, requester_fetched(q, flow, number), sizeof(found));
	if (found != number)
		q->error = "an atomic found another value than the one before left";
}

/* A completion tells it of all work requests before it, too. */
void requester_take(struct rdma_poster *p, const struct ibv_wc *wc, uint64_t now)
{
	struct rdma_requester *q = p->q;
	unsigned int number = wc->wr_id & 0xffff;
	uint64_t last = wc->wr_id >> 16;
	struct rdma_flow *flow = &q->flow[number];

	p->progress_ns = now;
	histogram_add(&p->latency, now - flow->posted_ns[last % q->window]);
	for (; flow->completed <= last; flow->completed++) {
		p->outstanding--;
		if (q->arrived)
			q->arrived(q->context, number, flow->completed, now);
		else if (is_atomic(q))
			check_atomic(q, number, flow->completed);
	}
}

static void take_completions(struct rdma_poster *p, uint64_t timeout_ns, int wake_fd)
{
	struct ibv_wc wc[RDMA_CQ_BATCH];
	int n = rdma_completions(p->queue, wc, timeout_ns, wake_fd);
	uint64_t now = now_ns();

	if (n < 0)
		p->q->error = "the completion queue is broken";
	for (int i = 0; i < n; i++) {
		if (wc[i].status == IBV_WC_SUCCESS)
			requester_take(p, &wc[i], now);
		else if (!p->q->error)
			p->q->error = ibv_wc_status_str(wc[i].status);
	}
	if (p->outstanding && !p->q->error && now - p->progress_ns > STALL_NS)
		p->q->error = "the other end completes nothing any more";
}

/* ---- the run ---- */

static bool woken(const struct rdma_requester *q)
{
	struct pollfd p = { .fd = q->wake_fd, .events = POLLIN };

	return q->wake_fd >= 0 && poll(&p, 1, 0) > 0;
}

/* Its QPs' share of messages and rate. */
static struct stream_options part_of(const struct rdma_requester *q, const struct rdma_queue *queue)
{
	struct stream_options part = *q->options;
	uint64_t flows = q->self->flows, each = part.messages / flows, rest = part.messages % flows;
	uint64_t end = queue->first + queue->flows;

	part.flows = queue->flows;
	part.rate.per_second *= (double)queue->flows / flows;
	part.messages = each * queue->flows + (end < rest ? end : rest) - (queue->first < rest ? queue->first : rest);
	return part;
}

/* QPs take turns, and with them the receivers: each has its share also while messages are fewer than QPs. */
static void order_flows(struct rdma_poster *p)
{
	const struct rdma_requester *q = p->q;
	unsigned int each = q->options->flows, i = 0;

	for (unsigned int turn = 0; turn < each; turn++) {
		for (unsigned int number = turn; number < q->self->flows; number += each) {
			if (number - p->queue->first >= p->part.flows)
				continue;
			p->s->flows[i].number = number;
			p->s->flows[i++].told = q->peer->qp[number].flow;
		}
	}
}

static void begin(struct rdma_poster *p)
{
	struct rdma_requester *q = p->q;

	p->part = part_of(q, p->queue);
	p->s = is_ud(q) ? sender_new(&p->part, q->self->path_mtu) : sender_new_unsplit(&p->part, q->self->path_mtu);
	p->s->run = q->poster->s->run;
	order_flows(p);
	p->wr = calloc(q->link, sizeof(*p->wr));
	p->sge = calloc(q->link, sizeof(*p->sge));
	if (!p->wr || !p->sge)
		err(1, "no memory");
}

void requester_begin(struct rdma_requester *q)
{
	q->poster = calloc(q->d->queues, sizeof(*q->poster));
	if (!q->poster)
		err(1, "no memory");
	for (unsigned int i = 0; i < q->d->queues; i++) {
		q->poster[i].q = q;
		q->poster[i].queue = &q->d->queue[i];
		begin(&q->poster[i]);
	}
}

/* Of all threads: the others' numbers may be a moment old. */
static void progress(const struct rdma_requester *q)
{
	uint64_t packets = 0, bytes = 0;

	for (unsigned int i = 0; i < q->d->queues; i++) {
		packets += q->poster[i].s->packets * q->poster[i].s->wire_packets;
		bytes += q->poster[i].s->bytes;
	}
	report_progress(now_ns(), packets, bytes);
}

/*
 * Time begins when all threads are there: what is overdue because threads take time to make would be sent at twice the rate. Neither
 * threads nor QPs with a rate of their own begin with a message each at once.
 */
static void start(struct rdma_poster *p)
{
	struct rdma_requester *q = p->q;
	const struct rate *rate = &q->o->qp_rate;
	bool bits = rate->unit == RATE_BITS;
	uint64_t now;

	pthread_barrier_wait(&q->all);
	now = now_ns();
	sender_begin_turn(p->s, now, p - q->poster, q->d->queues);
	for (unsigned int i = p->queue->first; rate->per_second && i < p->queue->first + p->queue->flows; i++)
		pacer_start_turn(&q->flow[i].pacer, rate->per_second / (bits ? 8 : 1), now,
				 bits ? p->s->packet_bytes : p->s->wire_packets, i, q->self->flows);
	if (p == q->poster)
		cpu_meter_start(&p->s->cpu);
}

/* Of messages that are fewer than QPs a thread may have none. */
static void *run(void *poster)
{
	struct rdma_poster *p = poster;
	struct rdma_requester *q = p->q;
	bool over = q->options->messages && !p->part.messages;

	start(p);
	while (!over && !q->error && !woken(q)) {
		uint64_t wait = post_due(p, &over);

		take_completions(p, over ? 0 : wait, q->wake_fd);
		if (p == q->poster)
			progress(q);
	}
	while (p->outstanding && !q->error)
		take_completions(p, NAP_NS, -1);
	return NULL;
}

void requester_run(struct rdma_requester *q)
{
	struct rdma_poster *all;

	requester_begin(q);
	all = q->poster;
	pthread_barrier_init(&q->all, NULL, q->d->queues);
	rdma_threads(q->d, run, all, sizeof(*all));
	for (unsigned int i = 1; i < q->d->queues; i++) {
		sender_merge(all->s, all[i].s);
		histogram_merge(&all->latency, &all[i].latency);
		all->outstanding += all[i].outstanding;
		all->lists += all[i].lists;
	}
	sender_finish(all->s);
}

json_t *requester_totals(const struct rdma_requester *q, unsigned int first, unsigned int flows)
{
	struct rdma_totals *totals = calloc(q->self->flows, sizeof(*totals));
	const struct stream_sender *s = q->poster->s;
	json_t *message;

	if (!totals)
		err(1, "no memory");
	for (unsigned int i = 0; i < q->d->queues; i++) {
		const struct rdma_poster *p = &q->poster[i];

		for (unsigned int k = 0; k < p->part.flows; k++) {
			const struct sender_flow *flow = &p->s->flows[k];

			totals[flow->number] = (struct rdma_totals){ flow->packet, flow->message,
								     q->flow[flow->number].completed };
		}
	}
	message = rdma_totals_json(totals + first, flows, s->last_ns - s->begin_ns);
	free(totals);
	return message;
}
