// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/observe/host/owners.h"

#define REMEMBERED_NS (600 * 1000000000ull) /* how long a QP is remembered after it has gone */
#define PSN_AHEAD 65536 /* packets: more than pass between reading our counters and reading the QP */

/* enum ib_qp_type, enum ib_qp_state (include/rdma/ib_verbs.h) */
enum { TYPE_RC = 2, TYPE_UC = 3 };
enum { STATE_RTR = 2, STATE_RTS = 3, STATE_SQD = 4, STATE_SQE = 5 };

/* ---- the QPs that are known ---- */

static int compare(const struct host_qp *a, const struct host_qp *b)
{
	return a->qpn != b->qpn ? (a->qpn > b->qpn) - (a->qpn < b->qpn) : strcmp(a->device, b->device);
}

static int compare_peers(const void *a, const void *b)
{
	const struct known_qp *const *x = a, *const *y = b;

	return ((*x)->qp.peer_qpn > (*y)->qp.peer_qpn) - ((*x)->qp.peer_qpn < (*y)->qp.peer_qpn);
}

static __u64 device_bit(const struct rdma_host_device *devices, size_t count, const char *name)
{
	for (size_t i = 0; i < count && i < 64; i++)
		if (!strcmp(devices[i].name, name))
			return 1ull << i;
	return 0;
}

static void sort_by_peer(struct known_qps *k)
{
	k->connected = 0;
	for (size_t i = 0; i < k->count; i++)
		if (!k->list[i].gone && k->list[i].qp.peer_qpn)
			k->by_peer[k->connected++] = &k->list[i];
	if (k->connected)
		qsort(k->by_peer, k->connected, sizeof(*k->by_peer), compare_peers);
}

/* Merges two sorted lists: the present QPs and the remembered ones. */
bool known_qps_update(struct known_qps *k, const struct host_qp *now, size_t count, const struct rdma_host_device *devices,
		      size_t device_count, __u64 time)
{
	struct known_qps new = { .time = time, .before = k->time };
	size_t old = 0, i = 0;

	new.list = calloc(count + k->count + 1, sizeof(*new.list));
	new.by_peer = calloc(count + 1, sizeof(*new.by_peer));
	if (!new.list || !new.by_peer) {
		known_qps_free(&new);
		return false;
	}
	while (old < k->count || i < count) {
		const struct known_qp *was = old < k->count ? &k->list[old] : NULL;
		int order = !was ? 1 : i == count ? -1 : compare(&was->qp, &now[i]);
		struct known_qp *to = &new.list[new.count];

		if (order < 0) {
			*to = *was;
			to->device = 0;
			to->qp.state = HOST_QP_GONE;
			to->gone = was->gone ?: time;
			new.count += time - to->gone < REMEMBERED_NS;
		} else {
			*to = (struct known_qp){ .qp = now[i], .device = device_bit(devices, device_count, now[i].device),
						 .rq_before = order || was->gone ? HOST_NO_PSN : was->qp.rq_psn };
			new.count++;
		}
		old += order <= 0;
		i += order >= 0;
	}
	known_qps_free(k);
	*k = new;
	sort_by_peer(k);
	return true;
}

void known_qps_free(struct known_qps *k)
{
	free(k->list);
	free(k->by_peer);
	*k = (struct known_qps){ 0 };
}

const struct known_qp *known_qps_find(const struct known_qps *k, __u32 qpn, __u64 devices)
{
	const struct known_qp *gone = NULL;
	size_t low = 0, high = k->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->list[middle].qp.qpn < qpn)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < k->count && k->list[low].qp.qpn == qpn; low++) {
		if (k->list[low].device & devices)
			return &k->list[low];
		if (k->list[low].gone)
			gone = &k->list[low];
	}
	return gone;
}

/* The QP connected to this peer QPN, if there is exactly one. */
static const struct known_qp *find_by_peer(const struct known_qps *k, __u32 peer_qpn, __u64 devices)
{
	const struct known_qp *found = NULL;
	size_t low = 0, high = k->connected;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->by_peer[middle]->qp.peer_qpn < peer_qpn)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < k->connected && k->by_peer[low]->qp.peer_qpn == peer_qpn; low++) {
		if (!(k->by_peer[low]->device & devices))
			continue;
		if (found)
			return NULL;
		found = k->by_peer[low];
	}
	return found;
}

/* ---- what does not fit ---- */

static void say_missing(const struct owner_facts *f, const struct snapshot_stream *s, __u64 devices, struct host_owner *o)
{
	bool recent = s->stream.last_seen > f->qps->before;

	if (!f->rdma)
		return; /* the same for all streams: a hint says it once */
	o->refused = recent && !f->hidden;
	if (!devices)
		snprintf(o->words, sizeof(o->words), "no RDMA device has this address");
	else if (f->hidden)
		snprintf(o->words, sizeof(o->words), "no such QP in this PID namespace");
	else
		snprintf(o->words, sizeof(o->words), recent ? "no such QP here" : "no such QP here any more");
}

static void say_gone(const struct known_qp *k, const struct snapshot_stream *s, struct host_owner *o)
{
	o->refused = s->stream.last_seen > k->gone;
	if (o->refused)
		snprintf(o->words, sizeof(o->words), "the QP has gone, and packets still come");
	else
		snprintf(o->words, sizeof(o->words), "the QP has gone");
}

