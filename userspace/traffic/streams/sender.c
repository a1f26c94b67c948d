// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <stdlib.h>
#include <sys/random.h>

#include "lib/clock.h"
#include "lib/stop.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/gaps.h"
#include "userspace/traffic/streams/sender.h"

/* Half the receiver's window, so that two messages that overtake each other can still be recognized as complete. */
#define MAX_PACKETS_PER_MESSAGE	(GAPS_WINDOW / 2)

static void split(struct stream_sender *s, uint64_t size, uint32_t max_payload)
{
	uint64_t packets = (size + max_payload - 1) / max_payload;

	s->packet_bytes = (size + packets - 1) / packets;
	s->packets_per_message = packets;
	if (size < sizeof(struct stream_header))
		usage_error("--size %llu: the stream header alone has %zu bytes", (unsigned long long)size,
			    sizeof(struct stream_header));
	if (packets > MAX_PACKETS_PER_MESSAGE ||
	    (packets - 1) * s->packet_bytes + sizeof(struct stream_header) > size)
		usage_error("--size %llu: cannot be split into packets of %u bytes", (unsigned long long)size,
			    max_payload);
}

/* Rate in the pacer's units: bytes, or packets on the wire. */
static double pacer_rate(const struct rate *rate)
{
	return rate->unit == RATE_BITS ? rate->per_second / 8 : rate->per_second;
}

static uint64_t pacer_units(const struct stream_sender *s, uint32_t bytes)
{
	return s->options->rate.unit == RATE_BITS ? bytes : s->wire_packets;
}

static struct stream_sender *allocate(const struct stream_options *options)
{
	struct stream_sender *s = calloc(1, sizeof(*s) + options->flows * sizeof(s->flows[0]));

	if (!s)
		err(1, "no memory for %u flows", options->flows);
	s->options = options;
	if (getrandom(&s->run, sizeof(s->run), 0) != sizeof(s->run))
		err(1, "getrandom");
	for (unsigned int i = 0; i < options->flows; i++)
		s->flows[i].number = s->flows[i].told = i;
	return s;
}

static struct stream_sender *begin(struct stream_sender *s)
{
	pacer_precise_sleep();
	cpu_meter_start(&s->cpu);
	s->begin_ns = now_ns();
	pacer_start(&s->pacer, pacer_rate(&s->options->rate), s->begin_ns);
	return s;
}

void sender_begin_turn(struct stream_sender *s, uint64_t now, unsigned int turn, unsigned int senders)
{
	s->begin_ns = now;
	pacer_start_turn(&s->pacer, pacer_rate(&s->options->rate), now, pacer_units(s, s->packet_bytes), turn, senders);
}

struct stream_sender *sender_new(const struct stream_options *options, uint32_t max_payload)
{
	struct stream_sender *s = allocate(options);

	s->wire_packets = 1;
	split(s, options->size, max_payload);
	return begin(s);
}

struct stream_sender *sender_new_unsplit(const struct stream_options *options, uint32_t path_mtu)
{
	struct stream_sender *s = allocate(options);

	s->packet_bytes = options->size;
	s->packets_per_message = 1;
	s->wire_packets = path_mtu ? (options->size + path_mtu - 1) / path_mtu : 0;
	return begin(s);
}

bool sender_has_packet(const struct stream_sender *s, const struct sender_flow *flow)
{
	const struct stream_options *o = s->options;

	return flow->index || (s->may_start && !(o->messages && s->messages_started == o->messages));
}

struct sender_flow *sender_next_flow(struct stream_sender *s, uint64_t now)
{
	const struct stream_options *o = s->options;

	s->now_ns = now;
	if (stop)
		return NULL;
	s->may_start = !o->duration || now - s->begin_ns < seconds_to_ns(o->duration);
	if (!s->may_start && !s->over)
		pacer_end(&s->pacer, now);
	s->over = !s->may_start;
	for (unsigned int i = 0; i < o->flows; i++) {
		struct sender_flow *flow = &s->flows[s->turn];

		s->turn = (s->turn + 1) % o->flows;
		if (sender_has_packet(s, flow))
			return flow;
	}
	return NULL;
}

bool sender_due(struct stream_sender *s, uint64_t now)
{
	return pacer_due(&s->pacer, now);
}

void sender_sleep(const struct stream_sender *s)
{
	uint64_t when = pacer_departure(&s->pacer);
	uint64_t soon = now_ns() + 100 * NSEC_PER_MSEC;

	sleep_until_ns(when < soon ? when : soon);
}

