/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The QPs that are known: what RDMA netlink lists, what the kernel's map has, and what changed, made into one struct verbs_qp each. No
 * netlink, no maps and no clock here.
 *
 * Netlink says which QPs there are and their present states: a QP that fails by itself passes no function of ib_core. The changes say
 * when and how. What they tell of the time since a listing began is newer than the listing.
 */
#ifndef USERSPACE_OBSERVE_VERBS_QPS_H
#define USERSPACE_OBSERVE_VERBS_QPS_H

#include "userspace/observe/host/processes.h"
#include "userspace/observe/verbs/verbs.h"

#define QPS_GONE 4096			  /* those that are gone: so many are remembered, the newest ones, */
#define QPS_GONE_NS (600 * 1000000000ull) /* and for so long */

struct qps;

struct qps_options {
	const char *const *device; /* only QPs of these; count 0: of all */
	size_t device_count;
	void (*tell)(void *context, const struct verbs_event *e); /* may be NULL */
	void *context;
	struct processes *processes;
	bool hidden; /* netlink hides what is of other PID namespaces, and the kernel's numbers of processes are not ours */
};

struct qps *qps_open(const struct qps_options *o); /* NULL: no memory */
void qps_close(struct qps *q);

/* Takes a record of the ring, in their order. */
void qps_change(struct qps *q, const struct verbs_change *c);

struct qps_device {
	char name[HOST_NAME];
	char interface[RDMA_PORTS][IF_NAMESIZE]; /* "": none here */
};

/* A listing by netlink. */
struct qps_listing {
	const struct host_qp *list;
	size_t count;
	__u64 begun, ended; /* ns, CLOCK_MONOTONIC */
	bool complete;	    /* what is not in it is not there */
	const struct qps_device *devices; /* valid until the next listing */
	size_t device_count;
	__u32 round;   /* as struct verbs_kernel_qp has it; 0: there is no such map, and qps_known() is not called */
	bool has_lost; /* records of the ring were lost since the listing before: the map tells what they would have told */
};

/*
 * Once an interval: qps_change() for what came until the listing ended, qps_listed(), qps_known() for each QP of the kernel's map, and
 * qps_end(), which takes leave of those that are gone. qps_known() returns whether the map should forget it.
 */
void qps_listed(struct qps *q, const struct qps_listing *l);
bool qps_known(struct qps *q, const struct verbs_qp_key *key, const struct verbs_kernel_qp *v);
void qps_end(struct qps *q);

/* By device and QPN, those that are gone among them. Valid until the next call of any of the above. */
size_t qps_list(struct qps *q, const struct verbs_qp *const **list);

/* Passes on each of them, to fill in what else is known of it. */
void qps_each(struct qps *q, void (*take)(void *context, struct verbs_qp *qp), void *context);

/* How many QPs were not taken, because VERBS_QPS are known already or there was no memory. */
__u64 qps_refused(const struct qps *q);

#endif
