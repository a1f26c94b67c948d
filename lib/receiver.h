/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The receiving side of the datagram transports, without the transport: counts packets and messages, and what is
 * missing of them, flow by flow; says when the run is over, also when its last packets never come.
 */
#ifndef LIB_RECEIVER_H
#define LIB_RECEIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cpu.h"
#include "lib/gaps.h"
#include "lib/histogram.h"
#include "lib/stream_options.h"
#include "lib/report.h"
#include "roce/stream_header.h"

/* How long after all end markers stragglers (and repeated end markers) are still taken in. */
#define RECEIVER_LINGER_NS	(300 * NSEC_PER_MSEC)

struct receiver_flow {
	bool ended;
	uint64_t total_packets, total_messages;		/* of the sender, by the end marker */
	uint64_t messages;				/* complete */
	uint64_t next_message;				/* highest seen + 1 */
	struct gaps packets;
};

struct receiver {
	const struct stream_options *options;
	uint32_t run;
	unsigned int flows_sent;			/* by the end markers; 0: not known yet */
	unsigned int flows_seen, flows_ended;
	uint32_t message_size;
	uint64_t packets, messages, bytes, duplicates;
	uint64_t foreign;				/* not ours, or of another run */
	uint64_t ready_ns, first_ns, last_ns, last_any_ns, marked_ns;
	struct cpu_meter cpu;
	struct histogram latency;
	struct receiver_flow *flow[1 << 16];
};

struct receiver *receiver_new(const struct stream_options *options);

/* Prints `ready`: from now on the program hears what comes. */
void receiver_ready(struct receiver *r);

/* What a stream header says, in host byte order. */
struct stream_packet {
	uint16_t flow;
	uint64_t packet, message;
	uint32_t packet_in_message, packets_in_message;
	uint32_t bytes;
};

/* A packet of this run has come. Returns false if it came before (or too late to know). */
bool receiver_count(struct receiver *r, const struct stream_packet *p, uint64_t now);

/* The flow's sender says it has sent that many, on that many flows. */
void receiver_end(struct receiver *r, uint16_t flow, uint64_t packets, uint64_t messages, unsigned int flows);

/* A flow's packet number of which only the low 32 bits travelled. */
uint64_t receiver_widen(const struct receiver *r, uint16_t flow, uint32_t low);

/* One datagram's payload, received now (ns; `realtime` as in the header's timestamp, 0: latency not wanted). */
void receiver_take(struct receiver *r, const void *payload, size_t length, uint64_t now, uint64_t realtime);

/* Over: all flows ended, or nothing comes any more, or told to stop. */
bool receiver_over(struct receiver *r, uint64_t now);

/* Did every flow's end marker come? If not, what was lost at the end is unknown. */
bool receiver_end_seen(const struct receiver *r);

/* What the receiver knows of the report; drops and more are the program's. */
void receiver_report(const struct receiver *r, struct stream_report *report);

/* The exit status: 1, and one line on stderr, if nothing came although nobody stopped the program, or on an error. */
int receiver_status(const struct receiver *r, const struct stream_report *report);

#endif
