// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_link.h>
#include <net/if_arp.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/cause.h"
#include "lib/complain.h"
#include "lib/interfaces.h"
#include "lib/shell.h"
#include "userspace/observe/live/attach.h"
#include "userspace/observe/live/clsact.h"
#include "userspace/observe/live/kernel.h"
#include "userspace/observe/live/pin.h"
#include "userspace/observe/live/program_kind.h"

/* BPF_TCX_EGRESS, which Debian 12's headers lack. */
#define TCX_EGRESS ((enum bpf_attach_type)47)

#define DISPATCHER "xdp_dispatcher" /* libxdp's */

/* Its value is false. format: a literal. */
#define say(a, format, ...) ({ (a)->hushed ? false : complain("%s: " format, (a)->name, ##__VA_ARGS__); })

static bool say_error(const struct attachment *a, const char *what, int error)
{
	return say(a, "%s: %s", what, cause_of_interface(error).text);
}

/* 0: not known. */
static int get_mtu(const char name[IF_NAMESIZE])
{
	struct ifreq request = { 0 };

	return interface_ask(name, SIOCGIFMTU, &request) ? request.ifr_mtu : 0;
}

/* The engine parses Ethernet. Frames of a tun begin with IP, so all would count as `other_frames`. */
static void warn_of_link(const struct attachment *a)
{
	struct ifreq request = { 0 };
	unsigned short type = interface_ask(a->name, SIOCGIFHWADDR, &request) ? request.ifr_hwaddr.sa_family : 0;

	if (type != ARPHRD_ETHER && type != ARPHRD_LOOPBACK)
		say(a, "its frames have no Ethernet header: no RoCE is found in them; watch the interface that carries them");
}

/* Whether the program is attached by a bpf_link, which `ip link set dev IFACE xdp off` cannot detach. false if unknown. */
static bool is_linked(unsigned int ifindex)
{
	struct bpf_link_info info;
	bool linked = false;
	__u32 id = 0;

	while (!linked && !bpf_link_get_next_id(id, &id)) {
		__u32 length = sizeof(info);
		int fd = bpf_link_get_fd_by_id(id);

		memset(&info, 0, sizeof(info));
		linked = fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &length) && info.type == BPF_LINK_TYPE_XDP &&
			 info.xdp.ifindex == ifindex;
		if (fd >= 0)
			close(fd);
	}
	return linked;
}

/* Whether both could share the interface. */
static bool can_share(const char *program, const struct attach_programs *ours)
{
	return !program_kind_is_alone(program) && !program_kind_is_alone(bpf_program__name(ours->xdp));
}

/*
 * program: "" where nobody tells its name. The kernel tells names and links of programs to CAP_SYS_ADMIN only, which watchers have
 * given up (live_restrict()) when an interface comes back, and which the service never has.
 */
static bool say_holder(const struct attachment *a, const char *program, __u32 id, bool share)
{
	pid_t holder = kernel_program_holder(id);
	char name[16] = "", which[48];

	snprintf(which, sizeof(which), "%s%sid %u", program, *program ? ", " : "", id);
	if (holder)
		kernel_process_name(holder, name);
	if (!strcmp(name, "rocescope"))
		return say(a, "held by rocescope (process %d): end it%s", holder, share ? ", or start both with --share" : "");
	if (holder)
		return say(a, "held by another XDP program (%s) of %s (process %d): end it%s", which, name, holder,
			   share ? ", or see --share" : "");
	if (!*program)
		return say(a, "held by another XDP program (%s): end the program that put it there; `bpftool prog show id %u`, as "
			   "root, tells its name", which, id);
	if (is_linked(a->ifindex))
		return say(a,
			   "held by another XDP program (%s), by a bpf_link of a process that cannot be seen here, or "
			   "one that is pinned: `bpftool link` lists it",
			   which);
	return say(a, "held by another XDP program (%s): end the program that put it there, or try "
		   "`ip link set dev %s xdp off`", which, shell_name(a->name).text);
}

static bool say_pinned(const struct attachment *a, const char *name, const char *by)
{
	struct shell_word pin = shell_word(name);

	return say(a, "held by what is pinned as %s: go on with `rocescope %s %s --pin %s` (and whatever other interfaces it has), or end "
		   "it with `rocescope %s --unpin %s`", name, by, shell_name(a->name).text, pin.text, by, pin.text);
}

