// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/histogram.h"
#include "lib/sender.h"
#include "lib/stop.h"
#include "rxe_tests/rdma_stream.h"

#define NAP_NS		(100 * NSEC_PER_MSEC)	/* the longest time between checks for the end of the run */
#define STALL_NS	(5 * NSEC_PER_SEC)	/* give up without a completion for so long: rxe takes retry_cnt 7 as endless */

struct rdma_flow {
	uint64_t posted, completed;
	uint64_t *posted_ns;	/* [window] */
};

struct rdma_sender {
	const struct rdma_options *o;
	struct rdma_device d;
	struct rdma_end self, peer;
	FILE *control;
	struct sender *s;
	struct rdma_flow *flow;
	struct ibv_ah *ah;
	unsigned int slots;
	uint64_t outstanding;		/* posted, not completed */
	uint64_t progress_ns;		/* the last completion, or the first post after a pause */
	struct histogram latency;	/* from posting to completion; for RC this includes the acknowledgement */
	const char *error;
};

static bool is_ud(const struct rdma_sender *u)
{
	return u->self.service == IBV_QPT_UD;
}

/* Agrees with the receiver on all parameters. The smaller path MTU counts. */
static void meet(struct rdma_sender *u)
{
	const struct rdma_options *o = u->o;

	rdma_open(&u->d, o, &u->self);
	u->control = control_connect(o);
	u->self.service = o->service;
	u->self.size = o->common.size;
	u->self.flows = o->common.flows;
	rdma_create_qps(&u->d, o, o->window, &u->self);
	control_send_end(u->control, &u->self);
	control_receive_end(u->control, &u->peer);
	if (u->peer.flows != u->self.flows)
		errx(1, "the other end made %u QPs, not %u", u->peer.flows, u->self.flows);
	if (u->peer.path_mtu < u->self.path_mtu)
		u->self.path_mtu = u->peer.path_mtu;
	rdma_connect(&u->d, &u->self, &u->peer, true);
}

static void make_buffers(struct rdma_sender *u)
{
	const struct stream_options *o = &u->o->common;

	u->flow = calloc(o->flows, sizeof(*u->flow));
	for (unsigned int i = 0; u->flow && i < o->flows; i++) {
		u->flow[i].posted_ns = calloc(u->o->window, sizeof(uint64_t));
		if (!u->flow[i].posted_ns)
			err(1, "no memory");
	}
	if (!u->flow)
		err(1, "no memory");
	u->slots = rdma_write_slots(o->size);
	rdma_register(&u->d, is_ud(u) ? (size_t)o->flows * u->o->window * u->self.path_mtu : o->size);
	if (is_ud(u))
		u->ah = rdma_peer_ah(&u->d, &u->peer);
}

static void post(struct rdma_sender *u, struct ibv_send_wr *wr, unsigned int number, uint64_t now)
{
	struct rdma_flow *flow = &u->flow[number];
	struct ibv_send_wr *bad;

	wr->wr_id = number;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	flow->posted_ns[flow->posted++ % u->o->window] = now;
	if (!u->outstanding++)
		u->progress_ns = now;
	if (ibv_post_send(u->d.qp[number], wr, &bad))
		u->error = "the QP takes no more work requests";
}

/* Posts one message as RDMA WRITE. The immediate data is its number. */
static void post_write(struct rdma_sender *u, struct sender_flow *flow, uint64_t now)
{
	const struct rdma_qp_address *to = &u->peer.qp[flow->number];
	struct ibv_sge sge = { (uintptr_t)u->d.buffer, u->self.size, u->d.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htonl(flow->message),
		.wr.rdma = { to->address + flow->message % u->slots * u->self.size, to->rkey },
	};
	struct stream_header unused;

	if (sender_packet(u->s, flow, &unused, now, 0))
		post(u, &wr, flow->number, now);
}

/* Posts one packet as UD SEND, which begins with the stream header. The immediate data is the packet's number. */
static void post_datagram(struct rdma_sender *u, struct sender_flow *flow, uint64_t now, uint64_t realtime)
{
	size_t slot = flow->number * (size_t)u->o->window + flow->packet % u->o->window;
	char *at = u->d.buffer + slot * u->self.path_mtu;
	struct ibv_sge sge = { (uintptr_t)at, 0, u->d.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl(flow->packet),
		.wr.ud = { u->ah, u->peer.qp[flow->number].qpn, RDMA_QKEY },
	};
	struct stream_header header;

	sge.length = sender_packet(u->s, flow, &header, now, realtime);
	if (!sge.length)
		return;
	header.flags = 0;	/* zeroes follow */
	memcpy(at, &header, sizeof(header));
	post(u, &wr, flow->number, now);
}

