// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rocescope path: each finding follows from the facts that show it, and from no others, with the command that mends it. Facts
 * in files are read from a made-up /proc and /sys, and settings are changed there.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/address.h"
#include "lib/netdev.h"
#include "tests/unit/cmocka_includes.h"
#include "userspace/diagnose/path/path.h"

#define NIC "roce0"

/* A NIC of 10 Gbit/s with which nothing is wrong, and a peer that answers. */
static struct path_facts right(void)
{
	struct path_facts f = {
		.name = NIC, .ifindex = 7, .driver = "made-up", .up = true, .carrier = true, .mtu = 9000, .mtu_most = 9600,
		.mtu_ipv6 = 9000, .has_address = true, .gbps = 10,
		.ring = { .cmd = ETHTOOL_GRINGPARAM, .rx_max_pending = 4096, .rx_pending = 4096, .tx_max_pending = 1024,
			  .tx_pending = 1024 },
		.coalesce = { .cmd = ETHTOOL_GCOALESCE, .rx_coalesce_usecs = 10 },
		.channels = { .cmd = ETHTOOL_GCHANNELS, .max_combined = 8, .combined_count = 8 },
		.pause = { .cmd = ETHTOOL_GPAUSEPARAM, .rx_pause = 1, .tx_pause = 1 },
		.gro = 1, .rx_checksum = 1, .receive_queues = 8, .rss_udp = 1, .pfc = 1 << 3, .ecn = 1 << 3,
		.features_known = true, .features = NETDEV_BASIC | NETDEV_REDIRECT | NETDEV_NDO_XMIT | NETDEV_RX_SG,
		.cpus = 8, .irqs = 8, .rps = 0, .governor = "performance", .budget = 300, .budget_usecs = 8000,
		.backlog = 1000, .rmem_max = 1 << 24, .rmem_default = 1 << 24, .wmem_max = 1 << 24,
		.tcp_rmem = { 4096, 131072, 1 << 25 },
		.pcie = { 8, 8 }, .pcie_most = { 8, 8 }, .pcie_way = { 8, 8 }, .pci = "0000:3b:00.0",
		.udp_mem = { 100000, 200000, 300000 }, .page = 4096, .rdma = "rxe0", .gids_known = true, .gid = 0,
		.roce_mode = "RoCE v2", .has_peer = true, .peer_address = "10.9.0.2", .leaves_by = 7,
		.probe = { .answered = true, .known = true, .rtt_ns = 20000, .passes = 9000 },
	};

	address_parse("10.9.0.1", f.address);
	for (int i = 0; i < 8; i++) {
		CPU_SET(i, &f.irq_cpus);
		CPU_SET(i, &f.near);
		CPU_SET(i, &f.online);
	}
	return f;
}

/* ---- each mistake ---- */

