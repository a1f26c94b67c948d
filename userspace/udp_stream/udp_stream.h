/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USERSPACE_UDP_STREAM_UDP_STREAM_H
#define USERSPACE_UDP_STREAM_UDP_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/stream_options.h"

#define UDP_BATCH	32	/* system call entries at once */

struct udp_options {
	struct stream_options common;
	const char *dst;	/* name or address; NULL: not given */
	const char *bind;	/* NULL: every address, IPv6 and IPv4 */
	uint64_t mtu;		/* IP MTU; 0: the route's */
	uint64_t sndbuf, rcvbuf;	/* bytes as for setsockopt(2); 0: the system's */
	bool gso, gro;
};

/* Each runs to the end, prints the object and returns the exit status. */
int udp_send(const struct udp_options *options);
int udp_receive(const struct udp_options *options);

/* SO_SNDBUF or SO_RCVBUF beyond the system's maximum where privilege allows; 0 leaves it alone. */
void udp_set_buffer(int fd, int option, int forced_option, uint64_t bytes);

#endif
