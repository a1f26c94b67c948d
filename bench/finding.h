/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times finding a stream's state and locking out other CPUs with BPF's own maps, without parsing or accounting. Reads at the
 * fixed offsets of the bench's packet.
 */
#ifndef BENCH_FINDING_H
#define BENCH_FINDING_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bench/rewrite.bpf.h"

#define FINDING_STREAMS 65536

struct finding_key {
	__u64 addresses[4];
	__u32 qpn, side;
};

struct finding_value {
	struct bpf_spin_lock lock;
	__u32 psn;
	__u64 packets;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FINDING_STREAMS);
	__type(key, struct finding_key);
	__type(value, struct finding_value);
} finding_hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FINDING_STREAMS);
	__type(key, __u32);
	__type(value, struct finding_value);
} finding_array SEC(".maps");

static __always_inline bool finding_count(struct finding_value *v, __u32 psn)
{
	if (!v)
		return false;
	bpf_spin_lock(&v->lock);
	v->psn = psn;
	v->packets++;
	bpf_spin_unlock(&v->lock);
	return true;
}

/* A hash map: a call, a hash and a walk, for any QPN. */
static __always_inline bool find_by_hash(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	static const struct finding_value none;
	struct finding_key key = { 0 };
	struct finding_value *v;

	if (data + FRAME_RETH > end)
		return false;
	key.addresses[0] = *(__u64 *)(data + FRAME_IP + 12);
	key.qpn = *(__u32 *)(data + FRAME_BTH + 4) >> 8;
	v = bpf_map_lookup_elem(&finding_hash, &key);
	if (!v) {
		bpf_map_update_elem(&finding_hash, &key, &none, BPF_NOEXIST);
		v = bpf_map_lookup_elem(&finding_hash, &key);
	}
	return finding_count(v, *(__u32 *)(data + FRAME_BTH + 8));
}

/* An array map: the cheapest, but the QPN must be the index. */
static __always_inline bool find_by_array(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 place;

	if (data + FRAME_RETH > end)
		return false;
	place = (__builtin_bswap32(*(__u32 *)(data + FRAME_BTH + 4)) - REWRITE_QPN) & 0xffffff;
	return finding_count(bpf_map_lookup_elem(&finding_array, &place), *(__u32 *)(data + FRAME_BTH + 8));
}

#endif
