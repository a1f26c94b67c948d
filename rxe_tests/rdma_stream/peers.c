// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The other ends, by their control connections: receivers of a sender, or senders to a receiver. */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "lib/address.h"
#include "lib/clock.h"
#include "lib/stop.h"
#include "rxe_tests/rdma_stream/rdma_stream.h"

/* ---- meeting them ---- */

static struct control_place find(const struct rdma_options *o, const char *where)
{
	struct control_place place;
	char why[CONTROL_WHY];

	if (!control_find(&place, where, o->common.port, !o->common.send, why))
		errx(1, "--control %s: %s", where, why);
	return place;
}

void peers_call(struct rdma_peers *p, const struct rdma_options *o)
{
	char why[CONTROL_WHY];

	for (p->count = 0; p->count < o->controls; p->count++) {
		struct control_place place = find(o, o->control[p->count]);
		struct control *control = control_connect(&place, why);

		if (!control)
			errx(1, "control connection to %s (is 'rdma_stream recv%s' running there?): %s", o->control[p->count],
			     o->ring ? " --ring" : "", why);
		p->peer[p->count] = (struct rdma_peer){
			.control = control, .first = p->count * o->common.flows, .flows = o->common.flows,
		};
	}
}

static void take_end(struct control *control, const struct rdma_end *self, struct rdma_end *end)
{
	json_t *message = control_receive(control);

	if (!message && stop)
		errx(1, "stopped");
	if (!message)
		errx(1, "control connection: no answer from the other end (%s)", control->why);
	if (control_refused(message, control->why))
		errx(1, "the other end: %s", control->why);
	if (!rdma_end_parse(message, end, control->why))
		errx(1, "control connection: not an rdma_stream of this version (%s)", control->why);
	json_decref(message);
	if (end->operation != self->operation)
		errx(1, "the other end is an older version, which does not know --operation");
	if (self->ping_pong && !end->ping_pong)
		errx(1, "the other end is an older version, which does not know --ping-pong");
	if (self->ring && (!end->capacity || end->capacity % (self->burst ? self->burst : 1)))
		errx(1, "the other end has no ring of whole bursts");
}

void peers_agree(struct rdma_peers *p, const struct rdma_options *o, struct rdma_device *d, struct rdma_end *self)
{
	peers_tell(p, self);
	for (unsigned int i = 0; i < p->count; i++) {
		struct rdma_end *end = &p->peer[i].end;

		take_end(p->peer[i].control, self, end);
		if (end->flows != o->common.flows)
			errx(1, "the other end made %u QPs, not %u", end->flows, o->common.flows);
	}
	peers_join(p, self);
	if (p->all.reads.limit < self->reads.limit)
		self->reads.limit = p->all.reads.limit;
	peers_connect(d, p, self, rdma_requests(o, self));
}

bool peers_accept(struct rdma_peers *p, const struct rdma_options *o,
		  void (*check)(const void *context, const struct rdma_peer *peer), const void *context)
{
	struct control_place place = find(o, o->control[0]);
	struct control_listener listener;
	char why[CONTROL_WHY];
	json_t *message;

	if (!control_listener_open(&listener, "rdma_stream", &place, why))
		errx(1, "control connection: %s", why);
	fprintf(stderr, "ready\n");
	for (p->count = 0; p->count < o->senders;) {
		struct rdma_peer *peer = &p->peer[p->count];

		peer->control = rdma_end_meet(&listener, o->common.wait, &peer->end, &message);
		if (!peer->control)
			break;
		json_decref(message);
		if (peer->end.ring != o->ring) {
			rdma_end_free(&peer->end);
			control_turn_away(&listener, peer->control, "only one of both ends has --ring");
			continue;
		}
		check(context, peer);
		p->count++;
	}
	control_listener_close(&listener);
	for (unsigned int i = 0; p->count < o->senders && i < p->count; i++)
		control_refuse(p->peer[i].control, "another sender did not come");
	if (p->count && p->count < o->senders)
		errx(1, "%u of %u senders came", p->count, o->senders);
	return p->count;
}

/* ---- what they say ---- */

/* What must be the same for all: they share buffers, and the way in which messages are numbered. NULL: it is. */
static const char *differs(const struct rdma_end *a, const struct rdma_end *b)
{
	return a->service != b->service ? "transport" : a->operation != b->operation ? "operation" : a->size != b->size ? "size" :
	       a->ping_pong != b->ping_pong ? "ping-pong" : a->solicited != b->solicited ? "solicited" :
	       a->filler != b->filler ? "filler" : a->regions != b->regions ? "regions" :
	       a->slots != b->slots ? "flows" :
	       a->sample_every != b->sample_every || a->sample_slots != b->sample_slots ? "verify or depth" : NULL;
}

static void check(const struct rdma_peers *p, const struct rdma_peer *peer)
{
	const char *what = differs(&p->peer->end, &peer->end);
	char why[CONTROL_WHY];

	if (!what)
		return;
	snprintf(why, sizeof(why), "its --%s is another one than that of the first", what);
	control_refuse(peer->control, why);
	errx(1, "end %u of %u: %s", (unsigned int)(peer - p->peer) + 1, p->count, why);
}

