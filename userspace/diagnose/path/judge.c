// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What follows from the facts: one function a check, in the order of userspace/diagnose/path/check.def. docs/path.md has the reasons. */
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/param.h>

#include "lib/address.h"
#include "lib/clock.h"
#include "lib/netdev.h"
#include "lib/shell.h"
#include "lib/shown.h"
#include "userspace/diagnose/path/path.h"
#include "userspace/observe/live/attach.h"

/*
 * How long packets have to wait while the program that reads them does not run: a program that shares its CPU waits until the
 * scheduler's next tick, 4 ms at HZ=250.
 */
#define HOLD_S 4e-3
#define GBPS_LEAST 1.0		  /* of a link whose driver tells no speed */
#define BUFFER_MOST (1ll << 30)	  /* SO_RCVBUF is an int, and the kernel doubles it */
#define BUFFER_STEP (64ll << 10)
#define IPV6_MTU_LEAST 1280	  /* below it the kernel takes IPv6 from the interface, with its addresses (RFC 8200, 5) */
#define BUDGET_DEFAULT 300	  /* net/core/dev.c */
#define CPUS_NAMED 32		  /* of those that a command names */
#define MTU_WANTED 4200		  /* PATH_MTU_NEEDED, and a round number */

/* ---- results ---- */

__attribute__((format(printf, 4, 5))) static struct path_result *add(struct path_report *r, enum path_check check,
								      enum path_state state, const char *format, ...)
{
	struct path_result *to = &r->results[r->count++];
	va_list arguments;

	*to = (struct path_result){ .check = check, .state = state, .severity = path_check_severity(check) };
	va_start(arguments, format);
	vsnprintf(to->found, sizeof(to->found), format, arguments);
	va_end(arguments);
	shown(to->found);
	return to;
}

#define GOOD(name, ...) add(r, PATH_CHECK_##name, PATH_GOOD, __VA_ARGS__)
#define UNKNOWN(name, ...) add(r, PATH_CHECK_##name, PATH_NOT_KNOWN, __VA_ARGS__)
#define FINDING(name, ...) add(r, PATH_CHECK_##name, PATH_FINDING, __VA_ARGS__)
#define IFACE shell_name(f->name).text /* in a command */
#define DRIVER_SILENT "the driver does not tell"
#define AT_LEAST " at 1 Gbit/s (the driver tells no speed)" /* GBPS_LEAST */

__attribute__((format(printf, 2, 3))) static void mend_by(struct path_result *to, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(to->command, sizeof(to->command), format, arguments);
	va_end(arguments);
}

/* The change mends it, by --fix or by hand. */
__attribute__((format(printf, 4, 5))) static void change(struct path_result *to, enum change_kind kind, const char *what,
							  const char *format, ...)
{
	va_list arguments;

	to->change.kind = kind;
	snprintf(to->change.what, sizeof(to->change.what), "%s", what);
	if (kind != CHANGE_SYSCTL)
		to->change.ifindex = if_nametoindex(what);
	va_start(arguments, format);
	vsnprintf(to->change.after, sizeof(to->change.after), format, arguments);
	va_end(arguments);
	change_command(&to->change, to->command, sizeof(to->command));
}

static bool is_virtual(const struct path_facts *f)
{
	return f->kind[0];
}

/* ---- link and MTU ---- */

static void judge_link(struct path_report *r, const struct path_facts *f)
{
	struct path_result *to;

	if (!f->up)
		mend_by(FINDING(link, "%s is down", f->name), "ip link set dev %s up", IFACE);
	else if (!f->carrier)
		mend_by(FINDING(link, "%s has no carrier: the cable, or the other end", f->name), "ethtool %s", IFACE);
	else
		GOOD(link, "%s is up", f->name);
	if (f->has_address)
		GOOD(address, "%s", address_text(f->address).text);
	else
		mend_by(FINDING(address, "%s has no address", f->name), "ip address add ADDRESS/LENGTH dev %s", IFACE);
	if (!f->has_peer)
		return;
	if (!f->leaves_by) {
		to = FINDING(route, "there is no route to %s", f->peer_address);
		to->severity = PATH_WILL_LOSE;
		mend_by(to, "ip route add %s via ROUTER dev %s", f->peer_address, IFACE);
	} else if (f->leaves_by != f->ifindex) {
		mend_by(FINDING(route, "packets to %s leave by another interface", f->peer_address), "ip route get %s",
			f->peer_address);
	} else {
		GOOD(route, "packets to %s leave by %s", f->peer_address, f->name);
	}
}

