// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "lib/clock.h"
#include "lib/json.h"
#include "lib/shown.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/faults.h"
#include "userspace/observe/model/qpn.h"
#include "userspace/render/output/events.h"
#include "userspace/render/output/hook.h"
#include "userspace/render/output/view_json.h"

#define PERIOD 1000000000 /* ns between two reports of what was left out */

struct events {
	struct events_options options;
	FILE *out;
	struct hook *hook; /* NULL: no command */
	__u64 next; /* ns, monotonic: when to report next what was left out */
	__u64 suppressed, lost; /* already reported */
};

struct events *events_begin(const struct events_options *o, FILE *out)
{
	struct events *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	*e = (struct events){ .options = *o, .out = out };
	if (o->command) {
		e->hook = hook_new(o->command, EVENTS_WAITING, o->quiet);
		if (!e->hook) {
			free(e);
			return NULL;
		}
	}
	return e;
}

/* ---- which events are reported ---- */

__u32 events_faults(const struct taken_packet *p, const struct roce_packet *packet)
{
	return faults_of_event(p->record->event.kinds, p->record->trusted, packet->service);
}

static bool has_stream(const struct roce_packet *packet)
{
	return packet->kind == ROCE_PACKET || packet->kind == ROCE_UDP;
}

static bool has_addresses(const struct roce_packet *packet)
{
	return packet->ip_version;
}

/* Applies the filter to the stream as it was in the last snapshot (`known`), plus this event. */
static bool is_wanted(const struct events *e, const struct taken_packet *p, const struct roce_packet *packet, __u32 kinds,
		      const struct snapshot_stream *known)
{
	struct snapshot_stream s = { 0 };

	if (!kinds)
		return false;
	if (!e->options.filter)
		return true;
	if (!has_stream(packet))
		return false;
	if (known) {
		s = *known;
	} else {
		roce_stream_key(packet, &s.key);
		s.stream.service = packet->service;
		s.stream.ud.dqpn = packet->dqpn;
		s.stream.ud.sqpn = packet->sqpn;
		roce_copy16(s.stream.ud.dst, packet->dst);
		s.stream.trusted = p->record->trusted;
		s.stream.counters.value[COUNTER_roce_packets] = 1;
	}
	faults_count(&s.stream, &p->record->event, kinds); /* the last snapshot may be older than this event */
	return filter_wants(e->options.filter, &s);
}

/* ---- lines ---- */

static void print_line(const struct events *e, const struct taken_packet *p, const struct roce_packet *packet, __u32 kinds)
{
	struct roce_event event = p->record->event;
	struct roce_key key;
	char text[EVENT_TEXT];

	event.kinds = kinds;
	event_text(&event, text);
	fprintf(e->out, "%s %s", view_time(p->time).text, shown_text(e->options.interfaces[p->interface]).text);
	if (has_addresses(packet))
		fprintf(e->out, " %s > %s", address_text(packet->src).text, address_text(packet->dst).text);
	if (has_stream(packet)) {
		roce_stream_key(packet, &key);
		fprintf(e->out, " QPN %s %s %s", qpn_text(packet->dqpn).text, roce_service_name(packet->service),
			key.side == SIDE_RESPONSE ? "response" : "request");
	}
	fprintf(e->out, " %s", text);
	if (p->record->left_out)
		fprintf(e->out, " (%llu faulty packet%s of it left out before this one)", p->record->left_out,
			p->record->left_out == 1 ? "" : "s");
	fputc('\n', e->out);
}

/* ---- JSON ---- */

static json_t *stream_object(const struct roce_packet *packet)
{
	struct roce_key key;

	if (!has_stream(packet))
		return has_addresses(packet) ? json_pack("{s:s, s:s}", "src", address_text(packet->src).text, "dst",
							 address_text(packet->dst).text) : json_null();
	roce_stream_key(packet, &key);
	return view_json_stream(&key, packet->dst, packet->dqpn, packet->service);
}

static __u64 count_of(const struct roce_event *e, int kind)
{
	switch (kind) {
	case EVENT_psn_gap:
		return e->skipped;
	case EVENT_psn_recovered:
		return e->recovered;
	case EVENT_message_broken:
		return e->broken;
	case EVENT_imm_gap:
		return e->imm_skipped;
	default:
		return 1;
	}
}

