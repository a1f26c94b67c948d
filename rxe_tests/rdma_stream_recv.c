// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <err.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/receiver.h"
#include "lib/stop.h"
#include "rxe_tests/rdma_stream.h"

#define NAP_NS		(20 * NSEC_PER_MSEC)	/* how often to check for the end of the run */

struct rdma_receiver {
	const struct rdma_options *o;
	struct rdma_device d;
	struct rdma_end self, peer;
	FILE *control;
	bool control_open;
	struct receiver *r;
	const char *error;
};

static bool is_ud(const struct rdma_receiver *u)
{
	return u->self.service == IBV_QPT_UD;
}

static size_t datagram_room(const struct rdma_receiver *u)
{
	return RDMA_GRH + u->self.path_mtu;
}

/* wr_id: flow * depth + index of the buffer. An RDMA WRITE with immediate consumes a receive but does not use its buffer. */
static void post_receive(struct rdma_receiver *u, uint64_t wr_id)
{
	struct ibv_sge sge = {
		(uintptr_t)u->d.buffer + wr_id * datagram_room(u), datagram_room(u), u->d.mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = is_ud(u) }, *bad;

	if (ibv_post_recv(u->d.qp[wr_id / u->o->depth], &wr, &bad))
		u->error = "the QP takes no more receives";
}

static void make_buffers(struct rdma_receiver *u)
{
	uint64_t region = u->self.size * rdma_write_slots(u->self.size);
	size_t receives = (size_t)u->self.flows * u->o->depth;

	rdma_register(&u->d, is_ud(u) ? receives * datagram_room(u) : u->self.flows * region);
	for (unsigned int i = 0; i < u->self.flows && !is_ud(u); i++) {
		u->self.qp[i].address = (uintptr_t)u->d.buffer + i * region;
		u->self.qp[i].rkey = u->d.mr->rkey;
	}
	for (size_t i = 0; i < receives; i++)
		post_receive(u, i);
}

/* Takes the sender's parameters. The smaller path MTU counts. */
static void adopt(struct rdma_receiver *u)
{
	if (u->o->service && u->o->service != u->peer.service) {
		control_refuse(u->control, "its --transport is another one");
		errx(1, "the sender's transport is %s, not %s", rdma_service_name(u->peer.service),
		     rdma_service_name(u->o->service));
	}
	if (!u->peer.flows || !u->peer.size)
		errx(1, "control connection: not an rdma_stream of this version");
	u->self.service = u->peer.service;
	u->self.size = u->peer.size;
	u->self.flows = u->peer.flows;
	if (u->peer.path_mtu < u->self.path_mtu)
		u->self.path_mtu = u->peer.path_mtu;
}

/* false: no sender came. */
static bool meet(struct rdma_receiver *u)
{
	int listener = control_listen(u->o);

	receiver_ready(u->r);
	u->control = control_accept(listener, u->o->common.wait);
	close(listener);
	if (!u->control)
		return false;
	control_receive_end(u->control, &u->peer);
	adopt(u);
	rdma_create_qps(&u->d, u->o, u->o->depth, &u->self);
	make_buffers(u);
	rdma_connect(&u->d, &u->self, &u->peer, false);
	control_send_end(u->control, &u->self);
	u->control_open = true;
	u->r->ready_ns = now_ns();
	u->r->message_size = u->self.size;
	return true;
}

static void take_totals(struct rdma_receiver *u)
{
	json_t *message = control_receive(u->control), *flows, *flow;
	json_int_t packets, messages;
	size_t i;

	u->control_open = false;
	u->r->last_any_ns = now_ns();
	if (!message || json_unpack(message, "{s:o}", "end", &flows))
		return;
	json_array_foreach(flows, i, flow)
		if (!json_unpack(flow, "{s:I, s:I}", "packets", &packets, "messages", &messages) && i < u->self.flows)
			receiver_end(u->r, i, packets, messages, u->self.flows);
	json_decref(message);
}

static bool control_readable(const struct rdma_receiver *u)
{
	struct pollfd p = { .fd = fileno(u->control), .events = POLLIN };

	return u->control_open && poll(&p, 1, 0) > 0;
}