static void judge_peer(struct path_report *r, const struct path_facts *f)
{
	const char *next = f->next_hop[0] ? f->next_hop : f->peer_address;
	const struct path_probe *p = &f->probe;

	if (!f->has_peer)
		return;
	if (p->answered)
		GOOD(peer, "%s answers pings", f->peer_address);
	else if (!p->nobody)
		UNKNOWN(peer, "%s", p->why);
	else if (p->teller[0])
		mend_by(FINDING(peer, "nobody is at %s: says the router %s", f->peer_address, p->teller), "tracepath %s",
			f->peer_address);
	else
		mend_by(FINDING(peer, "nobody is at %s: %s does not answer %s on %s", f->peer_address,
				f->next_hop[0] ? next : "it", strchr(next, ':') ? "neighbour discovery" : "ARP", f->name),
			"ip neigh replace %s lladdr MAC dev %s", next, IFACE);
}

unsigned int path_roce_mtu(unsigned int mtu)
{
	unsigned int path_mtu = 4096;

	while (path_mtu >= 256 && path_mtu + PATH_MTU_NEEDED - 4096 > mtu)
		path_mtu /= 2;
	return path_mtu >= 256 ? path_mtu : 0;
}

/* Whether a larger MTU costs native XDP. */
static bool lacks_frags(const struct path_facts *f)
{
	return f->features_known && f->features & NETDEV_BASIC && !(f->features & NETDEV_RX_SG);
}

static void judge_mtu(struct path_report *r, const struct path_facts *f)
{
	unsigned int roce = path_roce_mtu(f->mtu);
	struct path_result *to;

	if (f->mtu >= PATH_MTU_NEEDED) {
		GOOD(mtu, "MTU %u: RoCE path MTU 4096", f->mtu);
		return;
	}
	if (f->mtu_most && f->mtu_most < PATH_MTU_NEEDED) {
		FINDING(mtu, "MTU %u: RoCE path MTU %u instead of 4096; the driver's largest MTU is %u", f->mtu, roce,
			f->mtu_most);
		return;
	}
	if (lacks_frags(f)) {
		FINDING(mtu, "MTU %u: RoCE path MTU %u instead of 4096, for which this driver has generic XDP only", f->mtu,
			roce);
		return;
	}
	to = FINDING(mtu, "MTU %u: RoCE path MTU %u instead of 4096", f->mtu, roce);
	if (f->probe.known && !f->probe.fails && (f->mtu_ipv6 < 0 || f->mtu_ipv6 == f->mtu))
		change(to, CHANGE_MTU, f->name, "%u", MTU_WANTED);
	else if (!f->probe.fails) /* else judge_path() says what to do first */
		mend_by(to, "ip link set dev %s mtu %u", IFACE, MTU_WANTED);
}

static void judge_path(struct path_report *r, const struct path_facts *f)
{
	const char *advice = f->probe.passes < IPV6_MTU_LEAST ? "; mend the MTU at the peer or at the switch" : "";
	const struct path_probe *p = &f->probe;
	struct path_result *to;

	if (!f->has_peer || !p->known) {
		UNKNOWN(path_mtu, "%s", f->has_peer ? p->why : "give PEER to have it probed");
		return;
	}
	if (!p->fails) {
		GOOD(path_mtu, "packets of %u bytes pass to %s", p->passes, f->peer_address);
		return;
	}
	if (p->told)
		to = FINDING(path_mtu, "packets to %s of %u bytes do not pass (says %s), those of %u do; MTU here %u%s",
			     f->peer_address, p->fails, p->teller[0] ? p->teller : "a router", p->passes, f->mtu, advice);
	else
		to = FINDING(black_hole, "packets to %s of %u bytes vanish, those of %u pass; MTU here %u%s", f->peer_address,
			     p->fails, p->passes, f->mtu, advice);
	if (path_roce_mtu(f->mtu) + PATH_MTU_NEEDED - 4096 <= p->passes)
		to->severity = PATH_MAY_LOSE; /* RoCE has no packets that large; others have */
	/* not by --fix: others on the link would lose what is larger */
	if (!advice[0])
		mend_by(to, "ip link set dev %s mtu %u", IFACE, p->passes);
}

