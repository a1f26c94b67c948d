// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The sender: one thread for all receivers, which take turns message by message. */
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <stdlib.h>

#include "lib/clock.h"
#include "lib/stop.h"
#include "rxe_tests/rdma_stream/ring_mode.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/pacing.h"

#define NOTIFY_NS	(100 * NSEC_PER_MSEC)	/* a stream's data is told so often, as the TWEPP 2024 sender does */

/* In this order. TELLING: all has been posted. ENDING: the receiver knows, and reads the rest. */
enum lane_stage { SENDING, TELLING, ENDING, DONE };

/* A receiver, as the sender sees it. Counts are of messages. */
struct lane {
	struct rdma_peer *peer;
	enum lane_stage stage;
	const struct rdma_qp_address *to;
	struct ring_notes *notes;
	struct ring_credit credit;
	char *headers;				/* [window], in the sender's memory */
	uint64_t sent, completed, told;
	uint64_t notifications;
	uint64_t begin_ns, last_ns;		/* the first post, the last completion */
	struct ring_episodes paused, full;	/* kept from sending: by back-pressure, by a full ring without it */
	bool here;				/* its time has begun: it has answered the first note */
	bool asked_to_stop;
	const char *error;
};

struct ring_sender {
	const struct rdma_options *o;
	struct rdma_device d;
	struct rdma_end self;
	struct rdma_peers peers;
	struct ibv_mr *headers_mr, *pattern_mr;
	char *pattern;
	struct lane lane[RDMA_PEERS_MAX];
	uint64_t unit, tick_ns, look_ns;
	uint64_t begin_ns;			/* of the data; 0: not all receivers are here yet */
	unsigned int turn;
	struct pacer pacer;
	struct cpu_meter cpu;
};

#define for_each_lane(u, l) for (struct lane *l = (u)->lane; l < (u)->lane + (u)->peers.count; l++)

/* ---- meeting the receivers ---- */

static void make_memory(struct ring_sender *u)
{
	size_t headers = (size_t)u->o->window * RING_HEADER, pattern = u->self.size + RING_FILLERS * FILLER_STEP;
	struct rdma_memory *m = rdma_allocate(&u->d, RDMA_NORMAL, headers * u->peers.count);

	u->headers_mr = rdma_register(m, 0, m->bytes, IBV_ACCESS_LOCAL_WRITE);
	for_each_lane(u, l)
		l->headers = m->at + headers * (l - u->lane);
	m = rdma_allocate(&u->d, u->o->pages, pattern);
	u->pattern_mr = rdma_register(m, 0, pattern, IBV_ACCESS_LOCAL_WRITE);
	u->pattern = m->at;
	rdma_fill(m, filler_make, pattern);
}

static void meet(struct ring_sender *u)
{
	struct ring_notes *notes;

	rdma_open(&u->d, u->o, &u->self);
	peers_call(&u->peers, u->o);
	u->self.service = RDMA_RC;
	u->self.operation = RDMA_WRITE;
	u->self.size = u->o->common.size;
	u->self.flows = u->peers.count;
	u->self.ring = true;
	u->self.burst = u->o->burst;
	u->unit = u->o->burst ? u->o->burst : 1;
	rdma_create_qps(&u->d, u->o, u->o->window + RING_NOTES, RING_RECEIVES, &u->self);
	make_memory(u);
	notes = notes_make(&u->d, u->self.flows);
	peers_agree(&u->peers, u->o, &u->d, &u->self);
	peers_open(&u->peers);
	for_each_lane(u, l) {
		l->peer = &u->peers.peer[l - u->lane];
		l->to = &u->peers.all.qp[l->peer->first];
		l->notes = &notes[l->peer->first];
		l->credit.unit = u->unit;
		l->credit.capacity = l->peer->end.capacity;
	}
}

/* ---- sending ---- */

static void fail(struct lane *l, const char *error)
{
	if (!l->error)
		l->error = error;
	l->stage = DONE;
}

static void post_message(struct ring_sender *u, struct lane *l, uint64_t now)
{
	char *header = l->headers + l->sent % u->o->window * RING_HEADER;
	struct ibv_sge sge[2] = {
		{ (uintptr_t)header, RING_HEADER, u->headers_mr->lkey },
		{ (uintptr_t)u->pattern + ring_filler(l->sent) * FILLER_STEP, u->self.size - RING_HEADER, u->pattern_mr->lkey },
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED, .sg_list = sge, .num_sge = sge[1].length ? 2 : 1,
		.wr.rdma = { l->to->address + l->sent % l->credit.capacity * u->self.size, l->to->rkey },
	}, *bad;

	ring_header(header, l->sent);
	if (!l->begin_ns)
		l->begin_ns = now;
	if (ibv_post_send(u->d.qp[l->peer->first], &wr, &bad)) {
		fail(l, "the QP takes no more work requests");
		return;
	}
	l->sent++;
	pacer_sent(&u->pacer, u->self.size, now);
}

