// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "lib/clock.h"
#include "lib/stop.h"
#include "rxe_tests/rdma_stream/rdma_stream.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/receiver.h"

#define NAP_NS		(20 * NSEC_PER_MSEC)	/* how often to check for the end of the run */

/* What a thread reads. */
struct rdma_reader {
	struct rdma_receiver *u;
	struct rdma_queue *queue;
};

struct rdma_receiver {
	const struct rdma_options *o;
	struct rdma_device d;
	struct rdma_end self;
	struct rdma_peers peers;
	struct rdma_responder p;
	struct rdma_requester q;	/* of READs, and of answers */
	struct rdma_duplex duplex;
	struct stream_options answers;
	struct rdma_totals *totals;	/* the sender's, of each QP; 0 until they have come */
	uint64_t sender_ns;	/* the time of its run */
	pthread_mutex_t lock;	/* of r and p, while several threads read */
	struct stream_receiver *r;
	atomic_bool over;
	const char *_Atomic error;
};

static bool is_ud(const struct rdma_receiver *u)
{
	return u->self.service == RDMA_UD;
}

static bool is(const struct rdma_receiver *u, enum rdma_operation operation)
{
	return u->self.operation == operation;
}

static void refuse(const struct rdma_peer *peer, const char *why)
{
	control_refuse(peer->control, why);
	errx(1, "the sender: %s", why);
}

/* What this end cannot do, or was told not to. */
static void check(const void *receiver, const struct rdma_peer *peer)
{
	const struct rdma_receiver *u = receiver;
	const struct rdma_end *end = &peer->end;

	if (u->o->service && u->o->service != end->service) {
		control_refuse(peer->control, "its --transport is another one");
		errx(1, "the sender's transport is %s, not %s", rdma_service_name(end->service), rdma_service_name(u->o->service));
	}
	if (u->o->operation && u->o->operation != end->operation) {
		control_refuse(peer->control, "its --operation is another one");
		errx(1, "the sender's operation is %s, not %s", rdma_operation_name(end->operation),
		     rdma_operation_name(u->o->operation));
	}
	if (end->service == RDMA_XRC && end->ping_pong)
		refuse(peer, "an XRC QP sends or receives: no ping-pong");
	if (end->service == RDMA_XRC && !rdma_has_xrc(&u->d))
		refuse(peer, "the receiver's device has no XRC");
	if (u->o->gaps && rdma_is_silent(end->operation))
		refuse(peer, "the receiver wants --gaps, and of this --operation it sees no message");
	if (u->o->senders > 1 && (end->service == RDMA_UD || end->operation == RDMA_READ || end->operation == RDMA_SEND ||
				  end->ping_pong))
		refuse(peer, "a receiver of several senders takes no UD, READ, SEND without immediate, or ping-pong");
}

/* Takes the senders' parameters. The smallest path MTU counts. */
static void adopt(struct rdma_receiver *u)
{
	const struct rdma_end *all = &u->peers.all;

	peers_join(&u->peers, &u->self);
	u->self.service = all->service;
	u->self.operation = all->operation;
	u->self.size = all->size;
	u->self.flows = all->flows;
	u->self.ping_pong = all->ping_pong;
}

/* What a READ brought. */
static void take_read(void *context, unsigned int flow, uint64_t message, uint64_t now)
{
	struct rdma_receiver *u = context;
	struct stream_packet p = {
		.flow = flow, .packet = message, .message = message, .packets_in_message = 1, .bytes = u->self.size,
	};

	pthread_mutex_lock(&u->lock);
	receiver_count(u->r, &p, now);
	if (receiver_samples(u->r, message))
		receiver_verified(u->r, filler_right(requester_fetched(&u->q, flow, message), u->self.size,
						     filler_of(flow, message), 0));
	pthread_mutex_unlock(&u->lock);
}

/* READ: this end posts. */
static void make_requester(struct rdma_receiver *u)
{
	const struct rdma_end *peer = &u->peers.all;
	unsigned int window = rdma_affordable(u->self.size, u->self.flows, peer->reads.window);

	u->q = (struct rdma_requester){
		.d = &u->d, .o = u->o, .self = &u->self, .peer = peer, .window = window,
		.wake_fd = u->peers.peer->control->fd,
		.arrived = take_read, .context = u,
	};
	rdma_create_qps(&u->d, u->o, window, 0, &u->self);
	if (peer->reads.limit < u->self.reads.limit)
		u->self.reads.limit = peer->reads.limit;
	requester_register(&u->q);
}