/* ---- the NIC ---- */

static void judge_pause(struct path_report *r, const struct path_facts *f)
{
	bool told = f->pause.cmd, pause = told && f->pause.rx_pause && f->pause.tx_pause;

	if (f->pfc > 0)
		GOOD(pause, "PFC is on for priorities 0x%02x (bit 0: priority 0)", f->pfc);
	else if (pause)
		GOOD(pause, "pause frames are sent and obeyed");
	else if (!told && f->pfc < 0)
		UNKNOWN(pause, DRIVER_SILENT);
	else if (!told)
		mend_by(FINDING(pause, "PFC is off"), "dcb pfc set dev %s prio-pfc 3:on", IFACE);
	else
		mend_by(FINDING(pause, "pause frames: %s, %s; PFC %s", f->pause.rx_pause ? "obeyed" : "not obeyed",
				f->pause.tx_pause ? "sent" : "not sent", f->pfc ? "not known" : "off"),
			"ethtool -A %s rx on tx on", IFACE);
	if (f->ecn < 0)
		UNKNOWN(ecn, DRIVER_SILENT);
	else if (f->ecn)
		GOOD(ecn, "congestion notifications for priorities 0x%02x (bit 0: priority 0)", f->ecn);
	else
		mend_by(FINDING(ecn, "the NIC sends no congestion notification for any priority"),
			"echo 1 >/sys/class/net/%s/ecn/roce_np/enable/3", IFACE);
}

static void judge_drops(struct path_report *r, const struct path_facts *f)
{
	const char *name = f->drop_name[0] ? f->drop_name : "missed, overrun and FIFO errors";

	if (f->drops < 0)
		UNKNOWN(drops, DRIVER_SILENT);
	else if (f->drops)
		mend_by(FINDING(drops, "%lld frames (%s)", (long long)f->drops, name), "ethtool -S %s", IFACE);
	else
		GOOD(drops, "none");
}

double path_pcie_gbps(struct path_pcie link)
{
	double coding = link.gts <= 5 ? 8. / 10 : link.gts <= 32 ? 128. / 130 : 1;

	return link.gts * coding * link.width;
}

static void judge_pcie(struct path_report *r, const struct path_facts *f)
{
	double slot = path_pcie_gbps(f->pcie), way = path_pcie_gbps(f->pcie_way), most = path_pcie_gbps(f->pcie_most);
	struct path_result *to;

	if (!f->pcie.width) {
		UNKNOWN(pcie, "sysfs shows no PCI Express link of %s", f->name);
		return;
	}
	if (f->gbps > slot) {
		to = FINDING(pcie, "its slot, x%d at %g GT/s, carries %.3g Gbit/s, and the link %g%s", f->pcie.width, f->pcie.gts,
			     slot, f->gbps, most > slot ? "; the NIC can do more in another slot" : "");
	} else if (f->gbps > way) {
		to = FINDING(pcie, "a bridge above its slot, x%d at %g GT/s, carries %.3g Gbit/s, and the link %g", f->pcie_way.width,
			     f->pcie_way.gts, way, f->gbps);
	} else if (most > slot) {
		to = FINDING(pcie, "its slot has trained to x%d at %g GT/s, %.3g Gbit/s, below the NIC's x%d at %g GT/s", f->pcie.width,
			     f->pcie.gts, slot, f->pcie_most.width, f->pcie_most.gts);
		if (f->gbps)
			to->severity = PATH_TOLD; /* it is enough for this link */
	} else {
		GOOD(pcie, "x%d at %g GT/s carries %.3g Gbit/s", f->pcie.width, f->pcie.gts, way);
		return;
	}
	mend_by(to, "lspci -s %s -vv | grep Lnk", shell_word(f->pci).text);
}

/* RoCE packets a second, as large as they can be, that the link carries. */
static double packet_rate(const struct path_facts *f)
{
	unsigned int bytes = path_roce_mtu(f->mtu) ?: f->mtu;

	return (f->gbps ?: GBPS_LEAST) * 1e9 / 8 / (bytes ?: 1);
}

