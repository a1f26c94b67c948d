/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A CPU's own memory, and how a frame is copied to it. XDP and tc run with bottom halves disabled, so that nothing interferes
 * on one CPU.
 */
#ifndef BPF_SCRATCH_H
#define BPF_SCRATCH_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/table.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* One value per CPU, and the last one for user space. Not a per-CPU map, where a look-up is a call before Linux 6.10. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TOTALS_ENTRIES_FOR(256));
	__type(key, __u32);
	__type(value, struct totals_value);
} totals SEC(".maps");

/* The totals of this CPU. watch_begin() has read its number. */
static __always_inline struct roce_totals *scratch_totals(const struct scratch *s)
{
	__u32 cpu = s->cpu - 1;
	struct totals_value *own = bpf_map_lookup_elem(&totals, &cpu);

	return own ? &own->totals : NULL;
}

/*
 * The bytes that can be read directly: scratch_data() to scratch_end() - 1. In assembler, because struct xdp_md has both as
 * __u32: clang 19 copies them by 32-bit moves, after which the verifier takes them for numbers.
 */
#define SCRATCH_POINTER(ctx, member) ({ \
	const __u8 *pointer; \
	__asm__ volatile("%0 = *(u32 *)(%1 + %2)" : "=r"(pointer) : "r"(ctx), "i"(offsetof(struct xdp_md, member))); \
	pointer; \
})

static __always_inline const __u8 *scratch_data(const struct xdp_md *ctx)
{
	return SCRATCH_POINTER(ctx, data);
}

static __always_inline const __u8 *scratch_end(const struct xdp_md *ctx)
{
	return SCRATCH_POINTER(ctx, data_end);
}

/* Their number. */
static __always_inline __u32 scratch_linear(const struct xdp_md *ctx)
{
	return scratch_end(ctx) - scratch_data(ctx);
}

/*
 * Copies words `from` to `until` - 1 of a linear frame; if the frame ends earlier, its last eight bytes instead. Direct access,
 * because bpf_xdp_load_bytes() costs as much as the whole parser (and is not in Linux 5.10).
 */
static __always_inline void scratch_copy(struct xdp_md *ctx, __u8 *to, __u32 from, __u32 until)
{
	const __u8 *data = scratch_data(ctx), *data_end = scratch_end(ctx);
	__u32 last;

	for (__u32 i = from; i < until; i++) {
		if (data + 8 * i + 8 > data_end)
			break;
		roce_store(__u64, to + 8 * i, roce_load(__u64, data + 8 * i));
	}
	/* Reload: each loop exit leaves the verifier a different range. */
	data = scratch_data(ctx);
	data_end = scratch_end(ctx);
	last = data_end - data - 8;
	roce_opaque(last);
	if (last > FOLD_LEAST)
		return;
	data += last;
	if (data + 8 <= data_end)
		roce_store(__u64, to + last, roce_load(__u64, data));
}

#define SCRATCH_LINE 64
#define SCRATCH_FOURS (FOLD_MAX / SCRATCH_LINE / 4)

/*
 * Prefetches the cache lines of a frame that may be RoCE, four at a time. Lines that a NIC or another CPU has written are far
 * away. Folding has only a few lines in flight and would wait for each.
 */
static __always_inline void scratch_touch(struct xdp_md *ctx)
{
	const __u8 *p = scratch_data(ctx), *data_end = scratch_end(ctx);

	if (p + WIRE_ETH_LEN + WIRE_IPV4_LEN > data_end)
		return;
	if (roce_be16(p + 12) == WIRE_ETHERTYPE_IPV4 && p[WIRE_ETH_LEN + 9] != WIRE_PROTO_UDP)
		return;
	for (__u32 i = 0; i < SCRATCH_FOURS; i++) {
		roce_opaque(p);
		if (p + 4 * SCRATCH_LINE > data_end)
			break;
		for (__u32 k = 0; k < 4; k++)
			*(volatile __u8 *)(p + k * SCRATCH_LINE);
		p += 4 * SCRATCH_LINE;
	}
}

/* Copies the headers of a linear frame. */
static __always_inline void scratch_headers(struct xdp_md *ctx, __u8 *to)
{
	const __u8 *data = scratch_data(ctx), *data_end = scratch_end(ctx);

	if (data + ROCE_WINDOW_BYTES > data_end) {
		scratch_copy(ctx, to, 0, ROCE_WINDOW_BYTES / 8);
		return;
	}
	for (__u32 i = 0; i < ROCE_WINDOW_BYTES; i += 8)
		roce_store(__u64, to + i, roce_load(__u64, data + i));
}

#endif