/* Every other operation: this end waits, and may have to answer. */
static void make_responder(struct rdma_receiver *u)
{
	u->p = (struct rdma_responder){ .d = &u->d, .o = u->o, .self = &u->self, .peer = &u->peers.all, .r = u->r };
	responder_make(&u->p, u->self.ping_pong ? u->o->window : 0);
	for (unsigned int i = 0; i < u->d.queues; i++)
		u->d.queue[i].solicited = u->peers.all.solicited;
	if (!u->self.ping_pong)
		return;
	u->answers = (struct stream_options){ .size = u->self.size, .flows = u->self.flows };
	u->q = (struct rdma_requester){
		.d = &u->d, .o = u->o, .self = &u->self, .peer = &u->peers.all, .options = &u->answers, .window = u->o->window,
		.wake_fd = -1,
	};
	requester_register(&u->q);
	requester_begin(&u->q);
	u->duplex = (struct rdma_duplex){ .q = &u->q, .p = &u->p };
}

/* false: no sender came. */
static bool meet(struct rdma_receiver *u)
{
	if (!peers_accept(&u->peers, u->o, check, u))
		return false;
	adopt(u);
	u->self.reads.window = rdma_fetches(u->self.operation) ? rdma_affordable(u->self.size, u->self.flows,
											  u->peers.all.reads.window) : 0;
	if (is(u, RDMA_READ))
		make_requester(u);
	else
		make_responder(u);
	peers_connect(&u->d, &u->peers, &u->self, rdma_requests(u->o, &u->self) || u->self.ping_pong);
	peers_open(&u->peers);
	peers_tell(&u->peers, &u->self);	/* they begin at once */
	u->r->ready_ns = now_ns();
	u->r->message_size = u->self.size;
	u->r->unverified = !u->peers.all.filler;
	u->totals = calloc(u->self.flows, sizeof(*u->totals));
	if (!u->totals)
		err(1, "no memory");
	u->r->gaps_qp = u->self.qp;
	u->r->gaps_ordered = !is_ud(u);
	if (rdma_is_silent(u->self.operation))
		cpu_meter_start(&u->r->cpu);
	return true;
}

static void take_totals(struct rdma_receiver *u, struct rdma_peer *peer)
{
	json_t *message = control_receive(peer->control);
	struct rdma_totals *totals = u->totals + peer->first;
	uint64_t ns = 0;
	bool right;

	peers_close(&u->peers, peer);
	u->r->last_any_ns = now_ns();
	right = message && rdma_totals_parse(message, totals, peer->flows, &ns, peer->control->why);
	json_decref(message);
	if (!right)
		return;
	if (ns > u->sender_ns)
		u->sender_ns = ns;
	for (unsigned int i = 0; i < peer->flows; i++)
		receiver_end(u->r, peer->first + i, totals[i].packets, totals[i].messages, u->self.flows);
	if (rdma_is_silent(u->self.operation))
		cpu_meter_mark(&u->r->cpu);
}

static void take_news(struct rdma_receiver *u)
{
	pthread_mutex_lock(&u->lock);
	for (unsigned int i = 0; i < u->peers.count; i++)
		if (u->peers.peer[i].open && control_readable(u->peers.peer[i].control, 0))
			take_totals(u, &u->peers.peer[i]);
	pthread_mutex_unlock(&u->lock);
}

static int take_completions(struct rdma_reader *reader, int wake_fd)
{
	struct rdma_receiver *u = reader->u;
	struct ibv_wc wc[RDMA_CQ_BATCH];
	int n = rdma_completions(reader->queue, wc, NAP_NS, wake_fd);
	uint64_t now = now_ns();

	if (n < 0)
		u->error = "the completion queue is broken";
	pthread_mutex_lock(&u->lock);
	for (int i = 0; i < n && !u->p.error; i++)
		responder_take(&u->p, &wc[i], now);
	pthread_mutex_unlock(&u->lock);
	for (int i = 0; i < n && !u->p.error; i++)
		responder_post_again(&u->p, &wc[i]);
	if (u->p.error)
		u->error = u->p.error;
	return n;
}

static int answer(struct rdma_receiver *u, int wake_fd)
{
	int n = duplex_answer(&u->duplex, NAP_NS, wake_fd);

	u->error = u->q.error ? u->q.error : u->p.error;
	return n;
}

