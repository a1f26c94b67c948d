/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What this machine knows itself of QPs and devices, beside what passes on the wire: whose QP it is (RDMA netlink), what
 * RDMA devices and interfaces have counted (hw_counters, ethtool -S), and why nothing may be seen (hints). Everything may be
 * missing: a machine without RDMA, another network namespace, no permission.
 */
#ifndef USERSPACE_HOST_HOST_H
#define USERSPACE_HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct snapshot;
struct snapshot_stream;
struct live;

#define HOST_NAME 64
#define HOST_WORDS 200

/* One QP of an RDMA device here, as RDMA netlink tells (linux/drivers/infiniband/core/nldev.c, RDMA_NLDEV_CMD_RES_QP_GET). */
struct host_qp {
	char device[HOST_NAME];
	__u32 port;
	__u32 qpn;	/* local */
	__u32 peer_qpn; /* 0: not connected, or no such thing (UD) */
	__u32 rq_psn;	/* expected of the peer's next request; HOST_NO_PSN */
	__u32 sq_psn;	/* of the next request of its own; HOST_NO_PSN */
	__u8 type;	/* enum ib_qp_type */
	__u8 state;	/* enum ib_qp_state, or HOST_QP_GONE: it was there */
	__u32 pid;	/* 0: the kernel's own */
	char program[32]; /* of that process, or of the kernel's user; "" unknown */
};
#define HOST_NO_PSN 0xffffffffu

#define HOST_QP_GONE 0xff

/* "RC", "UD", ...; "RESET", "RTS", ..., "GONE". "?": none that is known. */
const char *host_type_name(__u8 type);
const char *host_state_name(__u8 state);

/* Who a stream belongs to. */
struct host_owner {
	const struct host_qp *qp; /* the end of it that is here; NULL: see words */
	bool local;	/* one of its addresses is this machine's: it ought to have a QP here */
	bool outward;	/* it is sent by this machine */
	char words[HOST_WORDS]; /* what does not fit: "no such QP here", "PSN on the wire 0x200000, the QP expects 0"; "" */
};

/* Something that counts beside us. */
struct host_counter {
	char where[HOST_NAME]; /* device or interface */
	char name[HOST_NAME];  /* rx_icrc_encapsulated, ... */
	__u64 value;	       /* since the start */
	bool dropped;	       /* it counts what was lost at this place: to be compared with what we saw lost */
};

/* What a snapshot tells of the machine. */
struct host_report {
	const struct host_counter *counters; /* as host_counters() has them */
	size_t counter_count;
	const char *const *hints; /* as host_hints() has them */
	size_t hint_count;
};

struct host;

/* Of the interfaces watched. Never fails for good: what cannot be had is said in host_hints(). NULL: no memory. */
struct host *host_open(const struct live *l);
void host_close(struct host *h);

/*
 * Looks again: QPs, counters, hints; to be called once an interval, behind live_snapshot() and before views. Fills in
 * s->streams[].owner, which lives as long as the snapshot, and s->host, which is that of the newest call; and tells the
 * kernel's program which pairs the machine knows (map `pairs`, PAIR_NETLINK).
 */
void host_look(struct host *h, const struct live *l, struct snapshot *s);

/* Counters that have moved since the start, those that count losses first. */
size_t host_counters(const struct host *h, const struct host_counter **counters);

/*
 * What may be silently wrong, one line each, without newline, in words with what to do: RDMA NIC terminates RoCE before XDP,
 * frames on one queue only, VLAN tags stripped, LRO on, traffic for another MAC, ARP unanswered, the NIC's drops against what we
 * saw lost. A line is there as long as it holds.
 */
size_t host_hints(const struct host *h, const char *const **lines);

#endif
