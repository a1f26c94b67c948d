// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <err.h>
#include <rte_ethdev.h>
#include <string.h>

#include "dpdk_udp/dpdk_stream.h"
#include "dpdk_udp/frame.h"
#include "lib/clock.h"
#include "lib/stop.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/ping_pong.h"
#include "userspace/traffic/streams/sender.h"

#define STUCK_NS		(2 * NSEC_PER_SEC)

struct dpdk_sender {
	const struct dpdk_options *o;
	struct dpdk_port *port;
	struct stream_sender *s;
	struct dpdk_headers template;
	struct rte_mbuf *frames[DPDK_BURST];
	uint16_t count;
	uint64_t ring_full;	/* how often the ring did not take all packets */
	char *pattern;		/* of all fillers */
	struct ping_pong ping_pong;
	uint64_t abandoned;	/* packets that the ring had not taken when the run was stopped */
};

/* Each mbuf keeps its filler, which its place in memory chooses. */
static unsigned int filler_of_frame(const struct rte_mbuf *m)
{
	return (uintptr_t)m / RTE_CACHE_LINE_SIZE % STREAM_FILLERS + 1;
}

/* Writes the payload of each mbuf once. Payloads never change, so only headers are written for each packet. */
static void fill_frame(struct rte_mempool *pool, void *pattern, void *object, unsigned int index)
{
	struct rte_mbuf *m = object;
	size_t before = RTE_PKTMBUF_HEADROOM + sizeof(struct dpdk_headers) + sizeof(struct stream_header);

	(void)pool, (void)index;
	memset(m->buf_addr, 0, before);
	memcpy((char *)m->buf_addr + before, (const char *)pattern + filler_of_frame(m) * FILLER_STEP, m->buf_len - before);
}

static void make_template(struct dpdk_sender *d)
{
	d->template = frame_template(d->port->id, &d->o->dst_mac);
	d->template.ip.src_addr = d->o->src;
	d->template.ip.dst_addr = d->o->dst;
	d->template.udp.dst_port = rte_cpu_to_be_16(d->o->common.port);
}

/* Writes the frame's headers. `payload` bytes follow them, including the stream header. */
static void write_headers(struct dpdk_sender *d, struct rte_mbuf *m, const struct stream_header *stream, uint32_t payload)
{
	d->template.udp.src_port = rte_cpu_to_be_16(sender_source_port(ntohs(stream->flow)));
	frame_write(m, &d->template, stream, payload);
}

/*
 * Adds as many of the flow's packets as are due. A packet takes a number only when it has an mbuf, so a full ring makes the
 * sender wait and never lose.
 */
static void fill_burst(struct dpdk_sender *d, struct sender_flow *flow)
{
	uint64_t realtime = clock_ns(CLOCK_REALTIME);
	uint16_t used = 0;

	d->count = 0;
	if (rte_pktmbuf_alloc_bulk(d->port->pool, d->frames, DPDK_BURST)) {
		rte_eth_tx_done_cleanup(d->port->id, 0, 0);
		return;
	}
	while (used < DPDK_BURST && sender_due(d->s, d->s->now_ns)) {
		struct rte_mbuf *m = d->frames[used];
		struct stream_header header;
		uint32_t payload = sender_packet(d->s, flow, &header, d->s->now_ns, realtime);

		if (!payload)
			break;
		header.flags = filler_of_frame(m) << STREAM_FILLER_SHIFT | (header.flags & STREAM_FLAG_PING);
		write_headers(d, m, &header, payload);
		if (d->o->common.ping_pong)
			frame_fill(m, d->pattern);	/* an answer may have been in this mbuf */
		used++;
	}
	rte_pktmbuf_free_bulk(d->frames + used, DPDK_BURST - used);
	d->count = used;
}

static const char *send_burst(void *context, struct sender_flow *flow)
{
	struct dpdk_sender *d = context;
	uint64_t since;
	uint16_t sent = 0;

	fill_burst(d, flow);
	since = now_ns();
	while (sent < d->count) {
		uint16_t n = rte_eth_tx_burst(d->port->id, 0, d->frames + sent, d->count - sent);

		sent += n;
		if (sent == d->count)
			break;
		d->ring_full++;
		if (n)
			since = now_ns();
		else if (stop || now_ns() - since > STUCK_NS)
			break;
	}
	rte_pktmbuf_free_bulk(d->frames + sent, d->count - sent);
	d->abandoned += d->count - sent;
	return sent == d->count || stop ? NULL : "the port's transmit ring stays full";
}

static const char *send_message(void *context, struct sender_flow *flow)
{
	const struct dpdk_sender *d = context;
	const char *error;

	do
		error = send_burst(context, flow);
	while (!error && flow->message == d->ping_pong.message && !stop);
	return error;
}

static const char *await_answer(void *context, uint16_t flow, uint64_t timeout_ns)
{
	struct dpdk_sender *d = context;
	uint16_t count = rte_eth_rx_burst(d->port->id, 0, d->frames, DPDK_BURST);
	uint64_t now = now_ns();

	(void)flow, (void)timeout_ns;
	for (uint16_t i = 0; i < count; i++) {
		size_t length;
		const struct rte_udp_hdr *udp = frame_datagram(d->frames[i], &length);

		if (udp && udp->src_port == rte_cpu_to_be_16(d->o->common.port))
			ping_pong_take(&d->ping_pong, udp + 1, length, now);
	}
	rte_pktmbuf_free_bulk(d->frames, count);
	return NULL;
}

/* A lost one is not missed: there are several. */
static bool send_end_marker(void *context, const struct sender_flow *flow, const struct stream_header *marker)
{
	struct dpdk_sender *d = context;
	struct rte_mbuf *m = rte_pktmbuf_alloc(d->port->pool);

	(void)flow;
	if (!m)
		return true;
	write_headers(d, m, marker, sizeof(*marker));
	if (!rte_eth_tx_burst(d->port->id, 0, &m, 1))
		rte_pktmbuf_free(m);
	return true;
}

int dpdk_send(struct dpdk_port *port, const struct dpdk_options *o)
{
	struct stream_report report = { .transport = "dpdk-udp", .send = true };
	struct dpdk_sender d = { .o = o, .port = port, .pattern = dpdk_pattern() };
	struct rte_eth_stats before = {}, after = {};
	struct dpdk_xstats xstats;

	rte_mempool_obj_iter(port->pool, fill_frame, d.pattern);
	make_template(&d);
	rte_eth_stats_get(port->id, &before);
	xstats = dpdk_xstats_read(port->id);
	d.s = sender_new(&o->common, o->mtu - IP_OVERHEAD);
	d.ping_pong = (struct ping_pong){ .s = d.s, .context = &d, .send = send_message, .await = await_answer };
	report.error = o->common.ping_pong ? ping_pong_run(&d.ping_pong) : sender_run(d.s, true, send_burst, &d);
	sender_finish(d.s);
	sender_end(d.s, &d, send_end_marker);
	rte_eth_stats_get(port->id, &after);
	sender_report(d.s, &report);
	report_extra(&report, "mtu", o->mtu);
	dpdk_xstats_report(port->id, &xstats, &report);
	report_extra(&report, "ring_full", d.ring_full);
	report_drop(&report, "oerrors", after.oerrors - before.oerrors);
	report_drop(&report, "tx_abandoned", d.abandoned);
	if (o->common.ping_pong)
		ping_pong_report(&d.ping_pong, &report);
	report_print(&report, o->common.json);
	if (report.error)
		warnx("%s", report.error);
	return report.error ? 1 : 0;
}