/* Among which RSS spreads, or else those of the channels; PATH_UNKNOWN. */
static int receive_queues(const struct path_facts *f)
{
	if (f->receive_queues >= 0)
		return f->receive_queues;
	return f->channels.cmd ? (int)(f->channels.combined_count + f->channels.rx_count) : PATH_UNKNOWN;
}

/* Drivers take powers of two. */
static unsigned int power_of_two(unsigned int least)
{
	unsigned int n = 1;

	while (n < least && n < 1u << 31)
		n *= 2;
	return n;
}

static void judge_ring(struct path_report *r, const struct path_facts *f)
{
	const struct ethtool_ringparam *ring = &f->ring;
	double usecs = f->coalesce.rx_coalesce_usecs, in_time = packet_rate(f) * usecs / 1e6;
	int queues = receive_queues(f);
	unsigned int wanted = packet_rate(f) * HOLD_S / (queues > 1 ? queues : 1) + 1;

	if (!ring->cmd || !ring->rx_max_pending)
		UNKNOWN(ring, DRIVER_SILENT);
	else if (ring->rx_pending < MIN(wanted, ring->rx_max_pending))
		change(FINDING(ring, "it has %u frames of at most %u; %u come in %g ms for each queue%s", ring->rx_pending,
			       ring->rx_max_pending, wanted, HOLD_S * 1e3, f->gbps ? "" : AT_LEAST),
		       CHANGE_RING, f->name, "%u", MIN(power_of_two(wanted), ring->rx_max_pending));
	else
		GOOD(ring, "%u frames of at most %u", ring->rx_pending, ring->rx_max_pending);
	if (!f->coalesce.cmd)
		UNKNOWN(coalescing, DRIVER_SILENT);
	else if (f->gbps && ring->rx_pending && !f->coalesce.use_adaptive_rx_coalesce && in_time > ring->rx_pending)
		mend_by(FINDING(coalescing, "an interrupt may wait %u us, in which %.0f packets arrive; the ring has %u",
				f->coalesce.rx_coalesce_usecs, in_time, ring->rx_pending),
			"ethtool -C %s rx-usecs %.0f", IFACE, usecs * ring->rx_pending / in_time / 2);
	else
		GOOD(coalescing, "an interrupt may wait %u us%s", f->coalesce.rx_coalesce_usecs,
		     f->coalesce.use_adaptive_rx_coalesce ? ", adaptive" : "");
}

static void judge_queues(struct path_report *r, const struct path_facts *f)
{
	const struct ethtool_channels *c = &f->channels;
	unsigned int have = c->combined_count + c->rx_count, most = c->max_combined ?: c->max_rx;

	if (!c->cmd)
		UNKNOWN(queues, DRIVER_SILENT);
	else if (have == 1 && most > 1 && f->cpus > 1)
		mend_by(FINDING(queues, "one queue of at most %u, and %d CPUs", most, f->cpus), "ethtool -L %s %s %u", IFACE,
			c->max_combined ? "combined" : "rx", MIN(most, (unsigned int)f->cpus));
	else
		GOOD(queues, "%u, and %d CPU%s", have, f->cpus, f->cpus > 1 ? "s" : "");
	if (f->receive_queues == 1)
		return;
	if (f->receive_queues < 0 || f->rss_udp < 0)
		UNKNOWN(rss_udp, DRIVER_SILENT);
	else if (f->rss_udp)
		GOOD(rss_udp, "RSS spreads UDP ports over %d queues", f->receive_queues);
	else
		mend_by(FINDING(rss_udp, "RSS hashes no UDP ports"), "ethtool -N %s rx-flow-hash %s sdfn", IFACE,
			f->has_address && !address_is_ipv4(f->address) ? "udp6" : "udp4");
}

static void judge_offloads(struct path_report *r, const struct path_facts *f)
{
	if (f->lro < 0)
		UNKNOWN(lro, DRIVER_SILENT);
	else if (f->lro)
		mend_by(FINDING(lro, "LRO is on"), "ethtool -K %s lro off", IFACE);
	else
		GOOD(lro, "LRO is off");
	if (f->rx_checksum < 0)
		UNKNOWN(rx_checksum, DRIVER_SILENT);
	else if (!f->rx_checksum)
		mend_by(FINDING(rx_checksum, "the NIC verifies no checksums"), "ethtool -K %s rx on", IFACE);
	else
		GOOD(rx_checksum, "the NIC verifies checksums");
}

