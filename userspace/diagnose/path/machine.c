// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Facts that are in files of /proc and /sys. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/address.h"
#include "userspace/diagnose/path/files.h"
#include "userspace/diagnose/path/path.h"

#define GIDS_MOST 256 /* entries of a GID table that are read */
#define IRQS_MOST 1024
#define BRIDGES_MOST 16 /* between a NIC and the CPU */

/* Calls `take` with each name in a folder. false: there is no such folder. */
static bool for_each_name(const char *folder, void (*take)(void *context, const char *name), void *context)
{
	DIR *d = opendir(folder);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			take(context, e->d_name);
	if (d)
		closedir(d);
	return d;
}

/* ---- the NIC in sysfs ---- */

/*
 * Whether sysfs shows this interface: it may belong to another network namespace, whose interface of this name is another one.
 */
static bool is_shown(const struct path_facts *f)
{
	char text[32];

	file_line(file_path("/sys/class/net/%s/address", f->name).text, text, sizeof(text));
	return file_number(file_path("/sys/class/net/%s/ifindex", f->name).text) == f->ifindex && !strcmp(text, mac_text(f->mac).text);
}

static void take_irq(void *context, const char *name)
{
	struct path_facts *f = context;
	cpu_set_t cpus;

	if (!isdigit(name[0]) || f->irqs >= IRQS_MOST)
		return;
	if (!file_cpus(file_path("/proc/irq/%s/effective_affinity_list", name).text, &cpus) &&
	    !file_cpus(file_path("/proc/irq/%s/smp_affinity_list", name).text, &cpus))
		return;
	f->irqs++;
	CPU_OR(&f->irq_cpus, &f->irq_cpus, &cpus);
}

#define PCIE_WIDEST 32 /* lanes; above it sysfs says that it does not know (PCI_EXP_LNKSTA_NLW is all ones) */

/* which: "current" or "max". Zeros: sysfs does not tell, as of a virtual function. */
static struct path_pcie pcie_link(const char *device, const char *which)
{
	struct path_pcie link = { .width = file_number(file_path("%s/%s_link_width", device, which).text) };
	char text[64];

	if (file_line(file_path("%s/%s_link_speed", device, which).text, text, sizeof(text)))
		link.gts = strtod(text, NULL); /* "8.0 GT/s PCIe", "Unknown" */
	return link.gts > 0 && link.width > 0 && link.width <= PCIE_WIDEST ? link : (struct path_pcie){ 0 };
}

/* A virtual function has the link of its physical one. A switch above has a link of its own, which may be slower. */
static void read_pcie(struct path_facts *f)
{
	char device[PATH_MAX], real[PATH_MAX];
	struct path_pcie above;

	snprintf(device, sizeof(device), "/sys/class/net/%s/device/physfn", f->name);
	if (!file_exists(file_path("%s", device).text))
		snprintf(device, sizeof(device), "/sys/class/net/%s/device", f->name);
	f->pcie = f->pcie_way = pcie_link(device, "current");
	f->pcie_most = pcie_link(device, "max");
	if (f->pcie.width && realpath(file_path("%s", device).text, real))
		snprintf(f->pci, sizeof(f->pci), "%.*s", (int)sizeof(f->pci) - 1, strrchr(real, '/') + 1);
	for (int i = 0; f->pcie.width && i < BRIDGES_MOST; i++) {
		strcat(device, "/..");
		above = pcie_link(device, "current");
		if (!above.width)
			return;
		if (path_pcie_gbps(above) < path_pcie_gbps(f->pcie_way))
			f->pcie_way = above;
	}
}

static void read_nic(struct path_facts *f)
{
	const char *device;
	char mask[512];

	f->node = f->rps = f->ecn = PATH_UNKNOWN;
	f->mtu_ipv6 = file_number(file_path("/proc/sys/net/ipv6/conf/%s/mtu", f->name).text);
	if (!is_shown(f))
		return;
	/* the PCI device of a virtio device is above it */
	f->irqs_above = !for_each_name(file_path("/sys/class/net/%s/device/msi_irqs", f->name).text, take_irq, f) &&
			for_each_name(file_path("/sys/class/net/%s/device/../msi_irqs", f->name).text, take_irq, f);
	device = f->irqs_above ? "device/.." : "device";
	f->node = file_number(file_path("/sys/class/net/%s/%s/numa_node", f->name, device).text);
	file_cpus(file_path("/sys/class/net/%s/%s/local_cpulist", f->name, device).text, &f->near);
	read_pcie(f);
	if (file_line(file_path("/sys/class/net/%s/queues/rx-0/rps_cpus", f->name).text, mask, sizeof(mask)))
		f->rps = strspn(mask, "0,") != strlen(mask);
	/* NVIDIA's driver: a file for each priority */
	for (int i = 0; i < 8; i++) {
		int64_t on = file_number(file_path("/sys/class/net/%s/ecn/roce_np/enable/%d", f->name, i).text);

		if (on >= 0)
			f->ecn = (f->ecn < 0 ? 0 : f->ecn) | (int)!!on << i;
	}
}

