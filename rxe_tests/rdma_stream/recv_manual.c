// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * recv --peer-address: receives from a sender without a control connection, such as an FPGA or a program that only makes
 * packets. The options give the sender's address and first PSN. The receiver prints its QPNs, rkeys and addresses.
 *
 * Each QP has two regions of `slots` slots, one message each. RDMA WRITEs use the region that is printed. SEND number k uses
 * slot k % slots of the other one. An RDMA WRITE with immediate consumes a receive, and so such a slot, too.
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "rxe_tests/rdma_stream/rdma_stream.h"
#include "userspace/traffic/streams/receiver.h"

#define NAP_NS		(20 * NSEC_PER_MSEC)	/* how often to check for the end of the run */
#define SETTLE_NS	(100 * NSEC_PER_MSEC)	/* before the counters are read: acknowledgements leave after completions */

struct manual_qp {
	uint64_t completions;
	const char *error;	/* status of its first failed completion: it receives nothing any more */
};

struct manual_receiver {
	const struct rdma_options *o;
	struct rdma_device d;
	struct rdma_end self, peer;
	unsigned int slots;
	uint64_t region;	/* bytes of one region */
	struct rdma_memory *memory;
	struct ibv_mr *mr;
	struct manual_qp *qp;
	struct stream_receiver *r;
	uint64_t completions, packets;
	const char *error;
};

static void post_receive(struct manual_receiver *u, uint64_t wr_id)
{
	uint64_t flow = wr_id / u->o->depth, place = wr_id % u->o->depth % u->slots;
	struct ibv_sge sge = {
		(uintptr_t)u->memory->at + (2 * flow + 1) * u->region + place * u->self.size, u->self.size, u->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(u->d.qp[flow], &wr, &bad))
		u->error = "the QP takes no more receives";
}

