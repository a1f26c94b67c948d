/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Types that the kernel's programs and user space share for `verbs`: QPs, what changed of them, and the calls that programs make. */
#ifndef BPF_VERBS_ABI_H
#define BPF_VERBS_ABI_H

#include <linux/types.h>

#define VERBS_QPS 65536	    /* most QPs that are known at a time */
#define VERBS_NAME 64	    /* IB_DEVICE_NAME_MAX (include/uapi/rdma/rdma_netlink.h: RDMA_NLDEV_ATTR_...) */
#define VERBS_COMM 16	    /* TASK_COMM_LEN */
#define VERBS_OPCODES 16    /* enum ibv_wr_opcode, 0 to 15 */
#define VERBS_WC_OPCODES 16 /* enum ibv_wc_opcode: those of requests, 0 to 15; those of receives, 128 and 129, apart */
#define VERBS_STATUSES 32   /* enum ibv_wc_status */
#define VERBS_LATENCY 40    /* buckets: bucket i counts 2^i ns to 2^(i+1) - 1 ns */

/* ---- what the kernel knows of a QP (ib_core) ---- */

/* Which members of struct verbs_attributes are known. */
enum verbs_known {
	VERBS_KNOWS_PATH = 1 << 0,     /* GIDs, gid_type, interface, tclass, flow_label, hop_limit, sl */
	VERBS_KNOWS_MTU = 1 << 1,
	VERBS_KNOWS_TIMEOUT = 1 << 2,  /* timeout, retry_cnt, rnr_retry, max_rd_atomic */
	VERBS_KNOWS_RESPONDER = 1 << 3, /* min_rnr_timer, max_dest_rd_atomic */
	VERBS_KNOWS_ACCESS = 1 << 4,
	VERBS_KNOWS_CAPABILITIES = 1 << 5, /* sq_sig_all, has_srq */
	VERBS_KNOWS_DMAC = 1 << 6,     /* a query does not tell it */
	VERBS_KNOWS_RQ_PSN = 1 << 7,   /* rq_psn_first; a query tells the present one, which is in struct host_qp */
	VERBS_KNOWS_SQ_PSN = 1 << 8,   /* sq_psn_first; the same */
	VERBS_KNOWS_LIMITS = 1 << 9,   /* max_*: a query tells them, of some drivers */
	VERBS_KNOWS_ASKED = 1 << 10,   /* asked_*: known of those that were made before our eyes */
};

/* Numbers in host byte order, addresses as on the wire. What is not in `known` is 0. */
struct verbs_attributes {
	__u32 known; /* enum verbs_known */
	__u32 state; /* enum ib_qp_state */
	__u32 type;  /* enum ib_qp_type */
	__u32 port;
	__u32 path_mtu; /* bytes */
	__u32 peer_qpn;
	__u32 rq_psn_first, sq_psn_first; /* as set at RTR and RTS */
	__u32 access;	/* enum ib_access_flags */
	__u32 max_send_wr, max_recv_wr, max_inline;	  /* what the driver made of it */
	__u32 asked_send_wr, asked_recv_wr, asked_inline; /* what was asked for when the QP was made */
	__u32 ifindex;	/* of the source GID's interface; 0: none, or it is in another network namespace */
	__u32 flow_label;
	__u8 sgid[16], dgid[16];
	__u8 dmac[6];
	__u8 sgid_index;
	__u8 gid_type;	/* of the source GID, enum ib_uverbs_gid_type: 0 IB, 1 RoCEv1, 2 RoCEv2 */
	__u8 tclass, hop_limit, sl;
	__u8 timeout;	/* exponent: 4.096 us * 2^timeout; 0: none (IBTA 9.7.6.1.3) */
	__u8 retry_cnt, rnr_retry; /* rnr_retry 7: for ever */
	__u8 min_rnr_timer; /* as in the NAK's syndrome: verbs_rnr_ns() */
	__u8 max_rd_atomic, max_dest_rd_atomic;
	__u8 sq_sig_all, has_srq, is_user;
	__u8 reserved[4];
	char interface[16]; /* of the source GID: its name, in whichever network namespace it is; "": none */
};

/* device: the address of struct ib_device, only to tell devices apart. */
struct verbs_qp_key {
	__u64 device;
	__u32 qpn;
	__u32 reserved;
};

/* Value of the map `verbs_qps`. Complete with nobody reading. */
struct verbs_kernel_qp {
	__u64 born;	   /* ns, CLOCK_MONOTONIC: created; 0: before us */
	__u64 state_since; /* the same, of its state; 0: before us */
	__u32 pid;	   /* of its process (tgid); 0: the kernel's own */
	__u32 query;	   /* in which round of queries it was last seen */
	char device[VERBS_NAME];
	struct verbs_attributes attributes;
};

enum verbs_change_kind { VERBS_CREATED = 1, VERBS_MODIFIED, VERBS_DESTROYED, VERBS_ASYNC };

