// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <stdlib.h>

#include "lib/clock.h"
#include "lib/stop.h"
#include "rxe_tests/rdma_stream/rdma_stream.h"
#include "userspace/traffic/streams/filler.h"

#define NAP_MS	100	/* how often to check for a signal */

struct rdma_sender {
	const struct rdma_options *o;
	struct rdma_device d;
	struct rdma_end self;
	struct rdma_peers peers;
	struct rdma_requester q;
	struct rdma_responder answers;	/* of --ping-pong */
	struct rdma_duplex duplex;
	const char *error;
};

/* READ: the pattern of all fillers, from which the other end reads. A message has no header, since nobody writes it. */
static void offer(struct rdma_sender *u)
{
	size_t bytes = filler_room(u->self.size);
	struct rdma_memory *memory = rdma_allocate(&u->d, u->o->pages, bytes);
	struct ibv_mr *mr = rdma_register(memory, 0, bytes, IBV_ACCESS_REMOTE_READ);

	rdma_fill(memory, filler_make, bytes);
	for (unsigned int i = 0; i < u->self.flows; i++) {
		u->self.qp[i].address = (uintptr_t)memory->at;
		u->self.qp[i].rkey = mr->rkey;
	}
	u->self.reads.rate = u->o->common.rate;
	u->self.reads.duration = u->o->common.duration;
	u->self.reads.messages = u->o->common.messages;
}

static void describe(struct rdma_sender *u)
{
	u->self.service = u->o->service;
	u->self.operation = u->o->operation;
	u->self.size = u->o->common.size;
	u->self.flows = u->o->common.flows * u->o->controls;
	u->self.filler = true;
	u->self.solicited = u->o->solicited;
	u->self.reads.window = u->o->window;
	u->self.ping_pong = u->o->common.ping_pong;
	if (u->self.ping_pong) {
		u->answers = (struct rdma_responder){
			.d = &u->d, .o = u->o, .self = &u->self, .peer = &u->peers.all, .r = receiver_new(&u->o->common),
		};
		responder_make(&u->answers, u->o->window);
	} else {
		rdma_create_qps(&u->d, u->o, u->o->window, 0, &u->self);
	}
	if (u->self.operation == RDMA_READ)
		offer(u);
}

static void send_messages(struct rdma_sender *u)
{
	u->q = (struct rdma_requester){
		.d = &u->d, .o = u->o, .self = &u->self, .peer = &u->peers.all, .options = &u->o->common, .window = u->o->window,
		.wake_fd = -1,
	};
	requester_register(&u->q);
	if (u->self.ping_pong) {
		u->duplex = (struct rdma_duplex){ .q = &u->q, .p = &u->answers };
		u->error = duplex_send(&u->duplex);
	} else {
		requester_run(&u->q);
		u->error = u->q.error;
	}
	/* From the totals a receiver computes the losses. After its answer the QPs may be destroyed. */
	for (unsigned int i = 0; i < u->peers.count; i++)
		control_send(u->peers.peer[i].control, requester_totals(&u->q, u->peers.peer[i].first, u->o->common.flows));
	for (unsigned int i = 0; i < u->peers.count; i++)
		json_decref(control_receive(u->peers.peer[i].control));
}

static uint64_t completed(const void *sender, unsigned int flow)
{
	return ((const struct rdma_sender *)sender)->q.flow[flow].completed;
}

/* After an error, only what completed is known to have arrived (RC) or left (UC, UD). */
static void report_sent(struct rdma_sender *u, struct stream_report *report)
{
	bool is_ud = u->self.service == RDMA_UD;
	const struct rdma_poster *p = u->q.poster;
	uint64_t missing = p->outstanding;

	sender_report(p->s, report);
	report->flows = u->self.flows;
	if (rdma_is_reliable(u->self.service) && p->latency.count && !u->self.ping_pong)
		report->latency = &p->latency;
	if (u->self.ping_pong)
		ping_pong_report(&u->duplex.ping_pong, report);
	report_extra(report, "lists_posted", p->lists);
	peers_report(&u->peers, u->self.size, report->run_ns, report, completed, u);
	if (!missing)
		return;
	report_extra(report, is_ud ? "packets_not_completed" : "messages_not_completed", missing);
	report->packets -= missing * p->s->wire_packets;
	if (is_ud)
		return;
	report->messages -= missing;
	report->payload_bytes -= missing * u->self.size;
}

/* What the other end says that it has read. */
static void take_reads(struct rdma_sender *u, struct stream_report *report)
{
	struct rdma_totals *totals = calloc(u->self.flows, sizeof(*totals));
	struct control *control = u->peers.peer->control;
	json_t *message = control_receive(control);

	if (!totals)
		err(1, "no memory");
	if (!message || !rdma_totals_parse(message, totals, u->self.flows, &report->run_ns, control->why))
		u->error = "the other end has gone";
	for (unsigned int i = 0; i < u->self.flows && !u->error; i++)
		report->messages += totals[i].completed;
	free(totals);
	json_decref(message);
}

/* READ: the other end reads by itself, until this one is told to stop. */
static void serve_reads(struct rdma_sender *u, struct stream_report *report)
{
	uint64_t packets = (u->self.size + u->self.path_mtu - 1) / u->self.path_mtu;
	struct control *control = u->peers.peer->control;
	bool said = false;

	peers_say(&u->peers, "go");
	cpu_meter_start(&report->cpu);
	while (!control_readable(control, NAP_MS)) {
		if (stop && !said)
			control_send(control, json_pack("{s:b}", "stop", 1));
		said = stop;
	}
	cpu_meter_mark(&report->cpu);
	report->size = u->self.size;
	report->flows = u->self.flows;
	report->messages_lost = report->packets_lost = STREAM_UNKNOWN;
	take_reads(u, report);
	report->packets = report->messages * packets;
	report->payload_bytes = report->messages * u->self.size;
	report_extra(report, "packets_per_message", packets);
}

int rdma_send(const struct rdma_options *o)
{
	struct rdma_sender u = { .o = o };
	struct stream_report report = { .transport = rdma_service_name(o->service), .send = true };
	json_t *counters;

	rdma_open(&u.d, o, &u.self);
	peers_call(&u.peers, o);
	describe(&u);
	peers_agree(&u.peers, o, &u.d, &u.self);
	counters = rdma_counters(&u.d);
	if (u.self.operation == RDMA_READ) {
		serve_reads(&u, &report);
	} else {
		send_messages(&u);
		report_sent(&u, &report);
	}
	report_extra(&report, "path_mtu", u.self.path_mtu);
	rdma_report_queues(&u.d, &report);
	json_object_set_new(report.extra, "operation", json_string(rdma_operation_name(u.self.operation)));
	json_object_set_new(report.extra, "hw_counters", rdma_counters_since(&u.d, counters));
	report.error = u.error;
	report_print(&report, o->common.json);
	rdma_close(&u.d, &u.self);
	if (u.error)
		warnx("sending ended early: %s", u.error);
	return u.error ? 1 : 0;
}