static void make_buffers(struct manual_receiver *u)
{
	u->slots = rdma_write_slots(u->self.size, u->self.flows);
	if (u->slots > u->o->depth)
		u->slots = u->o->depth;
	u->region = u->self.size * u->slots;
	u->memory = rdma_allocate(&u->d, u->o->pages, 2 * u->region * u->self.flows);
	u->mr = rdma_register(u->memory, 0, 2 * u->region * u->self.flows, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	for (unsigned int i = 0; i < u->self.flows; i++) {
		u->self.qp[i].address = (uintptr_t)u->memory->at + 2 * i * u->region;
		u->self.qp[i].rkey = u->mr->rkey;
		for (unsigned int k = 0; k < u->o->depth; k++)
			post_receive(u, (uint64_t)i * u->o->depth + k);
	}
}

/* Moves the QPs to RTR, which is enough for a responder: the PSNs are those of incoming packets. */
static void prepare(struct manual_receiver *u)
{
	u->self.service = u->o->service;
	u->self.size = u->o->common.size;
	u->self.flows = u->o->common.flows;
	rdma_create_qps(&u->d, u->o, 0, u->o->depth, &u->self);
	memcpy(u->peer.gid, u->o->peer_gid, sizeof(u->peer.gid));
	u->peer.qp = calloc(u->self.flows, sizeof(*u->peer.qp));
	u->qp = calloc(u->self.flows, sizeof(*u->qp));
	if (!u->peer.qp || !u->qp)
		err(1, "no memory for %u QPs", u->self.flows);
	for (unsigned int i = 0; i < u->self.flows; i++) {
		u->peer.qp[i].qpn = (u->o->peer_qpn + i) & 0xffffff;
		u->peer.qp[i].psn = u->self.qp[i].psn = u->o->peer_psn;
	}
	make_buffers(u);
	u->peer.flows = u->self.flows;
	rdma_connect(&u->d, &u->self, &u->peer, 0, false);
}

static void write_parameters(const struct manual_receiver *u)
{
	FILE *file = strcmp(u->o->tell, "-") ? fopen(u->o->tell, "w") : stdout;
	json_t *what = rdma_end_json(&u->self);

	json_set_count(what, "slots", u->slots);
	json_object_set_new(what, "peer", rdma_gid_json(u->peer.gid));
	if (!file || !json_line(file, what, JSON_COMPACT) || fflush(file))
		err(1, "--tell %s", u->o->tell);
	if (file != stdout)
		fclose(file);
}

/* A message's number is its immediate data. Without immediate data it is the number of messages before it. */
static void take_message(struct manual_receiver *u, unsigned int flow, const struct ibv_wc *wc, uint64_t now)
{
	struct stream_packet p = { .flow = flow, .packets_in_message = 1, .bytes = wc->byte_len };

	p.packet = p.message = wc->wc_flags & IBV_WC_WITH_IMM ? receiver_widen(u->r, flow, ntohl(wc->imm_data)) :
								u->qp[flow].completions;
	receiver_count(u->r, &p, now);
	u->qp[flow].completions++;
	u->completions++;
	u->packets += wc->byte_len ? (wc->byte_len + u->self.path_mtu - 1) / u->self.path_mtu : 1;
}

static void take_completions(struct manual_receiver *u)
{
	struct ibv_wc wc[RDMA_CQ_BATCH];
	int n = rdma_completions(u->d.queue, wc, NAP_NS, -1);
	uint64_t now = now_ns();

	if (n < 0)
		u->error = "the completion queue is broken";
	for (int i = 0; i < n; i++) {
		unsigned int flow = wc[i].wr_id / u->o->depth;

		if (wc[i].status == IBV_WC_SUCCESS) {
			take_message(u, flow, &wc[i], now);
			post_receive(u, wc[i].wr_id);
		} else if (!u->qp[flow].error) {
			u->qp[flow].error = ibv_wc_status_str(wc[i].status);
			u->r->last_any_ns = now;
		}
	}
}

static bool over(struct manual_receiver *u, uint64_t now)
{
	if (u->o->common.messages && u->completions >= u->o->common.messages)
		return now - u->r->last_any_ns >= SETTLE_NS;
	return receiver_over(u->r, now);
}

/* A broken QP does not end the run: the others continue. */
static void receive_all(struct manual_receiver *u)
{
	receiver_ready(u->r);
	while (!u->error && !over(u, now_ns())) {
		take_completions(u);
		report_progress(now_ns(), u->packets, u->r->bytes);
		receiver_pause(u->r);
	}
}

static bool dump(const struct manual_receiver *u)
{
	size_t regions = 2 * u->self.flows;
	const char *at = rdma_readable(u->memory, u->memory->at, regions * u->region);
	FILE *file = fopen(u->o->dump, "w");
	bool whole = file && fwrite(at, u->region, regions, file) == regions;

	if (file && fclose(file))
		whole = false;
	if (!whole)
		warn("--dump %s", u->o->dump);
	return whole;
}

/* What each QP received, and the error that broke it. */
static json_t *qps_json(struct manual_receiver *u)
{
	json_t *qps = json_array();

	for (unsigned int i = 0; i < u->self.flows; i++) {
		json_array_append_new(qps, json_pack("{s:I, s:I, s:s?}", "qpn", (json_int_t)u->self.qp[i].qpn,
			"completions", (json_int_t)u->qp[i].completions, "error", u->qp[i].error));
		if (!u->error)
			u->error = u->qp[i].error;
	}
	return qps;
}

int rdma_receive_manual(const struct rdma_options *o)
{
	struct manual_receiver u = { .o = o };
	struct stream_report report = { .transport = rdma_service_name(o->service) };
	json_t *counters;
	bool dumped;

	rdma_open(&u.d, o, &u.self);
	u.r = receiver_new(&o->common);
	u.r->unverified = true;
	prepare(&u);
	counters = rdma_counters(&u.d);
	write_parameters(&u);
	receive_all(&u);
	receiver_report(u.r, &report);
	report.flows = u.self.flows;
	report.packets = u.packets;
	report.packets_lost = STREAM_UNKNOWN;	/* the length of a lost message is unknown */
	report.end_seen = STREAM_NOT_ASKED;
	report_extra(&report, "path_mtu", u.self.path_mtu);
	json_object_set_new(report.extra, "hw_counters", rdma_counters_since(&u.d, counters));
	json_object_set_new(report.extra, "qps", qps_json(&u));
	report.error = u.error;
	report_print(&report, o->common.json);
	dumped = !o->dump || dump(&u);
	rdma_close(&u.d, &u.self);
	return receiver_status(u.r, &report) || !dumped;
}
