// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives the datagrams of a row of the comparison to AF_XDP sockets, and everything else to the kernel as ever: ssh may use the
 * same NIC. xdp_stream loads it with the port of its run. DPDK's net_af_xdp loads it as it is (xdp_prog=), and asks for a map
 * of this name.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/map.h"

#define FRAGMENT 0x3fff	/* more fragments, or an offset */

/* host byte order; the default of the stream programs */
const volatile __u16 port = 7471;

/* by receive queue; a queue without a socket is the kernel's */
MAP(xsks_map, XSKMAP, __u32, __u32, 256, 0);

SEC("xdp.frags")
int redirect_row(struct xdp_md *ctx)
{
	const __u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	const struct ethhdr *eth = (const void *)data;
	const struct iphdr *ip = (const void *)(eth + 1);
	const struct udphdr *udp = (const void *)(ip + 1);

	/* no options: the stream programs send none */
	if ((const __u8 *)(udp + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP) || ip->version != 4 || ip->ihl != 5)
		return XDP_PASS;
	if (ip->protocol != IPPROTO_UDP || ip->frag_off & bpf_htons(FRAGMENT) || udp->dest != bpf_htons(port))
		return XDP_PASS;
	return bpf_redirect_map(&xsks_map, ctx->rx_queue_index, XDP_PASS);
}

char LICENSE[] SEC("license") = "GPL";
