// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/address.h"
#include "lib/cause.h"
#include "lib/clock.h"
#include "lib/complain.h"
#include "userspace/traffic/receive/qps.h"
#include "userspace/traffic/receive/reader.h"
#include "userspace/traffic/receive/server.h"
#include "userspace/traffic/receive/transmit.h"

#define PORT 7471	     /* of rdma_stream's control connection */
#define NAP_MS 1	     /* between two looks at the completions */
#define NAP_MOST_MS 8	     /* the same where few come: each look costs a context switch */
#define NAP_SHARE 16	     /* so few of a QP's receives may be used between two looks, and the nap grows */
#define IDLE_MS 100	     /* the same where nobody posts: how often a late line is noticed */
#define ANSWER_SECONDS 5.0   /* the longest time in which a peer says what it will send, and takes what it is told */
#define HELLO_LEAST (1u << 20) /* bytes of a sender's first line that are taken, and so many more for each QP that we have: */
#define HELLO_OF_QP 128
#define QUIET_NS (10 * NSEC_PER_SEC) /* without a packet: the run gives way to another sender */
#define SETTLE_NS (100 * NSEC_PER_MSEC) /* without a packet: all have come that will */
#define SETTLE_MOST_NS (2 * NSEC_PER_SEC)

enum phase { WAITING, RUNNING, SETTLING };

struct receive_server {
	struct receive_server_options o;
	int wake; /* eventfd: the end */
	pthread_t thread;
	bool started, reads;
	atomic_bool stop;
	struct receive_reader reader;
	struct rdma_totals *totals; /* of a run's QPs */
	__u64 receives;		    /* posted on each of them */
	int nap;		    /* ms */

	/* the run */
	enum phase phase;
	struct control *control; /* the sender's; NULL: there is no run */
	struct rdma_end end; /* the sender's */
	struct receive_run run;
	__u64 begun; /* ns */
	__u64 settling, quiet; /* ns: since when */
	__u64 packets;	       /* seen then */

	pthread_mutex_t lock; /* of what follows, of `control` for other threads, and of QPs that are armed */
	struct receive_past past;
	struct receive_run *runs; /* run k is at k % RECEIVE_RUNS */
	__u64 run_count;
};

/* ---- QPs of a run ---- */

/* Adds up what the run's QPs have received. */
static void sum_run(struct receive_server *s)
{
	__u64 first = UINT64_MAX, last = 0;

	s->run.messages = s->run.incomplete = s->run.packets = s->run.bytes = s->run.refused = 0;
	for (__u32 i = 0; i < s->run.flows; i++) {
		const struct receive_qp *q = &s->o.maps->qps[i];

		s->run.messages += q->messages;
		s->run.incomplete += q->incomplete;
		s->run.packets += q->packets;
		s->run.bytes += q->bytes;
		s->run.refused += q->refused;
		if (q->packets && q->first_ns < first)
			first = q->first_ns;
		if (q->last_ns > last)
			last = q->last_ns;
	}
	s->run.seconds = last > first ? (last - first) / 1e9 : 0;
}

/* Reads the records that there are, so that none of a QP comes after it is armed again. Returns their number. */
static __u64 take_completions(struct receive_server *s)
{
	struct receive_record record;
	__u64 taken = 0;

	while (s->reads && receive_reader_next(&s->reader, &record, 0))
		taken++;
	return taken;
}

/* How long the receives last at the rate at which they were used. */
static void choose_nap(struct receive_server *s, __u64 taken)
{
	if (taken > s->receives / NAP_SHARE)
		s->nap = NAP_MS;
	else if (taken && s->nap < NAP_MOST_MS)
		s->nap *= 2;
}

static void reset_qps(struct receive_server *s)
{
	for (__u32 i = 0; i < s->run.flows; i++)
		receive_qp_reset(&s->o.maps->qps[i]);
}

static bool is_write(enum rdma_operation operation)
{
	return operation == RDMA_WRITE || operation == RDMA_WRITE_IMM;
}

