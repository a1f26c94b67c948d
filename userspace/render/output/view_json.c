// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope.snapshot/1 (docs/json.md, docs/schema/snapshot.schema.json) */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "lib/json.h"
#include "roce/dialogue/dialogue.h"
#include "userspace/observe/host/host.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/group.h"
#include "userspace/observe/model/limit.h"
#include "userspace/observe/model/udp_ports.h"
#include "userspace/observe/offline/fault_list.h"
#include "userspace/render/output/json_text.h"
#include "userspace/render/output/view.h"
#include "userspace/render/output/view_json.h"

static json_t *rfc3339(__u64 ns)
{
	return json_string(view_time(ns).text);
}

static void put_lint(struct json_text *t, const struct roce_stream *s)
{
	json_text_open(t, "lint", '{');
	for (int i = 0; i < ROCE_LINTS; i++)
		if (s->lint[i])
			json_text_number(t, lint_names[i], s->lint[i]);
	json_text_close(t, '}');
}

/* Lints that are no fault, because every packet of the stream has them. */
static void put_habits(struct json_text *t, const struct roce_stream *s)
{
	__u32 habits = 0;

	for (int i = 0; i < ROCE_LINTS; i++)
		habits |= stream_is_habit(s, i) << i;
	if (!habits)
		return;
	json_text_open(t, "habits", '[');
	for (int i = 0; i < ROCE_LINTS; i++)
		if (habits >> i & 1)
			json_text_string(t, NULL, lint_names[i]);
	json_text_close(t, ']');
}

/* How far late packets were behind: [least number of PSNs, packets] of the depths that are not empty. */
static void put_late(struct json_text *t, const struct roce_stream *s)
{
	json_text_open(t, "late_by", '[');
	for (int i = 0; i < STREAM_DEPTHS; i++) {
		if (!s->arrival.depth[i])
			continue;
		json_text_open(t, NULL, '[');
		json_text_number(t, NULL, 1ull << i);
		json_text_number(t, NULL, s->arrival.depth[i]);
		json_text_close(t, ']');
	}
	json_text_close(t, ']');
}

/*
 * The expected PSN, and which of the PSN_WINDOW before it are missing, as [first, count] from the oldest on: `rocescope between`
 * compares two points by them.
 */
static void put_missing(struct json_text *t, const struct roce_stream *s)
{
	const struct roce_psn *psn = &s->psn;
	__u64 first = psn->next, n = psn->next - PSN_WINDOW;
	bool missing;

	json_text_number_or_null(t, "next_psn", s->met, psn->next & PSN_MASK);
	if (!s->met || psn_is_whole(psn))
		return;
	json_text_open(t, "missing", '[');
	for (; (__s64)(psn->next - n) >= 0; n++) {
		missing = n != psn->next && !(psn->seen[n % PSN_WINDOW / 64] >> n % 64 & 1);
		if (missing && first == psn->next)
			first = n;
		if (missing || first == psn->next)
			continue;
		json_text_open(t, NULL, '[');
		json_text_number(t, NULL, first & PSN_MASK);
		json_text_number(t, NULL, n - first);
		json_text_close(t, ']');
		first = psn->next;
	}
	json_text_close(t, ']');
}

/* Of a ring: what is known of it. start: of a learnt one, the address of slot 0. last: the slot that was ended last. */
static void put_ring(struct json_text *t, const struct roce_stream *s)
{
	const struct roce_ring *r = &s->ring.ring;
	bool known = ring_is_known(&s->ring), round = known && r->slots;

	json_text_open(t, "ring", '{');
	json_text_number_or_null(t, "slot", known, r->slot);
	json_text_number_or_null(t, "slots", round, r->slots);
	if (ring_is_learnt(&s->ring) && round)
		json_text_hexadecimal_or_null(t, "start", true, r->start);
	json_text_number_or_null(t, "last", round && block_counts(s), s->message.immediate);
	json_text_close(t, '}');
}

