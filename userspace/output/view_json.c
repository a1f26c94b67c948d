// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope.snapshot/1 (docs/json.md, docs/schema/snapshot.schema.json) */
#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>

#include "userspace/model/address.h"
#include "userspace/model/event_text.h"
#include "userspace/model/rates.h"
#include "userspace/offline/fault_list.h"
#include "userspace/output/dialogue_json.h"
#include "userspace/output/view.h"
#include "userspace/output/view_json.h"

static const char *const counters[ROCE_COUNTERS] = {
#define COUNTER(name, unit, kind, scope, words) [COUNTER_##name] = #name,
#include "roce/counters.def"
#undef COUNTER
};

/* JSON's integers are signed here; what does not fit is no count that was ever reached. */
static json_t *number(__u64 n)
{
	return json_integer(n <= INT64_MAX ? (json_int_t)n : INT64_MAX);
}

static json_t *number_or_null(bool known, __u64 n)
{
	return known ? number(n) : json_null();
}

/* Addresses and keys of memory: hexadecimal, since many readers of JSON have no 64-bit integers. */
static json_t *hexadecimal(bool known, __u64 n)
{
	return known ? json_sprintf("0x%llx", n) : json_null();
}

static json_t *rfc3339(__u64 ns)
{
	return json_string(view_time(ns).text);
}

static json_t *mac(const __u8 m[6])
{
	return json_sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
}

static json_t *lint_object(const struct roce_stream *s)
{
	json_t *o = json_object();

	for (int i = 0; i < ROCE_LINTS; i++)
		if (s->lint[i])
			json_object_set_new(o, lint_names[i], number(s->lint[i]));
	return o;
}

static json_t *last_object(const struct roce_last *l)
{
	bool reth = l->va || l->rkey || l->dma_length;

	return json_pack("{s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:i, s:i}",
			 "va", hexadecimal(reth, l->va), "rkey", hexadecimal(reth, l->rkey),
			 "dma_length", number_or_null(reth, l->dma_length), "udp_source_port", l->udp_source_port,
			 "src_mac", mac(l->src_mac), "dst_mac", mac(l->dst_mac),
			 "vlan", number_or_null(l->vlan_tags, l->vlan), "dscp", l->tos >> 2, "ttl", l->ttl);
}

json_t *view_json_stream(const struct roce_key *key, const __u8 dst[16], __u32 dqpn, __u8 service)
{
	bool datagram = key->kind == KEY_DATAGRAM;
	json_t *o = json_pack("{s:s, s:s, s:o, s:o, s:s, s:s}",
			      "src", address_text(key->src).text,
			      "dst", address_text(datagram ? dst : key->dst).text,
			      "dqpn", number(datagram ? dqpn : key->qpn),
			      "sqpn", number_or_null(datagram, key->qpn),
			      "service", roce_service_name(service),
			      "side", key->side == SIDE_RESPONSE ? "response" : "request");

	if (key->kind == KEY_UDP)
		json_object_set_new(o, "udp_port", json_integer(key->port));
	return o;
}

static json_t *rates_object(const struct rates *r)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f}", "gbps", r->gbps, "packets", r->packets, "messages", r->messages,
			 "lost", r->lost, "icrc_bad", r->icrc_bad);
}

/* Who says who the peer is. */
static const char *const pair_names[] = { [PAIR_EXPECT] = "expect", [PAIR_CM] = "cm", [PAIR_NETLINK] = "netlink" };

static json_t *stream_object(const struct snapshot_stream *s, const struct snapshot *now, const struct snapshot *previous)
{
	__u64 realtime_offset = now->realtime_offset;
	const struct roce_stream *stream = &s->stream;
	const struct roce_pair *pair = &stream->pair;
	bool acknowledges = s->key.side == SIDE_RESPONSE && stream->service != SERVICE_CNP;
	json_t *o = view_json_stream(&s->key, stream->dst, stream->dqpn, stream->service);

	json_object_set_new(o, "peer_qpn", number_or_null(pair->from, pair->peer_qpn));
	json_object_set_new(o, "peer_from", pair->from ? json_string(pair_names[pair->from]) : json_null());
	json_object_set_new(o, "icrc_trusted", json_boolean(stream->trusted));
	json_object_set_new(o, "estimate", json_boolean(snapshot_is_estimate(stream)));
	json_object_set_new(o, "path_mtu", number_or_null(stream->path_mtu, stream->path_mtu));
	json_object_set_new(o, "first_psn", number_or_null(stream->met, stream->first_psn));
	json_object_set_new(o, "last_psn", number_or_null(stream->met || acknowledges, stream->last_psn));
	json_object_set_new(o, "first_seen", rfc3339(stream->first_seen + realtime_offset));
	json_object_set_new(o, "last_seen", rfc3339(stream->last_seen + realtime_offset));
	for (int i = 0; i < ROCE_COUNTERS; i++)
		if (snapshot_has(s, i))
			json_object_set_new(o, counters[i], number(stream->counters.value[i]));
	json_object_set_new(o, "lint", lint_object(stream));
	json_object_set_new(o, "last", last_object(&stream->last));
	if (s->dialogue)
		json_object_set_new(o, "dialogue", dialogue_json(s, now, previous));
	if (s->owner)
		json_object_set_new(o, "owner", view_json_owner(s->owner));
	return o;
}

static json_t *interfaces_array(const struct snapshot *s)
{
	json_t *array = json_array();

	for (size_t i = 0; i < s->interface_count; i++) {
		const struct snapshot_interface *f = &s->interfaces[i];
		json_t *name = json_string(f->name);

		/* a file's name may be no UTF-8 */
		json_array_append_new(array, json_pack("{s:o, s:s, s:s, s:o}", "name", name ?: json_string("?"),
						       "mode", f->mode, "direction", f->direction,
						       "ring_missed", number(f->ring_missed)));
	}
	return array;
}

