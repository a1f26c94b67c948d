/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DPDK_UDP_DPDK_STREAM_H
#define DPDK_UDP_DPDK_STREAM_H

#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_mempool.h>
#include <stdint.h>

#include "userspace/traffic/streams/report.h"
#include "userspace/traffic/streams/stream_options.h"

#define DPDK_BURST		32

struct dpdk_options {
	struct stream_options common;
	uint32_t src, dst;		/* IPv4 addresses, network byte order */
	struct rte_ether_addr dst_mac;
	uint64_t mtu;			/* of the IP packets and of the port */
};

struct dpdk_port {
	uint16_t id;
	struct rte_mempool *pool;	/* each mbuf holds a whole frame */
};

/* Starts EAL's first port with one queue each way. Errors are reported in one line, exit status 1. */
void dpdk_port_start(struct dpdk_port *port, const struct dpdk_options *options);
void dpdk_port_stop(struct dpdk_port *port);

struct dpdk_sockets {
	uint64_t packet_drops, ring_full;	/* packets */
};

/*
 * The kernel's sockets below the port, if its driver has any (net_af_packet, net_af_xdp). From now on packet sockets take, and
 * drop, the datagrams to this port (host byte order) only. dpdk_sockets_report() adds what they dropped since.
 */
void dpdk_sockets_begin(struct dpdk_sockets *sockets, uint16_t port);
void dpdk_sockets_report(const struct dpdk_sockets *before, struct stream_report *report);

/* A driver's own counters (rte_eth_xstats). */
struct dpdk_xstats {
	int count;
	struct rte_eth_xstat *value;
};

struct dpdk_xstats dpdk_xstats_read(uint16_t port);

/* Adds `xstats`: what grew since, of those whose names say a loss. Others have the same packets, too. Frees `before`. */
void dpdk_xstats_report(uint16_t port, struct dpdk_xstats *before, struct stream_report *report);

/* The pattern of all fillers, long enough for any frame. */
char *dpdk_pattern(void);

/* Both run to the end, print the JSON object and return the exit status. */
int dpdk_send(struct dpdk_port *port, const struct dpdk_options *options);
int dpdk_receive(struct dpdk_port *port, const struct dpdk_options *options);

#endif