static bool say_held(const struct attachment *a, const struct attach_programs *programs)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);
	struct bpf_prog_info info = { 0 };
	__u32 length = sizeof(info), id;
	char name[NAME_MAX + 1], by[PIN_COMMAND];
	int fd;

	if (pin_find(a->name, name) && pin_begun_by(name, by))
		return say_pinned(a, name, by);
	if (bpf_xdp_query(a->ifindex, 0, &query))
		return say(a, "held by another XDP program: end the program that put it there");
	id = query.prog_id ?: query.drv_prog_id ?: query.skb_prog_id;
	fd = bpf_prog_get_fd_by_id(id);
	if (fd >= 0) {
		bpf_obj_get_info_by_fd(fd, &info, &length);
		close(fd);
	}
	if (!strcmp(info.name, DISPATCHER) && can_share("", programs))
		return say(a, "held by another XDP program (%s, id %u): it shares: use --share, or `rocescope monitor "
			   "--detach %s` if a killed rocescope left it there", info.name, id, shell_name(a->name).text);
	return say_holder(a, info.name, id, can_share(info.name, programs));
}

/*
 * Returns 0, an errno or SHARE_WHY. The kernel refuses a link beside a program attached by netlink, and beside another link, in
 * the same way.
 */
static int link_xdp(struct attachment *a, const struct attach_programs *programs, __u32 flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = flags);
	int error;

	if (!programs->share) {
		a->xdp_link = bpf_link_create(bpf_program__fd(programs->xdp), a->ifindex, BPF_XDP, &options);
		return a->xdp_link < 0 ? errno : 0;
	}
	error = share_attach(programs->share, a->name, a->ifindex, flags & XDP_FLAGS_SKB_MODE);
	a->share = error ? NULL : programs->share;
	return error;
}

static bool is_held(int error)
{
	return error == EBUSY || error == EEXIST;
}

static int attach_native(struct attachment *a, const struct attach_programs *programs)
{
	int error = link_xdp(a, programs, XDP_FLAGS_DRV_MODE);

	a->mode = programs->frags && (!a->share || share_has_frags(a->ifindex)) ? "native-frags" : "native";
	return error;
}

static int attach_generic(struct attachment *a, const struct attach_programs *programs)
{
	a->mode = "generic";
	return link_xdp(a, programs, XDP_FLAGS_SKB_MODE);
}

static bool say_no_native(const struct attachment *a, const struct attach_programs *programs, int error)
{
	int mtu = get_mtu(a->name);

	if (error == EOPNOTSUPP && programs->share)
		return say(a,
			   "the driver has no native XDP, or what shares it is attached in generic mode: use --mode generic");
	if (error == EOPNOTSUPP && mtu <= ATTACH_PLAIN_MTU)
		return say(a, "this driver has no native XDP: use --mode generic");
	if (mtu > ATTACH_PLAIN_MTU)
		return say(a, "MTU %d needs multi-buffer XDP, which this %s does not have: lower the MTU to %d or use --mode "
			   "generic", mtu, programs->frags ? "driver" : "kernel", ATTACH_PLAIN_MTU);
	return say_error(a, "the driver refuses native XDP (--mode generic may do)", error);
}

/* ---- pinned links ---- */

/* The interface to which a link is attached, 0: none any more. */
static unsigned int link_ifindex(int link)
{
	struct bpf_link_info info = { 0 };
	__u32 length = sizeof(info);

	if (bpf_obj_get_info_by_fd(link, &info, &length))
		return 0;
	return info.xdp.ifindex; /* of tcx, the field has the same offset */
}

/* Takes over a pinned link of this interface, with our program. -1: there is none now. */
static int take_over(const struct attachment *a, const char *kind, int program, bool fits)
{
	char path[PATH_MAX];
	int link;

	pin_link_path(a->pin, kind, a->name, path);
	link = bpf_obj_get(path);
	if (link < 0)
		return -1;
	if (fits && link_ifindex(link) == a->ifindex && !bpf_link_update(link, program, NULL))
		return link;
	close(link);
	pin_release(path);
	return -1;
}

static bool pin_link(const struct attachment *a, const char *kind, int link)
{
	char path[PATH_MAX];

	if (!a->pin)
		return true;
	pin_link_path(a->pin, kind, a->name, path);
	return !bpf_obj_pin(link, path) || say_error(a, "its link cannot be pinned", errno);
}

/* The mode of the attached XDP program. */
static enum attach_mode mode_now(const struct attachment *a)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);

	if (bpf_xdp_query(a->ifindex, 0, &query))
		return ATTACH_AUTO;
	return query.attach_mode == XDP_ATTACHED_SKB ? ATTACH_GENERIC : ATTACH_NATIVE;
}