/* ---- XDP ---- */

/* drivers/net/veth.c: veth_xdp_xmit() and veth_xdp_tx() drop unless the other end has NAPI, by GRO or by an XDP program. */
static void judge_veth(struct path_report *r, const struct path_facts *f)
{
	if (f->gro < 0)
		UNKNOWN(veth_gro, DRIVER_SILENT);
	else if (!f->gro && !f->xdp_program)
		change(FINDING(veth_gro, "GRO is off, and no XDP program is on %s", f->name), CHANGE_GRO, f->name, "on");
	else
		GOOD(veth_gro, "frames that the other end sends by XDP are taken");
	if (!f->features_known)
		UNKNOWN(veth_peer, "kernels before 6.3 do not tell");
	else if (f->features & NETDEV_NDO_XMIT)
		GOOD(veth_peer, "the other end takes frames that are sent by XDP");
	else if (f->peer[0])
		change(FINDING(veth_peer, "the other end, %s, has neither GRO nor an XDP program", f->peer),
		       CHANGE_GRO, f->peer, "on");
	else
		mend_by(FINDING(veth_peer, "the other end, in another network namespace, has neither GRO nor an XDP program"),
			"ethtool -K OTHER gro on");
}

static void judge_xdp(struct path_report *r, const struct path_facts *f)
{
	if (!f->features_known)
		UNKNOWN(xdp_native, "kernels before 6.3 do not tell; `rocescope monitor %s --mode native` tries it",
			IFACE);
	else if (!(f->features & NETDEV_BASIC))
		FINDING(xdp_native, "the driver%s%s has no native XDP%s", f->driver[0] ? " " : "", f->driver,
			strcmp(f->kind, "veth") ? "" : " while the other end has fewer queues");
	else
		GOOD(xdp_native, "the driver has native XDP");
	if (f->features & NETDEV_BASIC && f->mtu > ATTACH_PLAIN_MTU) {
		if (f->features & NETDEV_RX_SG)
			GOOD(xdp_frags, "the driver has multi-buffer XDP");
		else
			mend_by(FINDING(xdp_frags, "MTU %u, and the driver has no multi-buffer XDP: generic mode, or a RoCE "
						"path MTU of %u", f->mtu, path_roce_mtu(ATTACH_PLAIN_MTU)),
				"ip link set dev %s mtu %u", IFACE, ATTACH_PLAIN_MTU);
	}
	if (f->xdp_program)
		mend_by(FINDING(xdp_held, "program id %u is attached", f->xdp_program), "bpftool net show dev %s", IFACE);
	else
		GOOD(xdp_held, "no other XDP program");
}

/* ---- CPUs ---- */

/* "0 1 8": those CPUs, `most` at most. */
static void list_cpus(const cpu_set_t *cpus, int most, char *list, size_t size)
{
	int length = 0;

	list[0] = 0;
	for (int i = 0; i < CPU_SETSIZE && most && length + 6 < (int)size; i++)
		if (CPU_ISSET(i, cpus)) {
			length += snprintf(list + length, size - length, "%s%d", length ? " " : "", i);
			most--;
		}
}

