// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <net/ethernet.h>
#include <netinet/in.h>

#include "lib/address.h"
#include "roce/packet/wire.h"
#include "userspace/observe/model/arp.h"
#include "userspace/observe/model/other_frames.h"

#define ARP_LEN 28u
#define ND_LEN 24u /* ICMPv6's header, four bytes, and the target (RFC 4861, 4.3 and 4.4) */

enum { ARP_REQUEST = 1, ARP_ANSWER = 2, SOLICITATION = 135, ADVERTISEMENT = 136 };

static bool find_arp(const __u8 *arp, struct arp_message *m)
{
	*m = (struct arp_message){ .answer = arp[7] == ARP_ANSWER };
	address_from_ipv4(m->from, arp + 14);
	address_from_ipv4(m->target, arp + 24);
	return !memcmp(arp, "\0\1\x08\0\6\4\0", 7) && (m->answer || arp[7] == ARP_REQUEST);
}

static bool find_discovery(const __u8 *ip, struct arp_message *m)
{
	const __u8 *icmp = ip + WIRE_IPV6_LEN;

	*m = (struct arp_message){ .answer = icmp[0] == ADVERTISEMENT, .ipv6 = true };
	memcpy(m->from, ip + 8, 16);
	memcpy(m->to, ip + 24, 16);
	memcpy(m->target, icmp + 8, 16);
	return ip[6] == IPPROTO_ICMPV6 && (m->answer || icmp[0] == SOLICITATION);
}

bool arp_find(const struct observer_frame *f, const struct roce_packet *p, struct arp_message *m)
{
	__u32 at = p->ip_version ? p->l3_offset : other_frame_ethertype_offset(p) + 2;

	if (p->ip_version == 6)
		return at + WIRE_IPV6_LEN + ND_LEN <= f->captured && find_discovery(f->bytes + at, m);
	return !p->ip_version && other_frame_ethertype(f, p) == ETHERTYPE_ARP && at + ARP_LEN <= f->captured &&
	       find_arp(f->bytes + at, m);
}

bool arp_is_probe(const struct arp_message *m)
{
	static const __u8 none[16];

	return !memcmp(m->from + (m->ipv6 ? 0 : 12), none, m->ipv6 ? 16 : 4);
}