static bool sent_enough(const struct ring_sender *u, const struct lane *l, uint64_t now)
{
	if (stop || l->asked_to_stop || (u->o->common.messages && l->sent >= u->o->common.messages))
		return true;
	return u->o->common.duration && now - u->begin_ns >= seconds_to_ns(u->o->common.duration);
}

/* Whether the next message may be posted. Keeps stage and episodes up to date. A burst that has begun is completed. */
static bool may_post(const struct ring_sender *u, struct lane *l, uint64_t now)
{
	bool fits = ring_fits(&l->credit, l->sent);

	if (l->stage != SENDING || !u->begin_ns)
		return false;
	if (!(l->sent % u->unit) && sent_enough(u, l, now)) {
		l->stage = TELLING;
		fits = true;
	}
	ring_episode(&l->paused, !fits && l->credit.paused, now);
	ring_episode(&l->full, !fits && !l->credit.paused, now);
	return l->stage == SENDING && fits && l->sent - l->completed < u->o->window;
}

static struct lane *next_lane(struct ring_sender *u, uint64_t now)
{
	for (unsigned int i = 0; i < u->peers.count; i++) {
		struct lane *l = &u->lane[u->turn++ % u->peers.count];

		if (may_post(u, l, now))
			return l;
	}
	return NULL;
}

/* Returns when there is more to do, if nothing happens until then. */
static uint64_t post_due(struct ring_sender *u, uint64_t now)
{
	uint64_t departure;

	for (int i = 0; i < RDMA_CQ_BATCH; i++) {
		struct lane *l = next_lane(u, now);

		if (!l)
			return now + RING_NAP_NS;
		if (!pacer_due(&u->pacer, now)) {
			u->turn--;
			departure = pacer_departure(&u->pacer);
			return departure < now + RING_NAP_NS ? departure : now + RING_NAP_NS;
		}
		post_message(u, l, now);
	}
	return now;
}

/* Whole bursts as soon as they have been posted, of a stream what has been posted since the last tick, and a sign of life. */
static void tell(struct ring_sender *u, struct lane *l, bool tick, uint64_t now)
{
	uint64_t messages = l->sent - l->sent % u->unit;
	bool news = messages != l->told, due = u->o->burst || tick || l->stage == TELLING;

	if (l->stage == DONE || (!(news && due) && now - l->notes->posted_ns < RING_SIGN_NS))
		return;
	if (!notes_send(l->notes, messages, false, now, &l->error))
		return;
	l->notifications += news;
	l->told = messages;
}

static void tell_all(struct ring_sender *u, uint64_t now)
{
	bool tick = now >= u->tick_ns;

	if (tick)
		u->tick_ns = now - u->tick_ns < NOTIFY_NS ? u->tick_ns + NOTIFY_NS : now + NOTIFY_NS;
	for_each_lane(u, l)
		tell(u, l, tick, now);
}

/* The receiver needs the total, to know that it has all. */
static void end_lane(struct lane *l)
{
	struct rdma_totals totals = { l->sent, l->sent, l->completed };

	if (l->stage != TELLING || l->told != l->sent || l->completed != l->sent || l->notes->posted != l->notes->completed)
		return;
	control_send(l->peer->control, rdma_totals_json(&totals, 1, l->last_ns - l->begin_ns));
	l->stage = ENDING;
}

static void take_note(struct lane *l, const struct ring_note *note)
{
	uint64_t handed_back = be64toh(note->messages);

	if (handed_back < l->credit.handed_back || handed_back > l->told) {
		fail(l, "the receiver handed back what it was not given");
		return;
	}
	l->credit.handed_back = handed_back;
	l->credit.paused = note->paused;
	l->here = true;
}

static void take(struct ring_sender *u, const struct ibv_wc *wc, uint64_t now)
{
	struct lane *l = &u->lane[u->d.flow_of[wc->qp_num]];
	struct ring_note note;

	if (l->stage == DONE)
		return;
	if (wc->status != IBV_WC_SUCCESS) {
		fail(l, ibv_wc_status_str(wc->status));
	} else if (wc->wr_id >= RING_NOTE_OUT) {
		if (notes_take(l->notes, wc, now, &note, &l->error))
			take_note(l, &note);
	} else {
		l->completed++;
		l->notes->came_ns = l->last_ns = now;
	}
}