/* ---- CPUs ---- */

static void read_online(struct path_facts *f)
{
	f->cpus = get_nprocs();
	if (!file_cpus(file_path("/sys/devices/system/cpu/online").text, &f->online))
		for (int i = 0; i < f->cpus; i++)
			CPU_SET(i, &f->online);
}

static void read_governor(struct path_facts *f)
{
	char text[sizeof(f->governor)];

	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &f->online) ||
		    !file_line(file_path("/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", i).text, text, sizeof(text)))
			continue;
		memcpy(f->governor, text, sizeof(text));
		if (strcmp(text, "performance"))
			return;
	}
}

static void take_process(void *context, const char *name)
{
	bool *found = context;
	char text[32];

	if (!*found && isdigit(name[0]) && file_line(file_path("/proc/%s/comm", name).text, text, sizeof(text)))
		*found = !strcmp(text, "irqbalance");
}

/* A line a CPU: processed, dropped, time_squeeze, ..., hexadecimal (net/core/net-procfs.c) */
static void read_softnet(struct path_facts *f)
{
	FILE *file = fopen(file_path("/proc/net/softnet_stat").text, "re");
	unsigned int dropped, squeezed;
	char line[256];

	f->softnet_dropped = f->softnet_squeezed = file ? 0 : PATH_UNKNOWN;
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*x %x %x", &dropped, &squeezed) == 2) {
			f->softnet_dropped += dropped;
			f->softnet_squeezed += squeezed;
		}
	if (file)
		fclose(file);
}

/* ---- sysctls ---- */

static void read_three(const char *path, int64_t three[3])
{
	char text[128];

	three[0] = three[1] = three[2] = PATH_UNKNOWN;
	if (file_line(path, text, sizeof(text)) && sscanf(text, "%ld %ld %ld", &three[0], &three[1], &three[2]) != 3)
		three[2] = PATH_UNKNOWN;
}

static int64_t net_core(const char *name)
{
	return file_number(file_path("/proc/sys/net/core/%s", name).text);
}

static void read_sysctls(struct path_facts *f)
{
	f->budget = net_core("netdev_budget");
	f->budget_usecs = net_core("netdev_budget_usecs");
	f->backlog = net_core("netdev_max_backlog");
	f->rmem_max = net_core("rmem_max");
	f->rmem_default = net_core("rmem_default");
	f->wmem_max = net_core("wmem_max");
	read_three(file_path("/proc/sys/net/ipv4/tcp_rmem").text, f->tcp_rmem);
	read_three(file_path("/proc/sys/net/ipv4/udp_mem").text, f->udp_mem);
	f->page = sysconf(_SC_PAGESIZE);
}

/* ---- RDMA ---- */

static bool kernel_has_module(const char *name)
{
	struct utsname kernel;
	char line[1024];
	bool found = false;
	FILE *f;

	uname(&kernel);
	f = fopen(file_path("/lib/modules/%s/modules.dep", kernel.release).text, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, name);
	if (f)
		fclose(f);
	return found;
}

static void read_rxe(struct path_facts *f)
{
	if (file_exists(file_path("/sys/module/rdma_rxe").text))
		f->rxe = RXE_LOADED;
	else if (!file_exists(file_path("/proc/modules").text))
		f->rxe = RXE_NO_MODULES;
	else
		f->rxe = kernel_has_module("/rdma_rxe.ko") ? RXE_MODULE : RXE_ABSENT;
}

/* GIDs are in sysfs only. It may show the devices of another network namespace: the GID's interface has to be ours. */
static void read_gids(struct path_facts *f)
{
	struct file_path port = file_path("/sys/class/infiniband/%s/ports/1", f->rdma);
	char path[PATH_MAX + 64], text[64];
	__u8 gid[16];

	f->gid = PATH_UNKNOWN;
	for (int i = 0; f->rdma[0] && i < GIDS_MOST; i++) {
		snprintf(path, sizeof(path), "%s/gid_attrs/ndevs/%d", port.text, i);
		if (!file_line(path, text, sizeof(text)) || strcmp(text, f->name))
			continue;
		f->gids_known = true;
		snprintf(path, sizeof(path), "%s/gid_attrs/types/%d", port.text, i);
		if (!file_line(path, text, sizeof(text)) || strcmp(text, "RoCE v2"))
			continue;
		snprintf(path, sizeof(path), "%s/gids/%d", port.text, i);
		file_line(path, text, sizeof(text));
		if (f->has_address && address_parse(text, gid) && !memcmp(gid, f->address, sizeof(gid))) {
			f->gid = i;
			return;
		}
	}
}

void path_read_machine(struct path_facts *f)
{
	read_online(f);
	read_nic(f);
	read_governor(f);
	for_each_name(file_path("/proc").text, take_process, &f->irqbalance);
	read_softnet(f);
	read_sysctls(f);
	read_rxe(f);
	read_gids(f);
	if (f->rdma[0])
		file_line(file_path("/sys/kernel/config/rdma_cm/%s/ports/1/default_roce_mode", f->rdma).text, f->roce_mode,
			  sizeof(f->roce_mode));
}
