/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames with one UDP datagram of a stream in IPv4. A frame is always in one mbuf. */
#ifndef DPDK_UDP_FRAME_H
#define DPDK_UDP_FRAME_H

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>
#include <stddef.h>
#include <stdint.h>

#include "roce/datagram/stream_header.h"

struct dpdk_headers {
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
};

_Static_assert(sizeof(struct dpdk_headers) == 42, "headers as on the wire, no padding");

#define IP_OVERHEAD	(sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_udp_hdr))

/* Headers for frames to that MAC address. Addresses and ports of IP and UDP are left to the caller. */
struct dpdk_headers frame_template(uint16_t port_id, const struct rte_ether_addr *to);

/* Writes these headers with their lengths, and the stream header. payload: bytes behind UDP's header, with the stream header. */
void frame_write(struct rte_mbuf *m, const struct dpdk_headers *h, const struct stream_header *stream, uint32_t payload);

/* Writes the filler that the frame's stream header announces. pattern: of all fillers. */
void frame_fill(struct rte_mbuf *m, const char *pattern);

/* The UDP header of a frame with a whole datagram, and the length of its payload; NULL for any other frame. */
const struct rte_udp_hdr *frame_datagram(const struct rte_mbuf *m, size_t *length);

#endif
