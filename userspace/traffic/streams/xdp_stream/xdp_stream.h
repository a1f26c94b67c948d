/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USERSPACE_TRAFFIC_STREAMS_XDP_STREAM_XDP_STREAM_H
#define USERSPACE_TRAFFIC_STREAMS_XDP_STREAM_XDP_STREAM_H

#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdint.h>

#include "userspace/traffic/streams/stream_options.h"
#include "userspace/traffic/streams/xdp_socket.h"

struct xdp_stream_options {
	struct stream_options common;
	const char *interface;
	uint32_t src, dst;	/* IPv4 addresses, network byte order */
	struct ether_addr dst_mac;
	uint64_t mtu;		/* of the IP packets */
	unsigned int queue;	/* of the NIC, by which the sender sends */
	uint64_t ring;		/* descriptors, a power of two */
	bool check;
};

struct xdp_stream_headers {
	struct ether_header eth;
	struct iphdr ip;
	struct udphdr udp;
} __attribute__((packed));

_Static_assert(sizeof(struct xdp_stream_headers) == 42, "headers as on the wire");

#define IP_OVERHEAD	(sizeof(struct iphdr) + sizeof(struct udphdr))
#define FRAME_BYTES(mtu) ((mtu) + sizeof(struct ether_header))

/*
 * Opens a socket. plan->several: frames may be larger than `most` bytes, which fit a chunk. It is cleared if the kernel is
 * older than that and frames of options->mtu fit. Any other failure is reported in one line, exit status 1.
 */
void xdp_stream_open(struct xdp_socket *socket, struct xdp_socket_plan *plan, const struct xdp_stream_options *options,
		     uint32_t most);

/* Both run to the end, print the JSON object and return the exit status. */
int xdp_stream_send(const struct xdp_stream_options *options);
int xdp_stream_receive(const struct xdp_stream_options *options);

#endif
