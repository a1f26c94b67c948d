/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sending side of the datagram transports, without the transport: splits messages into packets of equal size (the
 * last one smaller), numbers them flow by flow, and says when the next may leave and when it is over.
 */
#ifndef LIB_SENDER_H
#define LIB_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/stream_options.h"
#include "lib/pacing.h"
#include "lib/report.h"
#include "roce/stream_header.h"

/*
 * End markers leave 200, 400 and 800 ms after the last packet: by then the receiver's buffer has room. One that is dropped
 * there would be counted by the socket like a packet.
 */
#define SENDER_END_REPEATS	3
#define SENDER_END_FIRST_NS	(200 * NSEC_PER_MSEC)

struct sender_flow {
	uint16_t number;
	uint64_t packet, message;	/* the next ones */
	uint32_t index;			/* of the next packet in its message */
};

struct sender {
	const struct stream_options *options;
	uint32_t run;
	uint32_t packet_bytes;		/* all but the last of a message */
	uint32_t packets_per_message;
	uint32_t wire_packets;		/* in each of ours: 1, or the message's where the transport splits it */
	struct pacer pacer;
	bool may_start;			/* neither time nor number of messages used up */
	uint64_t messages_started, messages, packets, bytes;
	uint64_t begin_ns, last_ns;
	struct cpu_meter cpu;
	unsigned int turn;
	struct sender_flow flows[];
};

/*
 * `max_payload`: bytes that fit into one datagram. A message that cannot be split so that every packet has room for
 * the header is a usage error. The run begins now.
 */
struct sender *sender_new(const struct stream_options *options, uint32_t max_payload);

/* For a transport that splits messages by itself into packets of path_mtu: one "packet" here is a message. */
struct sender *sender_new_unsplit(const struct stream_options *options, uint32_t path_mtu);

/* The next flow with something to send; NULL: the run is over. */
struct sender_flow *sender_next_flow(struct sender *s, uint64_t now);

/* May a packet leave now? If not, sender_sleep() waits until one may (or a signal comes). */
bool sender_due(struct sender *s, uint64_t now);
void sender_sleep(const struct sender *s);

/*
 * Fills in the header of the flow's next packet, which leaves now (ns; `realtime` is for its timestamp). Returns its
 * length including the header, 0 if the flow has nothing more to send.
 */
uint32_t sender_packet(struct sender *s, struct sender_flow *flow, struct stream_header *header, uint64_t now,
		       uint64_t realtime);

/* The run's time and CPU end now, before the end markers. */
void sender_finish(struct sender *s);

/* Sleeps until the end markers of that repeat (from 0) are due. */
void sender_end_sleep(const struct sender *s, int repeat);

void sender_end_marker(const struct sender *s, const struct sender_flow *flow, struct stream_header *header);

/* What the sender knows of the report; drops and more are the program's. */
void sender_report(const struct sender *s, struct stream_report *report);

#endif
