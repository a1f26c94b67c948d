// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <rte_ethdev.h>
#include <string.h>

#include "dpdk_udp/frame.h"
#include "userspace/traffic/streams/filler.h"

struct dpdk_headers frame_template(uint16_t port_id, const struct rte_ether_addr *to)
{
	struct dpdk_headers h = {
		.eth = { .dst_addr = *to, .ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4) },
		.ip = {
			.version_ihl = RTE_IPV4_VHL_DEF,
			.fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
			.time_to_live = 64,
			.next_proto_id = IPPROTO_UDP,
		},
	};	/* UDP checksum 0: none (RFC 768) */

	if (rte_eth_macaddr_get(port_id, &h.eth.src_addr))
		errx(1, "port %u has no MAC address", port_id);
	return h;
}

void frame_write(struct rte_mbuf *m, const struct dpdk_headers *with, const struct stream_header *stream, uint32_t payload)
{
	struct dpdk_headers *h = rte_pktmbuf_mtod(m, struct dpdk_headers *);

	*h = *with;
	h->ip.total_length = rte_cpu_to_be_16(IP_OVERHEAD + payload);
	h->ip.hdr_checksum = rte_ipv4_cksum(&h->ip);
	h->udp.dgram_len = rte_cpu_to_be_16(sizeof(h->udp) + payload);
	memcpy(h + 1, stream, sizeof(*stream));
	m->data_len = m->pkt_len = sizeof(h->eth) + IP_OVERHEAD + payload;
}

void frame_fill(struct rte_mbuf *m, const char *pattern)
{
	/* a struct stream_header, not aligned */
	__u8 *stream = rte_pktmbuf_mtod_offset(m, __u8 *, sizeof(struct dpdk_headers));
	__u8 flags = stream[offsetof(struct stream_header, flags)];
	size_t before = sizeof(struct dpdk_headers) + sizeof(struct stream_header);

	memcpy(stream + sizeof(struct stream_header), pattern + (flags >> STREAM_FILLER_SHIFT) * FILLER_STEP,
	       rte_pktmbuf_data_len(m) - before);
}

const struct rte_udp_hdr *frame_datagram(const struct rte_mbuf *m, size_t *length)
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
	if (udp_length < sizeof(*udp) || udp_length > left)
		return NULL;
	*length = udp_length - sizeof(*udp);
	return udp;
}
