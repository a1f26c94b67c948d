// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "lib/address.h"
#include "lib/netlink.h"
#include "userspace/observe/host/places.h"

/* Collects the kernel's answer. */
struct gathering {
	void *items;
	size_t count, room, size;
};

/* Appends an item, all zero. NULL: no memory. */
static void *add(struct gathering *g)
{
	if (g->count == g->room) {
		size_t larger = g->room ? g->room * 2 : 16;
		void *moved = realloc(g->items, larger * g->size);

		if (!moved)
			return NULL;
		g->items = moved;
		g->room = larger;
	}
	return memset((char *)g->items + g->count++ * g->size, 0, g->size);
}

static bool take_address(__u8 to[16], unsigned int family, const struct nlattr *a)
{
	if (a && family == AF_INET && nla_len(a) == 4)
		address_from_ipv4(to, nla_data(a));
	else if (a && family == AF_INET6 && nla_len(a) == 16)
		memcpy(to, nla_data(a), 16);
	else
		return false;
	return true;
}

/* The interface below. IFLA_LINK alone is not enough: for a veth it is the peer. */
static void take_below(struct place_link *l, struct nlattr *a[IFLA_MAX + 1])
{
	static const char *const stacked[] = { "vlan", "macvlan", "macvtap", "ipvlan" };
	struct nlattr *info[IFLA_INFO_MAX + 1];

	if (!a[IFLA_LINKINFO] || a[IFLA_LINK_NETNSID] || nla_parse_nested(info, IFLA_INFO_MAX, a[IFLA_LINKINFO], NULL) ||
	    !info[IFLA_INFO_KIND])
		return;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(stacked); i++)
		if (!nla_strcmp(info[IFLA_INFO_KIND], stacked[i]))
			l->below = netlink_number(a[IFLA_LINK]);
	l->vlan = l->below && !nla_strcmp(info[IFLA_INFO_KIND], "vlan");
}

/* A frame that is too long counts in rx_length_errors of a NIC, and in rx_dropped of a veth (____dev_forward_skb()). */
static void take_refused(struct place_link *l, const struct nlattr *a)
{
	struct rtnl_link_stats64 s = { 0 };

	if (!a)
		return;
	nla_memcpy(&s, a, sizeof(s));
	l->refused = s.rx_dropped + s.rx_length_errors + s.rx_over_errors;
}

static int take_link(struct nl_msg *m, void *context)
{
	const struct ifinfomsg *i = nlmsg_data(nlmsg_hdr(m));
	struct nlattr *a[IFLA_MAX + 1];
	struct place_link *l;

	if (nlmsg_hdr(m)->nlmsg_type != RTM_NEWLINK || nlmsg_parse(nlmsg_hdr(m), sizeof(*i), a, IFLA_MAX, NULL))
		return NL_OK;
	l = add(context);
	if (!l)
		return NL_OK;
	l->index = i->ifi_index;
	take_below(l, a);
	l->master = netlink_number(a[IFLA_MASTER]);
	l->promiscuous = netlink_number(a[IFLA_PROMISCUITY]) || i->ifi_flags & (IFF_PROMISC | IFF_LOOPBACK);
	l->up = i->ifi_flags & IFF_UP;
	l->carrier = a[IFLA_CARRIER] && nla_get_u8(a[IFLA_CARRIER]);
	l->mtu = netlink_number(a[IFLA_MTU]);
	take_refused(l, a[IFLA_STATS64]);
	if (a[IFLA_IFNAME])
		nla_strlcpy(l->name, a[IFLA_IFNAME], sizeof(l->name));
	if (a[IFLA_ADDRESS] && nla_len(a[IFLA_ADDRESS]) == sizeof(l->mac))
		memcpy(l->mac, nla_data(a[IFLA_ADDRESS]), sizeof(l->mac));
	return NL_OK;
}

static int take_local(struct nl_msg *m, void *context)
{
	const struct ifaddrmsg *i = nlmsg_data(nlmsg_hdr(m));
	struct nlattr *a[IFA_MAX + 1];
	struct place_address *to;
	__u8 address[16];

	if (nlmsg_hdr(m)->nlmsg_type != RTM_NEWADDR || nlmsg_parse(nlmsg_hdr(m), sizeof(*i), a, IFA_MAX, NULL) ||
	    /* on a point-to-point link IFA_ADDRESS is the peer's */
	    !take_address(address, i->ifa_family, a[IFA_LOCAL] ?: a[IFA_ADDRESS]))
		return NL_OK;
	to = add(context);
	if (to) {
		memcpy(to->address, address, sizeof(address));
		to->interface = i->ifa_index;
	}
	return NL_OK;
}

static int take_neighbour(struct nl_msg *m, void *context)
{
	const struct ndmsg *i = nlmsg_data(nlmsg_hdr(m));
	struct nlattr *a[NDA_MAX + 1];
	struct place_silent *to;
	__u8 address[16];

	if (nlmsg_hdr(m)->nlmsg_type != RTM_NEWNEIGH || nlmsg_parse(nlmsg_hdr(m), sizeof(*i), a, NDA_MAX, NULL) ||
	    !(i->ndm_state & (NUD_INCOMPLETE | NUD_FAILED)) || !take_address(address, i->ndm_family, a[NDA_DST]))
		return NL_OK;
	to = add(context);
	if (to) {
		memcpy(to->address, address, sizeof(address));
		to->interface = i->ndm_ifindex;
	}
	return NL_OK;
}