/* While a control connection is open the run continues: its sender will send its totals. */
static bool is_over(struct rdma_receiver *u)
{
	bool over;

	pthread_mutex_lock(&u->lock);
	if (u->peers.open)
		u->r->last_any_ns = now_ns();
	over = receiver_over(u->r, now_ns());
	report_progress(now_ns(), u->r->packets, u->r->bytes);
	pthread_mutex_unlock(&u->lock);
	return over;
}

/* The first thread also looks after the control connections. */
static void read_first(struct rdma_reader *reader)
{
	struct rdma_receiver *u = reader->u;

	while (!u->error && !is_over(u)) {
		int wake_fd = u->peers.open ? u->peers.news : -1;
		int n = u->self.ping_pong ? answer(u, wake_fd) : take_completions(reader, wake_fd);

		if (!n && u->peers.open)
			take_news(u);
		receiver_pause(u->r);
	}
	u->over = true;
}

static void *read_queue(void *reader)
{
	struct rdma_reader *r = reader;

	if (r->queue == r->u->d.queue)
		read_first(r);
	while (!r->u->error && !r->u->over)
		take_completions(r, -1);
	return NULL;
}

static void receive_all(struct rdma_receiver *u)
{
	struct rdma_reader *readers = calloc(u->d.queues, sizeof(*readers));

	if (!readers)
		err(1, "no memory");
	for (unsigned int i = 0; i < u->d.queues; i++)
		readers[i] = (struct rdma_reader){ u, &u->d.queue[i] };
	rdma_threads(&u->d, read_queue, readers, sizeof(*readers));
	free(readers);
}

/*
 * READ: posts until the sender says to stop, or all is read. The sender answers READs from its `go` on. From the totals it
 * knows what was read.
 */
static void read_all(struct rdma_receiver *u)
{
	const struct rdma_reads *reads = &u->peers.all.reads;
	struct stream_options options = u->o->common;

	options.size = u->self.size;
	options.flows = u->self.flows;
	options.rate = reads->rate;
	options.duration = reads->duration;
	options.messages = reads->messages;
	json_decref(control_receive(u->peers.peer->control));
	u->q.options = &options;
	requester_run(&u->q);
	if (u->r->packets)
		cpu_meter_mark(&u->r->cpu);
	u->error = u->q.error;
	for (unsigned int i = 0; i < u->self.flows; i++)
		receiver_end(u->r, i, u->q.flow[i].posted, u->q.flow[i].posted, u->self.flows);
	control_send(u->peers.peer->control, requester_totals(&u->q, 0, u->self.flows));
}

static void run(struct rdma_receiver *u)
{
	if (is(u, RDMA_READ)) {
		read_all(u);
		return;
	}
	receive_all(u);
	for (unsigned int i = 0; i < u->self.flows && rdma_is_silent(u->self.operation) && receiver_samples(u->r, 0) &&
	     u->peers.all.filler; i++)
		if (u->r->flow[i])
			responder_verify_memory(&u->p, i, &u->totals[i]);
	peers_say(&u->peers, "done");
}

/*
 * WRITE without immediate, and atomics: this end sees no message. A completion at the sender means that RC's has arrived, and
 * of UC's only that it has left.
 */
static void report_unseen(const struct rdma_receiver *u, struct stream_report *report)
{
	bool known = rdma_is_reliable(u->self.service) && receiver_end_seen(u->r);
	uint64_t sent = 0, arrived = 0, *each = calloc(u->self.flows + 1, sizeof(*each));

	if (!each)
		err(1, "no memory");
	for (unsigned int i = 0; i < u->self.flows && known; i++) {
		sent += u->r->flow[i]->total_messages;
		arrived += u->totals[i].completed;
	}
	report->messages = report->packets = known ? arrived : STREAM_UNKNOWN;
	report->messages_lost = report->packets_lost = known && sent == arrived ? 0 : STREAM_UNKNOWN;
	report->payload_bytes = known ? arrived * u->self.size : STREAM_UNKNOWN;
	report->run_ns = known ? u->sender_ns : STREAM_UNKNOWN;
	for (unsigned int i = 0; i < u->self.flows; i++)
		each[i] = u->totals[i].completed;
	report_flows(report, each, u->self.flows);
	free(each);
}

/* That arrived. */
static uint64_t messages(const void *receiver, unsigned int flow)
{
	const struct rdma_receiver *u = receiver;

	if (rdma_is_silent(u->self.operation))
		return u->totals[flow].completed;
	return u->r->flow[flow] ? u->r->flow[flow]->messages : 0;
}