static bool arm_qps(struct receive_server *s)
{
	__u32 buffer = is_write(s->end.operation) ? 0 : s->end.size;
	bool armed = true;

	take_completions(s);
	s->nap = NAP_MS;
	s->receives = receive_receives(s->o.setup, buffer);
	/* the others of a pinned receiver may still be those of another peer */
	for (__u32 i = s->run.flows; i < s->o.maps->qp_count; i++)
		receive_qp_reset(&s->o.maps->qps[i]);
	pthread_mutex_lock(&s->lock);
	for (__u32 i = 0; i < s->run.flows && armed; i++) {
		struct receive_qp *q = &s->o.maps->qps[i];
		struct roce_responder r = receive_responder(s->o.setup, i, s->run.peer, s->end.service, s->end.qp[i].qpn,
							    s->end.qp[i].psn, s->run.path_mtu, buffer);

		s->past.messages += q->messages;
		s->past.incomplete += q->incomplete;
		armed = receive_qp_arm(q, &r, s->receives);
	}
	pthread_mutex_unlock(&s->lock);
	return armed;
}

/* ---- a run ---- */

static void close_control(struct receive_server *s)
{
	pthread_mutex_lock(&s->lock);
	control_close(s->control);
	s->control = NULL;
	pthread_mutex_unlock(&s->lock);
	rdma_end_free(&s->end);
	free(s->totals);
	s->totals = NULL;
	s->phase = WAITING;
}

/* why: it ended early; NULL: it did not. */
static void end_run(struct receive_server *s, const char *why)
{
	__u64 one = 1;

	if (s->phase < RUNNING)
		return;
	if (!s->o.setup->options->pin || !atomic_load(&s->stop)) /* pinned, they go on without us */
		reset_qps(s);
	sum_run(s);
	if (why)
		snprintf(s->run.why, sizeof(s->run.why), "%s", why);
	pthread_mutex_lock(&s->lock);
	s->runs[s->run_count++ % RECEIVE_RUNS] = s->run;
	pthread_mutex_unlock(&s->lock);
	if (s->o.setup->options->runs && s->run_count >= s->o.setup->options->runs &&
	    write(s->o.over, &one, sizeof(one)) != sizeof(one))
		abort(); /* an eventfd takes a billion of them */
}

/* The connection is of no use any more. */
static void give_up(struct receive_server *s, const char *why)
{
	complain("receive: the sender %s has gone: %s", address_text(s->run.peer).text, why);
	end_run(s, why);
	close_control(s);
}

/* Bytes of memory that a QP needs for the sender's messages. */
static __u64 share_for(const struct rdma_end *end)
{
	return (is_write(end->operation) ? rdma_write_slots(end->size, end->flows) : 1) * end->size;
}

/* Its value is false. */
#define cannot(why, ...) ({ snprintf(why, CONTROL_WHY, __VA_ARGS__); false; })

/* Whether the sender can be served. false: *why (CONTROL_WHY bytes) says why not. */
static bool check_end(const struct receive_server *s, const struct rdma_end *end, const __u8 peer[16], char *why)
{
	const struct receive_setup *setup = s->o.setup;
	char transmit[TRANSMIT_TEXT];

	if (end->service == RDMA_UD || end->service == RDMA_XRC || rdma_fetches(end->operation) || end->ping_pong)
		return control_fail(why, "this receiver knows no %s: RC and UC, RDMA WRITE and SEND", end->service == RDMA_UD ? "UD" :
			      end->service == RDMA_XRC ? "XRC" : end->ping_pong ? "ping-pong" : rdma_operation_name(end->operation));
	if (setup->service && setup->service != end->service)
		return control_fail(why, "the receiver's --service is %s", rdma_service_name(setup->service));
	if (end->flows > setup->settings.qps)
		return control_fail(why, "the receiver has %u QPs: --qps %u", setup->settings.qps, end->flows);
	if (memcmp(end->gid, peer, sizeof(end->gid)))
		return control_fail(why, "packets from %s, and the control connection from another address", address_text(end->gid).text);
	if (address_is_ipv4(peer) != address_is_ipv4(setup->settings.own))
		return control_fail(why, "the receiver's address is %s: both have to be IPv4, or both IPv6",
			      address_text(setup->settings.own).text);
	if (share_for(end) > setup->share)
		return control_fail(why, "messages of %llu bytes need %llu for each QP, and the receiver has %llu: --memory %lluM",
			      (unsigned long long)end->size, share_for(end), setup->share,
			      receive_setup_memory_for(setup, share_for(end)) >> 20);
	if (end->service == RDMA_RC && s->o.native && !transmit_probe(setup->options->interface, transmit))
		return control_fail(why, "%s", transmit);
	return true;
}

static bool answer_end(struct receive_server *s)
{
	struct rdma_end ours;
	bool sent;

	if (!receive_setup_end(s->o.setup, &ours))
		return false;
	ours.service = s->end.service;
	ours.operation = s->end.operation;
	ours.size = s->end.size;
	ours.path_mtu = s->run.path_mtu;
	ours.flows = s->end.flows;
	sent = control_send(s->control, rdma_end_json(&ours));
	rdma_end_free(&ours);
	return sent;
}

