/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What this machine knows of QPs and devices besides the packets: owners of QPs (RDMA netlink), counters of RDMA devices and
 * interfaces (hw_counters, ethtool -S), and why packets may not be seen (hints). Any of this may be missing: there is no RDMA,
 * the network namespace is another one, or permission is missing.
 */
#ifndef USERSPACE_OBSERVE_HOST_HOST_H
#define USERSPACE_OBSERVE_HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct snapshot;
struct snapshot_stream;
struct live;

#define HOST_NAME 64
#define HOST_WORDS 200

/* A QP of a local RDMA device, from RDMA netlink (linux/drivers/infiniband/core/nldev.c, RDMA_NLDEV_CMD_RES_QP_GET). */
struct host_qp {
	char device[HOST_NAME];
	__u32 port;
	__u32 qpn;	/* local */
	__u32 peer_qpn; /* 0: not connected, or UD */
	__u32 rq_psn;	/* PSN expected in the peer's next request; HOST_NO_PSN: unknown */
	__u32 sq_psn;	/* PSN of its own next request; HOST_NO_PSN: unknown */
	__u8 type;	/* enum ib_qp_type */
	__u8 state;	/* enum ib_qp_state, or HOST_QP_GONE: it no longer exists */
	__u32 pid;	/* 0: the kernel */
	char program[32]; /* name of the process, or of the kernel's user; "": unknown */
};
#define HOST_NO_PSN 0xffffffffu

#define HOST_QP_GONE 0xff

/* A memory region of a local RDMA device (RDMA_NLDEV_CMD_RES_MR_GET). */
struct host_mr {
	char device[HOST_NAME];
	__u64 iova;	 /* if has_iova: where requests address its first byte */
	__u64 length;	 /* bytes */
	__u32 rkey, lkey; /* if has_keys: the kernel tells them with CAP_NET_ADMIN */
	__u32 pid;	 /* 0: the kernel */
	bool has_keys, has_iova;
};

/* "RC", "UD", ...; "RESET", "RTS", ..., "GONE". "?": unknown. */
const char *host_type_name(__u8 type);
const char *host_state_name(__u8 state);

/* Why packets of a stream are not for this host, although one of their addresses is its own: the kernel drops them after XDP. */
enum host_astray {
	HOST_MEANT,   /* or sent by it, or neither address is its own */
	HOST_MAC,     /* the destination MAC is not its own, the IP address is */
	HOST_ADDRESS, /* the destination MAC is its own, the IP address is not */
};

/* What the program of a local QP posts (userspace/observe/verbs/verbs.h). */
struct host_calls {
	bool known;
	__u64 wrs, completions, failed; /* requests posted; completions of requests and receives, of which failed were no success */
	__u64 outstanding;		/* requests posted and not known to be completed */
	__u64 half_ns, late_ns;		/* half of the requests, and 99 % of them, were completed within; 0: not known */
};

/* The local end of a stream. */
struct host_owner {
	const struct host_qp *qp; /* the local QP; NULL: see words */
	struct host_calls calls;
	bool local;	/* one of its addresses is local: there should be a QP here */
	bool outward;	/* this machine sends it */
	enum host_astray astray;
	bool refused;	/* packets came, and for the reason in `words` no QP takes them */
	char words[HOST_WORDS]; /* what is wrong: "no such QP here", "PSN on the wire 0x200000, the QP expects 0"; or "" */
};

/* A counter of a device or interface. */
struct host_counter {
	char where[HOST_NAME]; /* device or interface */
	char name[HOST_NAME];  /* rx_icrc_encapsulated, ... */
	__u64 value;	       /* since the start */
	bool dropped;	       /* it counts losses at this place, to be compared with the loss that we see */
};

/* What an interface has counted of a priority (IEEE 802.1Q's, 0 to 7), by the names of its driver. */
enum { PRIORITY_RX_PAUSE, PRIORITY_TX_PAUSE, PRIORITY_DISCARDS, PRIORITY_MARKED, PRIORITY_COUNTS };

struct host_priority {
	char where[HOST_NAME]; /* interface */
	unsigned int priority;
	__u64 count[PRIORITY_COUNTS]; /* since the start: pause frames (PFC) received and sent, frames discarded, marked CE */
};

extern const char *const host_priority_names[PRIORITY_COUNTS];

/* What a snapshot says of this machine. */
struct host_report {
	const struct host_priority *priorities; /* those that moved */
	size_t priority_count;
	const struct host_counter *counters; /* see host_counters() */
	size_t counter_count;
	const char *const *hints; /* see host_hints() */
	size_t hint_count;
	size_t hints_of_streams; /* the first of them, so many, say what the streams show; the others what this machine does, ... */
	bool hint_of_loss; /* ... of which the last one compares lost PSNs with counters */
};

/* nldev.c shows a QP only to those who can see its process, and the kernel's own QPs only to the first PID namespace. */
bool host_is_in_container(void);

struct host;

/*
 * Opens the host's view of the interfaces watched. What cannot be read becomes a hint in host_hints(), not an error. NULL: no
 * memory.
 */
struct host *host_open(const struct live *l);
void host_close(struct host *h);

/*
 * Reads QPs and counters again and makes the hints. Call it once an interval, after live_snapshot() and before the views. Fills
 * in s->streams[].owner (valid as long as the snapshot) and s->host (valid until the next call). Writes the pairs that the
 * machine knows into the map `pairs` of the kernel program (PAIR_NETLINK).
 */
void host_update(struct host *h, const struct live *l, struct snapshot *s);

/* Adds what the owner of a stream posts, after host_update(). The stream has an owner with a QP. */
void host_add_calls(struct snapshot_stream *s, const struct host_calls *calls);

/* Counters that moved since the start, those of losses first. */
size_t host_counters(const struct host *h, const struct host_counter **counters);

/*
 * Silent faults of the set-up, one line each without newline, with the remedy: the RDMA NIC terminates RoCE before XDP, all
 * frames arrive on one queue, VLAN tags are stripped, LRO is on, frames are for another MAC, ARP is not answered, the NIC's
 * drops beside our loss. A line stays as long as the fault does.
 */
size_t host_hints(const struct host *h, const char *const **lines);

#endif