static json_t *totals_object(const struct roce_counters *totals)
{
	json_t *o = json_object();

	for (int i = 0; i < ROCE_COUNTERS; i++)
		json_object_set_new(o, counters[i], number(totals->value[i]));
	return o;
}

/* Prints and frees an object; without its braces if `flags` has JSON_EMBED. */
static bool print(FILE *out, json_t *o, size_t flags)
{
	bool failed = !o || json_dumpf(o, out, flags | VIEW_JSON);

	if (!o)
		errno = ENOMEM;
	json_decref(o);
	return !failed;
}

json_t *view_json_head(const struct snapshot *s, const char *schema)
{
	json_t *o = json_pack("{s:s, s:o, s:f, s:b, s:o, s:o}", "schema", schema,
			      "time", rfc3339(snapshot_time(s)),
			      "seconds", s->seconds, "complete", s->complete,
			      "interfaces", interfaces_array(s), "totals", totals_object(&s->totals));

	if (s->selection)
		json_object_set_new(o, "selection", json_true());
	return o;
}

static json_t *shown_object(const struct snapshot_stream *s, const struct snapshot *now, const struct snapshot *previous,
			    const struct view *v)
{
	json_t *o = stream_object(s, now, previous);
	struct rates rates;

	if (v->live) {
		rates = rates_of_stream(s, now, previous);
		json_object_set_new(o, "rates", rates_object(&rates));
	}
	return o;
}

/* Streams one by one: a million of them as one JSON document would take gigabytes. */
static bool print_streams(FILE *out, const struct snapshot *now, const struct snapshot *previous, const struct view *v)
{
	bool first = true;

	for (size_t i = 0; i < now->stream_count; i++) {
		const struct snapshot_stream *s = &now->streams[i];

		if (!view_wants(s, previous, v))
			continue;
		if (!first)
			fputc(',', out);
		first = false;
		if (!print(out, shown_object(s, now, previous, v), 0))
			return false;
	}
	return true;
}

/* Names of a set. */
static json_t *names_array(__u32 set, const char *const *name, int count)
{
	json_t *array = json_array();

	for (int i = 0; i < count; i++)
		if (set >> i & 1)
			json_array_append_new(array, json_string(name[i]));
	return array;
}

static json_t *fault_object(const struct fault *f, __u64 realtime_offset)
{
	const struct roce_event *e = &f->event;
	bool packet = f->key.kind != KEY_NONE;
	char text[EVENT_TEXT];

	event_text(e, text);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}",
			 "frame", number(f->number), "time", rfc3339(f->time + realtime_offset),
			 "stream", packet ? view_json_stream(&f->key, f->dst, f->dqpn, f->service) : json_null(),
			 "kinds", names_array(e->kinds, event_names, ROCE_EVENTS),
			 "lints", names_array(e->kinds & ROCE_EVENT(lint) ? e->lints : 0, lint_names, ROCE_LINTS),
			 "expected", number_or_null(packet && e->expected != EVENT_NO_PSN, e->expected & PSN_MASK),
			 "seen", number_or_null(packet, e->seen & PSN_MASK),
			 "skipped", number(e->kinds & ROCE_EVENT(psn_gap) ? e->skipped : 0), "text", text);
}

static bool print_faults(FILE *out, const struct fault_list *l, __u64 realtime_offset)
{
	json_t *kinds = json_object();

	fputs(",\"faults\":[", out);
	for (size_t i = 0; i < l->count; i++) {
		if (i)
			fputc(',', out);
		if (!print(out, fault_object(&l->faults[i], realtime_offset), 0))
			return false;
	}
	fputs("],", out);
	for (int i = 0; i < ROCE_EVENTS; i++)
		if (l->kind[i])
			json_object_set_new(kinds, event_names[i], number(l->kind[i]));
	return print(out, json_pack("{s:o, s:o}", "faults_left_out", number(l->packets - l->count), "fault_kinds", kinds),
		     JSON_EMBED);
}

/* What was wanted, how many streams that is, and of how many. The text may be no UTF-8. */
static json_t *filter_object(const struct snapshot *now, const struct view *v)
{
	json_t *text = json_string(filter_text(v->filter));

	return json_pack("{s:o, s:o, s:o}", "text", text ?: json_string("?"), "streams", number(view_filtered(now, v)),
			 "of", number(now->stream_count));
}

int view_json(FILE *out, const struct snapshot *now, const struct snapshot *previous, const struct view *v)
{
	json_t *head = view_json_head(now, "rocescope.snapshot/1");
	struct rates rates = rates_of_totals(now, previous);

	if (v->live)
		json_object_set_new(head, "rates", rates_object(&rates));
	if (now->events.had)
		json_object_set_new(head, "events", json_pack("{s:o, s:o}", "lost", number(now->events.lost), "suppressed",
							      number(now->events.suppressed)));
	if (v->filter)
		json_object_set_new(head, "filter", filter_object(now, v));
	fputc('{', out);
	if (!print(out, head, JSON_EMBED))
		return -1;
	fputs(",\"streams\":[", out);
	if (!print_streams(out, now, previous, v))
		return -1;
	fputc(']', out);
	if (now->host) {
		fputs(",\"host\":", out);
		if (!print(out, view_json_host(now->host), 0))
			return -1;
	}
	if (now->faults && !print_faults(out, now->faults, now->realtime_offset))
		return -1;
	fputs("}\n", out);
	return ferror(out) ? -1 : 0;
}
