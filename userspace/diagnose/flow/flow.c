// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "lib/bytes.h"
#include "roce/datagram/datagram.h"
#include "userspace/diagnose/flow/flow.h"
#include "userspace/diagnose/flow/flow_format.h"
#include "userspace/diagnose/flow/flow_judge.h"
#include "userspace/observe/model/near_roce.h"
#include "userspace/observe/model/udp_ports.h"

#define FLOWS 32768 /* most flows remembered */
#define SAMPLED 512 /* of these, with their first datagrams */
#define WRAP_ONCE 8 /* bits: from this width on, one wrap is no coincidence */
#define WRAP_LEAST 4
#define WRAPS_LEAST 2
#define MIXED_LEAST 16 /* datagrams of another sequence */

void flows_init(struct flows *f)
{
	f->list = (struct index){ .max = FLOWS, .key_size = sizeof(struct roce_key), .entry_size = sizeof(struct flow) };
}

static struct flow *flow_at(const struct flows *f, size_t i)
{
	return f->list.entries[i];
}

static void free_flow(struct flow *w)
{
	sample_free(&w->sample);
	symptoms_free(&w->symptoms);
}

void flows_free(struct flows *f)
{
	for (size_t i = 0; i < f->list.count; i++)
		free_flow(flow_at(f, i));
	for (size_t i = 0; i < ROCE_UDP_PORTS; i++) {
		free_flow(&f->port[i].any);
		free_flow(&f->port[i].swapped);
	}
	index_free(&f->list);
}

/* ---- datagrams ---- */

static const struct roce_udp_format *format_of(const struct flows *f, const struct flow *w)
{
	return udp_ports_find(f->ports, w->key.port);
}

/* Takes a datagram of the first sender to this port, whatever its flow. */
static void take_any(struct flow *any, const struct doctor_packet *p)
{
	struct roce_key key;

	roce_stream_key(&p->parsed->packet, &key);
	key.qpn = FINDING_NO_QPN;
	if (!any->key.kind)
		any->key = key;
	if (!memcmp(&any->key, &key, sizeof(key)))
		sample_take(&any->sample, p);
}

static void show(struct flow *w, enum finding_kind kind, __u64 frame, bool expects, __u64 expected, __u64 found)
{
	struct evidence *e = symptoms_add(&w->symptoms, kind, frame);

	if (!e)
		return;
	if (expects)
		SAY(e->expected, "number %llu", expected);
	SAY(e->found, "number %llu", found);
}

/* What the engine says of the datagram. The counters tell how many there were; here are the first ones. */
static void take_events(struct flow *w, const struct doctor_packet *p)
{
	__u64 number = p->parsed->packet.number;
	__u32 kinds = p->event->kinds;

	if (kinds & ROCE_EVENT(psn_gap))
		show(w, KIND_flow_loss, p->number, true, number - p->event->skipped, number);
	if (kinds & ROCE_EVENT(psn_recovered))
		show(w, KIND_flow_reorder, p->number, true, w->latest + 1, number);
	if (kinds & ROCE_EVENT(psn_duplicate))
		show(w, KIND_flow_duplicates, p->number, false, 0, number);
	if (kinds & ROCE_EVENT(psn_resync))
		show(w, KIND_flow_restart, p->number, false, 0, number);
	if (kinds & ROCE_EVENT(message_broken))
		symptoms_add(&w->symptoms, KIND_flow_heaps, p->number);
	w->latest = number;
}

/* Notices a counter that is narrower than its field. */
static void take_wrap(struct flow *w, const struct roce_udp_format *f, const struct doctor_packet *p)
{
	__u32 from = p->parsed->packet.l4_offset + WIRE_UDP_LEN, end = from + p->parsed->packet.payload_bytes;
	const struct roce_cursor d = { .window = p->frame->bytes, .offset = from,
				       .available = end < p->frame->captured ? end : p->frame->captured };
	__u64 value = 0, top;
	__u32 bits;

	w->met &= !p->apart;
	if (!datagram_field(&d, &f->number, 0, &value))
		return;
	top = w->value + f->step;
	bits = __builtin_ctzll(top ?: 1);
	if (w->met && !value && top && !(top & (top - 1)) && bits >= WRAP_LEAST && bits < f->number.bits) {
		w->wraps = bits == w->wrap_bits ? w->wraps + 1 : 1;
		w->wrap_bits = bits;
		show(w, KIND_flow_wrap, p->number, true, top, value);
	}
	w->value = value;
	w->ones |= value;
	w->met = true;
}