/* Of the counter in immediate data. */
static void put_immediate(struct json_text *t, const struct roce_stream *s)
{
	json_text_open(t, "immediate", '{');
	json_text_number_or_null(t, "step", block_counts(s), s->message.step);
	json_text_number(t, "last", s->message.immediate);
	json_text_close(t, '}');
}

/* How often the traffic class has changed, and the newest two, the newest one first. */
static void put_class(struct json_text *t, const struct roce_stream *s)
{
	const struct roce_last *l = &s->last;

	json_text_open(t, "traffic_class", '{');
	json_text_number(t, "changes", s->class_changes);
	json_text_open(t, "dscp", '[');
	json_text_number(t, NULL, l->tos >> 2);
	json_text_number(t, NULL, l->tos_before >> 2);
	json_text_close(t, ']');
	json_text_open(t, "ecn_capable", '[');
	json_text_bool(t, NULL, l->tos & 3);
	json_text_bool(t, NULL, l->tos_before & 3);
	json_text_close(t, ']');
	json_text_close(t, '}');
}

static void put_last(struct json_text *t, const struct roce_last *l)
{
	bool reth = l->va || l->rkey || l->dma_length;

	json_text_open(t, "last", '{');
	json_text_hexadecimal_or_null(t, "va", reth, l->va);
	json_text_hexadecimal_or_null(t, "rkey", reth, l->rkey);
	json_text_number_or_null(t, "dma_length", reth, l->dma_length);
	json_text_number(t, "udp_source_port", l->udp_source_port);
	json_text_mac(t, "src_mac", l->src_mac);
	json_text_mac(t, "dst_mac", l->dst_mac);
	json_text_number_or_null(t, "vlan", l->vlan_tags, l->vlan);
	json_text_number(t, "dscp", l->tos >> 2);
	json_text_number(t, "ttl", l->ttl);
	json_text_close(t, '}');
}

/* The first fields of a stream's object: its identity. */
static void put_identity(struct json_text *t, const struct roce_key *key, const __u8 dst[16], __u32 dqpn, __u8 service)
{
	bool datagram = key->kind == KEY_DATAGRAM;

	json_text_string(t, "src", address_text(key->src).text);
	json_text_string(t, "dst", address_text(datagram ? dst : key->dst).text);
	json_text_number(t, "dqpn", datagram ? dqpn : key->qpn);
	json_text_number_or_null(t, "sqpn", datagram, key->qpn);
	json_text_string(t, "service", roce_service_name(service));
	json_text_string(t, "side", key->side == SIDE_RESPONSE ? "response" : "request");
	if (key->kind == KEY_UDP)
		json_text_number(t, "udp_port", key->port);
}

json_t *view_json_stream(const struct roce_key *key, const __u8 dst[16], __u32 dqpn, __u8 service)
{
	struct json_text t;

	json_text_begin(&t, NULL);
	json_text_open(&t, NULL, '{');
	put_identity(&t, key, dst, dqpn, service);
	json_text_close(&t, '}');
	return json_loadb(t.bytes, t.length, 0, NULL);
}

static json_t *untracked_object(const struct untracked *u)
{
	json_t *worst = json_array();

	for (size_t i = 0; i < u->count; i++) {
		const struct roce_untracked_stream *e = &u->worst[i];
		json_t *o = view_json_stream(&e->key, e->dst, e->dqpn, e->service);

		json_set_count(o, "packets", e->packets);
		json_array_append_new(worst, o);
	}
	return json_pack("{s:o, s:b, s:o}", "streams", json_count(u->streams), "estimate", u->estimate, "worst", worst);
}

/* Of the totals; put_rates() is of a stream. */
static json_t *rates_object(const struct rates *r)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "gbps", r->gbps, "packets", r->packets, "messages", r->messages,
			 "lost", r->lost, "icrc_bad", r->icrc_bad, "udp_lost", r->udp_lost);
}

static void put_rates(struct json_text *t, const struct rates *r)
{
	json_text_open(t, "rates", '{');
	json_text_real(t, "gbps", r->gbps);
	json_text_real(t, "packets", r->packets);
	json_text_real(t, "messages", r->messages);
	json_text_real(t, "lost", r->lost);
	json_text_real(t, "icrc_bad", r->icrc_bad);
	json_text_close(t, '}');
}

