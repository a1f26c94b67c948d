/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USERSPACE_TRAFFIC_STREAMS_UDP_STREAM_UDP_STREAM_H
#define USERSPACE_TRAFFIC_STREAMS_UDP_STREAM_UDP_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "userspace/traffic/streams/stream_options.h"

#define UDP_BATCH	32	/* entries of one system call */

struct udp_options {
	struct stream_options common;
	const char *dst;	/* name or address; NULL: not given */
	const char *bind;	/* NULL: every address, IPv6 and IPv4 */
	uint64_t mtu;		/* of IP; 0: that of the route */
	uint64_t sndbuf, rcvbuf;	/* bytes as for setsockopt(2); 0: the system's default */
	bool gso, gro, io_uring;
	uint64_t busy_poll;	/* us; 0: the receiver sleeps until packets come */
};

/* Both run to the end, print the JSON object and return the exit status. */
int udp_send(const struct udp_options *options);
int udp_receive(const struct udp_options *options);

/* Sets SO_RCVBUF or SO_SNDBUF, beyond the system's maximum if privileged. 0: no change. */
void udp_set_buffer(int fd, int option, int forced_option, uint64_t bytes);

#endif
