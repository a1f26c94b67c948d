// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The receiver: its control thread. The workers are in crew.c. */
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <stdio.h>

#include "lib/clock.h"
#include "lib/stop.h"
#include "rxe_tests/rdma_ring/rdma_ring.h"
#include "userspace/traffic/streams/report.h"

#define MEMORY		(64u << 20)	/* bytes of the ring unless told otherwise */
#define BURST_MAX	1000000
#define STRAGGLER_NS	NSEC_PER_SEC	/* how long the last note may come behind the end that the control connection tells */

struct ring_receiver {
	const struct ring_options *o;
	struct ring_device d;
	struct rdma_qp_address address;
	struct rdma_end self, peer;
	struct control *control;
	struct ring_notes notes;
	struct crew crew;
	struct ring_pressure pressure;	/* this, the notes and `error` are under the crew's lock */
	uint64_t credited;		/* messages handed back by the last note */
	bool due;			/* a note that had no room */
	bool burst;
	bool said;			/* to the sender, to stop */
	uint64_t ended_ns;		/* when the sender told its total; 0: not yet */
	uint64_t total;			/* messages that it has sent */
	uint64_t notifications;
	uint64_t first_ns, last_ns;	/* the sender's first note, and the last one with messages */
	struct windows windows;
	struct cpu_meter cpu;
	const char *error;
};

/* ---- meeting the sender ---- */

static void must_listen(const struct ring_options *o, struct control_listener *l)
{
	struct control_place place;
	char why[CONTROL_WHY];

	if (!control_find(&place, o->listen, o->port, true, why))
		errx(1, "--listen %s: %s", o->listen, why);
	if (!control_listener_open(l, "rdma_ring", &place, why))
		errx(1, "control connection: %s", why);
	fprintf(stderr, "ready\n");
}

/* How many messages a burst has; 0: it streams; -1: no rdma_ring says this. */
static json_int_t burst_of(const json_t *message, const struct rdma_end *end)
{
	const json_t *burst = json_object_get(json_object_get(message, "ring"), "burst");
	json_int_t messages = json_integer_value(burst);

	return json_is_integer(burst) && messages >= 0 && messages <= BURST_MAX && end->flows == 1 && end->size >= RING_HEADER ?
	       messages : -1;
}

/* The sender's connection and end. Returns its burst. */
static uint64_t accept_sender(struct ring_receiver *u)
{
	struct control_listener listener;
	json_int_t burst;
	json_t *message;

	must_listen(u->o, &listener);
	for (;;) {
		u->control = rdma_end_meet(&listener, u->o->wait, &u->peer, &message);
		if (!u->control)
			errx(1, stop ? "stopped" : "no sender came within %g s", u->o->wait);
		burst = burst_of(message, &u->peer);
		json_decref(message);
		if (burst >= 0)
			break;
		rdma_end_free(&u->peer);
		control_turn_away_stranger(&listener, u->control, "no rdma_ring send");
	}
	control_listener_close(&listener);
	return burst;
}

static void handed_back(void *context);

static void make_ring(struct ring_receiver *u, uint64_t burst)
{
	const struct ring_options *o = u->o;
	struct crew *c = &u->crew;
	uint64_t units = o->capacity;
	struct ibv_mr *mr;
	size_t bytes;

	u->burst = burst;
	*c = (struct crew){ .size = u->peer.size, .unit = burst ? burst : 1, .workers = o->workers,
			    .slow_ns = o->slow_us * NSEC_PER_USEC, .handed_back = handed_back, .context = u };
	if (!units)
		units = MEMORY / (c->unit * c->size);
	c->capacity = (units < 2 ? 2 : units) * c->unit;
	if (__builtin_mul_overflow(c->capacity, c->size, &bytes))
		errx(1, "--capacity %llu: larger than any memory", (unsigned long long)o->capacity);
	mr = ring_memory(&u->d, bytes);
	c->ring = mr->addr;
	u->address.address = (uintptr_t)mr->addr;
	u->address.rkey = mr->rkey;
	u->pressure.upper = ring_threshold(c->capacity, o->upper);
	u->pressure.lower = ring_threshold(c->capacity, o->lower);
}

