/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USERSPACE_TRAFFIC_STREAMS_TCP_STREAM_TCP_STREAM_H
#define USERSPACE_TRAFFIC_STREAMS_TCP_STREAM_TCP_STREAM_H

#include <netinet/in.h>
#include <stdint.h>

/* The kernel's header is used for its tcp_info, which grows; that of the C library does not. */
#include <linux/tcp.h>

#include "roce/datagram/stream_header.h"
#include "userspace/traffic/streams/stream_options.h"

#define TCP_WAKE_US	100000	/* how often a socket that waits looks whether a signal came */

struct tcp_options {
	struct stream_options common;
	const char *dst;	/* name or address; NULL: not given */
	const char *bind;	/* NULL: every address, IPv6 and IPv4 */
	uint64_t mss;		/* TCP_MAXSEG; 0: the kernel's choice */
};

/*
 * A flow is a connection. Its bytes are messages, each beginning with a stream_header that has the message's size, and at the
 * end an end marker, which is only a stream_header.
 *
 * Both run to the end, print the JSON object and return the exit status.
 */
int tcp_send(const struct tcp_options *options);
int tcp_receive(const struct tcp_options *options);

/*
 * Sends a header and what follows it, `length` bytes in all. pattern: of all fillers. A signal does not cut a message, unless
 * nothing moves any more. fd: with SO_SNDTIMEO. Returns false with errno.
 */
bool tcp_send_whole(int fd, const char *pattern, const struct stream_header *header, size_t length);

/* For ping-pong: the end of a message leaves at once (TCP_NODELAY), and a peer that takes nothing ends the connection. */
void tcp_answers(int fd);

/* Sets TCP_MAXSEG. 0: no change. */
void tcp_set_mss(int fd, uint64_t mss);

#endif