static void append(struct rdma_end *all, const struct rdma_peer *peer)
{
	const struct rdma_end *end = &peer->end;

	memcpy(all->qp + peer->first, end->qp, end->flows * sizeof(*end->qp));
	if (end->regions)
		memcpy(all->rkeys + (size_t)peer->first * end->regions, end->rkeys, (size_t)end->flows * end->regions *
		       sizeof(*end->rkeys));
}

void peers_join(struct rdma_peers *p, struct rdma_end *self)
{
	struct rdma_end *all = &p->all;

	*all = p->peer->end;
	if (!all->slots)
		all->slots = rdma_write_slots(all->size, all->flows);
	all->flows = 0;
	for (unsigned int i = 0; i < p->count; i++) {
		struct rdma_peer *peer = &p->peer[i];

		check(p, peer);
		peer->first = all->flows;
		peer->flows = peer->end.flows;
		all->flows += peer->flows;
		if (peer->end.path_mtu < self->path_mtu)
			self->path_mtu = peer->end.path_mtu;
		if (peer->end.reads.limit < all->reads.limit)
			all->reads.limit = peer->end.reads.limit;
	}
	if (all->flows > RDMA_FLOWS_MAX)
		errx(1, "%u QPs: at most %d", all->flows, RDMA_FLOWS_MAX);
	all->qp = calloc(all->flows, sizeof(*all->qp));
	all->rkeys = calloc(all->flows, (all->regions ? all->regions : 1) * sizeof(*all->rkeys));
	if (!all->qp || !all->rkeys)
		err(1, "no memory for %u QPs", all->flows);
	for (unsigned int i = 0; i < p->count; i++)
		append(all, &p->peer[i]);
}

void peers_connect(struct rdma_device *d, const struct rdma_peers *p, const struct rdma_end *self, bool requests)
{
	for (unsigned int i = 0; i < p->count; i++)
		rdma_connect(d, self, &p->peer[i].end, p->peer[i].first, requests);
}

void peers_tell(const struct rdma_peers *p, const struct rdma_end *self)
{
	for (unsigned int i = 0; i < p->count; i++) {
		const struct rdma_peer *peer = &p->peer[i];
		struct rdma_end part = *self;

		part.flows = peer->flows;
		part.first_flow = peer->first;
		part.qp += peer->first;
		if (part.regions)
			part.rkeys += (size_t)peer->first * part.regions;
		control_send(peer->control, rdma_end_json(&part));
	}
}

void peers_open(struct rdma_peers *p)
{
	struct epoll_event event = { .events = EPOLLIN };

	p->news = epoll_create1(EPOLL_CLOEXEC);
	for (p->open = 0; p->open < p->count; p->open++) {
		if (p->news < 0 || epoll_ctl(p->news, EPOLL_CTL_ADD, p->peer[p->open].control->fd, &event))
			err(1, "epoll");
		p->peer[p->open].open = true;
	}
}

void peers_close(struct rdma_peers *p, struct rdma_peer *peer)
{
	peer->open = false;
	p->open--;
	epoll_ctl(p->news, EPOLL_CTL_DEL, peer->control->fd, NULL);
}

void peers_say(const struct rdma_peers *p, const char *word)
{
	for (unsigned int i = 0; i < p->count; i++)
		control_send(p->peer[i].control, json_pack("{s:b}", word, 1));
}

double peers_fairness(const uint64_t *messages, unsigned int n)
{
	double sum = 0, squares = 0;

	for (unsigned int i = 0; i < n; i++) {
		sum += messages[i];
		squares += (double)messages[i] * messages[i];
	}
	return squares ? sum * sum / (n * squares) : 1;
}

static json_t *address(const uint8_t gid[16])
{
	return json_string(address_text(gid).text);
}

void peers_report(const struct rdma_peers *p, uint64_t size, uint64_t run_ns, struct stream_report *report,
		  uint64_t (*messages)(const void *context, unsigned int flow), const void *context)
{
	json_t *peers = p->count > 1 ? json_array() : NULL;
	uint64_t each[RDMA_PEERS_MAX] = { 0 };

	for (unsigned int i = 0; i < p->count && peers; i++) {
		const struct rdma_peer *peer = &p->peer[i];
		json_t *goodput = json_null();

		for (unsigned int k = 0; k < peer->flows; k++)
			each[i] += messages(context, peer->first + k);
		if (run_ns && run_ns != STREAM_UNKNOWN)
			goodput = json_real(8.0 * each[i] * size / run_ns);
		json_array_append_new(peers, json_pack("{s:o, s:i, s:I, s:I, s:o}", "address", address(peer->end.gid),
			"flows", (int)peer->flows, "messages", (json_int_t)each[i],
			"payload_bytes", (json_int_t)(each[i] * size), "goodput_gbps", goodput));
	}
	if (!peers)
		return;
	if (!report->extra)
		report->extra = json_object();
	json_object_set_new(report->extra, "peers", peers);
	json_object_set_new(report->extra, "fairness", json_real(peers_fairness(each, p->count)));
}