/* Where the peer's QPN is known from; NULL: nowhere. */
static const char *const pair_names[] = { [PAIR_EXPECT] = "expect", [PAIR_CM] = "cm", [PAIR_NETLINK] = "netlink" };

static void put_peer(struct json_text *t, const struct roce_pair *pair)
{
	json_text_number_or_null(t, "peer_qpn", pair->from, pair->peer_qpn);
	json_text_string(t, "peer_from", pair_names[pair->from]);
}

static const char *const restart_names[] = {
	[RESTART_HANDSHAKE] = "handshake", [RESTART_MSN] = "msn", [RESTART_PACKET] = "packet", [RESTART_RUN] = "run", [RESTART_ELSEWHERE] = "elsewhere",
};

/* How the datagrams of a flow of --udp are read. */
static void put_format(struct json_text *t, const struct snapshot *now, __u16 port)
{
	const struct roce_udp_format *f = now->ports ? udp_ports_find(now->ports, port) : NULL;

	if (f)
		json_text_string(t, "udp_format", udp_format_text(f).text);
}

static void put_stream(struct json_text *t, const struct snapshot_stream *s, const struct snapshot *now)
{
	__u64 realtime_offset = now->realtime_offset;
	const struct roce_stream *stream = &s->stream;
	bool acknowledges = s->key.side == SIDE_RESPONSE && stream->service != SERVICE_CNP;

	put_identity(t, &s->key, stream->ud.dst, stream->ud.dqpn, stream->service);
	put_format(t, now, s->key.port);
	put_peer(t, &stream->pair);
	json_text_bool(t, "icrc_trusted", stream->trusted);
	json_text_bool(t, "estimate", snapshot_is_estimate(stream));
	json_text_number_or_null(t, "path_mtu", stream->path_mtu, stream->path_mtu);
	json_text_number_or_null(t, "first_psn", stream->met, stream->sequence.first_psn);
	json_text_number_or_null(t, "last_psn", stream->met || acknowledges, stream->last.psn);
	json_text_string(t, "first_seen", view_time(stream->first_seen + realtime_offset).text);
	json_text_string(t, "last_seen", view_time(stream->last_seen + realtime_offset).text);
	for (int i = 0; i < ROCE_COUNTERS; i++)
		if (snapshot_has(s, counter_order[i]))
			json_text_number(t, counter_names[counter_order[i]], stream->counters.value[counter_order[i]]);
	if (stream->sequence.restart_by)
		json_text_string(t, "restart_by", restart_names[stream->sequence.restart_by]);
	if (snapshot_is_reordered(stream))
		put_late(t, stream);
	if (stream->by_ring)
		put_ring(t, stream);
	else if (stream->counters.value[COUNTER_blocks])
		put_immediate(t, stream);
	if (stream->class_changes)
		put_class(t, stream);
	put_lint(t, stream);
	put_habits(t, stream);
	put_last(t, &stream->last);
}

/* Pause and discard counters of an interface by priority. NULL: none has moved. */
static json_t *priorities_array(const struct host_report *r, const char *interface)
{
	json_t *array = NULL;

	for (size_t i = 0; r && i < r->priority_count; i++) {
		const struct host_priority *p = &r->priorities[i];
		json_t *o;

		if (strcmp(p->where, interface))
			continue;
		o = json_pack("{s:i}", "priority", p->priority);
		for (int c = 0; c < PRIORITY_COUNTS; c++)
			json_set_count(o, host_priority_names[c], p->count[c]);
		array = array ?: json_array();
		json_array_append_new(array, o);
	}
	return array;
}

static json_t *interfaces_array(const struct snapshot *s)
{
	json_t *array = json_array();

	for (size_t i = 0; i < s->interface_count; i++) {
		const struct snapshot_interface *f = &s->interfaces[i];
		json_array_append_new(array, json_pack("{s:o, s:s, s:s, s:o, s:o*}", "name", json_text(f->name),
						       "mode", f->mode, "direction", f->direction,
						       "ring_missed", json_count(f->ring_missed),
						       "priorities", priorities_array(s->host, f->name)));
	}
	return array;
}

