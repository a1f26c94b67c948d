// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/json.h"
#include "lib/stop.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/receiver.h"

#define CPU_MARK_NS	(100 * NSEC_PER_MSEC)

struct stream_receiver *receiver_new(const struct stream_options *options)
{
	struct stream_receiver *r = calloc(1, sizeof(*r));

	if (!r)
		err(1, "no memory");
	r->options = options;
	return r;
}

void receiver_ready(struct stream_receiver *r)
{
	r->ready_ns = now_ns();
	fprintf(stderr, "ready\n");
}

static struct receiver_flow *find_flow(struct stream_receiver *r, uint16_t number)
{
	struct receiver_flow *flow = r->flow[number];

	if (flow)
		return flow;
	flow = r->flow[number] = calloc(1, sizeof(*flow));
	if (!flow)
		err(1, "no memory for flow %u", number);
	r->flows_seen++;
	return flow;
}

void receiver_end(struct stream_receiver *r, uint16_t number, uint64_t packets, uint64_t messages, unsigned int flows)
{
	struct receiver_flow *flow = find_flow(r, number);

	if (flow->ended)
		return;
	flow->ended = true;
	flow->total_packets = packets;
	flow->total_messages = messages;
	r->flows_ended++;
	r->flows_sent = flows;
}

bool receiver_gaps_begin(struct stream_receiver *r, const char *path)
{
	r->gaps = fopen(path, "we");
	if (!r->gaps)
		return false;
	setvbuf(r->gaps, NULL, _IOLBF, 0);	/* a reader sees each line at once, and so after this process was killed */
	return fputs("flow,qpn,first,count\n", r->gaps) >= 0;
}

static void tell_gap(struct stream_receiver *r, unsigned int number, struct receiver_flow *flow)
{
	if (flow->gap)
		fprintf(r->gaps, "%u,%u,%" PRIu64 ",%" PRIu64 "\n", number, r->gaps_qp[number].qpn, flow->gap_first, flow->gap);
	r->gaps_told += !!flow->gap;
	flow->gap = 0;
}

/* Up to `end`, before which nothing more is awaited. */
static void tell_gaps(struct stream_receiver *r, unsigned int number, struct receiver_flow *flow, uint64_t end)
{
	while (flow->told < end) {
		uint64_t count, first = gaps_missing(&flow->packets, flow->told, end, &count);

		if (first != flow->told)
			tell_gap(r, number, flow);
		if (!flow->gap)
			flow->gap_first = first;
		flow->gap += count;
		flow->told = first + count;
	}
}

/* Before packet `next` is seen: it may push numbers out of the window. Those are looked at many at a time. */
static void follow_gaps(struct stream_receiver *r, unsigned int number, struct receiver_flow *flow, uint64_t next)
{
	if (r->gaps_ordered) {
		tell_gaps(r, number, flow, next);
		tell_gap(r, number, flow);
	} else if (next >= flow->told + GAPS_WINDOW * 3 / 4) {
		tell_gaps(r, number, flow, next - GAPS_WINDOW / 2);
	}
}

bool receiver_gaps_end(struct stream_receiver *r)
{
	bool good;

	for (size_t i = 0; i < sizeof(r->flow) / sizeof(r->flow[0]); i++) {
		struct receiver_flow *flow = r->flow[i];

		if (!flow)
			continue;
		tell_gaps(r, i, flow, flow->total_packets > flow->packets.next ? flow->total_packets : flow->packets.next);
		tell_gap(r, i, flow);
	}
	good = !ferror(r->gaps);
	return !fclose(r->gaps) && good;
}

uint64_t receiver_widen(const struct stream_receiver *r, uint16_t flow, uint32_t low)
{
	return r->flow[flow] ? gaps_widen(&r->flow[flow]->packets, low) : low;
}

static void count_message(struct stream_receiver *r, struct receiver_flow *flow, const struct stream_packet *p)
{
	if (p->message >= flow->next_message)
		flow->next_message = p->message + 1;
	if (gaps_all_seen(&flow->packets, p->packet - p->packet_in_message, p->packets_in_message)) {
		flow->messages++;
		r->messages++;
		r->completed = true;
		r->completed_flow = p->flow;
		r->completed_message = p->message;
	}
}