static void judge_irqs(struct path_report *r, const struct path_facts *f)
{
	const char *device = f->irqs_above ? "device/.." : "device";
	char list[CPUS_NAMED * 5];
	cpu_set_t both;

	CPU_AND(&both, &f->irq_cpus, &f->near);
	if (!f->irqs)
		UNKNOWN(irq_numa, "sysfs shows no interrupts of %s", f->name);
	else if (!CPU_COUNT(&f->near))
		UNKNOWN(irq_numa, "sysfs shows no NUMA node of %s", f->name);
	else if (CPU_COUNT(&both) != CPU_COUNT(&f->irq_cpus))
		mend_by(FINDING(irq_numa, "%d of %d CPUs that serve its interrupts are not of its NUMA node %d",
				CPU_COUNT(&f->irq_cpus) - CPU_COUNT(&both), CPU_COUNT(&f->irq_cpus), f->node),
			"(cd /sys/class/net/%s/%s; for i in $(ls msi_irqs); do "
			"cat local_cpulist >/proc/irq/$i/smp_affinity_list; done)", IFACE, device);
	else
		GOOD(irq_numa, "interrupts are served on the NIC's NUMA node");
	if (f->irqs < 2 || f->receive_queues < 2 || f->cpus < 2)
		return;
	list_cpus(CPU_COUNT(&f->near) ? &f->near : &f->online, MIN(f->irqs, CPUS_NAMED), list, sizeof(list));
	if (CPU_COUNT(&f->irq_cpus) > 1)
		GOOD(irq_one_cpu, "%d CPUs serve %d interrupts", CPU_COUNT(&f->irq_cpus), f->irqs);
	else /* each CPU that was used goes to the end of the list */
		mend_by(FINDING(irq_one_cpu, "one CPU serves all %d interrupts", f->irqs),
			"set -- %s; for i in $(ls /sys/class/net/%s/%s/msi_irqs); do echo $1 >/proc/irq/$i/smp_affinity_list; "
			"set -- \"$@\" $1; shift; done", list, IFACE, device);
}

/* As rps_cpus has them: hexadecimal, a comma every 32. */
static void cpu_mask(const cpu_set_t *cpus, char *mask, size_t size)
{
	int length = 0;

	mask[0] = 0;
	for (int word = CPU_SETSIZE / 32; word-- && length + 10 < (int)size;) {
		unsigned int bits = 0;

		for (int i = 0; i < 32; i++)
			bits |= CPU_ISSET(word * 32 + i, cpus) ? 1u << i : 0;
		if (length)
			length += snprintf(mask + length, size - length, ",%08x", bits);
		else if (bits)
			length += snprintf(mask, size, "%x", bits);
	}
}

static void judge_cpus(struct path_report *r, const struct path_facts *f)
{
	int queues = receive_queues(f);
	char mask[CPU_SETSIZE / 32 * 9 + 1];

	if (!is_virtual(f) && queues <= 1 && f->cpus > 1) {
		cpu_mask(&f->online, mask, sizeof(mask));
		if (queues < 0)
			UNKNOWN(rps, DRIVER_SILENT);
		else if (f->rps < 0)
			UNKNOWN(rps, "sysfs does not show %s", f->name);
		else if (!f->rps)
			mend_by(FINDING(rps, "RPS is off"), "echo %s >/sys/class/net/%s/queues/rx-0/rps_cpus", mask, IFACE);
		else
			GOOD(rps, "RPS is on");
	}
	if (f->irqbalance)
		mend_by(FINDING(irqbalance, "irqbalance runs"), "systemctl stop irqbalance");
	else
		GOOD(irqbalance, "irqbalance does not run");
	if (!f->governor[0])
		UNKNOWN(governor, "this machine shows none, as virtual ones do");
	else if (strcmp(f->governor, "performance"))
		mend_by(FINDING(governor, "a CPU has the governor %s", f->governor), "cpupower frequency-set -g performance");
	else
		GOOD(governor, "performance");
}

/* ---- the kernel's queues ---- */

#define NOT_SHOWN "this network namespace does not show it"

/* These sysctls are int. */
static long long capped(int64_t value)
{
	return value < INT_MAX ? value : INT_MAX;
}

static void judge_softnet(struct path_report *r, const struct path_facts *f)
{
	int64_t wanted = packet_rate(f) * HOLD_S + 1;

	if (f->softnet_dropped < 0 || f->backlog < 0)
		UNKNOWN(backlog, NOT_SHOWN);
	else if (f->softnet_dropped && f->backlog < wanted)
		change(FINDING(backlog, "%lld packets were dropped since boot; it holds %lld, and %lld come in %g ms",
			       (long long)f->softnet_dropped, (long long)f->backlog, (long long)wanted, HOLD_S * 1e3),
		       CHANGE_SYSCTL, "net.core.netdev_max_backlog", "%lld", (long long)wanted);
	else
		GOOD(backlog, "it holds %lld; %lld were dropped since boot", (long long)f->backlog,
		     (long long)f->softnet_dropped);
	if (f->softnet_squeezed < 0 || f->budget < 0)
		UNKNOWN(budget, NOT_SHOWN);
	else if (f->softnet_squeezed && f->budget <= BUDGET_DEFAULT && f->budget_usecs > 0)
		mend_by(FINDING(budget, "%lld times since boot, with budgets of %lld packets and %lld us",
				(long long)f->softnet_squeezed, (long long)f->budget, (long long)f->budget_usecs),
			"sysctl -w net.core.netdev_budget=%d net.core.netdev_budget_usecs=%lld", 2 * BUDGET_DEFAULT,
			capped(2 * f->budget_usecs));
	else if (f->softnet_squeezed) /* since boot: no reason to raise it again and again */
		mend_by(FINDING(budget, "%lld times since boot; the budget is %lld packets", (long long)f->softnet_squeezed,
				(long long)f->budget), "sysctl net.core.netdev_budget net.core.netdev_budget_usecs");
	else
		GOOD(budget, "no softirq has ended early");
}

