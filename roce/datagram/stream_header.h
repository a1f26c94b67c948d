/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The header at the start of each datagram of udp_stream and dpdk_stream (UDP payload), of rdma_stream's UD packets and of its RC
 * and UC messages (not of READs, which nobody writes, and not of messages with less room), and of each message of tcp_stream.
 * Network byte order. It is part of the message: a message of 4096 bytes in one datagram has 48 bytes of header and 4048 of
 * filler. So goodput is counted as by iperf3 and perftest.
 *
 * Included by BPF and user space: types only, no libc.
 */
#ifndef ROCE_DATAGRAM_STREAM_HEADER_H
#define ROCE_DATAGRAM_STREAM_HEADER_H

#include <linux/types.h>

#define STREAM_MAGIC		0x52435353	/* "RCSS" */
#define STREAM_VERSION		1

/*
 * An end marker, sent several times after the last message of a flow. `packet` and `message` are the numbers sent,
 * `packets_in_message` the number of flows. It is not part of the stream and has no sequence number.
 */
#define STREAM_FLAG_END		0x01

/*
 * A message that asks for an answer: once all of its packets have come, the receiver sends one of the same size back, with the
 * same numbers. STREAM_FLAG_ANSWER is a packet of that.
 */
#define STREAM_FLAG_PING	0x02
#define STREAM_FLAG_ANSWER	0x04

/*
 * The other half of `flags`: which of the fillers of userspace/traffic/streams/filler.h follows the header, 1 to
 * STREAM_FILLERS. 0: none of them, as older senders send zeroes.
 */
#define STREAM_FILLER_SHIFT	4
#define STREAM_FILLERS		15

struct stream_header {
	__be32	magic;
	__u8	version;
	__u8	flags;
	__be16	flow;			/* socket or QP of the sender, from 0 */
	__be32	run;			/* random per sender: separates a new run from stragglers of the last one */
	__be32	message_size;		/* bytes, with all headers of the message's packets */
	__be64	packet;			/* number in the flow, from 0; unique per datagram */
	__be64	message;		/* number in the flow, from 0 */
	__be32	packet_in_message;	/* from 0 */
	__be32	packets_in_message;
	__be64	timestamp;		/* CLOCK_REALTIME when passed to the transport, ns; 0: not taken */
};

_Static_assert(sizeof(struct stream_header) == 48, "stream header is 48 bytes on the wire");

#endif