static bool take_over_xdp(struct attachment *a, const struct attach_programs *programs, enum attach_mode mode)
{
	enum attach_mode now = mode_now(a);

	a->xdp_link = take_over(a, "xdp", bpf_program__fd(programs->xdp), mode == ATTACH_AUTO || mode == now);
	a->mode = now == ATTACH_GENERIC ? "generic" : programs->frags ? "native-frags" : "native";
	return a->xdp_link >= 0;
}

/* ---- XDP ---- */

static bool attach_xdp(struct attachment *a, const struct attach_programs *programs, enum attach_mode mode)
{
	int error = EOPNOTSUPP;

	if (a->pin && take_over_xdp(a, programs, mode))
		return true;
	if (mode != ATTACH_GENERIC)
		error = attach_native(a, programs);
	if (error && error != SHARE_WHY && !is_held(error)) {
		if (mode == ATTACH_NATIVE)
			return say_no_native(a, programs, error);
		error = attach_generic(a, programs);
	}
	if (error == SHARE_WHY)
		return say(a, "%s", share_why(programs->share));
	if (is_held(error))
		return say_held(a, programs);
	return error ? say_error(a, "cannot attach the XDP program", error) : a->share || pin_link(a, "xdp", a->xdp_link);
}

/* ---- egress ---- */

/* Replaces a filter that an earlier process left. */
static bool attach_filter(struct attachment *a, int program)
{
	int error = clsact_add(a->ifindex);

	if (error && error != EEXIST)
		return say_error(a, "cannot add the clsact qdisc", error);
	a->qdisc |= !error;
	error = clsact_attach(a->ifindex, program);
	if (error)
		return say_error(a, "cannot attach the egress filter", error);
	a->filter = true;
	if (!a->pin)
		say(a, "egress by a clsact filter (kernel before 6.6): if this process is killed, the filter stays until the "
		       "next `rocescope monitor` on this interface, or `rocescope monitor --detach %s`",
		    shell_name(a->name).text);
	return true;
}

/* Attaches egress if wanted. A filter left by an earlier process is replaced or else removed. */
static bool attach_egress(struct attachment *a, const struct bpf_program *wanted)
{
	int program = wanted ? bpf_program__fd(wanted) : -1;

	if (a->pin)
		a->egress_link = take_over(a, "egress", program, program >= 0);
	if (a->egress_link >= 0)
		return true;
	if (program >= 0)
		a->egress_link = bpf_link_create(program, a->ifindex, TCX_EGRESS, NULL);
	if (a->share && a->egress_link < 0 && clsact_is_anothers(a->ifindex))
		return program < 0 ||
		       say(a, "what leaves is watched by another rocescope: before kernel 6.6 there is room for one");
	if (program >= 0 && a->egress_link < 0)
		return attach_filter(a, program);
	clsact_remove(a->ifindex, false);
	return program < 0 || pin_link(a, "egress", a->egress_link);
}

/* ---- an interface ---- */

bool attach_find(struct attachment *a, const char *name)
{
	*a = (struct attachment){ .asked = name, .xdp_link = -1, .egress_link = -1, .mode = "away" };
	snprintf(a->name, sizeof(a->name), "%s", name);
	a->ifindex = if_nametoindex(name);
	a->gone = !a->ifindex;
	return a->ifindex;
}

void attach_say_missing(const struct attachment *a)
{
	say(a, "no such interface here (`ip link` lists them)");
}

/* Frames that were missed before now are not reported. */
static void begin_missed(struct attachment *a)
{
	__u64 missed = a->missed;

	attach_poll(a, 1);
	a->missed = missed;
}

bool attach(struct attachment *a, const struct attach_programs *programs, enum attach_mode mode)
{
	if (attach_xdp(a, programs, mode) && attach_egress(a, programs->egress)) {
		warn_of_link(a);
		if (!a->missed_known)
			begin_missed(a);
		a->missed_known = true;
		return true;
	}
	attach_end(a, true);
	return false;
}

static void release(const struct attachment *a, const char *kind)
{
	char path[PATH_MAX];

	pin_link_path(a->pin, kind, a->name, path);
	pin_release(path);
}