/* Bytes that come in that time, at least. */
static int64_t bytes_in(const struct path_facts *f, double seconds)
{
	double bytes = (f->gbps ?: GBPS_LEAST) * 1e9 / 8 * seconds;
	int64_t steps = bytes / BUFFER_STEP + 1;

	return bytes < BUFFER_MOST ? steps * BUFFER_STEP : BUFFER_MOST;
}

static double hold_time(const struct path_facts *f)
{
	double rtt = (double)f->probe.rtt_ns / NSEC_PER_SEC;

	return rtt > HOLD_S ? rtt : HOLD_S;
}

struct buffer {
	enum path_check check;
	const char *sysctl;
	int64_t bytes, wanted;
	bool fix;
};

static void judge_buffer(struct path_report *r, const struct path_facts *f, struct buffer b)
{
	struct path_result *to;

	if (b.bytes < 0) {
		add(r, b.check, PATH_NOT_KNOWN, NOT_SHOWN);
		return;
	}
	if (b.bytes >= b.wanted) {
		add(r, b.check, PATH_GOOD, "%lld bytes", (long long)b.bytes);
		return;
	}
	to = add(r, b.check, PATH_FINDING, "%lld bytes; %lld come in %.3g ms%s", (long long)b.bytes, (long long)b.wanted,
		 hold_time(f) * 1e3, f->gbps ? "" : AT_LEAST);
	change(to, CHANGE_SYSCTL, b.sysctl, "%lld", (long long)b.wanted);
	if (!b.fix)
		to->change.kind = CHANGE_NOTHING;
}

/*
 * UDP has no memory pressure, so that __sk_mem_raise_allocated() fails above udp_mem[0] already (Linux commit 69dfccbc1186,
 * "net: udp: correct the document for udp_mem").
 */
static void judge_udp_mem(struct path_report *r, const struct path_facts *f, int64_t pages)
{
	if (f->udp_mem[2] < 0)
		UNKNOWN(udp_mem, NOT_SHOWN);
	else if (f->udp_mem[0] < pages)
		change(FINDING(udp_mem, "%lld pages for all sockets; one needs %lld", (long long)f->udp_mem[0],
			       (long long)pages),
		       CHANGE_SYSCTL, "net.ipv4.udp_mem", "%lld %lld %lld", (long long)pages,
		       (long long)MAX(f->udp_mem[1], pages), (long long)MAX(f->udp_mem[2], pages));
	else
		GOOD(udp_mem, "%lld pages", (long long)f->udp_mem[0]);
}

/* `bytes` come in a round trip. Half of the buffer is window: tcp_adv_win_scale. */
static void judge_tcp(struct path_report *r, const struct path_facts *f, int64_t bytes)
{
	long long wanted = capped(2 * bytes);

	if (f->tcp_rmem[2] < 0 || !f->probe.answered)
		UNKNOWN(tcp_rmem, "%s", f->tcp_rmem[2] < 0 ? NOT_SHOWN : "without the round trip to a PEER");
	else if (f->tcp_rmem[2] < wanted)
		change(FINDING(tcp_rmem, "%lld bytes; a round trip of %.3g ms needs %lld", (long long)f->tcp_rmem[2],
			       (double)f->probe.rtt_ns / NSEC_PER_MSEC, wanted),
		       CHANGE_SYSCTL, "net.ipv4.tcp_rmem", "%lld %lld %lld", (long long)f->tcp_rmem[0],
		       (long long)f->tcp_rmem[1], wanted);
	else
		GOOD(tcp_rmem, "%lld bytes", (long long)f->tcp_rmem[2]);
}

