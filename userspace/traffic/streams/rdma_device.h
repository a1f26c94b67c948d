/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The RDMA device and its port, for programs that use verbs. Errors end the program, with one line that says what to do. */
#ifndef USERSPACE_TRAFFIC_STREAMS_RDMA_DEVICE_H
#define USERSPACE_TRAFFIC_STREAMS_RDMA_DEVICE_H

#include <infiniband/verbs.h>

#include "lib/rdma_end.h"

#define RDMA_PORT	1	/* port number; a RoCE device has one port */

/* The device of that name; NULL: the first one. */
struct ibv_context *rdma_device_open(const char *name);

/*
 * Asks for the port's attributes, which has to be active. Sets self's LID and path MTU (bytes): path_mtu, or that of the port if
 * it is 0. message: bytes that a message is to have; 0: any.
 */
void rdma_port_query(struct ibv_context *context, unsigned int path_mtu, uint64_t message, struct ibv_port_attr *port,
		     struct rdma_end *self);

/* The path MTU of so many bytes (256 to 4096, a power of two), as verbs name it. */
enum ibv_mtu rdma_mtu(unsigned int bytes);

#endif