void attach_end(struct attachment *a, bool keep)
{
	keep = keep && a->pin;
	if (a->xdp_link >= 0)
		close(a->xdp_link);
	if (a->share)
		share_detach(a->share, a->ifindex);
	a->share = NULL;
	if (a->egress_link >= 0)
		close(a->egress_link);
	a->xdp_link = a->egress_link = -1;
	if (keep)
		return;
	if (a->pin) {
		release(a, "xdp");
		release(a, "egress");
	}
	if (a->filter || a->qdisc)
		clsact_remove(a->ifindex, a->qdisc);
	a->filter = a->qdisc = false;
}

bool attach_clear(const struct attachment *a)
{
	char name[NAME_MAX + 1], by[PIN_COMMAND];
	int programs;
	bool filter;

	if (pin_find(a->name, name) && pin_begun_by(name, by)) {
		say(a, "held by what is pinned as %s: `rocescope %s --unpin %s` ends that", name, by, shell_word(name).text);
		return true;
	}
	programs = share_clear(a->name, a->ifindex, true);
	filter = clsact_program(a->ifindex) && !clsact_is_anothers(a->ifindex);
	if (filter)
		clsact_remove(a->ifindex, false);
	if (programs > 0)
		say(a, "%d XDP program%s taken away", programs, programs > 1 ? "s" : "");
	if (filter)
		say(a, "the egress filter is taken away");
	if (!programs && !filter)
		say(a, "no killed rocescope has left anything there");
	return programs >= 0;
}

/* The interface of an AF_PACKET entry, or of an entry without address (tun has no MAC): one per interface. 0: another entry. */
static unsigned int entry_ifindex(const struct ifaddrs *i)
{
	const struct sockaddr_ll *address = (const void *)i->ifa_addr;

	if (!address)
		return if_nametoindex(i->ifa_name);
	return address->sll_family == AF_PACKET ? address->sll_ifindex : 0;
}

/* An interface that is up can be renamed (Linux 6.2). What is pinned goes by the name. */
static void take_name(struct attachment *a, const char *name)
{
	if (!strcmp(name, a->name))
		return;
	say(a, "it is called %s now", name);
	if (a->pin)
		pin_rename(a->pin, a->name, name);
	snprintf(a->name, sizeof(a->name), "%s", name);
}

static bool poll_one(struct attachment *a, const struct ifaddrs *all)
{
	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		const struct rtnl_link_stats *statistics = i->ifa_data;

		if (entry_ifindex(i) != a->ifindex)
			continue;
		take_name(a, i->ifa_name);
		if (statistics) {
			a->missed += statistics->rx_missed_errors - a->missed_raw;
			a->missed_raw = statistics->rx_missed_errors;
		}
		return true;
	}
	return false;
}

/* Checks the attachment, because the index may belong to another interface by now. */
static bool is_attached(const struct attachment *a)
{
	if (a->share)
		return share_is_attached(a->share, a->ifindex);
	return a->xdp_link < 0 || link_ifindex(a->xdp_link) == a->ifindex;
}

/* Uses getifaddrs(), because sysfs may show another network namespace. */
size_t attach_poll(struct attachment *list, size_t count)
{
	struct ifaddrs *all;
	size_t left = 0;

	if (getifaddrs(&all))
		return count;
	for (size_t i = 0; i < count; i++) {
		struct attachment *a = &list[i];

		if (!a->gone && (!poll_one(a, all) || !is_attached(a))) {
			a->gone = true;
			say(a, "%s; what it has counted stays", a->share && if_nametoindex(a->name) == a->ifindex ?
			    "our program was taken off the interface" : "the interface has gone");
		}
		left += !a->gone;
	}
	freeifaddrs(all);
	return left;
}

/* Attaches an interface that came back. If it only was in another network namespace, it still has its links. */
static bool attach_again(struct attachment *a, const struct attach_programs *programs, enum attach_mode mode)
{
	unsigned int ifindex = if_nametoindex(a->asked);

	if (!ifindex)
		return a->hushed = false;
	snprintf(a->name, sizeof(a->name), "%s", a->asked);
	if (a->xdp_link >= 0 && link_ifindex(a->xdp_link) == ifindex) {
		a->ifindex = ifindex;
	} else {
		attach_end(a, false);
		a->ifindex = ifindex;
		a->missed_known = false;
		if (!attach(a, programs, mode)) {
			a->hushed = true;
			return false;
		}
	}
	a->gone = a->hushed = false;
	say(a, "there now (%s)", a->mode);
	return true;
}

size_t attach_returned(struct attachment *list, size_t count, const struct attach_programs *programs, enum attach_mode mode)
{
	size_t back = 0;

	for (size_t i = 0; i < count; i++)
		back += list[i].gone && attach_again(&list[i], programs, mode);
	return back;
}