static void judge_sockets(struct path_report *r, const struct path_facts *f)
{
	int64_t hold = bytes_in(f, hold_time(f));

	judge_buffer(r, f, (struct buffer){ PATH_CHECK_rmem_max, "net.core.rmem_max", f->rmem_max, hold, true });
	/*
	 * The kernel doubles what a program asks for, for its own overhead, but not the default (net/core/sock.c). --fix leaves
	 * that: every new socket of the machine has it.
	 */
	judge_buffer(r, f, (struct buffer){ PATH_CHECK_rmem_default, "net.core.rmem_default", f->rmem_default, capped(2 * hold),
					    false });
	judge_udp_mem(r, f, f->page > 0 ? 2 * hold / f->page : 0);
	judge_buffer(r, f, (struct buffer){ PATH_CHECK_wmem_max, "net.core.wmem_max", f->wmem_max, hold, true });
	judge_tcp(r, f, bytes_in(f, (double)f->probe.rtt_ns / NSEC_PER_SEC));
}

/* ---- RDMA ---- */

static void judge_device(struct path_report *r, const struct path_facts *f)
{
	if (f->rdma[0])
		GOOD(rdma_device, "%s%s", f->rdma, f->rdma_software ? " (software)" : "");
	else if (f->rxe == RXE_LOADED)
		mend_by(FINDING(rdma_device, "none"), "rdma link add rxe0 type rxe netdev %s", IFACE);
	else if (f->rxe == RXE_MODULE)
		mend_by(FINDING(rdma_device, "none, and rdma_rxe is not loaded"),
			"modprobe rdma_rxe; rdma link add rxe0 type rxe netdev %s", IFACE);
	else
		FINDING(rdma_device, "none, and %s", f->rxe == RXE_ABSENT ? "this kernel has no module rdma_rxe" :
								  "this kernel loads no modules, such as rdma_rxe");
}

static void judge_gids(struct path_report *r, const struct path_facts *f)
{
	if (f->gid < 0 && !f->gids_known)
		UNKNOWN(gid, "sysfs shows no GIDs of %s", f->rdma);
	else if (f->gid < 0)
		mend_by(FINDING(gid, "%s has no RoCE v2 GID of %s", f->rdma,
				f->has_address ? address_text(f->address).text : "an address of the interface"),
			"ip address add ADDRESS/LENGTH dev %s", IFACE);
	else
		GOOD(gid, "GID index %d of %s is RoCE v2 with %s", f->gid, f->rdma, address_text(f->address).text);
	if (f->gid > 0)
		mend_by(FINDING(gid_index, "%s is GID index %d of %s", address_text(f->address).text, f->gid, f->rdma),
			"ib_write_bw -d %s -x %d", shell_word(f->rdma).text, f->gid);
	if (!f->roce_mode[0])
		UNKNOWN(roce_mode, "RDMA CM's configfs shows none for %s", f->rdma);
	else if (strstr(f->roce_mode, "v1"))
		mend_by(FINDING(roce_mode, "RDMA CM's default for %s is %s", f->rdma, f->roce_mode),
			"cma_roce_mode -d %s -p 1 -m 2", shell_word(f->rdma).text);
	else
		GOOD(roce_mode, "%s", f->roce_mode);
}

/* ---- all of it ---- */

void path_judge(struct path_report *r, const struct path_facts *f)
{
	r->count = 0;
	judge_link(r, f);
	judge_peer(r, f);
	judge_mtu(r, f);
	judge_path(r, f);
	if (!is_virtual(f))
		judge_pause(r, f);
	judge_drops(r, f);
	if (!is_virtual(f)) {
		judge_pcie(r, f);
		judge_ring(r, f);
		judge_queues(r, f);
	}
	judge_offloads(r, f);
	if (!strcmp(f->kind, "veth"))
		judge_veth(r, f);
	judge_xdp(r, f);
	if (!is_virtual(f))
		judge_irqs(r, f);
	judge_cpus(r, f);
	judge_softnet(r, f);
	judge_sockets(r, f);
	judge_device(r, f);
	if (f->rdma[0])
		judge_gids(r, f);
}