static void down(struct path_facts *f) { f->up = false; }
static void no_carrier(struct path_facts *f) { f->carrier = false; }
static void no_address(struct path_facts *f) { f->has_address = false; }
static void elsewhere(struct path_facts *f) { f->leaves_by = 8; }
static void no_route(struct path_facts *f) { f->leaves_by = 0; }
static void small_mtu(struct path_facts *f) { f->mtu = f->mtu_ipv6 = f->probe.passes = 1500; }
static void small_not_known(struct path_facts *f) { small_mtu(f); f->probe.known = false; }
static void small_ipv6(struct path_facts *f) { small_mtu(f); f->mtu_ipv6 = 1400; }
static void small_plain(struct path_facts *f) { small_mtu(f); f->features = NETDEV_BASIC; }
static void mtu_limit(struct path_facts *f) { f->mtu = f->probe.passes = f->mtu_most = 1500; }
static void nobody(struct path_facts *f) { f->probe = (struct path_probe){ .nobody = true, .why = "nobody is there" }; }
static void no_router(struct path_facts *f) { nobody(f); strcpy(f->next_hop, "10.9.0.254"); }
static void nobody_there(struct path_facts *f) { no_router(f); strcpy(f->probe.teller, "10.8.0.1"); }
static void hole(struct path_facts *f) { f->probe.passes = 1500; f->probe.fails = 1501; }
static void told(struct path_facts *f) { hole(f); f->probe.told = true; strcpy(f->probe.teller, "10.8.0.1"); }
static void narrow(struct path_facts *f) { told(f); f->probe.passes = 1000; f->probe.fails = 1001; }
static void no_pause(struct path_facts *f) { f->pfc = 0; f->pause.tx_pause = 0; }
static void no_pfc(struct path_facts *f) { f->pfc = 0; f->pause.cmd = 0; }
static void no_ecn(struct path_facts *f) { f->ecn = 0; }
static void dropped(struct path_facts *f) { f->drops = 12; strcpy(f->drop_name, "rx_out_of_buffer"); }
static void narrow_slot(struct path_facts *f) { f->pcie = f->pcie_way = (struct path_pcie){ 2.5, 4 }; }
static void narrow_bridge(struct path_facts *f) { f->pcie_way = (struct path_pcie){ 5, 2 }; }
static void badly_trained(struct path_facts *f) { f->pcie = f->pcie_way = (struct path_pcie){ 2.5, 8 }; }
static void badly_trained_unknown(struct path_facts *f) { badly_trained(f); f->gbps = 0; }
static void short_ring(struct path_facts *f) { f->ring.rx_pending = 128; }
static void least_ring(struct path_facts *f) { f->ring.rx_pending = 64; f->ring.rx_max_pending = 100; }
static void slow(struct path_facts *f) { f->coalesce.rx_coalesce_usecs = 20000; }
static void one_queue(struct path_facts *f) { f->channels.combined_count = 1; f->receive_queues = 1; f->rps = 1; }
static void no_rss(struct path_facts *f) { f->rss_udp = 0; }
static void no_rss6(struct path_facts *f) { no_rss(f); address_parse("fd00::1", f->address); }
static void lro(struct path_facts *f) { f->lro = 1; }
static void no_checksum(struct path_facts *f) { f->rx_checksum = 0; }
static void no_gro(struct path_facts *f) { strcpy(f->kind, "veth"); f->gro = 0; }
static void no_gro_away(struct path_facts *f) { strcpy(f->kind, "veth"); f->features &= ~NETDEV_NDO_XMIT; }
static void no_gro_there(struct path_facts *f) { no_gro_away(f); strcpy(f->peer, "roce1"); }
static void no_xdp(struct path_facts *f) { f->features = 0; }
static void no_frags(struct path_facts *f) { f->features = NETDEV_BASIC; }
static void held(struct path_facts *f) { f->xdp_program = 42; }
static void far(struct path_facts *f) { CPU_CLR(3, &f->near); f->node = 1; }
static void far_virtio(struct path_facts *f) { far(f); f->irqs_above = true; }
static void one_cpu(struct path_facts *f) { CPU_ZERO(&f->irq_cpus); CPU_SET(0, &f->irq_cpus); }
static void no_node(struct path_facts *f) { one_cpu(f); f->irqs_above = true; CPU_ZERO(&f->near); CPU_CLR(5, &f->online); }
static void no_rps(struct path_facts *f) { f->channels.max_combined = f->channels.combined_count = f->receive_queues = 1; }
static void balanced(struct path_facts *f) { f->irqbalance = true; }
static void powersave(struct path_facts *f) { strcpy(f->governor, "powersave"); }
static void backlog(struct path_facts *f) { f->softnet_dropped = 5; }
static void squeezed(struct path_facts *f) { f->softnet_squeezed = 5; }
static void squeezed_again(struct path_facts *f) { squeezed(f); f->budget = 600; }
static void rmem(struct path_facts *f) { f->rmem_max = 212992; }
static void rmem_far(struct path_facts *f) { rmem(f); f->probe.rtt_ns = 10000000; f->rmem_default = f->tcp_rmem[2] = 1 << 30; }
static void rmem_default(struct path_facts *f) { f->rmem_default = 212992; }
static void rmem_unknown(struct path_facts *f) { f->gbps = 0; rmem(f); }
static void udp_mem(struct path_facts *f) { f->udp_mem[0] = 2000; }
static void udp_mem_less(struct path_facts *f) { f->udp_mem[0] = 10; f->udp_mem[1] = 20; f->udp_mem[2] = 30; }
static void wmem(struct path_facts *f) { f->wmem_max = 212992; }
static void tcp(struct path_facts *f) { f->tcp_rmem[2] = 65536; }
static void no_rdma(struct path_facts *f) { f->rdma[0] = 0; f->rxe = RXE_MODULE; }
static void no_module(struct path_facts *f) { f->rdma[0] = 0; f->rxe = RXE_ABSENT; }
static void no_gid(struct path_facts *f) { f->gid = PATH_UNKNOWN; }
static void other_gid(struct path_facts *f) { f->gid = 3; }
static void roce_v1(struct path_facts *f) { strcpy(f->roce_mode, "IB/RoCE v1"); }

