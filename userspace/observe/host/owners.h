/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which local QP a stream belongs to, and which pairs follow from that. No netlink and no maps here. */
#ifndef USERSPACE_OBSERVE_HOST_OWNERS_H
#define USERSPACE_OBSERVE_HOST_OWNERS_H

#include "userspace/observe/host/places.h"
#include "userspace/observe/model/snapshot.h"

/* A QP as it is, or as it was last seen. */
struct known_qp {
	struct host_qp qp;
	__u64 device;	 /* its bit in masks of devices; 0: gone */
	__u64 gone;	 /* ns, monotonic: when it was first missed; 0: it is there */
	__u32 rq_before; /* rq_psn at the reading before; HOST_NO_PSN: none */
};

struct known_qps {
	struct known_qp *list;		 /* sorted by QPN */
	const struct known_qp **by_peer; /* those that exist and are connected, sorted by the peer's QPN */
	size_t count, connected;
	__u64 time, before;		 /* ns, monotonic: of the last reading, and of the one before; 0: none */
};

/*
 * Takes a reading of RDMA netlink. QPs that are no longer listed are remembered for a while. false: no memory, nothing has
 * changed.
 */
bool known_qps_update(struct known_qps *k, const struct host_qp *now, size_t count, const struct rdma_host_device *devices,
		      size_t device_count, __u64 time);
/* The QP with this number of one of the devices (a mask); if it is not there, one that has gone. NULL: none is known. */
const struct known_qp *known_qps_find(const struct known_qps *k, __u32 qpn, __u64 devices);

/* Whether a QP in this state (enum ib_qp_state) takes requests. */
bool known_qp_takes(__u8 state);
void known_qps_free(struct known_qps *k);

struct owner_facts {
	const struct places *places;
	const struct known_qps *qps;
	bool rdma;   /* this machine has RDMA devices */
	bool hidden; /* QPs of other processes may be hidden */
};

/*
 * Fills in `owner`. If a QP is found, it is written to *qp and owner->qp points there. Returns whether the stream has a local
 * address. owner->astray is filled in in any case.
 */
bool owner_find(const struct owner_facts *f, const struct snapshot_stream *s, struct host_owner *owner, struct host_qp *qp);

struct owner_pair {
	struct roce_pair_key key;
	struct roce_pair pair;
};

/* Writes the pairs of both directions. Returns their number: 0 or 2. */
size_t owner_pairs(const struct snapshot_stream *s, const struct host_owner *owner, struct owner_pair pairs[2]);

#endif
