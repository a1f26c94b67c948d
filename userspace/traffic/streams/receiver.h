/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The receiver of datagram transports, independent of the transport. Counts received and missing packets and messages per flow,
 * and decides when the run is over, even if its last packets are lost.
 */
#ifndef USERSPACE_TRAFFIC_STREAMS_RECEIVER_H
#define USERSPACE_TRAFFIC_STREAMS_RECEIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/rdma_end.h"
#include "roce/datagram/stream_header.h"
#include "userspace/traffic/streams/cpu.h"
#include "userspace/traffic/streams/gaps.h"
#include "userspace/traffic/streams/histogram.h"
#include "userspace/traffic/streams/report.h"
#include "userspace/traffic/streams/stream_options.h"
#include "userspace/traffic/streams/windows.h"

/* How long stragglers and repeated end markers are accepted after all end markers. */
#define RECEIVER_LINGER_NS	(300 * NSEC_PER_MSEC)

struct receiver_flow {
	bool ended;
	uint64_t total_packets, total_messages;		/* sent, by the end marker */
	uint64_t messages;				/* complete */
	uint64_t next_message;				/* highest seen + 1 */
	struct gaps packets;
	uint64_t told;					/* gaps before this number are in the list of gaps, but for */
	uint64_t gap, gap_first;			/* the one that ends there: so many, from this number on */
};

struct stream_receiver {
	const struct stream_options *options;
	uint32_t run;
	unsigned int flows_sent;			/* by the end markers; 0: unknown */
	unsigned int flows_seen, flows_ended;
	uint32_t message_size;
	uint64_t packets, messages, bytes, duplicates;
	uint64_t foreign;				/* other datagrams, and those of another run */
	uint64_t checked, wrong;			/* payloads that were verified; those that were not what was sent */
	bool unverified;				/* the sender does not say what its payload is */
	bool completed, asked;				/* by the packet taken last: a message; one that wants an answer */
	uint16_t completed_flow;			/* which message that was */
	uint64_t completed_message;
	bool undecided;					/* a payload differs, but may be that of a message that was lost */
	uint64_t ready_ns, first_ns, last_ns, last_any_ns, marked_ns;
	uint64_t packets_before_pause;
	struct cpu_meter cpu;
	struct histogram latency;
	struct windows windows;
	FILE *gaps;					/* the list of gaps; NULL: nobody wants it */
	const struct rdma_qp_address *gaps_qp;		/* [flow] */
	bool gaps_ordered;				/* packets do not overtake each other */
	uint64_t gaps_told;				/* lines */
	struct receiver_flow *flow[1 << 16];
};

struct stream_receiver *receiver_new(const struct stream_options *options);

/*
 * Begins the list of what is missing, for receiver_count(): a line "flow,qpn,first,count" for each run of numbers that did not
 * come. It is written as soon as it is known, of packets that may overtake each other 131072 numbers later. false: errno says
 * why it cannot be written.
 */
bool receiver_gaps_begin(struct stream_receiver *r, const char *path);

/* Writes the rest: up to a flow's end if that is known. false: not all could be written. */
bool receiver_gaps_end(struct stream_receiver *r);

/* Prints `ready`: the program receives from now on. */
void receiver_ready(struct stream_receiver *r);

/* A stream header in host byte order. */
struct stream_packet {
	uint16_t flow;
	uint64_t packet, message;
	uint32_t packet_in_message, packets_in_message;
	uint32_t bytes;
};

/* Counts a packet of this run. Returns false if it is a duplicate (or too late to know). */
bool receiver_count(struct stream_receiver *r, const struct stream_packet *p, uint64_t now);

/* Takes a flow's end marker: the numbers of packets, messages and flows sent. */
void receiver_end(struct stream_receiver *r, uint16_t number, uint64_t packets, uint64_t messages, unsigned int flows);

/* A flow's packet number, from its low 32 bits. */
uint64_t receiver_widen(const struct stream_receiver *r, uint16_t flow, uint32_t low);

/* Whether --verify wants the payload of the packet with that number verified. */
bool receiver_samples(const struct stream_receiver *r, uint64_t packet);

/* Counts a verified payload: whether it was what the sender sent. */
void receiver_verified(struct stream_receiver *r, bool right);

/* The filler that a packet with this header has to have behind it; 0: it is not to be verified. */
unsigned int receiver_filler(struct stream_receiver *r, const struct stream_header *h);

/*
 * Takes a packet of `length` bytes with this header, received now (ns), and verifies nothing. realtime: by the clock of the header's
 * timestamp, 0: latency is not wanted. Returns whether it counts.
 */
bool receiver_take_header(struct stream_receiver *r, const struct stream_header *header, size_t length, uint64_t now,
			  uint64_t realtime);

/* The same with one datagram's payload, which is verified if --verify wants it. */
void receiver_take(struct stream_receiver *r, const void *payload, size_t length, uint64_t now, uint64_t realtime);

/* Whether the run is over: all flows ended, no packets arrive any more, or a signal came. */
bool receiver_over(struct stream_receiver *r, uint64_t now);

/* --pause: after a read. Sleeps if packets have come since the call before. */
void receiver_pause(struct stream_receiver *r);

/* Whether every flow's end marker came. If not, losses at the end are unknown. */
bool receiver_end_seen(const struct stream_receiver *r);

/* Fills in the receiver's part of the report. The program adds drops and extra fields. */
void receiver_report(const struct stream_receiver *r, struct stream_report *report);

/*
 * The exit status. 1, with one line on stderr, on an error, if a payload was wrong, or if nothing was received and no signal
 * came.
 */
int receiver_status(const struct stream_receiver *r, const struct stream_report *report);

#endif