static const struct {
	void (*spoil)(struct path_facts *f);
	enum path_check check;
	enum path_severity severity;
	const char *command;
	enum change_kind change;
} cases[] = {
	{ down, PATH_CHECK_link, PATH_WILL_LOSE, "ip link set dev roce0 up", 0 },
	{ no_carrier, PATH_CHECK_link, PATH_WILL_LOSE, "ethtool roce0", 0 },
	{ no_address, PATH_CHECK_address, PATH_TOLD, "ip address add ADDRESS/LENGTH dev roce0", 0 },
	{ elsewhere, PATH_CHECK_route, PATH_MAY_LOSE, "ip route get 10.9.0.2", 0 },
	{ no_route, PATH_CHECK_route, PATH_WILL_LOSE, "ip route add 10.9.0.2 via ROUTER dev roce0", 0 },
	{ small_mtu, PATH_CHECK_mtu, PATH_MAY_LOSE, "ip link set dev roce0 mtu 4200", CHANGE_MTU },
	{ small_not_known, PATH_CHECK_mtu, PATH_MAY_LOSE, "ip link set dev roce0 mtu 4200", 0 },
	{ small_ipv6, PATH_CHECK_mtu, PATH_MAY_LOSE, "ip link set dev roce0 mtu 4200", 0 },
	{ small_plain, PATH_CHECK_mtu, PATH_MAY_LOSE, "", 0 },
	{ mtu_limit, PATH_CHECK_mtu, PATH_MAY_LOSE, "", 0 },
	{ nobody, PATH_CHECK_peer, PATH_WILL_LOSE, "ip neigh replace 10.9.0.2 lladdr MAC dev roce0", 0 },
	{ no_router, PATH_CHECK_peer, PATH_WILL_LOSE, "ip neigh replace 10.9.0.254 lladdr MAC dev roce0", 0 },
	{ nobody_there, PATH_CHECK_peer, PATH_WILL_LOSE, "tracepath 10.9.0.2", 0 },
	{ hole, PATH_CHECK_black_hole, PATH_WILL_LOSE, "ip link set dev roce0 mtu 1500", 0 },
	{ told, PATH_CHECK_path_mtu, PATH_WILL_LOSE, "ip link set dev roce0 mtu 1500", 0 },
	{ narrow, PATH_CHECK_path_mtu, PATH_WILL_LOSE, "", 0 },
	{ no_pause, PATH_CHECK_pause, PATH_MAY_LOSE, "ethtool -A roce0 rx on tx on", 0 },
	{ no_pfc, PATH_CHECK_pause, PATH_MAY_LOSE, "dcb pfc set dev roce0 prio-pfc 3:on", 0 },
	{ no_ecn, PATH_CHECK_ecn, PATH_MAY_LOSE, "echo 1 >/sys/class/net/roce0/ecn/roce_np/enable/3", 0 },
	{ dropped, PATH_CHECK_drops, PATH_TOLD, "ethtool -S roce0", 0 },
	{ narrow_slot, PATH_CHECK_pcie, PATH_MAY_LOSE, "lspci -s 0000:3b:00.0 -vv | grep Lnk", 0 },
	{ narrow_bridge, PATH_CHECK_pcie, PATH_MAY_LOSE, "lspci -s 0000:3b:00.0 -vv | grep Lnk", 0 },
	{ badly_trained, PATH_CHECK_pcie, PATH_TOLD, "lspci -s 0000:3b:00.0 -vv | grep Lnk", 0 },
	{ badly_trained_unknown, PATH_CHECK_pcie, PATH_MAY_LOSE, "lspci -s 0000:3b:00.0 -vv | grep Lnk", 0 },
	/* 1221 packets in 4 ms for 8 queues: 153 */
	{ short_ring, PATH_CHECK_ring, PATH_MAY_LOSE, "ethtool -G roce0 rx 256", CHANGE_RING },
	{ least_ring, PATH_CHECK_ring, PATH_MAY_LOSE, "ethtool -G roce0 rx 100", CHANGE_RING },
	/* 10 Gbit/s of 4096 bytes: 305 packets a ms, so the ring of 4096 holds 13.4 ms; half of that */
	{ slow, PATH_CHECK_coalescing, PATH_MAY_LOSE, "ethtool -C roce0 rx-usecs 6711", 0 },
	{ one_queue, PATH_CHECK_queues, PATH_MAY_LOSE, "ethtool -L roce0 combined 8", 0 },
	{ no_rss, PATH_CHECK_rss_udp, PATH_MAY_LOSE, "ethtool -N roce0 rx-flow-hash udp4 sdfn", 0 },
	{ no_rss6, PATH_CHECK_rss_udp, PATH_MAY_LOSE, "ethtool -N roce0 rx-flow-hash udp6 sdfn", 0 },
	{ lro, PATH_CHECK_lro, PATH_TOLD, "ethtool -K roce0 lro off", 0 },
	{ no_checksum, PATH_CHECK_rx_checksum, PATH_TOLD, "ethtool -K roce0 rx on", 0 },
	{ no_gro, PATH_CHECK_veth_gro, PATH_MAY_LOSE, "ethtool -K roce0 gro on", CHANGE_GRO },
	{ no_gro_there, PATH_CHECK_veth_peer, PATH_MAY_LOSE, "ethtool -K roce1 gro on", CHANGE_GRO },
	{ no_gro_away, PATH_CHECK_veth_peer, PATH_MAY_LOSE, "ethtool -K OTHER gro on", 0 },
	{ no_xdp, PATH_CHECK_xdp_native, PATH_MAY_LOSE, "", 0 },
	{ no_frags, PATH_CHECK_xdp_frags, PATH_MAY_LOSE, "ip link set dev roce0 mtu 3498", 0 },
	{ held, PATH_CHECK_xdp_held, PATH_TOLD, "bpftool net show dev roce0", 0 },
	{ far, PATH_CHECK_irq_numa, PATH_MAY_LOSE,
	  "(cd /sys/class/net/roce0/device; for i in $(ls msi_irqs); do "
	  "cat local_cpulist >/proc/irq/$i/smp_affinity_list; done)", 0 },
	{ far_virtio, PATH_CHECK_irq_numa, PATH_MAY_LOSE,
	  "(cd /sys/class/net/roce0/device/..; for i in $(ls msi_irqs); do "
	  "cat local_cpulist >/proc/irq/$i/smp_affinity_list; done)",
	  0 },
	{ one_cpu, PATH_CHECK_irq_one_cpu, PATH_MAY_LOSE,
	  "set -- 0 1 2 3 4 5 6 7; for i in $(ls /sys/class/net/roce0/device/msi_irqs); do "
	  "echo $1 >/proc/irq/$i/smp_affinity_list; set -- \"$@\" $1; shift; done", 0 },
	{ no_node, PATH_CHECK_irq_one_cpu, PATH_MAY_LOSE,
	  "set -- 0 1 2 3 4 6 7; for i in $(ls /sys/class/net/roce0/device/../msi_irqs); do "
	  "echo $1 >/proc/irq/$i/smp_affinity_list; set -- \"$@\" $1; shift; done", 0 },
	{ no_rps, PATH_CHECK_rps, PATH_MAY_LOSE, "echo ff >/sys/class/net/roce0/queues/rx-0/rps_cpus", 0 },
	{ balanced, PATH_CHECK_irqbalance, PATH_TOLD, "systemctl stop irqbalance", 0 },
	{ powersave, PATH_CHECK_governor, PATH_MAY_LOSE, "cpupower frequency-set -g performance", 0 },
	/* 305 packets a ms, for 4 ms */
	{ backlog, PATH_CHECK_backlog, PATH_MAY_LOSE, "sysctl -w net.core.netdev_max_backlog=1221", CHANGE_SYSCTL },
	{ squeezed, PATH_CHECK_budget, PATH_TOLD, "sysctl -w net.core.netdev_budget=600 net.core.netdev_budget_usecs=16000",
	  0 },
	{ squeezed_again, PATH_CHECK_budget, PATH_TOLD, "sysctl net.core.netdev_budget net.core.netdev_budget_usecs", 0 },
	/* 10 Gbit/s for 4 ms: 5,000,000 bytes, up to a multiple of 64 KiB */
	{ rmem, PATH_CHECK_rmem_max, PATH_MAY_LOSE, "sysctl -w net.core.rmem_max=5046272", CHANGE_SYSCTL },
	/* 10 ms: 12,500,000 */
	{ rmem_far, PATH_CHECK_rmem_max, PATH_MAY_LOSE, "sysctl -w net.core.rmem_max=12517376", CHANGE_SYSCTL },
	{ rmem_unknown, PATH_CHECK_rmem_max, PATH_MAY_LOSE, "sysctl -w net.core.rmem_max=524288", CHANGE_SYSCTL },
	{ rmem_default, PATH_CHECK_rmem_default, PATH_MAY_LOSE, "sysctl -w net.core.rmem_default=10092544", 0 },
	{ udp_mem, PATH_CHECK_udp_mem, PATH_MAY_LOSE, "sysctl -w net.ipv4.udp_mem='2464 200000 300000'", CHANGE_SYSCTL },
	{ udp_mem_less, PATH_CHECK_udp_mem, PATH_MAY_LOSE, "sysctl -w net.ipv4.udp_mem='2464 2464 2464'", CHANGE_SYSCTL },
	{ wmem, PATH_CHECK_wmem_max, PATH_TOLD, "sysctl -w net.core.wmem_max=5046272", CHANGE_SYSCTL },
	/* 10 Gbit/s for 20 us: 25,000 bytes, up to 64 KiB, twice */
	{ tcp, PATH_CHECK_tcp_rmem, PATH_TOLD, "sysctl -w net.ipv4.tcp_rmem='4096 131072 131072'", CHANGE_SYSCTL },
	{ no_rdma, PATH_CHECK_rdma_device, PATH_TOLD, "modprobe rdma_rxe; rdma link add rxe0 type rxe netdev roce0", 0 },
	{ no_module, PATH_CHECK_rdma_device, PATH_TOLD, "", 0 },
	{ no_gid, PATH_CHECK_gid, PATH_MAY_LOSE, "ip address add ADDRESS/LENGTH dev roce0", 0 },
	{ other_gid, PATH_CHECK_gid_index, PATH_TOLD, "ib_write_bw -d rxe0 -x 3", 0 },
	{ roce_v1, PATH_CHECK_roce_mode, PATH_MAY_LOSE, "cma_roce_mode -d rxe0 -p 1 -m 2", 0 },
};