bool known_qp_takes(__u8 state)
{
	return state == STATE_RTR || state == STATE_RTS || state == STATE_SQD || state == STATE_SQE;
}

/* Whether the QP did not take the stream's packets: its PSN has not moved since it was last read, or is too far away. */
static bool is_elsewhere(const struct owner_facts *f, const struct known_qp *k, const struct roce_stream *s)
{
	__s64 d = psn_distance(k->qp.rq_psn, (s->last.psn + 1) & PSN_MASK);

	if (s->last_seen > f->qps->time) /* the QP was read before this packet came */
		return false;
	if (k->rq_before == k->qp.rq_psn && s->last_seen > f->qps->before)
		return d;
	return k->rq_before == HOST_NO_PSN && (d > PSN_AHEAD || d < -PSN_AHEAD);
}

static void say_inward(const struct owner_facts *f, const struct known_qp *k, const struct snapshot_stream *s,
		       struct host_owner *o)
{
	bool connected = k->qp.type == TYPE_RC || k->qp.type == TYPE_UC;

	if (s->stream.last_seen > f->qps->before && !known_qp_takes(k->qp.state))
		snprintf(o->words, sizeof(o->words), "the QP is in state %s and takes nothing", host_state_name(k->qp.state));
	else if (s->key.kind == KEY_CONNECTED && s->key.side == SIDE_REQUEST && connected && s->stream.met &&
		 k->qp.rq_psn != HOST_NO_PSN && is_elsewhere(f, k, &s->stream))
		snprintf(o->words, sizeof(o->words), "PSN on the wire 0x%llx, the QP expects 0x%x",
			 s->stream.last.psn & PSN_MASK, k->qp.rq_psn & PSN_MASK);
	o->refused = o->words[0];
}

/* ---- who it is ---- */

static const struct known_qp *find_outward(const struct owner_facts *f, const struct snapshot_stream *s, __u64 devices)
{
	if (s->key.kind == KEY_DATAGRAM)
		return known_qps_find(f->qps, s->key.qpn, devices);
	if (s->stream.pair.from)
		return known_qps_find(f->qps, s->stream.pair.peer_qpn, devices);
	return find_by_peer(f->qps, s->key.qpn, devices);
}

static enum host_astray find_astray(const struct owner_facts *f, const struct snapshot_stream *s, const struct host_owner *o)
{
	const __u8 *mac = s->stream.last.dst_mac;

	if (mac[0] & 1 || o->outward || o->local == places_has_mac(f->places, mac))
		return HOST_MEANT;
	return o->local ? HOST_MAC : HOST_ADDRESS;
}

bool owner_find(const struct owner_facts *f, const struct snapshot_stream *s, struct host_owner *o, struct host_qp *qp)
{
	bool datagram = s->key.kind == KEY_DATAGRAM;
	const struct known_qp *k = NULL;
	__u64 devices;

	*o = (struct host_owner){ 0 };
	if (s->key.kind != KEY_CONNECTED && !datagram)
		return false;
	if (places_has(f->places, snapshot_destination(s), &devices)) {
		o->local = true;
		k = known_qps_find(f->qps, datagram ? s->stream.ud.dqpn : s->key.qpn, devices);
		if (!k)
			say_missing(f, s, devices, o);
		else if (k->gone)
			say_gone(k, s, o);
		else
			say_inward(f, k, s, o);
	} else if (places_has(f->places, s->key.src, &devices)) {
		o->local = o->outward = true;
		k = find_outward(f, s, devices);
		if (k && k->gone)
			say_gone(k, s, o);
	}
	o->astray = find_astray(f, s, o);
	if (k) {
		*qp = k->qp;
		o->qp = qp;
	}
	return o->local;
}

static void make_pair(struct owner_pair *to, const __u8 src[16], const __u8 dst[16], __u32 number, __u32 peer_qpn)
{
	pair_key(&to->key, src, dst, number);
	/* it distinguishes this connection from the next one with the same QPN */
	to->pair = (struct roce_pair){ .connection = peer_qpn, .peer_qpn = peer_qpn, .first_psn = PAIR_NO_PSN,
				       .from = PAIR_NETLINK };
}

size_t owner_pairs(const struct snapshot_stream *s, const struct host_owner *o, struct owner_pair pairs[2])
{
	const struct host_qp *qp = o->qp;
	__u32 peer_qpn;

	if (!qp || s->key.kind != KEY_CONNECTED || !s->stream.trusted || (qp->type != TYPE_RC && qp->type != TYPE_UC) ||
	    !qp->peer_qpn || !known_qp_takes(qp->state))
		return 0;
	peer_qpn = o->outward ? qp->qpn : qp->peer_qpn;
	/* the QPN belongs to another device's QP, or the QP is connected to another stream */
	if (s->key.qpn != (o->outward ? qp->peer_qpn : qp->qpn))
		return 0;
	make_pair(&pairs[0], s->key.src, s->key.dst, s->key.qpn, peer_qpn);
	make_pair(&pairs[1], s->key.dst, s->key.src, peer_qpn, s->key.qpn);
	return 2;
}
