// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fault for the comparator's tests: drops every Nth packet of the row under test, where it enters the wire (clsact of a port) or
 * at the sender's qdisc. Packets of a row are IPv4 UDP datagrams of 4096 to 8191 bytes. Smaller packets (acknowledgements, end
 * markers, TCP) pass. The qdisc counts the drops.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/map.h"

/* [0]: N, 0: drop none; [1]: packets of the row so far */
MAP(drop_settings, ARRAY, __u32, __u32, 2, 0);

static bool of_the_row(struct __sk_buff *skb)
{
	struct iphdr ip;

	if (skb->protocol != bpf_htons(ETH_P_IP) || bpf_skb_load_bytes(skb, ETH_HLEN, &ip, sizeof(ip)))
		return false;
	return ip.protocol == IPPROTO_UDP && bpf_ntohs(ip.tot_len) >> 12 == 1;
}

SEC("tc")
int drop(struct __sk_buff *skb)
{
	__u32 first = 0, second = 1;
	__u32 *every = bpf_map_lookup_elem(&drop_settings, &first);
	__u32 *count = bpf_map_lookup_elem(&drop_settings, &second);

	if (!every || !count || !*every || !of_the_row(skb))
		return TC_ACT_UNSPEC;
	return (__sync_fetch_and_add(count, 1) + 1) % *every ? TC_ACT_UNSPEC : TC_ACT_SHOT;
}

char _license[] SEC("license") = "GPL";
