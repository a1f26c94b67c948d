// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <rte_ethdev.h>
#include <string.h>

#include "dpdk_udp/dpdk_stream.h"
#include "dpdk_udp/frame.h"
#include "lib/clock.h"
#include "lib/stop.h"
#include "userspace/traffic/streams/ping_pong.h"
#include "userspace/traffic/streams/receiver.h"

struct dpdk_receiver {
	struct dpdk_port *port;
	struct stream_receiver *r;
	char *pattern;		/* of all fillers, for answers */
};

/* Sends a frame. What the port does not take before the sender gives up waiting is lost. */
static void send_frame(const struct dpdk_receiver *u, struct rte_mbuf *m)
{
	uint64_t since = now_ns();

	while (!rte_eth_tx_burst(u->port->id, 0, &m, 1)) {
		if (!stop && now_ns() - since < PING_PONG_LOST_NS)
			continue;
		rte_pktmbuf_free(m);
		return;
	}
}

/* Answers the message that this frame has completed. */
static void answer(struct dpdk_receiver *u, const struct rte_mbuf *ping, const struct rte_udp_hdr *udp, size_t length)
{
	const struct dpdk_headers *from = rte_pktmbuf_mtod(ping, const struct dpdk_headers *);
	struct dpdk_headers to = frame_template(u->port->id, &from->eth.src_addr);
	struct stream_header h, header;

	memcpy(&h, udp + 1, sizeof(h));
	if (!ping_pong_sound(&h, length))
		return;
	to.ip.src_addr = from->ip.dst_addr;
	to.ip.dst_addr = from->ip.src_addr;
	to.udp.src_port = udp->dst_port;
	to.udp.dst_port = udp->src_port;
	for (uint32_t i = 0; i < ntohl(h.packets_in_message); i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(u->port->pool);
		uint32_t bytes;

		if (!m)
			return;
		bytes = ping_pong_answer(&h, i, &header);
		frame_write(m, &to, &header, bytes);
		frame_fill(m, u->pattern);
		send_frame(u, m);
	}
}

static void take_burst(struct dpdk_receiver *u, struct rte_mbuf **frames, uint16_t count, uint64_t now)
{
	uint64_t realtime = u->r->options->latency ? clock_ns(CLOCK_REALTIME) : 0;

	for (uint16_t i = 0; i < count; i++) {
		size_t length;
		const struct rte_udp_hdr *udp = frame_datagram(frames[i], &length);

		if (!udp || udp->dst_port != rte_cpu_to_be_16(u->r->options->port))
			continue;
		receiver_take(u->r, udp + 1, length, now, realtime);
		if (u->r->asked)
			answer(u, frames[i], udp, length);
	}
	rte_pktmbuf_free_bulk(frames, count);
}

int dpdk_receive(struct dpdk_port *port, const struct dpdk_options *o)
{
	struct stream_report report = { .transport = "dpdk-udp" };
	struct stream_receiver *r = receiver_new(&o->common);
	struct dpdk_receiver u = { .port = port, .r = r, .pattern = dpdk_pattern() };
	struct rte_eth_stats before = {}, after = {};
	struct rte_mbuf *frames[DPDK_BURST];
	struct dpdk_sockets sockets;
	struct dpdk_xstats xstats;
	uint64_t now;

	xstats = dpdk_xstats_read(port->id);
	dpdk_sockets_begin(&sockets, o->common.port);
	rte_eth_stats_get(port->id, &before);
	receiver_ready(r);
	for (now = now_ns(); !receiver_over(r, now); now = now_ns()) {
		take_burst(&u, frames, rte_eth_rx_burst(port->id, 0, frames, DPDK_BURST), now);
		report_progress(now, r->packets, r->bytes);
		receiver_pause(r);
	}
	rte_eth_stats_get(port->id, &after);
	receiver_report(r, &report);
	report_extra(&report, "mtu", o->mtu);
	dpdk_xstats_report(port->id, &xstats, &report);
	report_drop(&report, "imissed", after.imissed - before.imissed);
	report_drop(&report, "rx_nombuf", after.rx_nombuf - before.rx_nombuf);
	report_drop(&report, "ierrors", after.ierrors - before.ierrors);
	dpdk_sockets_report(&sockets, &report);
	report_print(&report, o->common.json);
	return receiver_status(r, &report);
}
