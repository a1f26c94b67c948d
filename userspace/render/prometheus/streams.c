// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "lib/address.h"
#include "userspace/observe/host/host.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/faults.h"
#include "userspace/observe/model/limit.h"
#include "userspace/observe/model/udp_ports.h"
#include "userspace/render/prometheus/dialogues.h"
#include "userspace/render/prometheus/streams.h"
#include "userspace/render/prometheus/text.h"

#define MERGED 4 /* a stream's histogram merges this many buckets into one, two octaves */

struct ranked {
	struct fault_rank rank;
	const struct snapshot_stream *s;
};

struct one {
	const struct snapshot_stream *s;
	struct text_labels labels;
};

struct chosen {
	struct one *streams;
	size_t count;
	size_t wanted, faulty, faulty_chosen, untrusted; /* streams that the filter takes, and of these ... */
};

/* ---- which ---- */

/* Equal streams are ordered by key, so that the choice does not change. */
static int worst_first(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return fault_rank_compare(&x->rank, &y->rank) ?: x->s < y->s ? -1 : x->s > y->s;
}

/* Labels are the key and what hardly ever changes: a series ends when its labels change. */
static void name_stream(struct one *one)
{
	const struct snapshot_stream *s = one->s;
	const struct roce_key *key = &s->key;
	struct text_labels *l = &one->labels;

	text_label(l, "src", address_text(key->src).text);
	if (key->kind == KEY_DATAGRAM) {
		text_label_number(l, "sqpn", key->qpn);
	} else {
		text_label(l, "dst", address_text(key->dst).text);
		text_label_number(l, "dqpn", key->qpn);
	}
	if (key->kind == KEY_UDP)
		text_label_number(l, "udp_port", key->port);
	text_label(l, "service", roce_service_name(s->stream.service));
	text_label(l, "side", key->side == SIDE_RESPONSE ? "response" : "request");
}

static bool keep(struct chosen *c, const struct ranked *all, size_t count)
{
	c->streams = calloc(count ?: 1, sizeof(*c->streams));
	if (!c->streams)
		return false;
	for (; c->count < count; c->count++) {
		struct one *one = &c->streams[c->count];

		one->s = all[c->count].s;
		c->faulty_chosen += all[c->count].rank.faults > 0;
		name_stream(one);
	}
	return true;
}

static bool choose(struct chosen *c, const struct snapshot *s, const struct metrics_options *o)
{
	struct ranked *all = calloc(s->stream_count ?: 1, sizeof(*all));
	bool good;

	if (!all)
		return false;
	for (size_t i = 0; i < s->stream_count; i++) {
		struct fault_rank rank = fault_rank(&s->streams[i].stream);

		c->untrusted += !s->streams[i].stream.trusted;
		c->faulty += rank.faults > 0;
	}
	for (; c->wanted < snapshot_shown_count(s); c->wanted++) {
		const struct snapshot_stream *one = snapshot_shown(s, c->wanted);

		all[c->wanted] = (struct ranked){ fault_rank(&one->stream), one };
	}
	if (o->streams)
		qsort(all, c->wanted, sizeof(*all), worst_first);
	good = keep(c, all, c->wanted < o->streams ? c->wanted : o->streams);
	free(all);
	return good;
}

/* ---- what of them ---- */

static void write_own_counter(FILE *out, const struct chosen *c, enum roce_counter counter)
{
	const struct metrics_counter *about = &metrics_counters[counter];
	bool first = true;
	char name[64];

	snprintf(name, sizeof(name), "stream_%s", about->name);
	for (size_t i = 0; i < c->count; i++) {
		const struct one *one = &c->streams[i];

		if (!snapshot_has(one->s, counter))
			continue;
		if (first)
			text_family(out, name, about->type, about->words);
		first = false;
		text_count(out, name, one->labels.text, one->s->stream.counters.value[counter]);
	}
}

static void write_own_lints(FILE *out, const struct chosen *c)
{
	bool first = true;

	for (size_t i = 0; i < c->count; i++) {
		for (int lint = 0; lint < ROCE_LINTS; lint++) {
			struct text_labels l = c->streams[i].labels;

			if (!c->streams[i].s->stream.lint[lint])
				continue;
			if (first)
				text_family(out, "stream_lint_packets_total", "counter",
					    "packets that show a mistake in headers, by its name");
			first = false;
			text_label(&l, "lint", lint_names[lint]);
			text_count(out, "stream_lint_packets_total", l.text, c->streams[i].s->stream.lint[lint]);
		}
	}
}

static void write_owner(struct text_labels *l, const struct snapshot_stream *known)
{
	const struct host_owner *owner = known ? known->owner : NULL;

	if (!owner || !owner->qp)
		return;
	text_label(l, "device", owner->qp->device);
	text_label(l, "program", owner->qp->program);
}