/* A record of the ring buffer `verbs_changes`. */
struct verbs_change {
	__u64 time;	/* ns, CLOCK_MONOTONIC */
	__u64 born;	/* of its QP; 0: before us */
	__u64 lost;	/* records so far for which the ring had no room */
	__u32 kind;	/* enum verbs_change_kind */
	__s32 error;	/* what the kernel returned: 0, or -errno */
	__u32 pid, tid; /* whose call it was */
	__u32 owner;	/* process of the QP (tgid); 0: the kernel */
	__u32 qpn;
	__u32 mask;	/* enum ib_qp_attr_mask: what was set */
	__u32 state_before; /* enum ib_qp_state */
	__u32 async_event;  /* enum ib_event_type, of VERBS_ASYNC */
	__u8 exiting;	/* VERBS_DESTROYED: the process is ending, so nobody has called */
	__u8 signal;	/* ... by this signal; 0: by itself */
	__u8 reserved[2];
	char comm[VERBS_COMM]; /* of the thread whose call it was; of a kernel's QP that was created: its user, as netlink has it */
	char device[VERBS_NAME];
	struct verbs_attributes attributes; /* after it */
};

/* device: name of the device, cut and filled up with zeros: the kernel's structures are unknown to a program's calls. */
struct verbs_birth_key {
	char device[VERBS_COMM];
	__u32 pid; /* tgid */
	__u32 qpn;
};

/* Value of the map `verbs_births`: what a program's calls have to know of the creation of its QP. */
struct verbs_birth {
	__u64 born;    /* ns, CLOCK_MONOTONIC; 0: before us */
	__u32 sig_all; /* 1 all WRs are signalled, 2 not; 0: unknown */
	__u32 reserved;
};

/* ---- the calls that programs make (uprobes) ---- */

/* What is counted of each QP, once: bpf/verbs_counter.def. */
enum verbs_counter {
#define VERBS_COUNTER(name, unit, words) VERBS_##name,
#include "bpf/verbs_counter.def"
#undef VERBS_COUNTER
	VERBS_COUNTERS
};

/* context: the address of struct ibv_context in its process. */
struct verbs_call_key {
	__u64 context;
	__u32 pid;
	__u32 qpn;
};

/* What a work request was, of the newest one that failed and of those that were done. */
struct verbs_request {
	__u64 wr_id;
	__u64 remote_addr;
	__u64 bytes;
	__u32 rkey;
	__u32 opcode; /* enum ibv_wr_opcode */
};

/* Value of the map `verbs_calls`. */
struct verbs_calls {
	__u64 born;	/* as in struct verbs_kernel_qp; 0: unknown */
	__u64 since;	/* ns, CLOCK_MONOTONIC: counted from here on */
	__u64 qp;	/* the address of struct ibv_qp; 0: not seen */
	__u64 send_cq, recv_cq; /* the same of its CQs */
	char device[VERBS_COMM]; /* ibv_device.name, cut */
	__u64 count[VERBS_COUNTERS];
	__u64 wrs[VERBS_OPCODES], bytes[VERBS_OPCODES];	/* posted, by enum ibv_wr_opcode; what was refused is taken out again */
	__u64 done[VERBS_WC_OPCODES];			/* completions of requests, by enum ibv_wc_opcode */
	__u64 received[2], received_bytes[2];		/* IBV_WC_RECV, IBV_WC_RECV_RDMA_WITH_IMM */
	__u64 status[VERBS_STATUSES];			/* completions, by enum ibv_wc_status */
	/*
	 * WRs by number, as they were posted: those from head to tail - 1 are not known to be completed. They are remembered in
	 * the map `verbs_wrs`, under this `id`.
	 */
	__u64 head, tail, id;
	__u64 outstanding_most;	/* posted and not completed, at most at a time */
	__u64 list_most;	/* longest linked list of one post */
	__u64 first_post, last_post, last_completion; /* ns, CLOCK_MONOTONIC; 0: none */
	__u64 oldest_post;	/* of number `head`; 0: none waits, or it is not known */
	/* the first completion that was no success, and how many of IBV_WC_WR_FLUSH_ERR came before it */
	__u64 error_time;
	__u64 error_flushes_before;
	__u32 error_status, error_vendor;
	__u32 error_is_receive;
	__u16 whole;	/* 1: all of its requests since `born`, since the probes were there before the first one */
	__u16 stranger; /* 1: made without a birth: struct verbs_strangers */
	struct verbs_request error_request; /* of which the FIFO knows; opcode VERBS_OPCODES: not known */
	struct verbs_request good_request;  /* the newest that succeeded with an rkey; opcode VERBS_OPCODES: none */
	__u64 good_low, good_high;	    /* bytes of the peer's memory that good_request's rkey has reached: low to high - 1 */
	/* from post to completion, of signalled WRs that succeeded; `paired`: it is known which completion is of which WR */
	__u64 latency_count, latency_sum, latency_most; /* ns */
	__u64 latency[VERBS_LATENCY];
	__u32 threads;	  /* that posted: so many at least (up to 8 are told apart) */
	__u32 thread[8];
	__u32 sig_all;	  /* 0 unknown, 1 all WRs are signalled, 2 not */
	__u32 type;	  /* enum ibv_qp_type; 0: not seen */
	__u32 paired;
	__u32 pending;	  /* ibv_wr_*: WRs since wr_start(), of which wr_complete() or wr_abort() decides */
	__u64 last_wr_id; /* of the newest WR */
};

