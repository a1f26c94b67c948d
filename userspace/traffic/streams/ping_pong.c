// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

#include "lib/stop.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/ping_pong.h"

/* Looks at least once: while this program did not run, the answer may have come. */
static const char *await_answer(struct ping_pong *p)
{
	uint64_t limit = p->sent_ns + (p->reliable ? PING_PONG_DEAD_NS : PING_PONG_LOST_NS), now;
	const char *error;

	do {
		now = now_ns();
		error = p->await(p->context, p->flow, now < limit ? limit - now : 0);
	} while (!p->answered && !stop && !error && now < limit);
	if (p->answered || stop || error)
		return error;
	p->unanswered++;
	return p->reliable ? "the receiver has not answered for 10 s" : NULL;
}

const char *ping_pong_run(struct ping_pong *p)
{
	struct sender_flow *flow;
	const char *error;

	p->answers = receiver_new(p->s->options);
	for (;;) {
		p->sent_ns = now_ns();
		flow = sender_next_flow(p->s, p->sent_ns);
		if (!flow)
			return NULL;
		p->flow = flow->number;
		p->message = flow->message;
		p->answered = false;
		error = p->send(p->context, flow);
		if (!error)
			error = await_answer(p);
		if (error)
			return error;
		report_progress(p->sent_ns, p->s->packets, p->s->bytes);
	}
}

void ping_pong_answered(struct ping_pong *p, uint16_t flow, uint64_t message, uint64_t now)
{
	if (p->answered || flow != p->flow || message != p->message)
		return;
	p->answered = true;
	if (p->sent_ns - p->s->begin_ns >= PING_PONG_WARM_UP_NS)
		histogram_add(&p->latency, (now - p->sent_ns) / 2);
}

void ping_pong_take(struct ping_pong *p, const void *payload, size_t length, uint64_t now)
{
	struct stream_header h = {};

	memcpy(&h, payload, length < sizeof(h) ? length : sizeof(h));
	if (!(h.flags & STREAM_FLAG_ANSWER) || h.run != p->s->run || !receiver_take_header(p->answers, &h, length, now, 0))
		return;
	if (p->answers->completed)
		ping_pong_answered(p, p->answers->completed_flow, p->answers->completed_message, now);
}

void ping_pong_report(const struct ping_pong *p, struct stream_report *report)
{
	report->ping_pong = true;
	if (p->latency.count)
		report->latency = &p->latency;
	report_extra(report, "unanswered", p->unanswered);
}

/* All packets of a message are equal, except the last, which may be smaller. */
static uint32_t packet_bytes(const struct stream_header *h, uint32_t index)
{
	uint64_t size = ntohl(h->message_size), packets = ntohl(h->packets_in_message), bytes = (size + packets - 1) / packets;

	return index == packets - 1 ? size - index * bytes : bytes;
}

bool ping_pong_sound(const struct stream_header *h, size_t length)
{
	uint32_t index = ntohl(h->packet_in_message), packets = ntohl(h->packets_in_message);

	return index < packets && packet_bytes(h, index) == length && packet_bytes(h, packets - 1) >= sizeof(*h) &&
	       packet_bytes(h, packets - 1) <= packet_bytes(h, 0);
}

uint32_t ping_pong_answer(const struct stream_header *h, uint32_t index, struct stream_header *answer)
{
	uint64_t packet = be64toh(h->packet) - ntohl(h->packet_in_message) + index;

	*answer = *h;
	answer->flags = STREAM_FLAG_ANSWER | filler_of(ntohs(h->flow), packet) << STREAM_FILLER_SHIFT;
	answer->packet = htobe64(packet);
	answer->packet_in_message = htonl(index);
	answer->timestamp = 0;
	return packet_bytes(h, index);
}
