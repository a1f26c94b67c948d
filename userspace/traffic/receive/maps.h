/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps of bpf/receive.bpf.c in this process's memory. */
#ifndef USERSPACE_TRAFFIC_RECEIVE_MAPS_H
#define USERSPACE_TRAFFIC_RECEIVE_MAPS_H

#include <bpf/libbpf.h>

#include "bpf/receive_abi.h"

/*
 * All sizes are those that the kernel has. Only `qps` can be written: `posted`, and what arms a QP. The kernel changes all of it at
 * any time; bpf/receive_abi.h says in which order.
 */
struct receive_maps {
	const struct receive_settings *setup;
	const __u8 *memory;
	__u64 memory_bytes;
	struct receive_qp *qps; /* by QPN - setup->first_qpn */
	__u32 qp_count;
	const struct receive_ring *rings; /* by CPU */
	const struct receive_cpu *cpus;	  /* by CPU */
	__u32 cpu_count;
	const __u64 *generations; /* by block */
	__u32 block_count;
	int regions; /* file descriptor of the hash, by rkey */
	const char *wrong; /* after an error: the map */
};

/*
 * Maps the maps of a loaded object, or those that are pinned under NAME (live/pin.h). These return 0, or a negative errno: -ENOENT:
 * there is none; -EPROTO: a build with another layout made it; -EPERM, -EACCES: not allowed. Afterwards call receive_maps_close().
 */
int receive_maps_of_object(struct receive_maps *m, const struct bpf_object *object);
int receive_maps_of_pin(struct receive_maps *m, const char *name);

/*
 * Sets *id to a number that the receiver has which is pinned under NAME, and which no later one of that name has. 0, or a negative
 * errno: -ENOENT: there is none.
 */
int receive_maps_pinned(const char *name, __u64 *id);

void receive_maps_close(struct receive_maps *m);

/*
 * Copies the registered regions to region[], of which each is at its own index. Returns how many there are, or a negative errno;
 * -E2BIG: an index is not below `most`.
 */
int receive_maps_regions(const struct receive_maps *m, struct roce_region *region, __u32 most);

#endif