/* The object for one kind of the event. */
static json_t *event_object(const struct events *e, const struct taken_packet *p, const struct roce_packet *packet, int kind)
{
	struct roce_event event = p->record->event;
	bool place = has_stream(packet);
	char text[EVENT_TEXT];
	json_t *o;

	event.kinds = 1u << kind;
	event_text(&event, text);
	o = json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:s, s:o, s:o}", "schema", "rocescope.event/1",
		      "time", view_time(p->time).text, "stream", stream_object(packet), "kind", event_names[kind],
		      "expected", json_count_or_null(place && event.expected != EVENT_NO_PSN, event.expected & PSN_MASK),
		      "seen", json_count_or_null(place, event.seen & PSN_MASK), "count",
		      json_count(count_of(&event, kind)), "text", text, "interface", json_text(e->options.interfaces[p->interface]),
		      "left_out", json_count(p->record->left_out));
	if (kind == EVENT_imm_gap)
		json_set_count(o, "imm_expected", event.imm_expected);
	if (kind == EVENT_imm_gap || kind == EVENT_block_incomplete)
		json_set_count(o, "imm_seen", event.imm_seen);
	if (kind == EVENT_lint)
		json_object_set_new(o, "lints", json_names(event.lints, lint_names, ROCE_LINTS));
	return o;
}

static void emit_object(struct events *e, json_t *o, bool print)
{
	char *text = json_dumps(o, JSON_LINE);

	if (text && print)
		fprintf(e->out, "%s\n", text);
	if (text && e->hook)
		hook_add(e->hook, text);
	free(text);
	json_decref(o);
}

/* ---- events ---- */

/* 0, or the errno of the last write. */
static int output_error(const struct events *e)
{
	return ferror(e->out) ? errno ?: EIO : 0;
}

int events_see(struct events *e, const struct taken_packet *p, const struct roce_packet *packet,
	       const struct snapshot_stream *known)
{
	const struct events_options *o = &e->options;
	__u32 kinds = events_faults(p, packet);
	int error;

	if (!is_wanted(e, p, packet, kinds, known))
		return 0;
	errno = 0;
	if (o->print && !o->json)
		print_line(e, p, packet, kinds);
	if (!e->hook && !(o->print && o->json))
		return output_error(e);
	for (int kind = 0; kind < ROCE_EVENTS; kind++)
		if (kinds >> kind & 1)
			emit_object(e, event_object(e, p, packet, kind), o->print && o->json);
	error = output_error(e);
	if (e->hook)
		hook_run(e->hook);
	return error;
}

/* ---- what was left out ---- */

static void say_left_out(struct events *e, const char *kind, __u64 count, const char *words)
{
	struct view_time now = view_time(clock_ns(CLOCK_REALTIME));
	char text[EVENT_TEXT];

	snprintf(text, sizeof(text), "reason=%s count=%llu: %llu faulty packet%s %s", kind, count, count,
		 count == 1 ? " was" : "s were", words);
	if (e->options.print && !e->options.json)
		fprintf(e->out, "%s %s\n", now.text, text);
	emit_object(e,
		    json_pack("{s:s, s:s, s:n, s:s, s:n, s:n, s:o, s:s, s:n}", "schema", "rocescope.event/1", "time", now.text,
			      "stream", "kind", kind, "expected", "seen", "count", json_count(count), "text", text, "interface"),
		    e->options.print && e->options.json);
}

int events_tick(struct events *e, __u64 suppressed, __u64 lost, bool last)
{
	__u64 now = now_ns();

	if (last || now >= e->next) {
		if (suppressed > e->suppressed)
			say_left_out(e, "suppressed", suppressed - e->suppressed,
				     "left out: more of a stream than --event-limit lets through in a second");
		if (lost > e->lost)
			say_left_out(e, "lost", lost - e->lost, "LOST between kernel and rocescope");
		e->suppressed = suppressed;
		e->lost = lost;
		e->next = now + PERIOD;
	}
	if (e->hook)
		hook_run(e->hook);
	errno = 0;
	return fflush(e->out) ? errno ?: EIO : output_error(e);
}

void events_end(struct events *e)
{
	if (!e)
		return;
	hook_end(e->hook);
	free(e);
}