static void meet(struct ring_receiver *u)
{
	json_t *answer;
	uint64_t burst;
	struct ibv_qp *qp;

	ring_open(&u->d, u->o, 5 * RING_NOTES, &u->self);
	burst = accept_sender(u);
	qp = ring_qp(&u->d, RING_NOTES, 4 * RING_NOTES, &u->address);
	make_ring(u, burst);
	u->self.service = RDMA_RC;
	u->self.operation = RDMA_WRITE;
	u->self.size = u->peer.size;
	u->self.flows = 1;
	u->self.qp = &u->address;
	notes_make(&u->notes, &u->d, qp);
	ring_connect(&u->d, qp, &u->self, &u->peer);
	answer = rdma_end_json(&u->self);
	json_object_set_new(answer, "ring", json_pack("{s:I}", "capacity", (json_int_t)u->crew.capacity));
	crew_start(&u->crew);	/* before the answer: a sender waits for the slowest of its receivers */
	control_send(u->control, answer);
}

/* ---- the run; with the crew's lock held where it says so ---- */

/* The credit: what is handed back, and whether there is back-pressure. Locked. */
static void tell(struct ring_receiver *u, uint64_t now)
{
	u->due = !notes_send(&u->notes, u->crew.handed, u->pressure.episodes.on, now, &u->error);
	if (!u->due)
		u->credited = u->crew.handed;
}

/* By the first worker. Each quarter of the ring is told: without back-pressure a sender need not wait for room. Locked. */
static void handed_back(void *context)
{
	struct ring_receiver *u = context;
	struct crew *c = &u->crew;

	if (ring_press(&u->pressure, c->told - c->handed, c->handed_ns) || c->handed - u->credited >= c->capacity / 4)
		tell(u, c->handed_ns);
}

/* Locked. */
static void arrive(struct ring_receiver *u, const struct ring_note *note, uint64_t now)
{
	struct crew *c = &u->crew;
	uint64_t messages = be64toh(note->messages), more = messages - c->told;

	if (!u->first_ns)
		u->first_ns = now;
	if (messages < c->told || messages - c->handed > c->capacity) {
		u->error = "the sender wrote more than the ring has room for";
		return;
	}
	if (!more)
		return;
	u->notifications++;
	u->last_ns = now;
	windows_add(&u->windows, now, more * c->size);
	crew_tell(c, messages);
	if (ring_press(&u->pressure, messages - c->handed, now))
		tell(u, now);
}

static void take_completions(struct ring_receiver *u, const struct ibv_wc *wc, int n)
{
	uint64_t now = now_ns();
	struct ring_note note;

	pthread_mutex_lock(&u->crew.lock);
	if (n < 0)
		u->error = "the completion queue is broken";
	for (int i = 0; i < n && !u->error; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			u->error = ibv_wc_status_str(wc[i].status);
		else if (notes_take(&u->notes, &wc[i], now, &note, &u->error))
			arrive(u, &note, now);
	}
	/* the first one answers the sender's first: it waits with its data until our time has begun */
	if (u->first_ns && (u->due || now - u->notes.posted_ns > RING_SIGN_NS))
		tell(u, now);
	pthread_mutex_unlock(&u->crew.lock);
}

static void take_end(struct ring_receiver *u)
{
	struct rdma_totals totals;
	json_t *message;
	uint64_t ns;
	int got = control_take(u->control, &message);

	if (!got)
		return;
	if (got > 0 && rdma_totals_parse(message, &totals, 1, &ns, u->control->why)) {
		u->total = totals.messages;
		u->ended_ns = now_ns();
	} else {
		u->error = "the sender has gone";
	}
	json_decref(message);
}

static bool over(struct ring_receiver *u)
{
	uint64_t now = now_ns();
	bool all;

	pthread_mutex_lock(&u->crew.lock);
	all = u->crew.handed == u->crew.told && u->ended_ns && (u->crew.told == u->total || now - u->ended_ns > STRAGGLER_NS);
	if (!all && !u->error && !u->ended_ns && now - u->notes.came_ns > RING_SILENCE_NS)
		u->error = "the sender has said nothing for 20 s";
	all |= !!u->error;
	pthread_mutex_unlock(&u->crew.lock);
	return all;
}

