/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What would make a path lossy: facts about an interface, this machine and the way to a peer, and what follows from them. */
#ifndef USERSPACE_DIAGNOSE_PATH_PATH_H
#define USERSPACE_DIAGNOSE_PATH_PATH_H

#include <linux/ethtool.h>
#include <linux/types.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "userspace/diagnose/path/change.h"
#include "userspace/diagnose/path/probe.h"

#define PATH_UNKNOWN (-1)

/* ---- facts ---- */

enum path_rxe { RXE_LOADED, RXE_MODULE, RXE_ABSENT, RXE_NO_MODULES };

/* A PCI Express link. gts: transfers a second and lane, in 1e9; 0: unknown. */
struct path_pcie {
	double gts;
	int width;
};

/* A struct of ethtool whose cmd is 0, and a number that is PATH_UNKNOWN: nobody tells it. */
struct path_facts {
	/* the interface, by rtnetlink */
	char name[IF_NAMESIZE];
	unsigned int ifindex;
	char driver[ETHTOOL_BUSINFO_LEN];
	char kind[16];	   /* "veth", "bridge", ...; "": hardware, or virtio */
	char peer[IF_NAMESIZE]; /* the other end of a veth, if it is in this network namespace */
	__u8 mac[6];
	bool up, carrier;
	unsigned int mtu, mtu_most; /* mtu_most 0: unknown */
	int64_t mtu_ipv6; /* that of IPv6 alone, which a change of `mtu` overwrites (net/ipv6/addrconf.c) */
	__u32 xdp_program;	    /* id of the attached XDP program; 0: none */
	bool has_address;
	__u8 address[16]; /* from which packets to PEER leave, if it is of this interface */
	/* by ethtool */
	double gbps; /* 0: unknown */
	struct ethtool_ringparam ring;
	struct ethtool_coalesce coalesce;
	struct ethtool_channels channels;
	struct ethtool_pauseparam pause;
	int gro, lro, rx_checksum;
	int receive_queues; /* among which RSS spreads */
	int rss_udp;	    /* whether RSS hashes UDP ports */
	char drop_name[64]; /* the driver's counter of lost frames that is largest */
	int64_t drops;	    /* its value, or the kernel's count for this interface */
	/* PCI Express, by sysfs: as the NIC's link was trained, its maximum, and the slowest link on the way to the CPU */
	struct path_pcie pcie, pcie_most, pcie_way;
	char pci[32]; /* address of the NIC; "": it is no PCI device */
	/* by DCB netlink and sysfs */
	int pfc; /* bit i: PFC is on for priority i */
	int ecn; /* bit i: the NIC sends congestion notifications for priority i */
	/* XDP */
	bool features_known;
	uint64_t features; /* lib/netdev.h */
	/* CPUs */
	int cpus;
	int node;		  /* NUMA node of the NIC */
	int irqs;		  /* interrupts of the NIC */
	bool irqs_above;	  /* they are those of the device above: virtio's is below a PCI device */
	cpu_set_t irq_cpus, near; /* where they are served; the CPUs of the NIC's node */
	cpu_set_t online;	  /* never empty */
	int rps;		  /* whether RPS is on for queue 0 */
	bool irqbalance;
	char governor[32]; /* of the first CPU whose is not `performance`; "": unknown */
	int64_t softnet_dropped, softnet_squeezed;
	int64_t budget, budget_usecs, backlog, rmem_max, rmem_default, wmem_max, tcp_rmem[3], udp_mem[3];
	long page;
	/* RDMA */
	char rdma[64]; /* the device on this interface; "": none */
	bool rdma_software;
	enum path_rxe rxe;
	int gid;	       /* index of the RoCE v2 GID of `address` */
	bool gids_known;
	char roce_mode[32];    /* of RDMA CM; "": unknown */
	/* the way to PEER */
	bool has_peer;
	char peer_address[64];
	char next_hop[64]; /* the router to which packets to PEER are sent; "": PEER itself, or unknown */
	unsigned int leaves_by; /* interface by which packets to PEER leave; 0: unknown */
	struct path_probe probe;
};

/* Gathers the facts. peer: NULL, or the address of PEER. The interface exists. See path_probe() for its time. */
void path_read(struct path_facts *f, const char *interface, const struct path_peer *peer);

/* The part of path_read() that is in files: sysctls, interrupts, CPUs, RDMA modules. */
void path_read_machine(struct path_facts *f);

/* ---- what follows ---- */

enum path_severity { PATH_WILL_LOSE, PATH_MAY_LOSE, PATH_TOLD };

enum path_check {
#define PATH_CHECK(name, severity, why) PATH_CHECK_##name,
#include "userspace/diagnose/path/check.def"
#undef PATH_CHECK
	PATH_CHECKS
};

enum path_state { PATH_GOOD, PATH_FINDING, PATH_NOT_KNOWN };

struct path_result {
	enum path_check check;
	enum path_state state;
	enum path_severity severity; /* of a finding */
	char found[256];   /* what was found, or why it is not known */
	char command[400]; /* what mends it */
	struct path_change change; /* what --fix does; kind CHANGE_NOTHING: nothing */
};

struct path_report {
	struct path_result results[PATH_CHECKS]; /* in the order of a packet's way; checks that do not apply are absent */
	size_t count;
};

/* Bytes of IP that a RoCE path MTU of 4096 needs: include/rdma/ib_addr.h, iboe_get_mtu(), allows 96 of headers. */
#define PATH_MTU_NEEDED (4096 + 96)

/* The RoCE path MTU of an interface with this MTU; 0: none. */
unsigned int path_roce_mtu(unsigned int mtu);

/*
 * Gbit/s that a PCI Express link carries in one direction, headers of its packets included, after line coding: 8b/10b up to 5 GT/s,
 * 128b/130b up to 32, none above (flits). As the kernel's PCIE_SPEED2MBS_ENC (drivers/pci/pci.h) has it. 0: unknown.
 */
double path_pcie_gbps(struct path_pcie link);

/* Judges the facts. Asks nobody. */
void path_judge(struct path_report *r, const struct path_facts *f);

/* The usual severity of a finding of that check. */
enum path_severity path_check_severity(enum path_check check);

/* ---- what is printed ---- */

/* One rocescope.path/1 object. Returns 0, or -1 with errno. */
int path_json(FILE *out, const struct path_facts *f, const struct path_report *r);

/* For people. all: what is good and what is not known as well. Returns 0, or -1 with errno. */
int path_lines(FILE *out, const struct path_facts *f, const struct path_report *r, bool all);

/* Every check, for --help. */
void path_list_checks(void);

/* ---- --fix ---- */

struct path_mend;

/*
 * Makes the changes of the report, and writes into them what came of it. From now on a process of its own puts everything back
 * when this one ends, however it ends. A signal (lib/stop.h) ends it early. *m is NULL: nothing was changed. false: it cannot
 * be guarded, or not all that was tried could be put back, which is reported.
 */
bool path_mend(struct path_mend **m, struct path_report *r, const struct path_facts *f, const struct path_peer *peer);

/* Puts everything back. false: not all of it, which is reported. */
bool path_mend_end(struct path_mend *m);

#endif