static const struct path_result *only_finding(const struct path_report *r)
{
	const struct path_result *found = NULL;

	for (size_t i = 0; i < r->count; i++)
		if (r->results[i].state == PATH_FINDING) {
			if (found)
				print_error("%s, and %s\n", found->found, r->results[i].found);
			assert_null(found);
			found = &r->results[i];
		}
	return found;
}

static void test_right(void **state)
{
	struct path_facts f = right();
	struct path_report r;

	(void)state;
	path_judge(&r, &f);
	assert_null(only_finding(&r));
	assert_true(r.count > 25);
}

static void test_findings(void **state)
{
	bool shown[PATH_CHECKS] = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct path_result *found;
		struct path_facts f = right();
		struct path_report r;

		cases[i].spoil(&f);
		path_judge(&r, &f);
		found = only_finding(&r);
		assert_non_null(found);
		assert_int_equal(found->check, cases[i].check);
		assert_string_equal(found->command, cases[i].command);
		assert_int_equal(found->severity, cases[i].severity);
		assert_int_equal(found->change.kind, cases[i].change);
		shown[found->check] = true;
	}
	for (size_t i = 0; i < PATH_CHECKS; i++)
		assert_true(shown[i]);
}

/* RoCE has no packet between 1024 and 2048 bytes, so a path that passes 1400 of 1500 loses none of it. */
static void test_between(void **state)
{
	struct path_facts f = right();
	struct path_report r;

	(void)state;
	f.mtu = 2000;
	told(&f);
	path_judge(&r, &f);
	for (size_t i = 0; i < r.count; i++)
		if (r.results[i].check == PATH_CHECK_path_mtu)
			assert_int_equal(r.results[i].severity, PATH_MAY_LOSE);
	assert_int_equal(path_roce_mtu(4192), 4096);
	assert_int_equal(path_roce_mtu(4191), 2048);
	assert_int_equal(path_roce_mtu(1500), 1024);
	assert_int_equal(path_roce_mtu(352), 256);
	assert_int_equal(path_roce_mtu(351), 0);
}

