// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <err.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>
#include <stdlib.h>

#include "dpdk_udp/dpdk_stream.h"
#include "lib/clock.h"
#include "lib/filler.h"
#include "lib/sender.h"
#include "lib/stop.h"

#define FIRST_SOURCE_PORT	49152	/* of flow 0; the dynamic ports of RFC 6335 */
#define SOURCE_PORTS		(65536 - FIRST_SOURCE_PORT)
#define STUCK_NS		(2 * NSEC_PER_SEC)

struct headers {
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
};

_Static_assert(sizeof(struct headers) == 42, "headers as on the wire, no padding");

#define IP_OVERHEAD	(sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_udp_hdr))

struct dpdk_sender {
	const struct dpdk_options *o;
	struct dpdk_port *port;
	struct sender *s;
	struct headers template;
	struct rte_mbuf *frames[DPDK_BURST];
	uint16_t count;
	uint64_t ring_full;	/* how often the ring did not take all packets */
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
	size_t before = RTE_PKTMBUF_HEADROOM + sizeof(struct headers) + sizeof(struct stream_header);

	(void)pool, (void)index;
	memset(m->buf_addr, 0, before);
	memcpy((char *)m->buf_addr + before, (const char *)pattern + filler_of_frame(m) * FILLER_STEP, m->buf_len - before);
}

static void fill_frames(struct rte_mempool *pool)
{
	size_t bytes = filler_room(UINT16_MAX);		/* buf_len has 16 bits */
	void *pattern = malloc(bytes);

	if (!pattern)
		err(1, "no memory");
	filler_make(pattern, bytes);
	rte_mempool_obj_iter(pool, fill_frame, pattern);
	free(pattern);
}

static void make_template(struct dpdk_sender *d)
{
	struct headers *h = &d->template;

	*h = (struct headers){
		.eth = { .dst_addr = d->o->dst_mac, .ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4) },
		.ip = {
			.version_ihl = RTE_IPV4_VHL_DEF,
			.fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
			.time_to_live = 64,
			.next_proto_id = IPPROTO_UDP,
			.src_addr = d->o->src,
			.dst_addr = d->o->dst,
		},
		.udp = { .dst_port = rte_cpu_to_be_16(d->o->common.port) },	/* checksum 0: none (RFC 768) */
	};
	if (rte_eth_macaddr_get(d->port->id, &h->eth.src_addr))
		errx(1, "port %u has no MAC address", d->port->id);
}

/* Writes the frame's headers. `payload` bytes follow them, including the stream header. */
static void write_headers(const struct dpdk_sender *d, struct rte_mbuf *m, const struct stream_header *stream,
			  uint32_t payload)
{
	struct headers *h = rte_pktmbuf_mtod(m, struct headers *);
	uint16_t flow = ntohs(stream->flow);

	*h = d->template;
	h->ip.total_length = rte_cpu_to_be_16(IP_OVERHEAD + payload);
	h->ip.hdr_checksum = rte_ipv4_cksum(&h->ip);
	h->udp.src_port = rte_cpu_to_be_16(FIRST_SOURCE_PORT + flow % SOURCE_PORTS);
	h->udp.dgram_len = rte_cpu_to_be_16(sizeof(h->udp) + payload);
	memcpy(h + 1, stream, sizeof(*stream));
	m->data_len = m->pkt_len = sizeof(h->eth) + IP_OVERHEAD + payload;
}

/*
 * Adds as many of the flow's packets as are due. A packet takes a number only when it has an mbuf, so a full ring makes the
 * sender wait and never lose.
 */
static void fill_burst(struct dpdk_sender *d, struct sender_flow *flow, uint64_t now)
{
	uint64_t realtime = clock_ns(CLOCK_REALTIME);
	uint16_t used = 0;

	d->count = 0;
	if (rte_pktmbuf_alloc_bulk(d->port->pool, d->frames, DPDK_BURST)) {
		rte_eth_tx_done_cleanup(d->port->id, 0, 0);
		return;
	}
	while (used < DPDK_BURST && sender_due(d->s, now)) {
		struct rte_mbuf *m = d->frames[used];
		struct stream_header header;
		uint32_t payload = sender_packet(d->s, flow, &header, now, realtime);

		if (!payload)
			break;
		header.flags = filler_of_frame(m) << STREAM_FILLER_SHIFT;
		write_headers(d, m, &header, payload);
		used++;
	}
	rte_pktmbuf_free_bulk(d->frames + used, DPDK_BURST - used);
	d->count = used;
}

/* false: the port has taken nothing for a long time. */
static bool send_burst(struct dpdk_sender *d)
{
	uint64_t since = now_ns();
	uint16_t sent = 0;

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
	return sent == d->count || stop;
}

static bool send_all(struct dpdk_sender *d)
{
	struct sender_flow *flow;
	uint64_t now;

	for (now = now_ns(); !stop; now = now_ns()) {
		report_progress(now, d->s->packets, d->s->bytes);
		if (!sender_due(d->s, now))
			continue;
		flow = sender_next_flow(d->s, now);
		if (!flow)
			return true;
		fill_burst(d, flow, now);
		if (!send_burst(d))
			return false;
	}
	return true;
}

static void send_end_markers(struct dpdk_sender *d)
{
	for (int repeat = 0; repeat < SENDER_END_REPEATS; repeat++) {
		sender_end_sleep(d->s, repeat);
		for (unsigned int i = 0; i < d->o->common.flows; i++) {
			struct rte_mbuf *m = rte_pktmbuf_alloc(d->port->pool);
			struct stream_header header;

			if (!m)
				continue;
			sender_end_marker(d->s, &d->s->flows[i], &header);
			write_headers(d, m, &header, sizeof(header));
			if (!rte_eth_tx_burst(d->port->id, 0, &m, 1))
				rte_pktmbuf_free(m);
		}
	}
}

int dpdk_send(struct dpdk_port *port, const struct dpdk_options *o)
{
	struct stream_report report = { .transport = "dpdk-udp", .send = true };
	struct dpdk_sender d = { .o = o, .port = port };
	struct rte_eth_stats before = {}, after = {};

	fill_frames(port->pool);
	make_template(&d);
	rte_eth_stats_get(port->id, &before);
	d.s = sender_new(&o->common, o->mtu - IP_OVERHEAD);
	if (!send_all(&d))
		report.error = "the port's transmit ring stays full";
	sender_finish(d.s);
	send_end_markers(&d);
	rte_eth_stats_get(port->id, &after);
	sender_report(d.s, &report);
	report_extra(&report, "mtu", o->mtu);
	report_extra(&report, "ring_full", d.ring_full);
	report_drop(&report, "oerrors", after.oerrors - before.oerrors);
	report_drop(&report, "tx_abandoned", d.abandoned);
	report_print(&report, o->common.json);
	if (report.error)
		warnx("%s", report.error);
	return report.error ? 1 : 0;
}
