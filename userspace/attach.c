// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_link.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "userspace/attach.h"

/*
 * What a native driver without multi-buffer support takes: a page less XDP_PACKET_HEADROOM, the skb_shared_info (320)
 * and Ethernet with two VLAN tags (22).
 */
#define PLAIN_MTU (4096 - 256 - 320 - 22)

/* BPF_TCX_EGRESS, which Debian 12's headers do not have. */
#define TCX_EGRESS ((enum bpf_attach_type)47)

/* Marks the clsact filter as ours, so that one left behind by a killed process is found and replaced. */
#define FILTER_HANDLE 0x726f6365 /* "roce" */
#define FILTER_PRIORITY 47910

static bool say(const struct attachment *a, const char *words)
{
	fprintf(stderr, "rocescope: %s: %s\n", a->name, words);
	return false;
}

static bool say_error(const struct attachment *a, const char *what, int error)
{
	fprintf(stderr, "rocescope: %s: %s: %s\n", a->name, what, strerror(error));
	return false;
}

static int get_mtu(const char name[IF_NAMESIZE])
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { 0 };
	int mtu = 0;

	memcpy(request.ifr_name, name, IF_NAMESIZE);
	if (fd >= 0 && !ioctl(fd, SIOCGIFMTU, &request))
		mtu = request.ifr_mtu;
	if (fd >= 0)
		close(fd);
	return mtu;
}

static bool say_held(const struct attachment *a)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);
	struct bpf_prog_info info = { 0 };
	__u32 length = sizeof(info);
	int fd;

	if (!bpf_xdp_query(a->ifindex, 0, &query)) {
		__u32 id = query.prog_id ?: query.drv_prog_id ?: query.skb_prog_id;

		fd = bpf_prog_get_fd_by_id(id);
		if (fd >= 0) {
			bpf_obj_get_info_by_fd(fd, &info, &length);
			close(fd);
		}
		fprintf(stderr, "rocescope: %s: held by another XDP program (%s, id %u): end the program that put it "
			"there, or try `ip link set dev %s xdp off`\n", a->name, info.name[0] ? info.name : "unnamed",
			id, a->name);
		return false;
	}
	return say(a, "held by another XDP program: end the program that put it there");
}

/* 0 or an errno; what is attached by a netlink call and what by a link are refused alike. */
static int link_xdp(struct attachment *a, int program, __u32 flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = flags);

	a->xdp_link = bpf_link_create(program, a->ifindex, BPF_XDP, &options);
	return a->xdp_link < 0 ? errno : 0;
}

static bool is_held(int error)
{
	return error == EBUSY || error == EEXIST;
}

static int attach_native(struct attachment *a, const struct attach_programs *programs)
{
	a->mode = programs->frags ? "native-frags" : "native";
	return link_xdp(a, programs->xdp, XDP_FLAGS_DRV_MODE);
}

static int attach_generic(struct attachment *a, const struct attach_programs *programs)
{
	a->mode = "generic";
	return link_xdp(a, programs->xdp, XDP_FLAGS_SKB_MODE);
}

static bool say_no_native(const struct attachment *a, bool frags, int error)
{
	int mtu = get_mtu(a->name);

	if (error == EOPNOTSUPP && mtu <= PLAIN_MTU)
		return say(a, "this driver has no native XDP: use --mode generic");
	if (mtu > PLAIN_MTU) {
		fprintf(stderr, "rocescope: %s: MTU %d needs multi-buffer XDP, which this %s does not have: lower the MTU "
			"to %d or use --mode generic\n", a->name, mtu, frags ? "driver" : "kernel", PLAIN_MTU);
		return false;
	}
	return say_error(a, "the driver refuses native XDP (--mode generic may do)", error);
}

