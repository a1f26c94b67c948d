// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The sender: one thread for all receivers, which take turns message by message. */
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <stdlib.h>

#include "lib/clock.h"
#include "lib/stop.h"
#include "rxe_tests/rdma_ring/rdma_ring.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/pacing.h"
#include "userspace/traffic/streams/report.h"

#define NOTIFY_NS	(100 * NSEC_PER_MSEC)	/* a stream's data is told so often, as the TWEPP 2024 sender does */

/* In this order. TELLING: all has been posted. ENDING: the receiver knows, and reads the rest. */
enum lane_stage { SENDING, TELLING, ENDING, DONE };

/* A receiver, as the sender sees it. Counts are of messages. */
struct lane {
	const char *host;
	enum lane_stage stage;
	struct rdma_qp_address address;
	struct rdma_end self, peer;
	struct ibv_qp *qp;
	struct ring_notes notes;
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
	const struct ring_options *o;
	struct ring_device d;
	struct rdma_end self;			/* what all lanes share of it */
	struct ibv_mr *mr;			/* the headers of all lanes, and the pattern */
	char *pattern;
	struct control *control[RING_RECEIVERS];
	struct lane lane[RING_RECEIVERS];
	uint64_t unit, tick_ns, look_ns;
	uint64_t begin_ns;			/* of the data; 0: not all receivers are here yet */
	unsigned int turn;
	struct pacer pacer;
	struct cpu_meter cpu;
};

#define for_each_lane(u, l) for (struct lane *l = (u)->lane; l < (u)->lane + (u)->o->receivers; l++)

static struct control **control_of(struct ring_sender *u, const struct lane *l)
{
	return &u->control[l - u->lane];
}

/* ---- meeting the receivers ---- */

static void make_memory(struct ring_sender *u)
{
	size_t headers = (size_t)u->o->window * RING_HEADER, pattern = u->o->size + RING_FILLERS * FILLER_STEP;

	u->mr = ring_memory(&u->d, headers * u->o->receivers + pattern);
	for_each_lane(u, l)
		l->headers = (char *)u->mr->addr + headers * (l - u->lane);
	u->pattern = (char *)u->mr->addr + headers * u->o->receivers;
	filler_make(u->pattern, pattern);
}

static struct control *connect_to(const struct ring_options *o, const char *host)
{
	struct control_place place;
	char why[CONTROL_WHY];
	struct control *control;

	if (!control_find(&place, host, o->port, false, why))
		errx(1, "--control %s: %s", host, why);
	control = control_connect(&place, why);
	if (!control)
		errx(1, "control connection to %s (is 'rdma_ring recv' running there?): %s", host, why);
	return control;
}

static void take_receiver(struct lane *l, struct control *control)
{
	json_t *message = control_receive(control);
	json_int_t capacity;

	if (!message)
		errx(1, "%s: control connection: no answer (%s)", l->host, stop ? "stopped" : control->why);
	if (control_refused(message, control->why) || !rdma_end_parse(message, &l->peer, control->why))
		errx(1, "%s: no rdma_ring recv (%s)", l->host, control->why);
	capacity = json_integer_value(json_object_get(json_object_get(message, "ring"), "capacity"));
	if (capacity < 1 || l->peer.flows != 1 || l->peer.size != l->self.size || capacity % l->credit.unit)
		errx(1, "%s: no rdma_ring recv of this version", l->host);
	l->credit.capacity = capacity;
	json_decref(message);
}

static void meet(struct ring_sender *u, struct lane *l)
{
	struct control *control = connect_to(u->o, l->host);
	json_t *message;

	*control_of(u, l) = control;
	l->self = u->self;
	l->self.qp = &l->address;
	l->credit.unit = u->unit;
	l->qp = ring_qp(&u->d, u->o->window + RING_NOTES, 4 * RING_NOTES, &l->address);
	message = rdma_end_json(&l->self);
	json_object_set_new(message, "ring", json_pack("{s:I}", "burst", (json_int_t)u->o->burst));
	control_send(control, message);
	take_receiver(l, control);
	notes_make(&l->notes, &u->d, l->qp);
	ring_connect(&u->d, l->qp, &l->self, &l->peer);
}