bool receiver_count(struct stream_receiver *r, const struct stream_packet *p, uint64_t now)
{
	struct receiver_flow *flow = find_flow(r, p->flow);

	r->completed = false;
	if (!r->packets) {
		r->first_ns = now;
		cpu_meter_start(&r->cpu);
	}
	r->last_any_ns = r->last_ns = now;
	if (r->gaps)
		follow_gaps(r, p->flow, flow, p->packet);
	if (gaps_see(&flow->packets, p->packet) != GAPS_NEW)
		return false;
	r->packets++;
	r->bytes += p->bytes;
	windows_add(&r->windows, now, p->bytes);
	count_message(r, flow, p);
	return true;
}

static void take_latency(struct stream_receiver *r, uint64_t sent, uint64_t received)
{
	if (sent && received)
		histogram_add(&r->latency, received > sent ? received - sent : 0);
}

/*
 * Accepts packets of the first packet's run. A run with end markers only may consist of stragglers of an earlier run, so it is
 * replaced by a run with packets.
 */
static bool of_this_run(struct stream_receiver *r, const struct stream_header *h)
{
	if (r->flows_seen && r->run == h->run)
		return true;
	if (r->packets || (r->flows_seen && h->flags & STREAM_FLAG_END))
		return false;
	for (size_t i = 0; r->flows_seen && i < sizeof(r->flow) / sizeof(r->flow[0]); i++) {
		r->flows_seen -= !!r->flow[i];
		free(r->flow[i]);
		r->flow[i] = NULL;
	}
	r->flows_sent = r->flows_ended = 0;
	r->run = h->run;
	return true;
}

bool receiver_samples(const struct stream_receiver *r, uint64_t packet)
{
	return r->options->verify && packet % r->options->verify == 0;
}

void receiver_verified(struct stream_receiver *r, bool right)
{
	r->checked++;
	r->wrong += !right;
}

unsigned int receiver_filler(struct stream_receiver *r, const struct stream_header *h)
{
	unsigned int which = h->flags >> STREAM_FILLER_SHIFT;

	if (h->flags & STREAM_FLAG_END)
		return 0;
	if (!which)
		r->unverified = true;
	return receiver_samples(r, be64toh(h->packet)) ? which : 0;
}

bool receiver_take_header(struct stream_receiver *r, const struct stream_header *header, size_t length, uint64_t now,
			  uint64_t realtime)
{
	struct stream_header h = *header;
	struct stream_packet p;

	r->completed = r->asked = false;
	if (length < sizeof(h) || h.magic != htonl(STREAM_MAGIC) || h.version != STREAM_VERSION || !of_this_run(r, &h)) {
		r->foreign++;
		return false;
	}
	p = (struct stream_packet){
		.flow = ntohs(h.flow),
		.packet = be64toh(h.packet),
		.message = be64toh(h.message),
		.packet_in_message = ntohl(h.packet_in_message),
		.packets_in_message = ntohl(h.packets_in_message),
		.bytes = length,
	};
	r->last_any_ns = now;
	r->message_size = ntohl(h.message_size);
	if (h.flags & STREAM_FLAG_END) {
		receiver_end(r, p.flow, p.packet, p.message, p.packets_in_message);
		return false;
	}
	if (!receiver_count(r, &p, now))
		return false;
	r->asked = r->completed && h.flags & STREAM_FLAG_PING;
	take_latency(r, be64toh(h.timestamp), realtime);
	return true;
}

void receiver_take(struct stream_receiver *r, const void *payload, size_t length, uint64_t now, uint64_t realtime)
{
	struct stream_header h = {};
	unsigned int filler;

	memcpy(&h, payload, length < sizeof(h) ? length : sizeof(h));
	if (!receiver_take_header(r, &h, length, now, realtime))
		return;
	filler = receiver_filler(r, &h);
	if (filler)
		receiver_verified(r, filler_right((const char *)payload + sizeof(h), length - sizeof(h), filler, 0));
}

