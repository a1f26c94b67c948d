// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Facts of an interface: rtnetlink, DCB netlink, ethtool, and the XDP features that its driver reports. */
#include <linux/dcbnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "lib/address.h"
#include "lib/ethtool.h"
#include "lib/netdev.h"
#include "lib/netlink.h"
#include "userspace/diagnose/path/path.h"
#include "userspace/observe/host/book.h"
#include "userspace/observe/host/places.h"

/* ---- rtnetlink ---- */

static void take_kind(struct path_facts *f, struct nlattr *a[IFLA_MAX + 1])
{
	struct nlattr *info[IFLA_INFO_MAX + 1];

	if (!a[IFLA_LINKINFO] || nla_parse_nested(info, IFLA_INFO_MAX, a[IFLA_LINKINFO], NULL) || !info[IFLA_INFO_KIND])
		return;
	nla_strlcpy(f->kind, info[IFLA_INFO_KIND], sizeof(f->kind));
	/* without IFLA_LINK_NETNSID the peer is in this namespace */
	if (!strcmp(f->kind, "veth") && a[IFLA_LINK] && !a[IFLA_LINK_NETNSID])
		if_indextoname(netlink_number(a[IFLA_LINK]), f->peer);
}

static void take_xdp(struct path_facts *f, struct nlattr *nested)
{
	struct nlattr *xdp[IFLA_XDP_MAX + 1];

	if (nested && !nla_parse_nested(xdp, IFLA_XDP_MAX, nested, NULL))
		f->xdp_program = netlink_number(xdp[IFLA_XDP_PROG_ID]);
}

static int take_link(struct nl_msg *m, void *context)
{
	const struct ifinfomsg *i = nlmsg_data(nlmsg_hdr(m));
	struct nlattr *a[IFLA_MAX + 1];
	struct rtnl_link_stats64 s = { 0 };
	struct path_facts *f = context;

	if (nlmsg_hdr(m)->nlmsg_type != RTM_NEWLINK || nlmsg_parse(nlmsg_hdr(m), sizeof(*i), a, IFLA_MAX, NULL))
		return NL_OK;
	f->up = i->ifi_flags & IFF_UP;
	f->carrier = a[IFLA_CARRIER] && nla_get_u8(a[IFLA_CARRIER]);
	f->mtu = netlink_number(a[IFLA_MTU]);
	f->mtu_most = netlink_number(a[IFLA_MAX_MTU]);
	if (a[IFLA_ADDRESS])
		nla_memcpy(f->mac, a[IFLA_ADDRESS], sizeof(f->mac));
	take_kind(f, a);
	take_xdp(f, a[IFLA_XDP]);
	if (a[IFLA_STATS64]) {
		nla_memcpy(&s, a[IFLA_STATS64], sizeof(s));
		/* rx_dropped also counts frames of protocols that nobody listens to */
		f->drops = s.rx_missed_errors + s.rx_over_errors + s.rx_fifo_errors;
	}
	return NL_OK;
}

static bool is_link_local(const struct path_peer *peer)
{
	const struct sockaddr_in6 *six = (const void *)&peer->address;

	return peer->address.ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr);
}

static void read_route(struct path_facts *f, struct place_route *to, const struct path_peer *peer)
{
	__u8 address[16];

	address_from_socket(address, (const struct sockaddr *)&peer->address);
	snprintf(f->peer_address, sizeof(f->peer_address), "%s", address_text(address).text);
	if (is_link_local(peer))
		to->leaves_by = f->ifindex;
	else
		places_route(to, address);
	if (to->has_gateway)
		snprintf(f->next_hop, sizeof(f->next_hop), "%s", address_text(to->gateway).text);
	f->leaves_by = to->leaves_by;
}

/*
 * The address of the interface from which packets to the peer leave; else an address, of the peer's family if it has one.
 * Link-local addresses count for a link-local peer only.
 */
