/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RDMA netlink: devices, their QPs and counters, as linux/drivers/infiniband/core/nldev.c tells them to everybody in the same
 * network namespace. No library but libnl is needed, nor are verbs; sysfs, which may belong to another namespace, is not asked.
 */
#ifndef USERSPACE_HOST_RDMA_H
#define USERSPACE_HOST_RDMA_H

#include "userspace/host/host.h"

#define RDMA_PORTS 4 /* of a device; further ones are not looked at */

struct rdma_host_device {
	char name[HOST_NAME];
	__u32 index;
	__u32 ports;
	bool software;	    /* rxe, siw: it works on top of an interface, behind XDP */
	const char *driver; /* "mlx5", "rxe", ...; "?" unknown */
	unsigned int interface[RDMA_PORTS]; /* ifindex of each port's; 0: none, or not in this namespace */
};

struct rdma;
struct nlmsghdr;

/* NULL: this kernel has no RDMA (or there is no memory). */
struct rdma *rdma_open(void);
void rdma_close(struct rdma *r);

/* All devices. The list is valid until the next call. */
size_t rdma_devices(struct rdma *r, const struct rdma_host_device **list);

/* The QPs of these devices, sorted by number. Valid until the next call. */
size_t rdma_qps(struct rdma *r, const struct host_qp **list);

typedef void rdma_take_counter(void *context, const char *device, const char *name, __u64 value);

/* hw_counters of all ports, which are added up. */
void rdma_counters(struct rdma *r, rdma_take_counter *take, void *context);

/* The QPs that are nested in one message, their device not filled in. For rdma.c and its test. */
void rdma_parse_qps(const struct nlmsghdr *message, void (*take)(void *context, const struct host_qp *qp), void *context);

struct rdma_counter {
	char name[HOST_NAME];
	__u64 value;
};

/* All zero at first; whoever has it frees the items. */
struct rdma_counters {
	struct rdma_counter *items;
	size_t count, room, next; /* next: where the next one is likely to be */
};

/* What one message tells of a port, added to what others have told of further ports. For rdma.c and its test. */
void rdma_add_counters(const struct nlmsghdr *message, struct rdma_counters *c);

#endif
