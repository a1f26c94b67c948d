/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The QPs of this machine, as `rocescope verbs` shows them: RDMA netlink says which there are, the kernel's functions what changed
 * (bpf/verbs_qps.h), and probes at the provider's functions what programs post and poll (bpf/verbs_calls.h). Any of these may be
 * missing, and then says why.
 *
 * Times are in ns of CLOCK_MONOTONIC, numbers in host byte order, addresses as on the wire.
 */
#ifndef USERSPACE_OBSERVE_VERBS_VERBS_H
#define USERSPACE_OBSERVE_VERBS_VERBS_H

#include <net/if.h>

#include "bpf/verbs_abi.h"
#include "userspace/observe/host/rdma.h"

#define VERBS_CONTAINER 80
#define VERBS_HISTORY 16 /* changes remembered of each QP, the newest ones */

/* Why no call of a QP's process is counted. */
enum verbs_blind {
	VERBS_SEEN,	     /* they are counted */
	VERBS_NOT_ASKED,     /* without --calls */
	VERBS_KERNEL_USER,   /* the kernel's own QP: it makes no calls of user space */
	VERBS_NO_PROVIDER,   /* no ibv_context was found in its memory */
	VERBS_EXPENSIVE,     /* its provider's functions would be single-stepped, and --expensive was not given */
	VERBS_NO_CALL,	     /* the probes are there, sq_psn moves, and no call was seen: it posts by itself (DEVX, GPU, ...) */
	VERBS_STOPPED,	     /* the probes cost more than --most */
	VERBS_REFUSED,	     /* the system refuses the probes */
	VERBS_PASSIVE,	     /* the probes are there, and it makes no calls: the passive side of WRITE and READ does not */
};

/* What happened to a QP. */
struct verbs_step {
	__u64 time;
	__u8 kind;	   /* enum verbs_change_kind */
	__u8 state_before, state; /* enum ib_qp_state; HOST_QP_GONE */
	__u8 by_netlink;   /* it was noticed by comparing two readings: the time is that of the second one */
	__s32 error;	   /* 0, or -errno */
	__u32 mask;	   /* enum ib_qp_attr_mask */
	__u32 async_event; /* enum ib_event_type */
	__u32 pid;	   /* whose call; 0: nobody's, or the kernel's */
	__u32 signal;	   /* VERBS_DESTROYED: which signal ended its process; 0: none, or not known */
};

/* A QP, from its creation until some time after it was destroyed. */
struct verbs_qp {
	struct host_qp qp; /* of netlink, or of the kernel's functions: device, QPNs, live PSNs, type, state, process */
	__u64 first_seen;
	__u64 born;	   /* 0: before us */
	__u64 state_since; /* 0: before us */
	__u64 gone;	   /* destroyed; 0: it is there */
	bool killed;	   /* gone because its process ended */
	bool psn_moved;	   /* sq_psn moved since the reading before */
	char interface[IF_NAMESIZE]; /* ""; unknown */
	__u64 process_start; /* of struct process; 0: not known */
	char container[VERBS_CONTAINER]; /* from its process's cgroup; "": none */
	struct verbs_attributes attributes; /* .known 0: not known */
	enum verbs_blind blind;
	bool has_calls;
	bool calls_final;	  /* it is gone, and its calls do not change any more */
	struct verbs_calls calls; /* if has_calls */
	struct verbs_step history[VERBS_HISTORY]; /* oldest first */
	unsigned int steps;	  /* in `history` */
	__u64 steps_forgotten;
};

/* An event, as it is told at once. */
struct verbs_event {
	struct verbs_step step;
	const struct verbs_qp *qp; /* valid during the call */
};

/* A completion queue, and a shared receive queue, of a program. */
struct verbs_cq {
	__u32 pid;
	__u64 address;
	__u64 polls, empty, failed, completions, batch_most, notified;
};

struct verbs_srq {
	__u32 pid;
	__u64 address;
	__u64 posts, wrs, bytes, refused;
};

/* What the probes cost. A poll that finds nothing is of a program that waits: it costs, and keeps it from nothing. */
struct verbs_cost {
	double calls; /* a second, in the last interval */
	double ns;    /* a call */
	double share; /* of one core, 0 to ... */
	double empty_calls, empty_share; /* polls that found nothing, which are not in the above */
	bool stopped; /* by --most, which judges `share` */
};

struct verbs_options {
	const char *const *device; /* only these; count 0: all */
	size_t device_count;
	bool calls;	 /* --calls */
	bool expensive;	 /* --expensive */
	double most;	 /* --most: share of a core, 0.05 */
	void (*tell)(void *context, const struct verbs_event *e); /* may be NULL */
	void *context;
};

struct verbs;

/* NULL: an error was said on stderr (no RDMA in this kernel, no memory). What is only missing becomes a note. */
struct verbs *verbs_open(const struct verbs_options *o);
void verbs_close(struct verbs *v);

/* Poll these for POLLIN; then call verbs_read(), which tells events. Returns their number, at most `room`. */
size_t verbs_fds(const struct verbs *v, int *fds, size_t room);
void verbs_read(struct verbs *v);

/* Reads everything again: once an interval. */
void verbs_update(struct verbs *v);

/* ---- what is known; valid until the next verbs_read() or verbs_update() ---- */

size_t verbs_qps(const struct verbs *v, const struct verbs_qp *const **list); /* by device and QPN; those that are gone among them */
size_t verbs_cqs(const struct verbs *v, const struct verbs_cq **list);
size_t verbs_srqs(const struct verbs *v, const struct verbs_srq **list);
const struct verbs_cost *verbs_cost(const struct verbs *v); /* NULL: no probes */

/* Adds to the owners of a snapshot's streams what their programs post (host_add_calls()), where it is counted. */
void verbs_add_calls(const struct verbs *v, struct snapshot *s);

/* Counters of devices that moved since verbs_open(), as host_counters(). */
size_t verbs_counters(const struct verbs *v, const struct host_counter **list);

/* What is missing and why, one line each: "the kernel refuses tracing programs: states only, once an interval". */
size_t verbs_notes(const struct verbs *v, const char *const **lines);

/* "created", "INIT", ..., "destroyed": what a step was. */
const char *verbs_step_name(const struct verbs_step *s);

/* "SUCCESS", "REM_ACCESS_ERR", ...: enum ibv_wc_status, as libibverbs calls it without IBV_WC_; "?": unknown. */
const char *verbs_status_name(__u32 status);

/* "RDMA_WRITE", ...: enum ibv_wr_opcode without IBV_WR_. */
const char *verbs_opcode_name(__u32 opcode);

/* "RoCEv2", "RoCEv1", "IB": enum ib_uverbs_gid_type; and the number of such a name: 0 (IB) of any other one, and of NULL. */
const char *verbs_gid_type_name(__u8 type);
__u8 verbs_gid_type_of(const char *name);

/* ns that a request may wait before it is sent again, and before the QP gives up: 0: for ever. attributes: with VERBS_KNOWS_TIMEOUT. */
__u64 verbs_timeout_ns(const struct verbs_attributes *a);
__u64 verbs_gives_up_ns(const struct verbs_attributes *a);

/* ns of an RNR NAK timer, 0 to 31, as min_rnr_timer and a NAK's syndrome have it (IBTA 9.7.5.2.8). */
__u64 verbs_rnr_ns(__u8 timer);

#endif
