// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "dpdk_udp/dpdk_stream.h"
#include "lib/clock.h"
#include "lib/receiver.h"

/* The payload of a UDP datagram to our port, and its length; NULL for any other frame. A frame is always in one mbuf. */
static const void *payload_of(const struct rte_mbuf *m, uint16_t port, size_t *length)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);
	const struct rte_ipv4_hdr *ip = (const void *)(eth + 1);
	const struct rte_udp_hdr *udp;
	size_t left = rte_pktmbuf_data_len(m), ip_header, udp_length;

	if (left < sizeof(*eth) + sizeof(*ip) || eth->ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return NULL;
	left -= sizeof(*eth);
	ip_header = rte_ipv4_hdr_len(ip);
	if (ip->next_proto_id != IPPROTO_UDP || ip_header < sizeof(*ip) || left < ip_header + sizeof(*udp))
		return NULL;
	left -= ip_header;
	udp = (const void *)((const char *)ip + ip_header);
	udp_length = rte_be_to_cpu_16(udp->dgram_len);
	if (udp->dst_port != rte_cpu_to_be_16(port) || udp_length < sizeof(*udp) || udp_length > left)
		return NULL;
	*length = udp_length - sizeof(*udp);
	return udp + 1;
}

static void take_burst(struct receiver *r, struct rte_mbuf **frames, uint16_t count, uint64_t now)
{
	uint64_t realtime = r->options->latency ? clock_ns(CLOCK_REALTIME) : 0;

	for (uint16_t i = 0; i < count; i++) {
		size_t length;
		const void *payload = payload_of(frames[i], r->options->port, &length);

		if (payload)
			receiver_take(r, payload, length, now, realtime);
	}
	rte_pktmbuf_free_bulk(frames, count);
}

int dpdk_receive(struct dpdk_port *port, const struct dpdk_options *o)
{
	struct stream_report report = { .transport = "dpdk-udp" };
	struct receiver *r = receiver_new(&o->common);
	struct rte_eth_stats before = {}, after = {};
	struct rte_mbuf *frames[DPDK_BURST];
	struct dpdk_sockets sockets;
	uint64_t now;

	dpdk_sockets_begin(&sockets, o->common.port);
	rte_eth_stats_get(port->id, &before);
	receiver_ready(r);
	for (now = now_ns(); !receiver_over(r, now); now = now_ns()) {
		take_burst(r, frames, rte_eth_rx_burst(port->id, 0, frames, DPDK_BURST), now);
		report_progress(now, r->packets, r->bytes);
	}
	rte_eth_stats_get(port->id, &after);
	receiver_report(r, &report);
	report_extra(&report, "mtu", o->mtu);
	report_drop(&report, "imissed", after.imissed - before.imissed);
	report_drop(&report, "rx_nombuf", after.rx_nombuf - before.rx_nombuf);
	report_drop(&report, "ierrors", after.ierrors - before.ierrors);
	dpdk_sockets_report(&sockets, &report);
	report_print(&report, o->common.json);
	return receiver_status(r, &report);
}