/* Key of the map `verbs_past`: calls of a QP whose number is another QP's by now. */
struct verbs_past_key {
	struct verbs_call_key key;
	__u64 since; /* of struct verbs_calls */
};

/* ---- between the programs and who attaches them (userspace/observe/verbs/calls.c) ---- */

#define VERBS_LIST 4096	    /* WRs of one list, and completions of one poll, that are followed */
#define VERBS_SGES 64	    /* elements of a WR */
#define VERBS_STEPS 65536   /* elements of all WRs of one list, and WRs that one poll's completions are compared with */
#define VERBS_BLOCK 16	    /* WRs in one value of `verbs_wrs` */
#define VERBS_BLOCKS 65536  /* most of them */
#define VERBS_WAITING 32768 /* most WRs remembered of one QP */

/* The lowest 8 bits of a probe's cookie: at which function it is. The bits above: enum ibv_wr_opcode of VERBS_AT_WR. */
enum verbs_at {
	VERBS_AT_NOTHING, /* only counted: it measures what a probe costs */
	VERBS_AT_POST_SEND,
	VERBS_AT_POST_RECV,
	VERBS_AT_POST_SRQ_RECV,
	VERBS_AT_POLL_CQ,
	VERBS_AT_REQ_NOTIFY_CQ,
	/* struct ibv_qp_ex */
	VERBS_AT_WR_START,
	VERBS_AT_WR,
	VERBS_AT_WR_SET_SGE,
	VERBS_AT_WR_SET_SGE_LIST,
	VERBS_AT_WR_SET_INLINE,
	VERBS_AT_WR_SET_INLINE_LIST,
	VERBS_AT_WR_COMPLETE,
	VERBS_AT_WR_ABORT,
	/* struct ibv_cq_ex */
	VERBS_AT_START_POLL,
	VERBS_AT_NEXT_POLL,
	VERBS_AT_END_POLL,
	VERBS_AT_READ_OPCODE,
	VERBS_AT_READ_VENDOR_ERR,
	VERBS_AT_READ_BYTE_LEN,
	VERBS_AT_READ_QP_NUM,
	VERBS_ATS
};

/* A WR that waits. */
struct verbs_wr {
	__u64 time;  /* ns, CLOCK_MONOTONIC: posted; 0: completed, or refused */
	__u64 wr_id;
	__u64 at;    /* the address of struct ibv_send_wr; 0: by ibv_wr_*() */
	__u64 bytes;
	__u64 remote_addr;
	__u32 rkey;
	__u16 opcode; /* enum ibv_wr_opcode */
	__u8 flags;   /* enum ibv_send_flags, and VERBS_WR_OWN_ID */
	__u8 sges;
	__u32 thread;
	__u32 reserved;
};

#define VERBS_WR_OWN_ID 0x80 /* its wr_id is not that of the WR before */

struct verbs_block_key {
	__u64 id;
	__u64 block; /* number of a WR / VERBS_BLOCK */
};

struct verbs_block {
	struct verbs_wr wr[VERBS_BLOCK];
};

/* A CQ or SRQ: its address in its process. */
struct verbs_queue_key {
	__u64 address;
	__u32 pid;
	__u32 reserved;
};

/* Value of the map `verbs_cqs`. */
struct verbs_cq_calls {
	__u64 since; /* as of struct verbs_calls */
	__u64 polls, empty, failed, completions, batch_most, notified;
	__u32 stranger; /* as of struct verbs_calls */
	__u32 reserved;
};

/*
 * The values of the map `verbs_cq_users` are numbers of QPs: of the only one that uses this CQ, or VERBS_SEVERAL. Whoever reads the
 * calls takes out those that are gone: a program may make another CQ at the same address.
 */
#define VERBS_SEVERAL 0xffffffffu

/* Value of the map `verbs_srqs`. refused: WRs. */
struct verbs_srq_calls {
	__u64 since; /* as of struct verbs_calls */
	__u64 posts, wrs, bytes, refused;
	__u32 stranger, reserved;
};

/*
 * Value of the map `verbs_strangers`, by tgid: what one process fills of the maps that all share. A program may make up the
 * numbers and addresses in its calls. So entries of which the kernel's half does not know a QP, and blocks of WRs, are limited
 * for each process, and all such entries so that those of known QPs have room.
 */
struct verbs_strangers {
	__u64 entries, blocks;
};

#define VERBS_STRANGERS 16384	  /* most entries of one process */
#define VERBS_STRANGERS_ALL 49152 /* of all of them */
#define VERBS_BLOCKS_OF_ONE 16384 /* most blocks of one process */

/* Indexes of the map `verbs_cost`: how often a probe was met, and how many polls found nothing. */
enum verbs_cost_of { VERBS_ENTERED, VERBS_LEFT, VERBS_EMPTY, VERBS_COSTS };

#endif