static void take_numbered(struct flows *f, struct flow *w, const struct doctor_packet *p)
{
	const struct roce_udp_format *format = format_of(f, w);

	take_events(w, p);
	if (format->kind == UDP_NUMBER)
		take_wrap(w, format, p);
	if (!w->sample.count && f->sampled == SAMPLED)
		return;
	f->sampled += !w->sample.count;
	sample_take(&w->sample, p);
}

void flows_take(struct flows *f, const struct doctor_packet *p)
{
	const struct roce_packet *packet = &p->parsed->packet;
	struct flow_port *port = &f->port[packet->port - 1];
	struct roce_key key;
	struct flow *w;

	f->datagrams++;
	port->datagrams++;
	port->foreign += packet->foreign;
	take_any(&port->any, p);
	if (packet->foreign)
		return;
	roce_stream_key(packet, &key);
	w = p->stream ? index_get(&f->list, &key) : NULL;
	if (w)
		take_numbered(f, w, p);
	else
		f->left_out++;
}

void flows_take_other(struct flows *f, const struct doctor_packet *p)
{
	const struct roce_packet *packet = &p->parsed->packet;
	struct changed_frame changed;
	struct observer_parsed parsed;
	struct doctor_packet other = *p;

	for (size_t i = 0; f->ports && i < ROCE_UDP_PORTS; i++) {
		if (!f->ports->port[i] || packet->udp_port != SWAPPED(f->ports->port[i]) || f->port[i].datagrams)
			continue;
		changed_frame_make(&changed, p->frame, packet->l4_offset + 2, f->ports->port[i]);
		observer_parse(&changed.frame, f->ports, &parsed);
		if (parsed.packet.kind != ROCE_UDP)
			return;
		other.frame = &changed.frame;
		other.parsed = &parsed;
		take_any(&f->port[i].swapped, &other);
		symptoms_add(&f->port[i].swapped.symptoms, KIND_flow_port_swapped, p->number);
		return;
	}
}

bool flows_lack_port(const struct flows *f)
{
	for (size_t i = 0; f->ports && i < ROCE_UDP_PORTS; i++)
		if (f->ports->port[i] && !f->port[i].datagrams)
			return true;
	return false;
}

void flows_count(struct flows *f, const struct snapshot *s)
{
	for (size_t i = 0; i < s->stream_count; i++) {
		struct flow *w = index_find(&f->list, &s->streams[i].key);

		if (w)
			w->counters = &s->streams[i].stream.counters;
	}
}

/* ---- what was counted ---- */

static struct symptom *count(struct flow *w, enum finding_kind kind, __u64 packets)
{
	struct symptom *symptom;

	if (!packets) {
		symptoms_drop(&w->symptoms, kind);
		return NULL;
	}
	symptom = symptoms_get(&w->symptoms, kind);
	if (symptom)
		symptom->packets = packets;
	return symptom;
}

static void count_heaps(struct flow *w, const __u64 *v, __u64 lost, bool selection)
{
	struct symptom *symptom;

	(void)selection;
	symptoms_drop(&w->symptoms, KIND_flow_loss);
	symptoms_drop(&w->symptoms, KIND_flow_reorder); /* heaps may be mixed */
	symptom = count(w, KIND_flow_heaps, v[COUNTER_messages_broken] + lost);
	if (symptom)
		flow_say(symptom, "%llu came in part, %llu not at all, %llu whole.", v[COUNTER_messages_broken], lost,
			 v[COUNTER_messages]);
}

static void count_numbers(struct flow *w, const __u64 *v, __u64 lost, bool selection)
{
	struct symptom *symptom = count(w, KIND_flow_loss, lost);
	char of[32] = "";

	if (!selection)
		SAY(of, " of %llu", v[COUNTER_udp_packets] + lost);
	if (symptom)
		flow_say(symptom, "%llu%s, in %llu gap%s.", lost, of, v[COUNTER_psn_gaps], v[COUNTER_psn_gaps] == 1 ? "" : "s");
	count(w, KIND_flow_reorder, v[COUNTER_psn_recovered]);
}