bool receiver_end_seen(const struct stream_receiver *r)
{
	return r->flows_sent && r->flows_ended == r->flows_sent;
}

/* Ends the CPU meter's period with the last packet, to 100 ms: the wait for the end is not included. */
static void mark_cpu(struct stream_receiver *r, uint64_t now)
{
	if (!r->packets || now - r->marked_ns < CPU_MARK_NS || now - r->last_ns > CPU_MARK_NS)
		return;
	r->marked_ns = now;
	cpu_meter_mark(&r->cpu);
}

bool receiver_over(struct stream_receiver *r, uint64_t now)
{
	const struct stream_options *o = r->options;
	uint64_t idle = seconds_to_ns(o->idle);

	mark_cpu(r, now);
	if (stop)
		return true;
	if (!r->last_any_ns)
		return now - r->ready_ns >= seconds_to_ns(o->wait);
	if (o->duration && r->packets && now - r->first_ns >= seconds_to_ns(o->duration) + idle)
		return true;
	if (receiver_end_seen(r))
		return now - r->last_any_ns >= RECEIVER_LINGER_NS;
	return now - r->last_any_ns >= idle;
}

void receiver_pause(struct stream_receiver *r)
{
	if (!r->options->pause_ms || r->packets == r->packets_before_pause)
		return;
	r->packets_before_pause = r->packets;
	sleep_until_ns(now_ns() + r->options->pause_ms * NSEC_PER_MSEC);
}

static json_t *payload_json(const struct stream_receiver *r)
{
	if (!r->options->verify || r->unverified)
		return json_null();
	return json_pack("{s:I, s:o}", "checked", (json_int_t)r->checked,
			 "wrong", json_count_or_null(!r->undecided, r->wrong));
}

/* Those of which nothing came have no struct. */
static void report_each_flow(const struct stream_receiver *r, struct stream_report *report)
{
	unsigned int flows = report->flows > r->flows_seen ? report->flows : r->flows_seen, n = 0;
	uint64_t *messages = calloc(flows + 1, sizeof(*messages));

	if (!messages)
		err(1, "no memory for %u flows", flows);
	for (size_t i = 0; i < sizeof(r->flow) / sizeof(r->flow[0]); i++)
		if (r->flow[i])
			messages[n++] = r->flow[i]->messages;
	report_flows(report, messages, flows);
	free(messages);
}

void receiver_report(const struct stream_receiver *r, struct stream_report *report)
{
	uint64_t duplicates = 0, late = 0;

	report->size = r->message_size ? r->message_size : r->options->size;
	report->flows = r->flows_sent ? r->flows_sent : r->flows_seen;
	report->messages = r->messages;
	report->packets = r->packets;
	report->messages_lost = report->packets_lost = 0;
	for (size_t i = 0; i < sizeof(r->flow) / sizeof(r->flow[0]); i++) {
		const struct receiver_flow *flow = r->flow[i];

		if (!flow)
			continue;
		duplicates += flow->packets.duplicates;
		late += flow->packets.late;
		report->packets_lost += gaps_lost(&flow->packets, flow->total_packets);
		report->messages_lost += (flow->ended ? flow->total_messages : flow->next_message) - flow->messages;
	}
	report->payload_bytes = r->bytes;
	report->run_ns = r->last_ns - r->first_ns;
	report->windows = r->windows;
	report->cpu = r->cpu;
	if (r->latency.count)
		report->latency = &r->latency;
	report->payload = payload_json(r);
	report->end_seen = receiver_end_seen(r) ? STREAM_YES : STREAM_NO;
	report_each_flow(r, report);
	report_extra(report, "duplicates", duplicates);
	report_extra(report, "late", late);
	report_extra(report, "foreign", r->foreign);
}

int receiver_status(const struct stream_receiver *r, const struct stream_report *report)
{
	if (report->error)
		warnx("receiving failed: %s", report->error);
	else if (r->wrong)
		warnx("%" PRIu64 " of %" PRIu64 " verified payloads are not what was sent", r->wrong, r->checked);
	else if (!r->last_any_ns && !stop)
		warnx("nothing came in %g seconds", r->options->wait);
	else
		return 0;
	return 1;
}