/* Takes the connection, and what the sender said. */
static void begin_run(struct receive_server *s, struct control *c, const struct rdma_end *end)
{
	s->end = *end;
	s->begun = now_ns();
	s->run = (struct receive_run){
		.service = end->service, .operation = end->operation, .flows = end->flows, .size = end->size,
		.path_mtu = end->path_mtu < s->o.setup->path_mtu ? end->path_mtu : s->o.setup->path_mtu,
	};
	memcpy(s->run.peer, c->peer, sizeof(s->run.peer));
	s->totals = calloc(end->flows, sizeof(*s->totals));
	if (!s->totals || !arm_qps(s)) {
		reset_qps(s);
		control_turn_away(s->o.listener, c, "the receiver could not arm its QPs");
		close_control(s);
		return;
	}
	pthread_mutex_lock(&s->lock);
	s->control = c;
	pthread_mutex_unlock(&s->lock);
	s->phase = RUNNING;
	if (!answer_end(s))
		give_up(s, s->control->why);
}

/* Whether the run has to give way: its sender has sent nothing for so long. */
static bool is_quiet(const struct receive_server *s)
{
	__u64 last = s->begun;

	for (__u32 i = 0; i < s->run.flows; i++)
		if (s->o.maps->qps[i].last_ns > last)
			last = s->o.maps->qps[i].last_ns;
	return s->phase == RUNNING && (__s64)(now_ns() - last) > (__s64)QUIET_NS;
}

/* One sender at a time. false: that of the run stays. */
static bool make_way(struct receive_server *s)
{
	static const char why[] = "no packet has come for a while, and another sender came";

	if (!s->control)
		return true;
	if (!is_quiet(s))
		return false;
	control_refuse(s->control, why);
	give_up(s, why);
	return true;
}

/* A peer has said what it will send. Takes the connection, and the end. */
static void greet(struct receive_server *s, struct control *c, struct rdma_end *end)
{
	char why[CONTROL_WHY];

	c->seconds = ANSWER_SECONDS;
	c->line_max = CONTROL_LINE_MAX;
	if (!check_end(s, end, c->peer, why)) {
		control_turn_away(s->o.listener, c, "%s", why);
	} else if (!make_way(s)) {
		control_turn_away(s->o.listener, c, "the receiver is at work with another sender, %s: come again when that run "
				  "has ended", address_text(s->run.peer).text);
	} else {
		begin_run(s, c, end);
		return;
	}
	rdma_end_free(end);
}

static void take_totals(struct receive_server *s, const json_t *message)
{
	char why[CONTROL_WHY];
	uint64_t ns;

	if (control_refused(message, why) || !rdma_totals_parse(message, s->totals, s->end.flows, &ns, why)) {
		give_up(s, why);
		return;
	}
	s->run.told = true;
	for (__u32 i = 0; i < s->end.flows; i++) {
		s->run.sent += s->totals[i].messages;
		s->run.completed += s->totals[i].completed;
	}
	s->phase = SETTLING;
	s->settling = s->quiet = now_ns();
	s->packets = 0;
}

/* What is still on its way comes within a moment. */
static void settle(struct receive_server *s)
{
	__u64 now = now_ns();

	sum_run(s);
	if (s->run.packets != s->packets) {
		s->packets = s->run.packets;
		s->quiet = now;
	}
	if (s->run.messages < s->run.sent && now - s->quiet < SETTLE_NS && now - s->settling < SETTLE_MOST_NS)
		return;
	control_send(s->control, json_pack("{s:b}", "done", 1));
	end_run(s, NULL);
	close_control(s);
}

/* ---- connections ---- */

static void greet_all(struct receive_server *s)
{
	json_t *message;
	struct rdma_end end;
	struct control *c;

	while ((c = rdma_end_meet(s->o.listener, 0, &end, &message))) {
		greet(s, c, &end);
		json_decref(message);
	}
}

static void serve_control(struct receive_server *s)
{
	json_t *message;
	int took = control_take(s->control, &message);

	if (took < 0)
		give_up(s, s->control->why);
	else if (took && s->phase == RUNNING)
		take_totals(s, message);
	json_decref(message);
}

/* ---- the thread ---- */