/* selection: how many came is not in the file. */
static void conclude_counted(struct flow *w, const struct roce_udp_format *f, bool selection)
{
	const __u64 *v = w->counters->value;
	__u64 again = 3 * v[COUNTER_psn_resyncs], lost = snapshot_lost(w->counters);
	struct symptom *wrap;

	(f->kind == UDP_HEAP ? count_heaps : count_numbers)(w, v, lost, selection);
	/* three datagrams count as duplicates until another sequence is known by them */
	count(w, KIND_flow_duplicates, v[COUNTER_psn_duplicates] > again ? v[COUNTER_psn_duplicates] - again : 0);
	count(w, KIND_flow_restart, v[COUNTER_psn_resyncs]);
	if (v[COUNTER_psn_interleaved] >= MIXED_LEAST)
		count(w, KIND_flow_mixed, v[COUNTER_psn_interleaved]);
	if ((w->wraps < WRAPS_LEAST && w->wrap_bits < WRAP_ONCE) || w->ones >> w->wrap_bits)
		symptoms_drop(&w->symptoms, KIND_flow_wrap);
	wrap = count(w, KIND_flow_wrap, symptoms_find(&w->symptoms, KIND_flow_wrap) ? v[COUNTER_udp_packets] : 0);
	if (wrap)
		flow_say(wrap, "It has %u bits of %u.", w->wrap_bits, f->number.bits);
}

/* Where it is doubtful whether the engine was told right what to follow, what it counts is doubtful as well. */
static void doubt_counted(struct flow *w)
{
	static const enum finding_kind counted[] = { KIND_flow_heaps, KIND_flow_loss, KIND_flow_reorder, KIND_flow_duplicates,
						     KIND_flow_restart };
	bool doubted = false;

	for (size_t i = 0; i < w->symptoms.count; i++) {
		const struct symptom *s = &w->symptoms.list[i];

		doubted |= finding_rules[s->kind].class == CLASS_FLOW && s->kind != KIND_flow_wrap && s->doubted;
	}
	for (size_t i = 0; doubted && i < ROCE_ARRAY_SIZE(counted); i++)
		symptoms_doubt(&w->symptoms, counted[i]);
}

/* ---- ports ---- */

/* What the datagrams could be instead. */
static void say_guess(struct flow *any, const struct roce_udp_format *f, struct symptom *symptom)
{
	const char *guess = format_guess(&any->sample);

	if (guess)
		flow_say(symptom, "They are like those of `--udp %u,%s`.", any->key.port, guess);
	else
		flow_say_counter(any, f, symptom);
}

static void show_mismatch(struct flow *any, enum finding_kind kind, const struct format_mismatch *m)
{
	static const struct udp_field none;
	struct symptom *symptom = flow_symptom(any, kind, &none, any->sample.count);

	if (!symptom)
		return;
	for (size_t i = 1; i < symptom->shown; i++)
		symptom->evidence[i].frame = 0;
	symptom->shown = 1;
	SAY(symptom->evidence[0].expected, "%s", m->expected);
	SAY(symptom->evidence[0].found, "%s", m->found);
}

/* Whether all datagrams of a port are none of its format. */
static bool judge_format(struct flow *any, const struct roce_udp_format *f)
{
	const struct udp_named *named = udp_format_named(f);
	struct format_mismatch m = { "", "" };
	enum format_verdict verdict = named ? format_judge(named->name, &any->sample, &m) : FORMAT_UNKNOWN;
	struct symptom *symptom;

	if (verdict != FORMAT_OTHER && verdict != FORMAT_SWAPPED)
		return false;
	show_mismatch(any, verdict == FORMAT_SWAPPED ? KIND_flow_byte_order : KIND_flow_format, &m);
	symptom = symptoms_find(&any->symptoms, KIND_flow_format);
	if (symptom)
		say_guess(any, f, symptom);
	symptom = symptoms_find(&any->symptoms, KIND_flow_byte_order);
	if (symptom)
		flow_say(symptom, "With the bytes of each word in the other order the header is one of %s.", named->name);
	return true;
}