static void meet_all(struct ring_sender *u)
{
	ring_open(&u->d, u->o, u->o->receivers * (u->o->window + 5 * RING_NOTES), &u->self);
	u->self.service = RDMA_RC;
	u->self.operation = RDMA_WRITE;
	u->self.size = u->o->size;
	u->self.flows = 1;
	u->unit = u->o->burst ? u->o->burst : 1;
	make_memory(u);
	for (unsigned int i = 0; i < u->o->receivers; i++) {
		u->lane[i].host = u->o->receiver[i];
		meet(u, &u->lane[i]);
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
		{ (uintptr_t)header, RING_HEADER, u->mr->lkey },
		{ (uintptr_t)u->pattern + ring_filler(l->sent) * FILLER_STEP, u->o->size - RING_HEADER, u->mr->lkey },
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED, .sg_list = sge, .num_sge = sge[1].length ? 2 : 1,
		.wr.rdma = { l->peer.qp[0].address + l->sent % l->credit.capacity * u->o->size, l->peer.qp[0].rkey },
	}, *bad;

	ring_header(header, l->sent);
	if (!l->begin_ns)
		l->begin_ns = now;
	if (ibv_post_send(l->qp, &wr, &bad)) {
		fail(l, "the QP takes no more work requests");
		return;
	}
	l->sent++;
	pacer_sent(&u->pacer, u->o->size, now);
}

static bool sent_enough(const struct ring_sender *u, const struct lane *l, uint64_t now)
{
	if (stop || l->asked_to_stop || (u->o->messages && l->sent >= u->o->messages))
		return true;
	return u->o->duration && now - u->begin_ns >= seconds_to_ns(u->o->duration);
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
	for (unsigned int i = 0; i < u->o->receivers; i++) {
		struct lane *l = &u->lane[u->turn++ % u->o->receivers];

		if (may_post(u, l, now))
			return l;
	}
	return NULL;
}