/*
 * RC and UC split messages themselves. Here each "packet" was a message, and packets are computed from messages. So
 * packets_lost counts all packets of the lost messages, and some of them may have arrived.
 */
static void correct_report(struct rdma_receiver *u, struct stream_report *report)
{
	uint64_t packets = is_ud(u) ? 1 : (u->self.size + u->self.path_mtu - 1) / u->self.path_mtu;

	if (rdma_is_silent(u->self.operation))
		report_unseen(u, report);
	if (report->packets != STREAM_UNKNOWN)
		report->packets *= packets;
	if (report->packets_lost != STREAM_UNKNOWN)
		report->packets_lost *= packets;
	if (is(u, RDMA_READ) && u->q.poster && u->q.poster->latency.count)
		report->latency = &u->q.poster->latency;
	report_extra(report, "path_mtu", u->self.path_mtu);
	peers_report(&u->peers, u->self.size, report->run_ns, report, messages, u);
	if (u->d.queues)
		rdma_report_queues(&u->d, report);
	if (u->d.srqs) {
		report_extra(report, "srqs", u->d.srqs);
		report_extra(report, "receives_broken", u->p.broken);
	}
	if (u->self.operation)
		json_object_set_new(report->extra, "operation", json_string(rdma_operation_name(u->self.operation)));
}

/* Ends the list of gaps, however the run has ended. */
static void report_gaps(struct rdma_receiver *u, struct stream_report *report)
{
	if (!u->r->gaps)
		return;
	if (!receiver_gaps_end(u->r) && !u->error)
		u->error = "the list of gaps could not be written";
	report_extra(report, "gaps", u->r->gaps_told);
}

/*
 * Packets that arrived at this device but were not delivered to this program. Valid where the device counts packets (rxe) and
 * serves no other program. RC's retransmissions make it meaningless.
 *
 * Where a message is one packet, only a missing receive can be the reason: rxe verifies ICRC, Q_Key and header before it counts
 * a packet (rxe_rcv(), rxe_recv.c), and each packet begins a message, so UC's responder takes it with any PSN (check_psn(),
 * rxe_resp.c). It counts nothing itself when it drops one (RESPST_ERR_RNR). Of longer messages the packets behind a loss are
 * discarded as well.
 *
 * With rxe's UC everything may be lost from the first loss on: do_class_d1e_error() (rxe_resp.c, seen in 6.1) forgets a broken
 * message only if it holds a receive. An RDMA WRITE holds none before its last packet, so every later first packet is taken for
 * the same error again. With a shared queue it forgets none, of SENDs either.
 */
static void report_discarded(const struct rdma_receiver *u, struct stream_report *report, json_t *counters)
{
	json_int_t arrived = json_integer_value(json_object_get(counters, "rcvd_pkts"));

	if (rdma_is_reliable(u->self.service) || report->packets == STREAM_UNKNOWN || !json_object_get(counters, "rcvd_pkts"))
		return;
	if ((is_ud(u) || u->self.size <= u->self.path_mtu) && arrived >= (json_int_t)u->p.receives)
		report_drop(report, "no_receive_request", arrived - u->p.receives);
	else if (arrived >= (json_int_t)report->packets)
		report_drop(report, "responder_discarded", arrived - report->packets);
}

int rdma_receive(const struct rdma_options *o)
{
	struct rdma_receiver u = { .o = o, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct stream_report report = { .transport = rdma_service_name(o->service) };
	json_t *counters;
	bool met;

	rdma_open(&u.d, o, &u.self);
	counters = rdma_counters(&u.d);
	u.r = receiver_new(&o->common);
	if (o->gaps && !receiver_gaps_begin(u.r, o->gaps))
		err(1, "--gaps %s", o->gaps);
	met = meet(&u);
	if (met) {
		run(&u);
		report.transport = rdma_service_name(u.self.service);
	}
	receiver_report(u.r, &report);
	correct_report(&u, &report);
	report_gaps(&u, &report);
	counters = rdma_counters_since(&u.d, counters);
	report_discarded(&u, &report, counters);
	json_object_set_new(report.extra, "hw_counters", counters);
	report.error = u.error;
	report_print(&report, o->common.json);
	if (met)
		rdma_close(&u.d, &u.self);
	return receiver_status(u.r, &report);
}