/* Sysctls are int. */
static void test_largest(void **state)
{
	struct path_facts f = right();
	struct path_report r;
	int seen = 0;

	(void)state;
	f.gbps = 400;
	f.probe.rtt_ns = 1000000000;
	path_judge(&r, &f);
	for (size_t i = 0; i < r.count; i++) {
		if (r.results[i].check == PATH_CHECK_rmem_default)
			seen += !strcmp(r.results[i].command, "sysctl -w net.core.rmem_default=2147483647");
		if (r.results[i].check == PATH_CHECK_tcp_rmem)
			seen += !strcmp(r.results[i].command, "sysctl -w net.ipv4.tcp_rmem='4096 131072 2147483647'");
	}
	assert_int_equal(seen, 2);
}

/* A machine that tells nothing has no findings of what it does not tell. */
static void test_silent(void **state)
{
	struct path_facts f = {
		.name = NIC, .up = true, .carrier = true, .mtu = 9000, .has_address = true, .drops = PATH_UNKNOWN,
		.pfc = PATH_UNKNOWN, .ecn = PATH_UNKNOWN, .gro = PATH_UNKNOWN, .lro = PATH_UNKNOWN, .rx_checksum = PATH_UNKNOWN,
		.receive_queues = PATH_UNKNOWN, .rss_udp = PATH_UNKNOWN, .cpus = 2, .rps = PATH_UNKNOWN, .gid = PATH_UNKNOWN,
		.softnet_dropped = PATH_UNKNOWN, .softnet_squeezed = PATH_UNKNOWN, .budget = PATH_UNKNOWN,
		.backlog = PATH_UNKNOWN, .rmem_max = PATH_UNKNOWN, .rmem_default = PATH_UNKNOWN, .wmem_max = PATH_UNKNOWN,
		.tcp_rmem = { 0, 0, PATH_UNKNOWN }, .udp_mem = { 0, 0, PATH_UNKNOWN }, .rdma = "mlx5_0",
	};
	struct path_report r;

	(void)state;
	path_judge(&r, &f);
	assert_null(only_finding(&r));
}