static bool attach_xdp(struct attachment *a, const struct attach_programs *programs, enum attach_mode mode)
{
	int error = EOPNOTSUPP;

	if (mode != ATTACH_GENERIC)
		error = attach_native(a, programs);
	if (error && !is_held(error)) {
		if (mode == ATTACH_NATIVE)
			return say_no_native(a, programs->frags, error);
		error = attach_generic(a, programs);
	}
	if (is_held(error))
		return say_held(a);
	return !error || say_error(a, "cannot attach the XDP program", error);
}

/* Takes away a filter of ours that an earlier process left behind. */
static void remove_stale_filter(const struct attachment *a)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = a->ifindex, .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, filter, .handle = FILTER_HANDLE, .priority = FILTER_PRIORITY);

	bpf_tc_detach(&hook, &filter);
}

static bool attach_filter(struct attachment *a, int program)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = a->ifindex, .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, filter, .handle = FILTER_HANDLE, .priority = FILTER_PRIORITY, .prog_fd = program);
	int error = -bpf_tc_hook_create(&hook);

	if (error && error != EEXIST)
		return say_error(a, "cannot add the clsact qdisc", error);
	a->qdisc = !error;
	error = -bpf_tc_attach(&hook, &filter);
	if (error)
		return say_error(a, "cannot attach the egress filter", error);
	a->filter = true;
	say(a, "egress by a clsact filter (kernel before 6.6): if this process is killed, the filter stays until the next "
	       "`rocescope monitor` on this interface");
	return true;
}

static bool attach_egress(struct attachment *a, int program)
{
	remove_stale_filter(a);
	if (program < 0)
		return true;
	a->egress_link = bpf_link_create(program, a->ifindex, TCX_EGRESS, NULL);
	return a->egress_link >= 0 || attach_filter(a, program);
}

bool attach_find(struct attachment *a, const char *name)
{
	*a = (struct attachment){ .xdp_link = -1, .egress_link = -1 };
	snprintf(a->name, sizeof(a->name), "%s", name);
	a->ifindex = if_nametoindex(name);
	return a->ifindex || say(a, "no such interface here (`ip link` lists them)");
}

bool attach(struct attachment *a, const struct attach_programs *programs, enum attach_mode mode)
{
	if (attach_xdp(a, programs, mode) && attach_egress(a, programs->egress)) {
		attach_poll(a, 1);
		a->missed = 0;
		return true;
	}
	attach_end(a);
	return false;
}

static void remove_filter(const struct attachment *a)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = a->ifindex, .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);

	remove_stale_filter(a);
	if (a->qdisc)
		bpf_tc_hook_destroy(&hook);
}

void attach_end(struct attachment *a)
{
	if (a->xdp_link >= 0)
		close(a->xdp_link);
	if (a->egress_link >= 0)
		close(a->egress_link);
	if (a->filter || a->qdisc)
		remove_filter(a);
	a->xdp_link = a->egress_link = -1;
	a->filter = a->qdisc = false;
}

static bool poll_one(struct attachment *a, const struct ifaddrs *all)
{
	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		const struct sockaddr_ll *address = (const void *)i->ifa_addr;
		const struct rtnl_link_stats *statistics = i->ifa_data;

		if (!address || address->sll_family != AF_PACKET || address->sll_ifindex != (int)a->ifindex)
			continue;
		if (statistics) {
			a->missed += statistics->rx_missed_errors - a->missed_raw;
			a->missed_raw = statistics->rx_missed_errors;
		}
		return true;
	}
	return false;
}

/* By getifaddrs(), because sysfs may belong to another network namespace than this process. */
size_t attach_poll(struct attachment *list, size_t count)
{
	struct ifaddrs *all;
	size_t left = 0;

	if (getifaddrs(&all))
		return count;
	for (size_t i = 0; i < count; i++) {
		struct attachment *a = &list[i];

		if (!a->gone && !poll_one(a, all)) {
			a->gone = true;
			say(a, "the interface has gone; what it has counted stays");
		}
		left += !a->gone;
	}
	freeifaddrs(all);
	return left;
}
