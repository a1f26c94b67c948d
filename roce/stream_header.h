/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The header at the start of each datagram of udp_stream and dpdk_stream (UDP payload), and of rdma_stream's UD
 * (SEND payload). Network byte order. It is part of the message: a message of 4096 bytes in one datagram has 48 bytes
 * of header and 4048 of filler, so goodput counts what iperf3 and perftest count.
 *
 * Includable from BPF and from user space: types only, no libc.
 */
#ifndef ROCE_STREAM_HEADER_H
#define ROCE_STREAM_HEADER_H

#include <linux/types.h>

#define STREAM_MAGIC		0x52435353	/* "RCSS" */
#define STREAM_VERSION		1

/*
 * An end marker, sent several times after the last message of a flow: `packet` and `message` say how many of them
 * were sent, `packets_in_message` how many flows there are. It is no packet of the stream: whoever counts packets or
 * sequence numbers leaves it out.
 */
#define STREAM_FLAG_END		0x01

struct stream_header {
	__be32	magic;
	__u8	version;
	__u8	flags;
	__be16	flow;			/* socket or QP of the sender, from 0 */
	__be32	run;			/* drawn at random by each sender: tells a new run from the last one's stragglers */
	__be32	message_size;		/* bytes, all headers of the message's packets included */
	__be64	packet;			/* number in the flow, from 0; every datagram has one of its own */
	__be64	message;		/* number in the flow, from 0 */
	__be32	packet_in_message;	/* from 0 */
	__be32	packets_in_message;
	__be64	timestamp;		/* CLOCK_REALTIME when handed to the transport, ns; 0: not taken */
};

_Static_assert(sizeof(struct stream_header) == 48, "stream header is 48 bytes on the wire");

#endif