static void read_address(struct path_facts *f, const struct places *p, const struct place_route *route, const struct path_peer *peer)
{
	bool prefer_six = peer && peer->address.ss_family == AF_INET6, prefer_local = peer && is_link_local(peer);

	for (size_t i = 0; i < p->address_count; i++) {
		const __u8 *address = p->addresses[i].address;
		bool six = !address_is_ipv4(address), local = six && IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)address);
		bool is_source = route->has_source && !memcmp(address, route->source, sizeof(route->source));

		if (p->addresses[i].interface != f->ifindex || local != prefer_local ||
		    (f->has_address && six != prefer_six && !is_source))
			continue;
		memcpy(f->address, address, sizeof(f->address));
		f->has_address = true;
		if (is_source)
			return;
	}
}

/* The RDMA device on this interface. A VLAN has that of the interface below. */
static void read_rdma(struct path_facts *f, const struct place_route *route, const struct path_peer *peer)
{
	struct rdma *r = rdma_open();
	const struct rdma_host_device *devices = NULL;
	const struct place_link *link;
	struct places places = { 0 };
	size_t count = r ? rdma_devices(r, &devices) : 0;

	places_read(&places, devices, count);
	read_address(f, &places, route, peer);
	link = places_link(&places, f->ifindex);
	for (size_t i = 0; link && i < count && i < 64; i++)
		if (link->devices >> i & 1 && !f->rdma[0]) {
			snprintf(f->rdma, sizeof(f->rdma), "%s", devices[i].name);
			f->rdma_software = devices[i].software;
		}
	places_free(&places);
	rdma_close(r);
}

/* ---- DCB netlink: net/dcb/dcbnl.c ---- */

static int take_dcb(struct nl_msg *m, void *context)
{
	struct nlattr *ieee = nlmsg_find_attr(nlmsg_hdr(m), sizeof(struct dcbmsg), DCB_ATTR_IEEE);
	struct nlattr *a[DCB_ATTR_IEEE_MAX + 1];
	struct ieee_pfc pfc;

	if (!ieee || nla_parse_nested(a, DCB_ATTR_IEEE_MAX, ieee, NULL) || !a[DCB_ATTR_IEEE_PFC] ||
	    nla_memcpy(&pfc, a[DCB_ATTR_IEEE_PFC], sizeof(pfc)) < (int)sizeof(pfc.pfc_cap) + (int)sizeof(pfc.pfc_en))
		return NL_OK;
	*(int *)context = pfc.pfc_en;
	return NL_OK;
}

static void read_pfc(struct path_facts *f)
{
	struct {
		struct dcbmsg dcb;
		struct rtattr attribute;
		char name[IF_NAMESIZE];
	} question = {
		.dcb = { .dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET },
		.attribute = { .rta_len = RTA_LENGTH(sizeof(question.name)), .rta_type = DCB_ATTR_IFNAME },
	};

	memcpy(question.name, f->name, sizeof(question.name));
	netlink_ask(RTM_GETDCB, 0, &question, sizeof(question), take_dcb, &f->pfc);
}

/* ---- ethtool ---- */

/* Sends a query. If the driver does not answer it, the struct's cmd becomes 0. */
#define ASK(f, member, command)                              \
	do {                                                 \
		(f)->member.cmd = command;                   \
		if (!ethtool((f)->name, &(f)->member))       \
			(f)->member.cmd = 0;                 \
	} while (0)

static int ask_flag(const struct path_facts *f, __u32 command, __u32 mask)
{
	struct ethtool_value v = { .cmd = command };

	return ethtool(f->name, &v) ? !!(v.data & mask) : PATH_UNKNOWN;
}

static void read_speed(struct path_facts *f)
{
	struct ethtool_cmd link = { .cmd = ETHTOOL_GSET };
	__u32 mbit;

	if (!ethtool(f->name, &link))
		return;
	mbit = ethtool_cmd_speed(&link);
	if (mbit && mbit != (__u32)SPEED_UNKNOWN)
		f->gbps = mbit / 1000.0;
}

