/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sender of datagram transports, independent of the transport. Splits messages into packets of equal size (the last one
 * smaller), numbers them per flow, and decides when the next packet may leave and when the run is over.
 */
#ifndef USERSPACE_TRAFFIC_STREAMS_SENDER_H
#define USERSPACE_TRAFFIC_STREAMS_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "roce/datagram/stream_header.h"
#include "userspace/traffic/streams/pacing.h"
#include "userspace/traffic/streams/report.h"
#include "userspace/traffic/streams/stream_options.h"

/*
 * End markers leave 200, 400 and 800 ms after the last packet, when the receiver's buffer has room again. The socket would
 * count a dropped end marker like a packet.
 */
#define SENDER_END_REPEATS	3
#define SENDER_END_FIRST_NS	(200 * NSEC_PER_MSEC)

/* A flow's UDP source port, where a program makes the headers itself: one of the dynamic ports of RFC 6335. Host byte order. */
static inline uint16_t sender_source_port(uint16_t flow)
{
	return 49152 + flow % (65536 - 49152);
}

struct sender_flow {
	uint16_t number;
	uint16_t told;			/* by which the receiver knows it, in the header and for the filler: usually the same */
	uint64_t packet, message;	/* the next numbers */
	uint32_t index;			/* of the next packet within its message */
};

struct stream_sender {
	const struct stream_options *options;
	uint32_t run;
	uint32_t packet_bytes;		/* of all packets of a message except the last */
	uint32_t packets_per_message;
	uint32_t wire_packets;		/* per packet of ours: 1; of a message, if the transport splits it; 0: unknown */
	struct pacer pacer;
	bool may_start;			/* neither time nor number of messages is used up */
	bool over;			/* the time is used up */
	uint64_t messages_started, messages, packets, bytes;
	uint64_t begin_ns, last_ns;
	uint64_t now_ns;		/* what sender_next_flow() was told */
	struct cpu_meter cpu;
	unsigned int turn;
	struct sender_flow flows[];
};

/*
 * Begins the run. max_payload: bytes that fit into one datagram. It is a usage error if a message cannot be split so that every
 * packet has room for the header.
 */
struct stream_sender *sender_new(const struct stream_options *options, uint32_t max_payload);

/*
 * For a transport that splits messages into packets of path_mtu itself: here, each message is one packet. path_mtu 0: nobody
 * knows its packets, and the rate cannot be one of packets.
 */
struct stream_sender *sender_new_unsplit(const struct stream_options *options, uint32_t path_mtu);

/* Begins the run of number `turn` of several senders, which share a rate, anew: now. */
void sender_begin_turn(struct stream_sender *s, uint64_t now, unsigned int turn, unsigned int senders);

/* The next flow with something to send. NULL: the run is over. */
struct sender_flow *sender_next_flow(struct stream_sender *s, uint64_t now);

/* Whether that flow has something to send, as sender_next_flow() last found the time. */
bool sender_has_packet(const struct stream_sender *s, const struct sender_flow *flow);

/* Whether a packet may leave now. If not, sender_sleep() waits until one may, or until a signal. */
bool sender_due(struct stream_sender *s, uint64_t now);
void sender_sleep(const struct stream_sender *s);

/*
 * Fills in the header of the flow's next packet, which leaves now (ns; realtime: for its timestamp). It announces the filler
 * filler_of(flow->told, packet). Returns the packet's length with header; 0 if the flow has nothing more to send.
 */
uint32_t sender_packet(struct stream_sender *s, struct sender_flow *flow, struct stream_header *header, uint64_t now,
		       uint64_t realtime);

/* Ends the run's time and CPU measurement, before the end markers are sent. */
void sender_finish(struct stream_sender *s);

/* Adds what another one sent in the same run. */
void sender_merge(struct stream_sender *s, const struct stream_sender *other);

/* Sends packets of the flow, at s->now_ns. Returns what went wrong, or NULL. */
typedef const char *sender_burst(void *context, struct sender_flow *flow);

/* Runs to the end, with a burst whenever a packet is due. busy: without sleep. Returns what ended it early, or NULL. */
const char *sender_run(struct stream_sender *s, bool busy, sender_burst *burst, void *context);

void sender_end_marker(const struct stream_sender *s, const struct sender_flow *flow, struct stream_header *header);

/* Has each flow's end marker sent, SENDER_END_REPEATS times, until send() returns false. */
void sender_end(const struct stream_sender *s, void *context,
		bool (*send)(void *context, const struct sender_flow *flow, const struct stream_header *marker));

/* Fills in the sender's part of the report. The program adds drops and extra fields. */
void sender_report(const struct stream_sender *s, struct stream_report *report);

#endif