/* ---- a made-up machine ---- */

static char root[] = "/tmp/rocescope-path-XXXXXX";

static void put(const char *path, const char *text)
{
	char name[512];
	FILE *f;

	snprintf(name, sizeof(name), "%s%s", root, path);
	for (char *slash = name + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = 0;
		mkdir(name, 0755);
	}
	f = fopen(name, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_machine(void **state)
{
	struct path_facts f = { .name = NIC, .ifindex = 7, .mac = { 2, 0, 0, 0, 0, 1 }, .rdma = "rxe0", .has_address = true };

	(void)state;
	address_parse("10.9.0.1", f.address);
	put("/sys/class/net/roce0/address", "02:00:00:00:00:01\n");
	put("/sys/class/net/roce0/ifindex", "8\n");
	put("/sys/class/net/roce0/device/numa_node", "1\n");
	put("/sys/class/net/roce0/device/local_cpulist", "4-6,8\n");
	put("/sys/class/net/roce0/device/msi_irqs/40", "msix\n");
	put("/sys/class/net/roce0/device/msi_irqs/41", "msix\n");
	put("/sys/class/net/roce0/queues/rx-0/rps_cpus", "00,00000000\n");
	put("/sys/class/net/roce0/ecn/roce_np/enable/3", "1\n");
	put("/proc/irq/40/effective_affinity_list", "5\n");
	put("/proc/irq/41/smp_affinity_list", "0-1\n");
	put("/proc/17/comm", "irqbalance\n");
	put("/proc/net/softnet_stat", "000000ff 0000000a 00000002 0\n000000ff 00000010 00000003 0\n");
	put("/proc/sys/net/core/rmem_max", "212992\n");
	put("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
	put("/sys/devices/system/cpu/online", "0,4\n");
	put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n");
	put("/sys/module/rdma_rxe/refcnt", "0\n");
	put("/sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", "roce0\n");
	put("/sys/class/infiniband/rxe0/ports/1/gid_attrs/types/0", "RoCE v2\n");
	put("/sys/class/infiniband/rxe0/ports/1/gids/0", "fe80:0000:0000:0000:0000:00ff:fe00:0001\n");
	put("/sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/2", "roce0\n");
	put("/sys/class/infiniband/rxe0/ports/1/gid_attrs/types/2", "RoCE v2\n");
	put("/sys/class/infiniband/rxe0/ports/1/gids/2", "0000:0000:0000:0000:0000:ffff:0a09:0001\n");
	put("/sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_mode", "IB/RoCE v1\n");
	path_read_machine(&f);
	/* sysfs shows another interface of that name */
	assert_int_equal(f.node, PATH_UNKNOWN);
	assert_int_equal(f.irqs, 0);
	put("/sys/class/net/roce0/ifindex", "7\n");
	path_read_machine(&f);
	assert_int_equal(f.node, 1);
	assert_int_equal(f.irqs, 2);
	assert_false(f.irqs_above);
	assert_true(CPU_COUNT(&f.online) == 2 && CPU_ISSET(0, &f.online) && CPU_ISSET(4, &f.online));
	assert_int_equal(CPU_COUNT(&f.near), 4);
	assert_int_equal(CPU_COUNT(&f.irq_cpus), 3);
	assert_true(CPU_ISSET(5, &f.irq_cpus) && CPU_ISSET(0, &f.irq_cpus) && CPU_ISSET(1, &f.irq_cpus));
	assert_int_equal(f.rps, 0);
	assert_int_equal(f.ecn, 1 << 3);
	assert_true(f.irqbalance);
	assert_int_equal(f.softnet_dropped, 26);
	assert_int_equal(f.softnet_squeezed, 5);
	assert_int_equal(f.rmem_max, 212992);
	assert_int_equal(f.wmem_max, PATH_UNKNOWN);
	assert_int_equal(f.tcp_rmem[2], 6291456);
	assert_int_equal(f.udp_mem[2], PATH_UNKNOWN);
	assert_string_equal(f.governor, "schedutil");
	assert_int_equal(f.rxe, RXE_LOADED);
	assert_int_equal(f.gid, 2);
	assert_string_equal(f.roce_mode, "IB/RoCE v1");
}

/* The interrupts of a virtio device are those of the PCI device above. */
static void test_above(void **state)
{
	struct path_facts f = { .name = "roce1", .ifindex = 9, .mac = { 2, 0, 0, 0, 0, 2 } };

	(void)state;
	put("/sys/class/net/roce1/address", "02:00:00:00:00:02\n");
	put("/sys/class/net/roce1/ifindex", "9\n");
	put("/sys/class/net/roce1/device/vendor", "0x1af4\n");
	put("/sys/class/net/roce1/local_cpulist", "0-1\n");
	put("/sys/class/net/roce1/msi_irqs/50", "msix\n");
	put("/proc/irq/50/effective_affinity_list", "1\n");
	path_read_machine(&f);
	assert_int_equal(f.irqs, 1);
	assert_true(f.irqs_above);
	assert_int_equal(CPU_COUNT(&f.near), 2);
}

/* The link of a NIC below a switch whose own link is slower, and that of a virtual function; and texts that tell nothing. */
static void test_pcie(void **state)
{
	struct path_facts f = { .name = "roce2", .ifindex = 10, .mac = { 2, 0, 0, 0, 0, 3 } };
	char link[128];

	(void)state;
	put("/sys/class/net/roce2/address", "02:00:00:00:00:03\n");
	put("/sys/class/net/roce2/ifindex", "10\n");
	snprintf(link, sizeof(link), "%s/sys/class/net/roce2/device", root);
	put("/sys/devices/pci0000:3a/0000:3a:00.0/current_link_speed", "8.0 GT/s PCIe\n");
	put("/sys/devices/pci0000:3a/0000:3a:00.0/current_link_width", "4\n");
	put("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/current_link_speed", "16.0 GT/s PCIe\n");
	put("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/current_link_width", "8\n");
	put("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/max_link_speed", "16 GT/s\n");
	put("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/max_link_width", "16\n");
	assert_int_equal(symlink("../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0", link), 0);
	path_read_machine(&f);
	assert_string_equal(f.pci, "0000:3b:00.0");
	assert_true(f.pcie.gts == 16 && f.pcie.width == 8 && f.pcie_most.width == 16 && f.pcie_most.gts == 16);
	assert_true(f.pcie_way.gts == 8 && f.pcie_way.width == 4);
	assert_int_equal(path_pcie_gbps(f.pcie_way) * 100, 3150);
	assert_int_equal(path_pcie_gbps((struct path_pcie){ 5, 8 }), 32);
	assert_int_equal(path_pcie_gbps((struct path_pcie){ 64, 16 }), 1024);
	unlink(link);
	put("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.1/current_link_speed", "Unknown\n");
	put("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.1/current_link_width", "0\n");
	assert_int_equal(symlink("../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.1", link), 0);
	f = (struct path_facts){ .name = "roce2", .ifindex = 10, .mac = { 2, 0, 0, 0, 0, 3 } };
	path_read_machine(&f);
	assert_true(!f.pcie.width && !f.pcie_way.width && !f.pci[0]);
	snprintf(link, sizeof(link), "%s/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.1/physfn", root);
	assert_int_equal(symlink("../0000:3b:00.0", link), 0);
	path_read_machine(&f);
	assert_true(f.pcie.width == 8 && f.pcie_way.width == 4);
}

static void test_sysctl(void **state)
{
	struct path_change c = { .kind = CHANGE_SYSCTL, .what = "net.ipv4.tcp_rmem", .after = "4096 131072 99" };
	char value[CHANGE_VALUE];

	(void)state;
	assert_true(change_read(&c, value));
	assert_string_equal(value, "4096 131072 6291456");
	assert_true(change_write(&c, c.after));
	assert_true(change_read(&c, value));
	assert_string_equal(value, c.after);
	strcpy(c.what, "net.ipv4.nothing");
	assert_false(change_read(&c, value));
	assert_false(change_write(&c, "1"));
	c = (struct path_change){ .kind = CHANGE_MTU, .what = "nosuch0", .ifindex = INT_MAX };
	assert_false(change_read(&c, value));
	assert_int_equal(errno, ENODEV);
	assert_true(change_is_gone(&c));
}

static int make_root(void **state)
{
	(void)state;
	return !mkdtemp(root) || setenv("ROCESCOPE_ROOT", root, 1);
}

static int remove_root(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right),	cmocka_unit_test(test_findings), cmocka_unit_test(test_between),
		cmocka_unit_test(test_silent),	cmocka_unit_test(test_machine),	 cmocka_unit_test(test_sysctl),
		cmocka_unit_test(test_largest), cmocka_unit_test(test_above), cmocka_unit_test(test_pcie),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_root, remove_root);
}
