/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which QP here a stream belongs to, and which pairs follow from that. Knows neither netlink nor maps. */
#ifndef USERSPACE_HOST_OWNERS_H
#define USERSPACE_HOST_OWNERS_H

#include "userspace/host/places.h"
#include "userspace/model/snapshot.h"

/* A QP as it is, or was when it was seen last. */
struct known_qp {
	struct host_qp qp;
	__u64 device;	 /* its bit in masks of devices; 0: gone */
	__u64 gone;	 /* ns, monotonic: not before then it was missed; 0: it is there */
	__u32 rq_before; /* rq_psn when it was looked at before; HOST_NO_PSN: it was not */
};

struct known_qps {
	struct known_qp *list;		 /* sorted by number */
	const struct known_qp **by_peer; /* those that are there and connected, sorted by the peer's */
	size_t count, connected;
	__u64 time, before;		 /* ns, monotonic: when they were looked at, and before that; 0: never */
};

/* What RDMA netlink said now; what it no longer says is remembered for a while. false: no memory, nothing has changed. */
bool known_qps_update(struct known_qps *k, const struct host_qp *now, size_t count, const struct rdma_host_device *devices,
		      size_t device_count, __u64 time);
void known_qps_free(struct known_qps *k);

struct owner_facts {
	const struct places *places;
	const struct known_qps *qps;
	bool rdma;   /* this machine has RDMA devices */
	bool hidden; /* QPs of other processes may be hidden from this one */
};

/*
 * Fills in `owner`; its qp is *qp, which is written if one is found. Returns whether an address of the stream is this
 * machine's.
 */
bool owner_find(const struct owner_facts *f, const struct snapshot_stream *s, struct host_owner *owner, struct host_qp *qp);

struct owner_pair {
	struct roce_pair_key key;
	struct roce_pair pair;
};

/* The pairs, both directions, that follow; how many: 0 or 2. */
size_t owner_pairs(const struct snapshot_stream *s, const struct host_owner *owner, struct owner_pair pairs[2]);

#endif