static size_t gather(int type, void *header, size_t header_size, nl_recvmsg_msg_cb_t take, size_t size, void *items)
{
	struct gathering g = { .size = size };

	netlink_ask(type, NLM_F_DUMP, header, header_size, take, &g);
	memcpy(items, &g.items, sizeof(g.items));
	return g.count;
}

static int take_route(struct nl_msg *m, void *context)
{
	const struct rtmsg *i = nlmsg_data(nlmsg_hdr(m));
	struct nlattr *a[RTA_MAX + 1];
	struct place_route *r = context;

	if (nlmsg_parse(nlmsg_hdr(m), sizeof(*i), a, RTA_MAX, NULL))
		return NL_OK;
	r->leaves_by = netlink_number(a[RTA_OIF]);
	r->has_source = take_address(r->source, i->rtm_family, a[RTA_PREFSRC]);
	r->has_gateway = take_address(r->gateway, i->rtm_family, a[RTA_GATEWAY]);
	return NL_OK;
}

void places_route(struct place_route *r, const __u8 to[16])
{
	bool four = address_is_ipv4(to);
	size_t bytes = four ? 4 : 16;
	struct {
		struct rtmsg route;
		struct rtattr attribute;
		__u8 address[16];
	} question = {
		.route = { .rtm_family = four ? AF_INET : AF_INET6, .rtm_dst_len = bytes * 8 },
		.attribute = { .rta_len = RTA_LENGTH(bytes), .rta_type = RTA_DST },
	};

	*r = (struct place_route){ 0 };
	memcpy(question.address, to + sizeof(question.address) - bytes, bytes);
	netlink_ask(RTM_GETROUTE, 0, &question, sizeof(question.route) + RTA_LENGTH(bytes), take_route, r);
}

static int compare_addresses(const void *a, const void *b)
{
	const struct place_address *x = a, *y = b;

	return memcmp(x->address, y->address, sizeof(x->address));
}

const struct place_link *places_link(const struct places *p, unsigned int index)
{
	for (size_t i = 0; i < p->link_count; i++)
		if (index && p->links[i].index == index)
			return &p->links[i];
	return NULL;
}

/* The GID table of a device has the addresses of its interface, of the VLANs on it, and of the bond or bridge above it. */
static void spread_devices(struct places *p)
{
	bool spread = true;

	while (spread) {
		spread = false;
		for (size_t i = 0; i < p->link_count; i++) {
			struct place_link *l = &p->links[i], *master = (struct place_link *)places_link(p, l->master);
			const struct place_link *below = places_link(p, l->below);
			__u64 more = below ? below->devices & ~l->devices : 0;
			__u64 up = master ? l->devices & ~master->devices : 0;

			l->devices |= more;
			if (up)
				master->devices |= up;
			spread |= more || up;
		}
	}
}

static void find_devices(struct places *p, const struct rdma_host_device *devices, size_t count)
{
	for (size_t i = 0; i < p->link_count; i++)
		for (size_t d = 0; d < count && d < 64; d++)
			for (int port = 0; port < RDMA_PORTS; port++)
				if (devices[d].interface[port] == p->links[i].index)
					p->links[i].devices |= 1ull << d;
	spread_devices(p);
	for (size_t i = 0; i < p->address_count; i++) {
		const struct place_link *l = places_link(p, p->addresses[i].interface);

		p->addresses[i].devices = l ? l->devices : 0;
	}
}

void places_read(struct places *p, const struct rdma_host_device *devices, size_t count)
{
	places_free(p);
	p->link_count = gather(RTM_GETLINK, &(struct ifinfomsg){ 0 }, sizeof(struct ifinfomsg), take_link,
			       sizeof(*p->links), &p->links);
	p->address_count = gather(RTM_GETADDR, &(struct ifaddrmsg){ 0 }, sizeof(struct ifaddrmsg), take_local,
				  sizeof(*p->addresses), &p->addresses);
	p->silent_count = gather(RTM_GETNEIGH, &(struct ndmsg){ 0 }, sizeof(struct ndmsg), take_neighbour,
				 sizeof(*p->silent), &p->silent);
	find_devices(p, devices, count);
	if (p->address_count)
		qsort(p->addresses, p->address_count, sizeof(*p->addresses), compare_addresses);
}

void places_free(struct places *p)
{
	free(p->links);
	free(p->addresses);
	free(p->silent);
	*p = (struct places){ 0 };
}

bool places_has(const struct places *p, const __u8 address[16], __u64 *devices)
{
	const struct place_address *found;
	struct place_address key;

	memcpy(key.address, address, sizeof(key.address));
	found = p->address_count ? bsearch(&key, p->addresses, p->address_count, sizeof(key), compare_addresses) : NULL;
	*devices = 0;
	if (!found)
		return false;
	/* several interfaces may have the same link-local address */
	while (found > p->addresses && !compare_addresses(found - 1, &key))
		found--;
	for (; found < p->addresses + p->address_count && !compare_addresses(found, &key); found++)
		*devices |= found->devices;
	return true;
}