static void wait_for_work(struct receive_server *s)
{
	struct pollfd fds[3] = { { .fd = s->wake, .events = POLLIN } };
	int count = 1, nap = s->phase == SETTLING ? NAP_MS : s->reads ? s->nap : IDLE_MS;

	if (s->o.listener)
		fds[count++] = (struct pollfd){ .fd = s->o.listener->poll, .events = POLLIN };
	if (s->control && s->phase != SETTLING)
		fds[count++] = (struct pollfd){ .fd = s->control->fd, .events = POLLIN };
	poll(fds, count, nap);
}

static void *work(void *own)
{
	struct receive_server *s = own;

	while (!atomic_load(&s->stop)) {
		choose_nap(s, take_completions(s));
		if (s->phase == SETTLING)
			settle(s);
		else if (s->control)
			serve_control(s);
		if (s->o.listener) /* last, since the peer may have ended a connection before this one */
			greet_all(s);
		wait_for_work(s);
	}
	return NULL;
}

bool receive_listen(const struct receive_setup *s, struct control_listener *l)
{
	const char *where = s->options->control, *colon = strrchr(where, ':');
	struct address_text own = address_text(s->settings.own);
	char place[128], why[CONTROL_WHY];
	struct control_place found;

	/* without HOST at our own address, and nowhere else */
	if (!*where || colon == where)
		snprintf(place, sizeof(place), strchr(own.text, ':') ? "[%s]%s" : "%s%s", own.text, where);
	else
		snprintf(place, sizeof(place), "%s", where);
	if (!control_find(&found, place, PORT, true, why) || !control_listener_open(l, "rocescope: receive", &found, why))
		return complain("receive: --control %s: %s", place, why);
	l->seconds = ANSWER_SECONDS;
	l->line_max = HELLO_LEAST + HELLO_OF_QP * s->settings.qps;
	l->only = s->options->has_peer ? s->options->peer : NULL;
	return true;
}

static bool start_thread(struct receive_server *s)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	s->started = !pthread_create(&s->thread, NULL, work, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return s->started;
}

struct receive_server *receive_server_start(const struct receive_server_options *o)
{
	struct receive_server *s = calloc(1, sizeof(*s));
	bool good = s;

	if (good) {
		s->o = *o;
		s->nap = NAP_MS;
		pthread_mutex_init(&s->lock, NULL);
		s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		s->runs = calloc(RECEIVE_RUNS, sizeof(*s->runs));
		s->reads = o->posts && receive_reader_open(&s->reader, o->maps, true, true);
		good = s->wake >= 0 && s->runs && s->reads == o->posts && start_thread(s);
	}
	if (good)
		return s;
	complain("receive: %s", cause(errno ?: ENOMEM).text);
	if (s)
		receive_server_free(s);
	return NULL;
}

void receive_server_stop(struct receive_server *s)
{
	__u64 one = 1;

	if (!s || !s->started)
		return;
	atomic_store(&s->stop, true);
	if (write(s->wake, &one, sizeof(one)) != sizeof(one))
		abort(); /* an eventfd takes a billion of them */
	pthread_mutex_lock(&s->lock);
	if (s->control)
		shutdown(s->control->fd, SHUT_RDWR); /* the thread may be telling the peer something */
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	s->started = false;
	take_completions(s);
	if (!s->control)
		return;
	end_run(s, "the receiver has ended");
	close_control(s);
}

void receive_server_free(struct receive_server *s)
{
	if (!s)
		return;
	receive_server_stop(s);
	if (s->reads)
		receive_reader_close(&s->reader);
	if (s->wake >= 0)
		close(s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s->runs);
	free(s);
}

/* ---- for the report ---- */

void receive_server_lock(struct receive_server *s, struct receive_past *past)
{
	pthread_mutex_lock(&s->lock);
	*past = s->past;
}

void receive_server_unlock(struct receive_server *s)
{
	pthread_mutex_unlock(&s->lock);
}

__u64 receive_server_runs(struct receive_server *s)
{
	__u64 count;

	pthread_mutex_lock(&s->lock);
	count = s->run_count;
	pthread_mutex_unlock(&s->lock);
	return count;
}

bool receive_server_run(struct receive_server *s, __u64 k, struct receive_run *run)
{
	bool kept;

	pthread_mutex_lock(&s->lock);
	kept = k < s->run_count && s->run_count - k <= RECEIVE_RUNS;
	if (kept)
		*run = s->runs[k % RECEIVE_RUNS];
	pthread_mutex_unlock(&s->lock);
	return kept;
}

__u64 receive_server_lost(struct receive_server *s)
{
	return s ? __atomic_load_n(&s->reader.lost, __ATOMIC_RELAXED) : 0;
}
