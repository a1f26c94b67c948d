// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* recv --ring: its control thread. The workers are in ring_workers.c. */
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <stdio.h>

#include "lib/clock.h"
#include "lib/json.h"
#include "lib/stop.h"
#include "rxe_tests/rdma_stream/ring_mode.h"
#include "userspace/traffic/streams/report.h"

#define MEMORY		(64u << 20)	/* bytes of the ring unless told otherwise */
#define STRAGGLER_NS	NSEC_PER_SEC	/* how long the last note may come behind the end that the control connection tells */

struct ring_receiver {
	const struct rdma_options *o;
	struct rdma_device d;
	struct rdma_end self;
	struct rdma_peers peers;
	struct control *control;
	struct ring_notes *notes;
	struct ring_workers workers;
	struct ring_pressure pressure;	/* this, the notes and `error` are under the workers' lock */
	uint64_t credited;		/* messages handed back by the last note */
	bool due;			/* a note that had no room */
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

static void check(const void *context, const struct rdma_peer *peer)
{
	const struct rdma_end *end = &peer->end;

	(void)context;
	if (end->service == RDMA_RC && end->operation == RDMA_WRITE && end->flows == 1 && end->size >= RING_HEADER)
		return;
	control_refuse(peer->control, "a ring takes WRITEs of one RC QP, of 16 bytes at least");
	errx(1, "the sender's WRITEs are none for a ring");
}

static void handed_back(void *context);

static void make_ring(struct ring_receiver *u)
{
	const struct rdma_options *o = u->o;
	const struct rdma_end *all = &u->peers.all;
	struct ring_workers *c = &u->workers;
	uint64_t units = o->capacity;
	struct rdma_memory *m;
	size_t bytes;

	*c = (struct ring_workers){ .size = all->size, .unit = all->burst ? all->burst : 1, .count = o->workers,
				    .slow_ns = o->slow_us * NSEC_PER_USEC, .handed_back = handed_back, .context = u };
	if (!units)
		units = MEMORY / (c->unit * c->size);
	c->capacity = (units < 2 ? 2 : units) * c->unit;
	if (__builtin_mul_overflow(c->capacity, c->size, &bytes))
		errx(1, "--capacity %llu: larger than any memory", (unsigned long long)o->capacity);
	m = rdma_allocate(&u->d, o->pages, bytes);
	c->ring = m->at;
	u->self.capacity = c->capacity;
	u->self.qp->address = (uintptr_t)m->at;
	u->self.qp->rkey = rdma_register(m, 0, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)->rkey;
	u->pressure.upper = ring_threshold(c->capacity, o->upper);
	u->pressure.lower = ring_threshold(c->capacity, o->lower);
}

static void meet(struct ring_receiver *u)
{
	rdma_open(&u->d, u->o, &u->self);
	if (!peers_accept(&u->peers, u->o, check, NULL))
		errx(1, stop ? "stopped" : "no sender came within %g s", u->o->common.wait);
	u->control = u->peers.peer->control;
	peers_join(&u->peers, &u->self);
	u->self.service = RDMA_RC;
	u->self.operation = RDMA_WRITE;
	u->self.size = u->peers.all.size;
	u->self.flows = 1;
	u->self.ring = true;
	rdma_create_qps(&u->d, u->o, RING_NOTES, RING_RECEIVES, &u->self);
	make_ring(u);
	u->notes = notes_make(&u->d, 1);
	peers_connect(&u->d, &u->peers, &u->self, true);
	workers_start(&u->workers);	/* before the answer: a sender waits for the slowest of its receivers */
	peers_tell(&u->peers, &u->self);
}

/* ---- the run; with the workers' lock held where it says so ---- */

/* The credit: what is handed back, and whether there is back-pressure. Locked. */
static void tell(struct ring_receiver *u, uint64_t now)
{
	u->due = !notes_send(u->notes, u->workers.handed, u->pressure.episodes.on, now, &u->error);
	if (!u->due)
		u->credited = u->workers.handed;
}

/* By the first worker. Each quarter of the ring is told: without back-pressure a sender need not wait for room. Locked. */
static void handed_back(void *context)
{
	struct ring_receiver *u = context;
	struct ring_workers *c = &u->workers;

	if (ring_press(&u->pressure, c->told - c->handed, c->handed_ns) || c->handed - u->credited >= c->capacity / 4)
		tell(u, c->handed_ns);
}

/* Locked. */
static void arrive(struct ring_receiver *u, const struct ring_note *note, uint64_t now)
{
	struct ring_workers *c = &u->workers;
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
	workers_tell(c, messages);
	if (ring_press(&u->pressure, messages - c->handed, now))
		tell(u, now);
}

static void take_completions(struct ring_receiver *u, const struct ibv_wc *wc, int n)
{
	uint64_t now = now_ns();
	struct ring_note note;

	pthread_mutex_lock(&u->workers.lock);
	if (n < 0)
		u->error = "the completion queue is broken";
	for (int i = 0; i < n && !u->error; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			u->error = ibv_wc_status_str(wc[i].status);
		else if (notes_take(u->notes, &wc[i], now, &note, &u->error))
			arrive(u, &note, now);
	}
	/* the first one answers the sender's first: it waits with its data until our time has begun */
	if (u->first_ns && (u->due || now - u->notes->posted_ns > RING_SIGN_NS))
		tell(u, now);
	pthread_mutex_unlock(&u->workers.lock);
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

	pthread_mutex_lock(&u->workers.lock);
	all = u->workers.handed == u->workers.told && u->ended_ns && (u->workers.told == u->total || now - u->ended_ns > STRAGGLER_NS);
	if (!all && !u->error && !u->ended_ns && now - u->notes->came_ns > RING_SILENCE_NS)
		u->error = "the sender has said nothing for 20 s";
	all |= !!u->error;
	pthread_mutex_unlock(&u->workers.lock);
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
	struct ibv_wc wc[RDMA_CQ_BATCH];

	u->notes->came_ns = now_ns();
	cpu_meter_start(&u->cpu);
	while (!over(u)) {
		int n = rdma_completions(u->d.queue, wc, RING_NAP_NS, u->ended_ns ? -1 : u->control->fd);

		take_completions(u, wc, n);
		if (!n && !u->ended_ns)
			take_end(u);
		ask_to_stop(u);
	}
	workers_end(&u->workers, u->error);
	ring_episode(&u->pressure.episodes, false, now_ns());
	cpu_meter_mark(&u->cpu);
	control_send(u->control, json_pack("{s:b}", "done", 1));
}

/* ---- the report ---- */

static json_t *workers_json(const struct ring_workers *c)
{
	json_t *workers = json_array();

	for (unsigned int i = 0; i < c->count; i++)
		json_array_append_new(workers, json_pack("{s:I, s:I, s:I}", "messages", (json_int_t)c->worker[i].messages,
			"wrong", (json_int_t)c->worker[i].wrong, "straddled", (json_int_t)c->worker[i].straddled));
	return workers;
}

static json_t *pressure_json(const struct ring_receiver *u)
{
	json_t *pressure = ring_episodes_json(&u->pressure.episodes);

	json_set_count(pressure, "upper", u->pressure.upper);
	json_set_count(pressure, "lower", u->pressure.lower);
	return pressure;
}

static void report(const struct ring_receiver *u)
{
	const struct ring_workers *c = &u->workers;
	json_t *object = json_pack("{s:I, s:o, s:f, s:o, s:o, s:I, s:I, s:I, s:I, s:o}", "capacity", (json_int_t)c->capacity,
		"messages_lost", u->ended_ns ? json_integer(u->total - c->handed) : json_null(),
		"read_seconds", c->handed ? (c->handed_ns - u->first_ns) / 1e9 : 0, "windows", report_windows(&u->windows),
		"pressure", pressure_json(u), "notifications", (json_int_t)u->notifications, "batches", (json_int_t)c->batches,
		"straddled", (json_int_t)c->straddled, "wrong", (json_int_t)c->wrong, "workers", workers_json(c));

	ring_carried(object, c->handed, c->size, u->last_ns > u->first_ns ? u->last_ns - u->first_ns : 0);
	ring_print(u->o, &u->peers.all, &u->cpu, u->error, object);
}

int rdma_receive_ring(const struct rdma_options *o)
{
	struct ring_receiver u = { .o = o };

	meet(&u);
	run(&u);
	report(&u);
	if (u.error)
		warnx("receiving ended early: %s", u.error);
	else if (u.workers.wrong)
		warnx("%llu of %llu messages are not what was sent, the first of them number %llu",
		      (unsigned long long)u.workers.wrong, (unsigned long long)u.workers.handed,
		      (unsigned long long)u.workers.first_wrong);
	else if (u.total != u.workers.handed)
		warnx("%llu messages never came", (unsigned long long)(u.total - u.workers.handed));
	return u.error || u.workers.wrong || u.total != u.workers.handed;
}