static json_t *totals_object(const struct roce_totals *totals)
{
	json_t *o = json_object();

	for (int i = 0; i < ROCE_COUNTERS; i++)
		json_set_count(o, counter_names[counter_order[i]], totals->value[counter_order[i]]);
	return o;
}

/* NULL: there is only one DSCP, and nothing is marked. */
static json_t *classes_array(const struct snapshot *s)
{
	struct snapshot_class classes[SNAPSHOT_CLASSES];
	json_t *array;

	if (!snapshot_classes(s, classes))
		return NULL;
	array = json_array();
	for (int i = 0; i < SNAPSHOT_CLASSES; i++)
		if (classes[i].streams)
			json_array_append_new(array, json_pack("{s:i, s:o, s:o, s:o, s:o}", "dscp", i,
							       "streams", json_count(classes[i].streams),
							       "packets", json_count(classes[i].packets),
							       "bytes", json_count(classes[i].bytes),
							       "ecn_ce", json_count(classes[i].ecn_ce)));
	return array;
}

json_t *view_json_head(const struct snapshot *s, const char *schema)
{
	json_t *o = json_pack("{s:s, s:o, s:f, s:b, s:o, s:o}", "schema", schema,
			      "time", rfc3339(snapshot_time(s)),
			      "seconds", s->seconds, "complete", s->complete,
			      "interfaces", interfaces_array(s), "totals", totals_object(&s->totals));

	if (s->untracked.streams)
		json_object_set_new(o, "untracked", untracked_object(&s->untracked));
	if (s->selection)
		json_object_set_new(o, "selection", json_true());
	if (s->left_out)
		json_set_count(o, "selection_left_out", s->left_out);
	return o;
}

/* The buckets that are not empty. */
static json_t *buckets(const struct roce_latency *l)
{
	json_t *array = json_array();

	for (int i = 0; i < DIALOGUE_BUCKETS; i++)
		if (l->bucket[i])
			json_array_append_new(array, json_pack("[f, I]", dialogue_bucket(i) / 1e3,
							       (json_int_t)l->bucket[i]));
	return array;
}

static json_t *latency(const struct roce_latency *l)
{
	__u64 count = dialogue_latencies(l);
	bool known = count;

	return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "count", (json_int_t)count,
			 "timed", (json_int_t)l->timed,
			 "p50", json_real_or_null(known, dialogue_quantile(l, 0.5) / 1e3),
			 "p90", json_real_or_null(known, dialogue_quantile(l, 0.9) / 1e3),
			 "p99", json_real_or_null(known, dialogue_quantile(l, 0.99) / 1e3),
			 "max", json_real_or_null(known, l->most / 1e3), "mean", json_real_or_null(known, dialogue_mean(l) / 1e3),
			 "buckets", buckets(l));
}

static json_t *causes(const __u64 counter[DIALOGUE_CAUSES])
{
	return json_pack("{s:I, s:I, s:I, s:I}", "nak", (json_int_t)counter[DIALOGUE_NAK],
			 "rnr", (json_int_t)counter[DIALOGUE_RNR], "gap", (json_int_t)counter[DIALOGUE_GAP],
			 "timeout", (json_int_t)counter[DIALOGUE_TIMEOUT]);
}

static json_t *window_object(struct window w)
{
	return json_pack("{s:s, s:I, s:s}", "kind", w.kind, "at", (json_int_t)w.at, "text", w.text);
}