static void take_message(struct rdma_receiver *u, unsigned int flow, uint32_t immediate, uint64_t now)
{
	struct stream_packet p = { .flow = flow, .packets_in_message = 1, .bytes = u->self.size };

	p.packet = p.message = receiver_widen(u->r, flow, immediate);
	receiver_count(u->r, &p, now);
}

static void take_datagram(struct rdma_receiver *u, const struct ibv_wc *wc, uint64_t now)
{
	const char *at = u->d.buffer + wc->wr_id * datagram_room(u);

	if (wc->byte_len >= RDMA_GRH)
		receiver_take(u->r, at + RDMA_GRH, wc->byte_len - RDMA_GRH, now,
			      u->o->common.latency ? clock_ns(CLOCK_REALTIME) : 0);
}

static int take_completions(struct rdma_receiver *u)
{
	struct ibv_wc wc[RDMA_CQ_BATCH];
	int n = rdma_completions(&u->d, wc, NAP_NS, u->control_open ? fileno(u->control) : -1);
	uint64_t now = now_ns();

	if (n < 0)
		u->error = "the completion queue is broken";
	for (int i = 0; i < n; i++) {
		if (wc[i].status != IBV_WC_SUCCESS) {
			u->error = ibv_wc_status_str(wc[i].status);
			return n;
		}
		if (is_ud(u))
			take_datagram(u, &wc[i], now);
		else
			take_message(u, wc[i].wr_id / u->o->depth, ntohl(wc[i].imm_data), now);
		post_receive(u, wc[i].wr_id);
	}
	return n;
}

/* While the control connection is open the run continues: the sender will send its totals. */
static void receive_all(struct rdma_receiver *u)
{
	while (!u->error && !receiver_over(u->r, now_ns())) {
		if (u->control_open)
			u->r->last_any_ns = now_ns();
		if (!take_completions(u) && control_readable(u))
			take_totals(u);
		report_progress(now_ns(), u->r->packets, u->r->bytes);
	}
}

/*
 * RC and UC split messages themselves. Here each "packet" was a message, and packets are computed from messages. So
 * packets_lost counts all packets of the lost messages, and some of them may have arrived.
 */
static void correct_report(struct rdma_receiver *u, struct stream_report *report)
{
	uint64_t packets = is_ud(u) ? 1 : (u->self.size + u->self.path_mtu - 1) / u->self.path_mtu;

	report->packets *= packets;
	report->packets_lost *= packets;
	report_extra(report, "path_mtu", u->self.path_mtu);
}

/*
 * Packets that arrived at this device but were not delivered to this program: parts of messages that a loss broke (UC), or
 * packets without a posted receive. Valid where the device counts packets (rxe) and serves no other program. RC's
 * retransmissions make it meaningless.
 *
 * With rxe's UC everything may be lost from the first loss on: do_class_d1e_error() (rxe_resp.c, seen in 6.1) forgets a broken
 * message only if it holds a receive. An RDMA WRITE holds none before its last packet, so every later first packet is taken for
 * the same error again.
 */
static void report_discarded(const struct rdma_receiver *u, struct stream_report *report, json_t *counters)
{
	json_int_t arrived = json_integer_value(json_object_get(counters, "rcvd_pkts"));

	if (u->self.service != IBV_QPT_RC && json_object_get(counters, "rcvd_pkts") &&
	    arrived >= (json_int_t)report->packets)
		report_drop(report, "responder_discarded", arrived - report->packets);
}

int rdma_receive(const struct rdma_options *o)
{
	struct rdma_receiver u = { .o = o };
	struct stream_report report = { .transport = rdma_service_name(o->service) };
	json_t *counters;
	bool met;

	rdma_open(&u.d, o, &u.self);
	counters = rdma_counters(&u.d);
	u.r = receiver_new(&o->common);
	met = meet(&u);
	if (met) {
		receive_all(&u);
		report.transport = rdma_service_name(u.self.service);
		control_send(u.control, json_pack("{s:b}", "done", 1));
	}
	receiver_report(u.r, &report);
	correct_report(&u, &report);
	counters = rdma_counters_since(&u.d, counters);
	report_discarded(&u, &report, counters);
	json_object_set_new(report.extra, "hw_counters", counters);
	report.error = u.error;
	report_print(&report, o->common.json);
	if (met)
		rdma_close(&u.d, &u.self);
	return receiver_status(u.r, &report);
}