/* A flow with something to send and room in its window. *over: all flows have sent everything. */
static struct sender_flow *ready_flow(struct rdma_sender *u, uint64_t now, bool *over)
{
	for (unsigned int i = 0; i < u->self.flows; i++) {
		struct sender_flow *flow = sender_next_flow(u->s, now);

		*over = !flow;
		if (!flow)
			return NULL;
		if (u->flow[flow->number].posted - u->flow[flow->number].completed < u->o->window)
			return flow;
	}
	return NULL;
}

/* Posts what is due and has room. Returns how long to wait for completions afterwards, in ns. */
static uint64_t post_due(struct rdma_sender *u, bool *over)
{
	uint64_t now = now_ns(), realtime = is_ud(u) ? clock_ns(CLOCK_REALTIME) : 0, departure;

	for (int i = 0; i < RDMA_CQ_BATCH && sender_due(u->s, now) && !u->error; i++) {
		struct sender_flow *flow = ready_flow(u, now, over);

		if (!flow)
			return *over ? 0 : NAP_NS;
		if (is_ud(u))
			post_datagram(u, flow, now, realtime);
		else
			post_write(u, flow, now);
	}
	now = now_ns();
	departure = pacer_departure(&u->s->pacer);
	if (departure <= now)
		return 0;
	return departure - now < NAP_NS ? departure - now : NAP_NS;
}

static void take_completions(struct rdma_sender *u, uint64_t timeout_ns)
{
	struct ibv_wc wc[RDMA_CQ_BATCH];
	int n = rdma_completions(&u->d, wc, timeout_ns, -1);
	uint64_t now = now_ns();

	if (n < 0)
		u->error = "the completion queue is broken";
	for (int i = 0; i < n; i++) {
		struct rdma_flow *flow = &u->flow[wc[i].wr_id];

		if (wc[i].status != IBV_WC_SUCCESS) {
			if (!u->error)
				u->error = ibv_wc_status_str(wc[i].status);
			continue;
		}
		u->outstanding--;
		u->progress_ns = now;
		histogram_add(&u->latency, now - flow->posted_ns[flow->completed++ % u->o->window]);
	}
	if (u->outstanding && !u->error && now - u->progress_ns > STALL_NS)
		u->error = "the other end completes nothing any more";
}

static void send_all(struct rdma_sender *u)
{
	bool over = false;

	while (!over && !u->error) {
		uint64_t wait = post_due(u, &over);

		take_completions(u, over ? 0 : wait);
		report_progress(now_ns(), u->s->packets * u->s->wire_packets, u->s->bytes);
	}
	while (u->outstanding && !u->error)
		take_completions(u, NAP_NS);
}

/* Sends the totals, from which the receiver computes the losses. After its answer the QPs may be destroyed. */
static void send_totals(struct rdma_sender *u)
{
	json_t *flows = json_array();

	for (unsigned int i = 0; i < u->self.flows; i++)
		json_array_append_new(flows, json_pack("{s:I, s:I}", "packets", (json_int_t)u->s->flows[i].packet,
						       "messages", (json_int_t)u->s->flows[i].message));
	control_send(u->control, json_pack("{s:o}", "end", flows));
	json_decref(control_receive(u->control));
}

/* After an error, only what completed is known to have arrived (RC) or left (UC, UD). */
static void correct_report(struct rdma_sender *u, struct stream_report *report)
{
	uint64_t missing = u->outstanding;

	report_extra(report, "path_mtu", u->self.path_mtu);
	if (!missing)
		return;
	report_extra(report, is_ud(u) ? "packets_not_completed" : "messages_not_completed", missing);
	report->packets -= missing * u->s->wire_packets;
	if (is_ud(u))
		return;
	report->messages -= missing;
	report->payload_bytes -= missing * u->self.size;
}

int rdma_send(const struct rdma_options *o)
{
	struct rdma_sender u = { .o = o };
	struct stream_report report = { .transport = rdma_service_name(o->service), .send = true };
	json_t *counters;

	meet(&u);
	make_buffers(&u);
	counters = rdma_counters(&u.d);
	u.s = is_ud(&u) ? sender_new(&o->common, u.self.path_mtu) : sender_new_unsplit(&o->common, u.self.path_mtu);
	send_all(&u);
	sender_finish(u.s);
	send_totals(&u);
	sender_report(u.s, &report);
	correct_report(&u, &report);
	if (o->service == IBV_QPT_RC && u.latency.count)
		report.latency = &u.latency;
	json_object_set_new(report.extra, "hw_counters", rdma_counters_since(&u.d, counters));
	report.error = u.error;
	report_print(&report, o->common.json);
	rdma_close(&u.d, &u.self);
	if (u.error)
		warnx("sending ended early: %s", u.error);
	return u.error ? 1 : 0;
}