uint32_t sender_packet(struct stream_sender *s, struct sender_flow *flow, struct stream_header *header, uint64_t now,
		       uint64_t realtime)
{
	bool last = flow->index == s->packets_per_message - 1;
	uint32_t length = last ? s->options->size - (uint64_t)flow->index * s->packet_bytes : s->packet_bytes;
	uint8_t asks = s->options->ping_pong ? STREAM_FLAG_PING : 0;

	if (!sender_has_packet(s, flow))
		return 0;
	s->messages_started += !flow->index;
	if (s->options->ping_pong)
		s->may_start = false;	/* until sender_next_flow() is asked for the next message */
	*header = (struct stream_header){
		.magic = htonl(STREAM_MAGIC),
		.version = STREAM_VERSION,
		.flags = filler_of(flow->told, flow->packet) << STREAM_FILLER_SHIFT | asks,
		.flow = htons(flow->told),
		.run = s->run,
		.message_size = htonl(s->options->size),
		.packet = htobe64(flow->packet++),
		.message = htobe64(flow->message),
		.packet_in_message = htonl(flow->index),
		.packets_in_message = htonl(s->packets_per_message),
		.timestamp = htobe64(realtime),
	};
	if (last) {
		flow->index = 0;
		flow->message++;
		s->messages++;
	} else {
		flow->index++;
	}
	s->packets++;
	s->bytes += length;
	s->last_ns = now;
	pacer_sent(&s->pacer, pacer_units(s, length), now);
	return length;
}

void sender_finish(struct stream_sender *s)
{
	s->last_ns = now_ns();
	cpu_meter_mark(&s->cpu);
}

void sender_merge(struct stream_sender *s, const struct stream_sender *other)
{
	s->messages += other->messages;
	s->packets += other->packets;
	s->bytes += other->bytes;
	if (other->pacer.slipped_ns > s->pacer.slipped_ns)
		s->pacer.slipped_ns = other->pacer.slipped_ns;
}

const char *sender_run(struct stream_sender *s, bool busy, sender_burst *burst, void *context)
{
	const char *error = NULL;

	for (uint64_t now = now_ns(); !stop && !error; now = now_ns()) {
		report_progress(now, s->packets, s->bytes);
		if (sender_due(s, now)) {
			struct sender_flow *flow = sender_next_flow(s, now);

			if (!flow)
				break;
			error = burst(context, flow);
		} else if (!busy) {
			sender_sleep(s);
		}
	}
	return error;
}

void sender_end_marker(const struct stream_sender *s, const struct sender_flow *flow, struct stream_header *header)
{
	*header = (struct stream_header){
		.magic = htonl(STREAM_MAGIC),
		.version = STREAM_VERSION,
		.flags = STREAM_FLAG_END,
		.flow = htons(flow->told),
		.run = s->run,
		.message_size = htonl(s->options->size),
		.packet = htobe64(flow->packet),
		.message = htobe64(flow->message),
		.packets_in_message = htonl(s->options->flows),
	};
}

void sender_end(const struct stream_sender *s, void *context,
		bool (*send)(void *context, const struct sender_flow *flow, const struct stream_header *marker))
{
	struct stream_header marker;

	for (int repeat = 0; repeat < SENDER_END_REPEATS; repeat++) {
		sleep_until_ns(s->last_ns + (SENDER_END_FIRST_NS << repeat));
		for (unsigned int i = 0; i < s->options->flows; i++) {
			sender_end_marker(s, &s->flows[i], &marker);
			if (!send(context, &s->flows[i], &marker))
				return;
		}
	}
}

void sender_report(const struct stream_sender *s, struct stream_report *report)
{
	report->size = s->options->size;
	report->flows = s->options->flows;
	report->messages = s->messages;
	report->packets = s->wire_packets ? s->packets * s->wire_packets : STREAM_UNKNOWN;
	report->messages_lost = report->packets_lost = STREAM_UNKNOWN;
	report->payload_bytes = s->bytes;
	report->run_ns = s->last_ns - s->begin_ns;
	report->cpu = s->cpu;
	if (s->wire_packets)
		report_extra(report, "packets_per_message", s->packets_per_message * s->wire_packets);
	if (s->pacer.slipped_ns)
		report_extra(report, "pacing_slipped_us", s->pacer.slipped_ns / NSEC_PER_USEC);
}