/* Returns when there is more to do, if nothing happens until then. */
static uint64_t post_due(struct ring_sender *u, uint64_t now)
{
	uint64_t departure;

	for (int i = 0; i < RING_BATCH; i++) {
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

	if (l->stage == DONE || (!(news && due) && now - l->notes.posted_ns < RING_SIGN_NS))
		return;
	if (!notes_send(&l->notes, messages, false, now, &l->error))
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
static void end_lane(struct ring_sender *u, struct lane *l)
{
	struct rdma_totals totals = { l->sent, l->sent, l->completed };

	if (l->stage != TELLING || l->told != l->sent || l->completed != l->sent || l->notes.posted != l->notes.completed)
		return;
	control_send(*control_of(u, l), rdma_totals_json(&totals, 1, l->last_ns - l->begin_ns));
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
	struct ring_note note;

	for_each_lane(u, l) {
		if (l->qp->qp_num != wc->qp_num || l->stage == DONE)
			continue;
		if (wc->status != IBV_WC_SUCCESS) {
			fail(l, ibv_wc_status_str(wc->status));
		} else if (wc->wr_id >= RING_NOTE_OUT) {
			if (notes_take(&l->notes, wc, now, &note, &l->error))
				take_note(l, &note);
		} else {
			l->completed++;
			l->notes.came_ns = l->last_ns = now;
		}
		end_lane(u, l);
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
		else if (l->stage != DONE && now - l->notes.came_ns > RING_SILENCE_NS)
			fail(l, "the receiver has said nothing for 20 s");
		end_lane(u, l);
	}
}

static void look_at_control(struct ring_sender *u, struct lane *l)
{
	struct control **control = control_of(u, l);
	json_t *message;
	int got = control_take(*control, &message);

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

static void look_at_controls(struct ring_sender *u, uint64_t now)
{
	if (now < u->look_ns)
		return;
	u->look_ns = now + RING_NAP_NS;
	for_each_lane(u, l) {
		if (l->stage != DONE)
			look_at_control(u, l);
		if (l->stage != DONE)
			continue;
		control_close(*control_of(u, l));
		*control_of(u, l) = NULL;
	}
}

static bool all_done(struct ring_sender *u)
{
	for_each_lane(u, l)
		if (l->stage != DONE)
			return false;
	return true;
}

/* Data before a receiver's time has begun would make it faster than the sender. */
static void begin(struct ring_sender *u, uint64_t now)
{
	for_each_lane(u, l)
		if (!l->here && l->stage != DONE)
			return;
	u->begin_ns = now;
	pacer_start(&u->pacer, u->o->rate.per_second / 8, now);
}

static void run(struct ring_sender *u)
{
	struct ibv_wc wc[RING_BATCH];

	u->tick_ns = now_ns();
	for_each_lane(u, l)
		l->notes.came_ns = u->tick_ns;
	pacer_precise_sleep();
	cpu_meter_start(&u->cpu);
	tell_all(u, u->tick_ns);	/* none: the receiver's time begins */
	while (!all_done(u)) {
		uint64_t now = now_ns(), wake;
		int n;

		if (!u->begin_ns)
			begin(u, now);
		wake = post_due(u, now);
		tell_all(u, now);
		n = ring_poll(&u->d, wc, wake > now);
		take_completions(u, wc, n);
		if (!n && wake > now)
			ring_wait(&u->d, wake < u->tick_ns ? wake : u->tick_ns, u->control, u->o->receivers);
		look_at_controls(u, now_ns());
	}
	cpu_meter_mark(&u->cpu);
}

/* ---- the report: what completed is at the receiver ---- */

static json_t *lane_json(const struct ring_sender *u, const struct lane *l)
{
	uint64_t ns = l->last_ns > l->begin_ns ? l->last_ns - l->begin_ns : 0, bytes = l->completed * u->o->size;
	json_t *object = json_pack("{s:s, s:I, s:I, s:I, s:f, s:f, s:I, s:o, s:o}", "host", l->host,
		"capacity", (json_int_t)l->credit.capacity, "messages", (json_int_t)l->completed,
		"payload_bytes", (json_int_t)bytes, "seconds", ns / 1e9, "goodput_gbps", ns ? bytes * 8.0 / ns : 0,
		"notifications", (json_int_t)l->notifications,
		"paused", ring_episodes_json(&l->paused), "full", ring_episodes_json(&l->full));

	if (l->error)
		json_object_set_new(object, "error", json_string(l->error));
	return object;
}

static void report(struct ring_sender *u)
{
	uint64_t messages = 0, begin = UINT64_MAX, last = 0;
	json_t *receivers = json_array();
	double seconds;

	for_each_lane(u, l) {
		messages += l->completed;
		if (l->completed && l->begin_ns < begin)
			begin = l->begin_ns;
		if (l->last_ns > last)
			last = l->last_ns;
		json_array_append_new(receivers, lane_json(u, l));
	}
	seconds = last > begin ? (last - begin) / 1e9 : 0;
	ring_print(u->o, json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:o, s:o}",
		"schema", "rocescope.ring/1", "role", "send", "mode", u->o->burst ? "bursts" : "stream",
		"size", (json_int_t)u->o->size, "burst", (json_int_t)u->unit, "messages", (json_int_t)messages,
		"payload_bytes", (json_int_t)(messages * u->o->size), "seconds", seconds,
		"goodput_gbps", seconds ? messages * u->o->size * 8 / seconds / 1e9 : 0,
		"cpu", report_cpu(&u->cpu), "receivers", receivers));
}

int ring_send(const struct ring_options *o)
{
	static struct ring_sender u;
	int status = 0;

	u.o = o;
	meet_all(&u);
	run(&u);
	report(&u);
	for_each_lane(&u, l) {
		if (l->error)
			warnx("%s: sending ended early: %s", l->host, l->error);
		status |= !!l->error;
	}
	return status;
}