static void take_completions(struct ring_sender *u, const struct ibv_wc *wc, int n)
{
	uint64_t now = now_ns();

	for (int i = 0; i < n; i++)
		take(u, &wc[i], now);
	for_each_lane(u, l) {
		if (n < 0)
			fail(l, "the completion queue is broken");
		if (l->error)
			l->stage = DONE;
		else if (l->stage != DONE && now - l->notes->came_ns > RING_SILENCE_NS)
			fail(l, "the receiver has said nothing for 20 s");
		end_lane(l);
	}
}

static void check_control(struct lane *l)
{
	json_t *message;
	int got = control_take(l->peer->control, &message);

	if (!got)
		return;
	if (got > 0 && json_is_true(json_object_get(message, "stop")))
		l->asked_to_stop = true;
	else if (got > 0 && json_is_true(json_object_get(message, "done")) && l->stage == ENDING)
		l->stage = DONE;
	else
		fail(l, "the receiver has gone");
	json_decref(message);
}

/* Those that are done are closed. */
static void check_controls(struct ring_sender *u, uint64_t now)
{
	if (now < u->look_ns)
		return;
	u->look_ns = now + RING_NAP_NS;
	for_each_lane(u, l) {
		if (l->stage != DONE)
			check_control(l);
		if (l->stage != DONE || !l->peer->open)
			continue;
		peers_close(&u->peers, l->peer);
		control_close(l->peer->control);
	}
}

/* Data before a receiver's time has begun would make it faster than the sender. */
static void begin(struct ring_sender *u, uint64_t now)
{
	for_each_lane(u, l)
		if (!l->here && l->stage != DONE)
			return;
	u->begin_ns = now;
	pacer_start(&u->pacer, u->o->common.rate.per_second / 8, now);
}

static void run(struct ring_sender *u)
{
	struct ibv_wc wc[RDMA_CQ_BATCH];

	u->tick_ns = now_ns();
	for_each_lane(u, l)
		l->notes->came_ns = u->tick_ns;
	pacer_precise_sleep();
	cpu_meter_start(&u->cpu);
	tell_all(u, u->tick_ns);	/* none: the receiver's time begins */
	while (u->peers.open) {
		uint64_t now = now_ns(), wake;

		if (!u->begin_ns)
			begin(u, now);
		wake = post_due(u, now);
		tell_all(u, now);
		if (wake > u->tick_ns)
			wake = u->tick_ns;
		take_completions(u, wc, rdma_completions(u->d.queue, wc, wake > now ? wake - now : 0, u->peers.news));
		check_controls(u, now_ns());
	}
	cpu_meter_mark(&u->cpu);
}

/* ---- the report: what completed is at the receiver ---- */

static json_t *lane_json(const struct ring_sender *u, const struct lane *l)
{
	json_t *object = json_pack("{s:s, s:I, s:I, s:o, s:o}", "host", u->o->control[l - u->lane],
		"capacity", (json_int_t)l->credit.capacity, "notifications", (json_int_t)l->notifications,
		"paused", ring_episodes_json(&l->paused), "full", ring_episodes_json(&l->full));

	ring_carried(object, l->completed, u->self.size, l->last_ns > l->begin_ns ? l->last_ns - l->begin_ns : 0);
	if (l->error)
		json_object_set_new(object, "error", json_string(l->error));
	return object;
}

static void report(struct ring_sender *u)
{
	uint64_t messages = 0, begin = UINT64_MAX, last = 0;
	json_t *receivers = json_array(), *object = json_pack("{s:o}", "receivers", receivers);

	for_each_lane(u, l) {
		messages += l->completed;
		if (l->completed && l->begin_ns < begin)
			begin = l->begin_ns;
		if (l->last_ns > last)
			last = l->last_ns;
		json_array_append_new(receivers, lane_json(u, l));
	}
	ring_carried(object, messages, u->self.size, last > begin ? last - begin : 0);
	ring_print(u->o, &u->self, &u->cpu, NULL, object);
}

int rdma_send_ring(const struct rdma_options *o)
{
	static struct ring_sender u;
	int status = 0;

	u.o = o;
	meet(&u);
	run(&u);
	report(&u);
	for_each_lane(&u, l) {
		if (l->error)
			warnx("%s: sending ended early: %s", o->control[l - u.lane], l->error);
		status |= !!l->error;
	}
	return status;
}