/* What limited the stream in the last interval. */
static enum limit limit_known(const struct metrics_options *o, const struct snapshot_stream *s)
{
	const struct snapshot_stream *known = snapshot_find(o->known, &s->key);

	return known && o->limits ? o->limits[known - o->known->streams] : LIMIT_UNKNOWN;
}

/* Writes only the limits that hold, for alerts. */
static void write_limit(FILE *out, const struct chosen *c, const struct metrics_options *o)
{
	text_family(out, "stream_limit", "gauge", "what held a requester back in the last interval; always 1");
	for (size_t i = 0; i < c->count; i++) {
		struct text_labels l = c->streams[i].labels;

		if (!c->streams[i].s->dialogue)
			continue;
		text_label(&l, "limit", limit_names[limit_known(o, c->streams[i].s)]);
		text_count(out, "stream_limit", l.text, 1);
	}
}

static void write_info(FILE *out, const struct chosen *c, const struct snapshot *s, const struct snapshot *known)
{
	text_family(out, "stream_info", "gauge", "what else is known of a stream; always 1");
	for (size_t i = 0; i < c->count; i++) {
		const struct roce_stream *stream = &c->streams[i].s->stream;
		const struct roce_udp_format *format = s->ports ? udp_ports_find(s->ports, c->streams[i].s->key.port) : NULL;
		struct text_labels l = c->streams[i].labels;

		if (format)
			text_label(&l, "udp_format", udp_format_text(format).text);
		if (stream->pair.from)
			text_label_number(&l, "peer_qpn", stream->pair.peer_qpn);
		if (stream->path_mtu)
			text_label_number(&l, "path_mtu", stream->path_mtu);
		write_owner(&l, snapshot_find(known, &c->streams[i].s->key));
		text_count(out, "stream_info", l.text, 1);
	}
}

static void write_state(FILE *out, const struct chosen *c, const struct snapshot *s)
{
	text_family(out, "stream_icrc_trusted", "gauge", "1: a good ICRC was seen, so that it is in the totals");
	for (size_t i = 0; i < c->count; i++)
		text_count(out, "stream_icrc_trusted", c->streams[i].labels.text, c->streams[i].s->stream.trusted);
	text_family(out, "stream_last_seen_timestamp_seconds", "gauge", "when its newest packet was seen");
	for (size_t i = 0; i < c->count; i++)
		text_seconds(out, "stream_last_seen_timestamp_seconds", c->streams[i].labels.text,
			     c->streams[i].s->stream.last_seen + s->realtime_offset);
}

static int write_dialogues(FILE *out, const struct chosen *c, const struct metrics_options *o)
{
	struct dialogue_series *series = calloc(c->count, sizeof(*series));
	size_t count = 0;

	if (!series)
		return -1;
	for (size_t i = 0; i < c->count; i++)
		if (c->streams[i].s->dialogue)
			series[count++] = (struct dialogue_series){ c->streams[i].s->dialogue, c->streams[i].labels.text };
	if (count) {
		dialogues_write(out, "stream_", series, count, MERGED);
		write_limit(out, c, o);
	}
	free(series);
	return 0;
}

static int write_chosen(FILE *out, const struct chosen *c, const struct snapshot *s, const struct metrics_options *o)
{
	if (!c->count)
		return 0;
	for (int i = 0; i < ROCE_COUNTERS; i++)
		write_own_counter(out, c, counter_order[i]);
	write_own_lints(out, c);
	write_info(out, c, s, o->known);
	write_state(out, c, s);
	return write_dialogues(out, c, o);
}

int streams_write(FILE *out, const struct snapshot *s, const struct metrics_options *o)
{
	struct chosen c = { 0 };
	int result;

	if (!choose(&c, s, o))
		return -1;
	text_gauge(out, "streams", "streams in the table", s->stream_count);
	text_gauge(out, "streams_room", "streams there is room for in the table", o->room);
	text_gauge(out, "streams_faulty", "of all streams, those with lost PSNs, wrong ICRCs or another fault", c.faulty);
	text_gauge(out, "streams_untrusted", "of all streams, those without a good ICRC yet, which stay out of the totals",
		   c.untrusted);
	text_gauge(out, "streams_wanted", "of all streams, those that --filter wants", c.wanted);
	text_gauge(out, "streams_exported",
		   "of these, those with series of their own: --prometheus-streams, the worst and busiest", c.count);
	text_gauge(out, "streams_exported_faulty", "streams with series of their own that have a fault", c.faulty_chosen);
	text_gauge(out, "streams_cut_off", "streams that --filter wants, but without series of their own", c.wanted - c.count);
	result = write_chosen(out, &c, s, o);
	free(c.streams);
	return result;
}
