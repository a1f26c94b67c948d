/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the QPs of qps.h are kept: those that exist by device and QPN, those that are gone in the order in which they went. */
#ifndef USERSPACE_OBSERVE_VERBS_QP_TABLE_H
#define USERSPACE_OBSERVE_VERBS_QP_TABLE_H

#include "userspace/observe/verbs/verbs.h"

struct qp_entry {
	struct verbs_qp qp;
	struct qp_entry *next;
	__u64 changed;	  /* ns: when a record last told of it */
	bool listed;	  /* netlink has it, in the present listing */
	bool ever_listed; /* ... in any */
	bool mapped;	  /* the kernel's map has it, at the present listing */
};

struct qp_table {
	struct qp_entry **slots;
	struct qp_entry *oldest_gone, *newest_gone;
	size_t count, gone;
	__u64 refused;
	const struct verbs_qp **sorted;
	size_t sorted_room;
	bool is_sorted;
};

bool qp_table_open(struct qp_table *t); /* false: no memory */
void qp_table_close(struct qp_table *t);

/* A QP that exists. port: of those with the numbers 0 and 1, which each port has; otherwise anything. NULL: there is none. */
struct qp_entry *qp_table_find(const struct qp_table *t, const char *device, __u32 qpn, __u32 port);

/* All zero but for device, QPN and port. NULL: too many, or no memory. */
struct qp_entry *qp_table_add(struct qp_table *t, const char *device, __u32 qpn, __u32 port);

/* It does not exist any more. */
void qp_table_retire(struct qp_table *t, struct qp_entry *e);

/* Forgets those that went before this time, and the oldest of more than QPS_GONE. */
void qp_table_expire(struct qp_table *t, __u64 before);

/* Walks through those that exist. `take` may retire the entry that it gets. */
void qp_table_each(struct qp_table *t, void (*take)(void *context, struct qp_entry *e), void *context);

/* All, by device, QPN, and the time when they were first seen. */
size_t qp_table_list(struct qp_table *t, const struct verbs_qp *const **list);

#endif