static json_t *dialogue_object(const struct snapshot_stream *s, const struct snapshot *now, const struct snapshot *previous)
{
	const struct roce_dialogue *d = s->dialogue;
	bool timed = d->back[DIALOGUE_TIMEOUT] || d->selective[DIALOGUE_TIMEOUT];
	enum limit limit = limit_of(s, now, previous);

	return json_pack("{s:I, s:I, s:I, s:I, s:s, s:o*, s:o, s:I, s:o, s:o, s:f, s:f, s:o, s:o}",
			 "outstanding", (json_int_t)d->outstanding, "outstanding_most", (json_int_t)d->outstanding_most,
			 "reads", (json_int_t)d->reads, "reads_most", (json_int_t)d->reads_most,
			 "limit", limit_names[limit], "window",
			 limit == LIMIT_WINDOW ? window_object(window_of(s)) : NULL, "back", causes(d->back),
			 "back_packets", (json_int_t)d->back_packets,
			 "selective", causes(d->selective),
			 "timeout_seconds", json_real_or_null(timed, d->timeout_ns / 1e9),
			 "waiting_seconds", d->waiting_ns / 1e9,
			 "full_seconds", d->full_ns / 1e9, "ack_us", latency(&d->ack), "read_us", latency(&d->read));
}

static json_t *owner_object(const struct host_owner *owner)
{
	const struct host_qp *qp = owner->qp;

	const struct host_calls *c = &owner->calls;
	json_t *calls = NULL;

	if (!owner->local)
		return json_null();
	if (c->known)
		calls = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "wrs", json_count(c->wrs), "completions", json_count(c->completions),
				  "failed", json_count(c->failed), "outstanding", json_count(c->outstanding),
				  "half_ns", json_count_or_null(c->half_ns, c->half_ns), "p99_ns", json_count_or_null(c->late_ns, c->late_ns));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o*}", "device", json_text_or_null(qp ? qp->device : NULL),
			 "port", json_count_or_null(qp && qp->port, qp ? qp->port : 0), "qpn", json_count_or_null(qp, qp ? qp->qpn : 0),
			 "peer_qpn", json_count_or_null(qp && qp->peer_qpn, qp ? qp->peer_qpn : 0),
			 "state", json_text_or_null(qp ? host_state_name(qp->state) : NULL),
			 "expected_psn", json_count_or_null(qp && qp->rq_psn != HOST_NO_PSN, qp ? qp->rq_psn : 0),
			 "pid", json_count_or_null(qp && qp->pid, qp ? qp->pid : 0),
			 "program", json_text_or_null(qp ? qp->program : NULL), "words", json_text_or_null(owner->words), "calls", calls);
}

static void put_shown(struct json_text *t, const struct snapshot_stream *s, const struct snapshot *now,
		      const struct snapshot *previous, const struct view *v)
{
	struct rates rates;

	json_text_open(t, NULL, '{');
	put_stream(t, s, now);
	if (s->dialogue)
		json_text_value(t, "dialogue", dialogue_object(s, now, previous));
	if (s->owner)
		json_text_value(t, "owner", owner_object(s->owner));
	if (v->live) {
		put_missing(t, &s->stream);
		rates = rates_of_stream(s, now, previous);
		put_rates(t, &rates);
	}
	json_text_close(t, '}');
}

/* One jansson document of a million streams would take gigabytes, and 50 us for each. */
static void put_streams(struct json_text *t, const struct snapshot *now, const struct snapshot *previous, const struct view *v)
{
	json_text_open(t, "streams", '[');
	for (size_t i = 0; i < snapshot_shown_count(now) && !t->error; i++)
		if (view_wants(snapshot_shown(now, i), previous, v))
			put_shown(t, snapshot_shown(now, i), now, previous, v);
	json_text_close(t, ']');
}

static void put_groups(struct json_text *t, const struct snapshot *now)
{
	size_t groups_count;
	struct group *groups = group_make(now->group, now, &groups_count);

	if (!groups) {
		t->error = ENOMEM;
		return;
	}
	json_text_open(t, "groups", '[');
	for (size_t i = 0; i < groups_count && !t->error; i++) {
		json_text_open(t, NULL, '{');
		json_text_string(t, "name", now->group->name);
		json_text_string(t, "value", group_text(now->group, &groups[i]).text);
		json_text_number(t, "streams", groups[i].streams);
		for (size_t c = 0; c < group_counter_count; c++)
			json_text_number(t, counter_names[group_counters[c]], groups[i].sum.value[group_counters[c]]);
		json_text_close(t, '}');
	}
	json_text_close(t, ']');
	free(groups);
}