static void read_rss(struct path_facts *f)
{
	struct ethtool_rxnfc rings = { .cmd = ETHTOOL_GRXRINGS };
	struct ethtool_rxnfc hash = { .cmd = ETHTOOL_GRXFH, .flow_type = UDP_V4_FLOW };
	const __u64 ports = RXH_L4_B_0_1 | RXH_L4_B_2_3;

	if (f->has_address && !address_is_ipv4(f->address))
		hash.flow_type = UDP_V6_FLOW;
	if (ethtool(f->name, &rings))
		f->receive_queues = rings.data;
	if (ethtool(f->name, &hash))
		f->rss_udp = (hash.data & ports) == ports;
}

static void take_counter(void *context, const char *name, uint64_t value)
{
	/* the book counts from its first reading on: so from 0 */
	book_add(context, "", name, 0);
	book_add(context, "", name, value);
}

static void read_drops(struct path_facts *f)
{
	const struct host_counter *worst;
	struct book b = { 0 };

	ethtool_statistics(f->name, take_counter, &b);
	book_close(&b);
	worst = book_worst(&b, "", true);
	if (worst && (int64_t)worst->value > f->drops) {
		f->drops = worst->value;
		snprintf(f->drop_name, sizeof(f->drop_name), "%s", worst->name);
	}
	book_free(&b);
}

static void read_ethtool(struct path_facts *f)
{
	struct ethtool_drvinfo info;

	ethtool_driver(f->name, &info);
	snprintf(f->driver, sizeof(f->driver), "%.*s", (int)sizeof(f->driver) - 1, info.driver);
	read_speed(f);
	ASK(f, ring, ETHTOOL_GRINGPARAM);
	ASK(f, coalesce, ETHTOOL_GCOALESCE);
	ASK(f, channels, ETHTOOL_GCHANNELS);
	ASK(f, pause, ETHTOOL_GPAUSEPARAM);
	f->gro = ask_flag(f, ETHTOOL_GGRO, 1);
	f->lro = ask_flag(f, ETHTOOL_GFLAGS, ETH_FLAG_LRO);
	f->rx_checksum = ask_flag(f, ETHTOOL_GRXCSUM, 1);
	read_rss(f);
	read_drops(f);
}

/* ---- all of it ---- */

/* Whether the neighbour to whom packets to the peer are sent does not answer: of this the kernel tells a socket only where lo is up. */
static bool is_next_hop_silent(const struct path_facts *f, const struct place_route *route, const struct path_peer *peer)
{
	struct places places = { 0 };
	bool silent = false;
	__u8 next[16];

	address_from_socket(next, (const struct sockaddr *)&peer->address);
	if (route->has_gateway)
		memcpy(next, route->gateway, sizeof(next));
	places_read(&places, NULL, 0);
	for (size_t i = 0; i < places.silent_count && !silent; i++)
		silent = places.silent[i].interface == f->ifindex && !memcmp(places.silent[i].address, next, sizeof(next));
	places_free(&places);
	return silent;
}

void path_read(struct path_facts *f, const char *interface, const struct path_peer *peer)
{
	struct ifinfomsg link = { .ifi_index = if_nametoindex(interface) };
	struct place_route route = { 0 };

	*f = (struct path_facts){
		.ifindex = link.ifi_index, .drops = PATH_UNKNOWN, .pfc = PATH_UNKNOWN, .receive_queues = PATH_UNKNOWN,
		.rss_udp = PATH_UNKNOWN,
	};
	snprintf(f->name, sizeof(f->name), "%s", interface);
	netlink_ask(RTM_GETLINK, 0, &link, sizeof(link), take_link, f);
	if (peer)
		read_route(f, &route, peer);
	read_rdma(f, &route, peer);
	read_ethtool(f);
	read_pfc(f);
	f->features_known = netdev_features(f->ifindex, &f->features);
	path_read_machine(f);
	if (!peer)
		return;
	f->has_peer = true;
	if (f->up && f->carrier)
		path_probe(&f->probe, interface, peer, f->mtu);
	else
		snprintf(f->probe.why, sizeof(f->probe.why), "the interface is down");
	f->probe.nobody |= !f->probe.answered && is_next_hop_silent(f, &route, peer);
}
