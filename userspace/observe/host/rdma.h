/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RDMA netlink: devices, their QPs and counters, as linux/drivers/infiniband/core/nldev.c gives them to any process in the same
 * network namespace. It needs no library but libnl, and no verbs. sysfs is not read: it may belong to another namespace.
 */
#ifndef USERSPACE_OBSERVE_HOST_RDMA_H
#define USERSPACE_OBSERVE_HOST_RDMA_H

#include "userspace/observe/host/host.h"

#define RDMA_PORTS 4 /* most ports read of a device */

struct rdma_host_device {
	char name[HOST_NAME];
	__u32 index;
	__u32 ports;
	bool software;	    /* rxe, siw: it runs on top of an interface, behind XDP */
	const char *driver; /* "mlx5", "rxe", ...; "?": unknown */
	unsigned int interface[RDMA_PORTS]; /* ifindex of each port; 0: none, or not in this namespace */
};

struct rdma;
struct nlmsghdr;

/* NULL: no RDMA in this kernel, or no memory. */
struct rdma *rdma_open(void);
void rdma_close(struct rdma *r);

/* All devices. The list is valid until the next call. */
size_t rdma_devices(struct rdma *r, const struct rdma_host_device **list);

/* The QPs of these devices, sorted by QPN. Valid until the next call. */
size_t rdma_qps(struct rdma *r, const struct host_qp **list);

/* Whether that list has all QPs: false if a device gave no answer, or stopped in the middle of it. */
bool rdma_qps_complete(const struct rdma *r);

typedef void rdma_take_counter(void *context, const char *device, const char *name, __u64 value);

/* Reads hw_counters, summed over all ports. */
void rdma_counters(struct rdma *r, rdma_take_counter *take, void *context);

/* Parses the QPs nested in one message. Their device is not filled in. For rdma.c and its test. */
void rdma_parse_qps(const struct nlmsghdr *message, void (*take)(void *context, const struct host_qp *qp), void *context);

struct rdma_counter {
	char name[HOST_NAME];
	__u64 value;
};

/* All zero at first. The owner frees the items. */
struct rdma_counters {
	struct rdma_counter *items;
	size_t count, room, next; /* next: the likely index of the next counter */
};

/* Adds the counters of one port's message to those of the other ports. For rdma.c and its test. */
void rdma_add_counters(const struct nlmsghdr *message, struct rdma_counters *c);

/* The memory regions of these devices. Valid until the next call. */
size_t rdma_mrs(struct rdma *r, const struct host_mr **list);

/* Parses those nested in one message. Their device is not filled in. For rdma.c and its test. */
void rdma_parse_mrs(const struct nlmsghdr *message, void (*take)(void *context, const struct host_mr *mr), void *context);

#endif
