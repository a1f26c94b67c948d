// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>

#include "lib/cause.h"
#include "lib/clock.h"
#include "lib/ethtool.h"
#include "lib/interfaces.h"
#include "lib/netdev.h"
#include "lib/netlink.h"
#include "lib/shell.h"

/* include/uapi/linux/netdev.h */
enum { NETDEV_CMD_DEV_GET = 1 };
enum { NETDEV_A_DEV_IFINDEX = 1, NETDEV_A_DEV_XDP_FEATURES = 3 };

#define VLAN_BYTES 4

struct netdev_answer {
	uint64_t features;
	bool came;
};

static int take_features(struct nl_msg *msg, void *context)
{
	struct nlattr *found = nlmsg_find_attr(nlmsg_hdr(msg), GENL_HDRLEN, NETDEV_A_DEV_XDP_FEATURES);
	struct netdev_answer *a = context;

	if (found) {
		a->features = nla_get_u64(found);
		a->came = true;
	}
	return NL_OK;
}

static bool ask_features(struct nl_sock *socket, int family, unsigned int ifindex)
{
	struct nl_msg *msg = nlmsg_alloc();
	bool sent = msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, 0, NETDEV_CMD_DEV_GET, 1) &&
		    !nla_put_u32(msg, NETDEV_A_DEV_IFINDEX, ifindex) && nl_send_auto(socket, msg) >= 0;

	nlmsg_free(msg);
	return sent && nl_recvmsgs_default(socket) >= 0;
}

bool netdev_features(unsigned int ifindex, uint64_t *features)
{
	struct nl_sock *socket = nl_socket_alloc();
	struct netdev_answer a = { 0 };
	int family;

	if (!socket)
		return false;
	nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, take_features, &a);
	if (!genl_connect(socket)) {
		family = genl_ctrl_resolve(socket, "netdev");
		a.came = family >= 0 && ask_features(socket, family, ifindex) && a.came;
	}
	nl_socket_free(socket);
	*features = a.features;
	return a.came;
}

unsigned int netdev_ready(const char *name, uint32_t frame_bytes, bool tagged, char *reason, size_t size)
{
	uint32_t ethernet = ETH_HLEN + (tagged ? VLAN_BYTES : 0);
	unsigned int ifindex = if_nametoindex(name);
	struct ifreq flags = { 0 }, mtu = { 0 };

	if (!ifindex && errno == ENODEV) {
		snprintf(reason, size, "%s: no such interface", name);
	} else if (!interface_ask(name, SIOCGIFFLAGS, &flags) || !interface_ask(name, SIOCGIFMTU, &mtu)) {
		snprintf(reason, size, "%s: cannot be asked: %s", name, cause(errno).text);
		ifindex = 0;
	} else if (!(flags.ifr_flags & IFF_UP)) {
		snprintf(reason, size, "%s: is down: `ip link set dev %s up`", name, shell_name(name).text);
		ifindex = 0;
	} else if (frame_bytes > mtu.ifr_mtu + ethernet) {
		snprintf(reason, size, "%s: its MTU of %d is too small for frames of %u bytes: `ip link set dev %s mtu %u`",
			 name, mtu.ifr_mtu, frame_bytes, shell_name(name).text, frame_bytes - ethernet);
		ifindex = 0;
	}
	return ifindex;
}

/* rtnl_link_stats64: calls the driver's ndo_get_stats64 once per reading. The files in sysfs call it once per counter. */
static int take_statistics(struct nl_msg *msg, void *context)
{
	struct nlattr *found = nlmsg_find_attr(nlmsg_hdr(msg), sizeof(struct ifinfomsg), IFLA_STATS64);

	if (found)
		nla_memcpy(context, found, sizeof(struct rtnl_link_stats64));
	return NL_OK;
}

static bool link_statistics(unsigned int ifindex, struct rtnl_link_stats64 *s)
{
	struct ifinfomsg link = { .ifi_index = ifindex };

	return netlink_ask(RTM_GETLINK, 0, &link, sizeof(link), take_statistics, s);
}

/*
 * Whether the driver's counter counts redirected frames that did not leave: veth's tx_queue_0_xdp_xmit_errors, mlx5's
 * tx_xdp_err and tx_xdp_full, virtio_net's tx0_xdp_tx_drops, ...
 */
static bool of_lost_redirects(const char *name)
{
	return strstr(name, "xdp") && (strstr(name, "tx") || strstr(name, "xmit")) &&
	       (strstr(name, "err") || strstr(name, "drop") || strstr(name, "full"));
}

static bool is_veth(const struct ethtool_drvinfo *info)
{
	return !strcmp(info->driver, "veth");
}

bool netdev_is_veth(unsigned int ifindex)
{
	struct ethtool_drvinfo info = { 0 };
	char name[IF_NAMESIZE];

	if (if_indextoname(ifindex, name))
		ethtool_driver(name, &info);
	return is_veth(&info);
}

static void add_lost_redirect(void *context, const char *name, uint64_t value)
{
	uint64_t *sum = context;

	*sum += of_lost_redirects(name) ? value : 0;
}

uint64_t netdev_lost_redirects(const char *name)
{
	uint64_t lost = 0;

	ethtool_statistics(name, add_lost_redirect, &lost);
	return lost;
}

bool netdev_counters(unsigned int ifindex, struct netdev_counters *c)
{
	struct rtnl_link_stats64 s = { 0 };
	struct ethtool_drvinfo info = { 0 };
	uint64_t lost_redirects = 0;
	char name[IF_NAMESIZE];

	if (!link_statistics(ifindex, &s))
		return false;
	if (if_indextoname(ifindex, name)) {
		ethtool_driver(name, &info);
		lost_redirects = netdev_lost_redirects(name);
	}
	c->sent = s.tx_packets;
	c->sent_exact = is_veth(&info);
	c->dropped = MAX(s.tx_dropped, lost_redirects);
	c->errors = MAX(s.tx_errors, s.tx_carrier_errors + s.tx_aborted_errors + s.tx_fifo_errors + s.tx_heartbeat_errors +
					     s.tx_window_errors);
	return true;
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

bool netdev_lost(unsigned int ifindex, const struct netdev_counters *before, uint64_t left, uint64_t retried, uint64_t *lost)
{
	uint64_t end = now_ns() + NSEC_PER_SEC, missing, counted;
	struct netdev_counters after;

	do {
		if (!netdev_counters(ifindex, &after))
			return false;
		counted = above(after.dropped - before->dropped, retried) + after.errors - before->errors;
		missing = after.sent_exact ? above(left, after.sent - before->sent) : 0;
		if (missing > counted)
			sleep_until_ns(now_ns() + 10 * NSEC_PER_MSEC);
	} while (missing > counted && now_ns() < end);
	*lost = MAX(counted, missing);
	return true;
}
