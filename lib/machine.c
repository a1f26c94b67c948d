// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include <netlink/msg.h>

#include "lib/address.h"
#include "lib/machine.h"
#include "lib/netlink.h"

/* the kernel's NUD_VALID: the Ethernet address is known, however old */
#define KNOWN (NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY)

static bool is_link_local(const __u8 address[16])
{
	return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

/* false: its family or its scope differs from that of `to`. */
static bool take_address(const struct sockaddr *from, const __u8 to[16], __u8 address[16])
{
	if (from->sa_family == AF_INET && address_is_ipv4(to)) {
		address_from_ipv4(address, &((const struct sockaddr_in *)from)->sin_addr);
		return true;
	}
	if (from->sa_family == AF_INET6 && !address_is_ipv4(to)) {
		const __u8 *own = ((const struct sockaddr_in6 *)from)->sin6_addr.s6_addr;

		if (is_link_local(own) == is_link_local(to)) {
			memcpy(address, own, 16);
			return true;
		}
	}
	return false;
}

bool machine_address(const char *interface, const __u8 to[16], __u8 address[16])
{
	struct ifaddrs *all;
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (struct ifaddrs *a = all; a && !found; a = a->ifa_next)
		if (a->ifa_addr && !strcmp(a->ifa_name, interface))
			found = take_address(a->ifa_addr, to, address);
	freeifaddrs(all);
	return found;
}

bool machine_mac(const char *interface, __u8 mac[6])
{
	struct ifaddrs *all;
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (struct ifaddrs *a = all; a && !found; a = a->ifa_next) {
		const struct sockaddr_ll *link = (const struct sockaddr_ll *)a->ifa_addr;

		if (!link || link->sll_family != AF_PACKET || link->sll_halen != 6 || strcmp(a->ifa_name, interface))
			continue;
		memcpy(mac, link->sll_addr, 6);
		found = true;
	}
	freeifaddrs(all);
	return found;
}

struct machine_neighbour {
	const __u8 *address;
	__u8 *mac;
	int ifindex;
	bool found;
};

static int take_neighbour(struct nl_msg *msg, void *context)
{
	const struct ndmsg *entry = nlmsg_data(nlmsg_hdr(msg));
	struct nlattr *ip = nlmsg_find_attr(nlmsg_hdr(msg), sizeof(*entry), NDA_DST);
	struct nlattr *mac = nlmsg_find_attr(nlmsg_hdr(msg), sizeof(*entry), NDA_LLADDR);
	struct machine_neighbour *n = context;
	const __u8 *wanted = n->address;
	int bytes = 16;

	if (address_is_ipv4(wanted)) {
		wanted += sizeof(address_ipv4_prefix);
		bytes = 4;
	}
	if (entry->ndm_ifindex != n->ifindex || !(entry->ndm_state & KNOWN) || !ip || nla_len(ip) != bytes ||
	    memcmp(nla_data(ip), wanted, bytes) || !mac || nla_len(mac) != 6)
		return NL_OK;
	memcpy(n->mac, nla_data(mac), 6);
	n->found = true;
	return NL_OK;
}

bool machine_neighbour(const char *interface, const __u8 address[16], __u8 mac[6])
{
	struct ndmsg all = { .ndm_family = address_is_ipv4(address) ? AF_INET : AF_INET6 };
	struct machine_neighbour n = { .address = address, .mac = mac, .ifindex = if_nametoindex(interface) };

	return netlink_ask(RTM_GETNEIGH, NLM_F_DUMP, &all, sizeof(all), take_neighbour, &n) && n.found;
}