static void judge_short(struct flow_port *port, const struct roce_udp_format *f)
{
	static const struct udp_field none;
	struct symptom *symptom;

	if (port->foreign < port->datagrams || (f->kind != UDP_NUMBER && f->kind != UDP_SECOND))
		return;
	symptom = flow_symptom(&port->any, KIND_flow_short, &none, port->foreign);
	if (!symptom)
		return;
	flow_say(symptom, "The first one has %u bytes, the number ends at %u.",
		 port->any.sample.count ? port->any.sample.heads[0].payload : 0, (f->number.at + f->number.bits + 7) / 8);
	flow_say_counter(&port->any, f, symptom);
}

/* A port without a format: what it could be. */
static void hint_foreign(struct flow_port *port, const struct roce_udp_format *f)
{
	struct symptom *symptom;

	if (f->kind != UDP_PROGRAMS || !port->foreign)
		return;
	symptom = symptoms_get(&port->any.symptoms, KIND_hint_flow_foreign);
	if (!symptom)
		return;
	symptom->packets = port->foreign;
	say_guess(&port->any, f, symptom);
}

/* Datagrams to the port with its bytes swapped: of its format for certain, or another program's. */
static void judge_swapped(struct flow_port *port, const struct roce_udp_format *f)
{
	struct symptom *symptom = symptoms_find(&port->swapped.symptoms, KIND_flow_port_swapped);
	const struct udp_named *named = udp_format_named(f);
	struct format_mismatch unused;
	struct stride s = { 0 };

	if (!symptom || port->datagrams) {
		symptoms_drop(&port->swapped.symptoms, KIND_flow_port_swapped);
		return;
	}
	if (f->kind == UDP_NUMBER)
		s = sample_stride(&port->swapped.sample, &f->number, f->step);
	symptom->doubted = !(stride_is_regular(&s, 6) && s.by == f->step) &&
			!(named && format_judge(named->name, &port->swapped.sample, &unused) == FORMAT_FITS);
	flow_say(symptom, "They go to port %u (0x%04x) instead of %u (0x%04x).", SWAPPED(port->swapped.key.port),
		 SWAPPED(port->swapped.key.port), port->swapped.key.port, port->swapped.key.port);
}

/* Names the ports to which nothing came. */
static void hint_ports(const struct flows *f, struct symptoms *hints, const char *instead)
{
	char ports[ROCE_UDP_PORTS * 8] = "";
	struct symptom *symptom;

	for (size_t i = 0; i < ROCE_UDP_PORTS; i++)
		if (f->ports->port[i] && !f->port[i].datagrams)
			snprintf(ports + strlen(ports), sizeof(ports) - strlen(ports), "%s%u", *ports ? ", " : "",
				 f->ports->port[i]);
	symptom = *ports ? symptoms_get(hints, KIND_hint_flow_port) : NULL;
	if (symptom)
		flow_say(symptom, "Port %s. What came: %s.", ports, *instead ? instead : "nothing else");
}

void flows_conclude(struct flows *f, struct symptoms *hints, const char *instead, bool selection)
{
	bool told_wrong[ROCE_UDP_PORTS] = { false };

	for (size_t i = 0; f->ports && i < ROCE_UDP_PORTS; i++) {
		struct flow_port *port = &f->port[i];
		const struct roce_udp_format *format = &f->ports->format[i];

		judge_swapped(port, format);
		if (!port->datagrams)
			continue;
		told_wrong[i] = judge_format(&port->any, format);
		if (!told_wrong[i])
			judge_short(port, format);
		hint_foreign(port, format);
	}
	for (size_t i = 0; i < f->list.count; i++) {
		struct flow *w = flow_at(f, i);
		const struct roce_udp_format *format = format_of(f, w);

		if (told_wrong[format - f->ports->format]) {
			symptoms_free(&w->symptoms);
			continue;
		}
		if (!selection)
			flow_judge(w, format);
		if (w->counters)
			conclude_counted(w, format, selection);
		doubt_counted(w);
	}
	if (f->ports)
		hint_ports(f, hints, instead);
}