/* A signal asks the sender to end. What it has sent until then is still read, but not slowly. */
static void ask_to_stop(struct ring_receiver *u)
{
	if (!stop || u->said)
		return;
	u->said = true;
	control_send(u->control, json_pack("{s:b}", "stop", 1));
}

static void run(struct ring_receiver *u)
{
	struct ibv_wc wc[RING_BATCH];

	u->notes.came_ns = now_ns();
	cpu_meter_start(&u->cpu);
	while (!over(u)) {
		int n = ring_poll(&u->d, wc, true);

		take_completions(u, wc, n);
		if (!n)
			ring_wait(&u->d, now_ns() + RING_NAP_NS, &u->control, !u->ended_ns);
		if (!n && !u->ended_ns)
			take_end(u);
		ask_to_stop(u);
	}
	crew_end(&u->crew, u->error);
	ring_episode(&u->pressure.episodes, false, now_ns());
	cpu_meter_mark(&u->cpu);
	control_send(u->control, json_pack("{s:b}", "done", 1));
}

/* ---- the report ---- */

static json_t *workers_json(const struct crew *c)
{
	json_t *workers = json_array();

	for (unsigned int i = 0; i < c->workers; i++)
		json_array_append_new(workers, json_pack("{s:I, s:I, s:I}", "messages", (json_int_t)c->worker[i].messages,
			"wrong", (json_int_t)c->worker[i].wrong, "straddled", (json_int_t)c->worker[i].straddled));
	return workers;
}

static json_t *pressure_json(const struct ring_receiver *u)
{
	json_t *pressure = ring_episodes_json(&u->pressure.episodes);

	json_object_set_new(pressure, "upper", json_integer(u->pressure.upper));
	json_object_set_new(pressure, "lower", json_integer(u->pressure.lower));
	return pressure;
}

static uint64_t wrong(const struct crew *c)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < c->workers; i++)
		sum += c->worker[i].wrong;
	return sum;
}

static uint64_t first_wrong(const struct crew *c)
{
	uint64_t first = UINT64_MAX;

	for (unsigned int i = 0; i < c->workers; i++)
		if (c->worker[i].wrong && c->worker[i].first_wrong < first)
			first = c->worker[i].first_wrong;
	return first;
}

static void report(const struct ring_receiver *u)
{
	const struct crew *c = &u->crew;
	uint64_t ns = u->last_ns > u->first_ns ? u->last_ns - u->first_ns : 0;
	uint64_t read_ns = c->handed ? c->handed_ns - u->first_ns : 0;
	json_t *object = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:I, s:f, s:f, s:f, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:o}",
		"schema", "rocescope.ring/1", "role", "recv", "mode", u->burst ? "bursts" : "stream",
		"size", (json_int_t)c->size, "burst", (json_int_t)c->unit, "capacity", (json_int_t)c->capacity,
		"messages", (json_int_t)c->handed,
		"messages_lost", u->ended_ns ? json_integer(u->total - c->handed) : json_null(),
		"payload_bytes", (json_int_t)(c->handed * c->size), "seconds", ns / 1e9,
		"read_seconds", read_ns / 1e9, "goodput_gbps", ns ? c->handed * c->size * 8.0 / ns : 0, "windows", report_windows(&u->windows),
		"cpu", report_cpu(&u->cpu), "pressure", pressure_json(u), "notifications", (json_int_t)u->notifications,
		"batches", (json_int_t)c->batches, "straddled", (json_int_t)c->straddled, "wrong", (json_int_t)wrong(c), "workers", workers_json(c));

	if (u->error)
		json_object_set_new(object, "error", json_string(u->error));
	ring_print(u->o, object);
}

int ring_receive(const struct ring_options *o)
{
	struct ring_receiver u = { .o = o };

	meet(&u);
	run(&u);
	report(&u);
	if (u.error)
		warnx("receiving ended early: %s", u.error);
	else if (wrong(&u.crew))
		warnx("%llu of %llu messages are not what was sent, the first of them number %llu",
		      (unsigned long long)wrong(&u.crew), (unsigned long long)u.crew.handed,
		      (unsigned long long)first_wrong(&u.crew));
	else if (u.total != u.crew.handed)
		warnx("%llu messages never came", (unsigned long long)(u.total - u.crew.handed));
	return u.error || wrong(&u.crew) || u.total != u.crew.handed;
}
