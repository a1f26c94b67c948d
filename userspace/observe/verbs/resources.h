/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the RDMA devices of this machine have beside QPs: memory regions, and which driver they have. By RDMA netlink alone. */
#ifndef USERSPACE_OBSERVE_VERBS_RESOURCES_H
#define USERSPACE_OBSERVE_VERBS_RESOURCES_H

#include "userspace/observe/host/rdma.h"

struct verbs_resources {
	struct rdma *rdma;
	const struct rdma_host_device *devices;
	const struct host_mr *mrs; /* their keys need CAP_NET_ADMIN */
	size_t device_count, mr_count;
};

/* Reads them anew; what the members point to is valid until the next call. Begin with all zero. What cannot be read is empty. */
void verbs_resources_read(struct verbs_resources *r);
void verbs_resources_close(struct verbs_resources *r);

/* "mlx5", "rxe", ...; NULL: unknown. */
const char *verbs_resources_driver(const struct verbs_resources *r, const char *device);

#endif