static json_t *fault_object(const struct listed_fault *f, __u64 realtime_offset)
{
	const struct roce_event *e = &f->event;
	bool packet = f->key.kind != KEY_NONE;
	char text[EVENT_TEXT];

	event_text(e, text);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}",
			 "frame", json_count(f->number), "time", rfc3339(f->time + realtime_offset),
			 "stream", packet ? view_json_stream(&f->key, f->dst, f->dqpn, f->service) : json_null(),
			 "kinds", json_names(e->kinds, event_names, ROCE_EVENTS),
			 "lints", json_names(e->kinds & ROCE_EVENT(lint) ? e->lints : 0, lint_names, ROCE_LINTS),
			 "expected", json_count_or_null(packet && e->expected != EVENT_NO_PSN, e->expected & PSN_MASK),
			 "seen", json_count_or_null(packet, e->seen & PSN_MASK),
			 "skipped", json_count(e->kinds & ROCE_EVENT(psn_gap) ? e->skipped : 0), "text", text);
}

static void put_faults(struct json_text *t, const struct fault_list *l, __u64 realtime_offset)
{
	json_text_open(t, "faults", '[');
	for (size_t i = 0; i < l->count; i++)
		json_text_value(t, NULL, fault_object(&l->faults[i], realtime_offset));
	json_text_close(t, ']');
	json_text_number(t, "faults_left_out", l->packets - l->count);
	json_text_open(t, "fault_kinds", '{');
	for (int i = 0; i < ROCE_EVENTS; i++)
		if (l->kind[i])
			json_text_number(t, event_names[i], l->kind[i]);
	json_text_close(t, '}');
}

static json_t *host_object(const struct host_report *r)
{
	json_t *counters = json_array(), *hints = json_array();

	for (size_t i = 0; i < r->counter_count; i++) {
		const struct host_counter *c = &r->counters[i];

		json_array_append_new(counters, json_pack("{s:o, s:o, s:o, s:b}", "where", json_text_or_null(c->where),
							  "name", json_text_or_null(c->name),
							  "value", json_count(c->value), "dropped", c->dropped));
	}
	for (size_t i = 0; i < r->hint_count; i++)
		json_array_append_new(hints, json_text_or_null(r->hints[i]));
	return json_pack("{s:o, s:o}", "counters", counters, "hints", hints);
}

/* The filter's text, the number of streams that it lets through, and of all. */
static json_t *filter_object(const struct snapshot *now)
{
	return json_pack("{s:o, s:o, s:o}", "text", json_text(now->filter), "streams", json_count(snapshot_shown_count(now)),
			 "of", json_count(now->stream_count));
}

int view_json(FILE *out, const struct snapshot *now, const struct snapshot *previous, const struct view *v)
{
	json_t *head = view_json_head(now, "rocescope.snapshot/1");
	struct rates rates = rates_of_totals(now, previous);
	json_t *classes = classes_array(now);
	struct json_text t;

	if (classes)
		json_object_set_new(head, "classes", classes);
	if (v->live)
		json_object_set_new(head, "rates", rates_object(&rates));
	if (now->events.had)
		json_object_set_new(head, "events", json_pack("{s:o, s:o}", "lost", json_count(now->events.lost), "suppressed",
							      json_count(now->events.suppressed)));
	if (v->receive)
		json_object_set_new(head, "receive", v->receive);
	if (now->filter)
		json_object_set_new(head, "filter", filter_object(now));
	json_text_begin(&t, out);
	json_text_open(&t, NULL, '{');
	json_text_members(&t, head);
	put_streams(&t, now, previous, v);
	if (now->group)
		put_groups(&t, now);
	if (now->host)
		json_text_value(&t, "host", host_object(now->host));
	if (now->faults)
		put_faults(&t, now->faults, now->realtime_offset);
	json_text_close(&t, '}');
	return json_text_end(&t) && fputc('\n', out) != EOF && !ferror(out) ? 0 : -1;
}
