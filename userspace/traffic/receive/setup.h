/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a receiver registers: its address, memory, regions, QPNs and keys, from options and random numbers. */
#ifndef USERSPACE_TRAFFIC_RECEIVE_SETUP_H
#define USERSPACE_TRAFFIC_RECEIVE_SETUP_H

#include <stdbool.h>

#include "bpf/receive_abi.h"
#include "lib/rdma_end.h"

struct receive_options {
	const char *interface;
	__u64 memory;  /* bytes */
	__u32 regions, qps;
	__u32 service; /* enum rdma_service; 0: the sender's by the control connection, else UC */
	__u32 first_qpn, rkey, psn; /* if they are told: has_... */
	__u64 va;
	__u32 path_mtu; /* bytes; 0: the largest that fits the interface's MTU */
	__u16 pkey;
	__u8 address[16], peer[16];
	__u32 peer_qpn, peer_psn;
	__u32 receives; /* posted on each QP; 0: endless */
	__u32 receive_bytes; /* of a SEND's buffer; 0: no SENDs */
	__u8 rnr_timer;
	bool notify, each;
	__u64 block; /* bytes */
	const char *tell, *dump, *control, *pin; /* NULL: none */
	__u32 runs; /* end after so many senders; 0: never */
	bool has_memory, has_regions, has_qps, has_block, has_qpn, has_rkey, has_psn, has_va, has_address, has_peer;
};

struct receive_setup {
	const struct receive_options *options;
	struct receive_settings settings;
	struct roce_region *region; /* by index */
	__u32 regions;
	__u32 qps_per_region;
	__u64 share; /* bytes of memory of a QP, which lie in one region */
	__u32 service; /* enum rdma_service; 0: each sender's */
	__u32 path_mtu;
	__u32 psn; /* of our first packet, as the sender is told */
	bool resumed; /* a pinned receiver, which has its memory, keys and QPs already */
};

/* Decides on everything. false: it is not possible, which is reported in one line on stderr. Free it in any case. */
bool receive_setup_make(struct receive_setup *s, const struct receive_options *o);

/*
 * The same for a receiver that is pinned, from what it has: its settings and regions, whose array the setup takes. Keys and
 * addresses stay.
 */
void receive_setup_resume(struct receive_setup *s, const struct receive_options *o, const struct receive_settings *settings,
			  struct roce_region *region, __u32 regions);

void receive_setup_free(struct receive_setup *s);

/* The region in which the QP's share of the memory is, and the share's first byte from the beginning of the memory. */
const struct roce_region *receive_setup_region(const struct receive_setup *s, __u32 qp);
__u64 receive_setup_at(const struct receive_setup *s, __u32 qp);

/* The bytes that --memory registers: whole chunks. */
__u64 receive_setup_memory(const struct receive_options *o);

/* The bytes of --memory with which each QP has a share of so many bytes. */
__u64 receive_setup_memory_for(const struct receive_setup *s, __u64 share);

/* Sizes with which SENDs have buffers: how many lie in a share. */
__u32 receive_setup_slots(const struct receive_setup *s, __u32 receive_bytes);

/* What a sender without a control connection must know. The caller frees end->qp. false: no memory. */
bool receive_setup_end(const struct receive_setup *s, struct rdma_end *end);

#endif
