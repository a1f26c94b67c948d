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
#include "roce/icrc/fold.h"
#include "roce/packet/cm.h"

_Static_assert(FRAME_MAX <= FOLD_MAX, "the work area holds it");

/* Value of the per-CPU map `scratches`. Only the clock and the table's state outlive a packet. */
struct scratch {
	struct fold_work work; /* the frame's beginning, or all of it */
	/* not on the stack, where the verifier would follow each possible value */
	struct roce_packet packet;
	struct roce_key key;
	struct roce_peer_info peer_info;
	struct table_cpu table;
	__u32 cpu;    /* 1 + the CPU's number, 0: not read yet */
	__u32 length; /* of the frame, on the wire */
	__u32 arrival; /* of struct roce_packet */
	__u32 tag;    /* VLAN tag that was already removed from the frame, with bit 16 set; 0: none */
	__u64 jiffies; /* at the last reading of the clock */
	__u64 now;     /* ns, CLOCK_MONOTONIC, at that time */
	__u64 again;   /* with dialogues: duplicates that this packet made its stream count */
	__u64 frames;  /* WATCH_CAPTURE: frames that this CPU has counted, this one included */
	__u32 longest; /* bytes of the longest whole RoCE frame on this CPU (roce_count_frame()) */
	__u32 place;   /* 1 + the place of the packet's stream, 0: none */
	struct roce_cm cm; /* of connection management, valid if `managed` */
	__u8 managed; /* the packet is connection management, and was parsed */
	__u8 wanted;  /* the ICRC is to be verified */
	__u8 icrc;    /* enum icrc_verdict, for global functions */
	__u8 linear;  /* the frame can be read in place; otherwise it is copied here, completely if its ICRC is wanted */
	__u8 cut;     /* WATCH_DECAP: the frame was in a tunnel, and a mirror may have cut it below `length` */
	__u8 trusted; /* with WATCH_CAPTURE: the stream before the packet, as in struct roce_before */
	__u8 unknown; /* with WATCH_CAPTURE: the stream was not saved yet */
	__u32 expected;
	__u32 skipped; /* bytes of the tunnel before the frame */
	__u32 bare;    /* with `skipped`: ethertype of struct roce_inner */
	__u32 crc;     /* what folding returned for the frame */
	struct roce_counters one; /* for roce_leave_out() */
};

MAP(scratches, PERCPU_ARRAY, __u32, struct scratch, 1, 0);

/* One value per CPU, and the last one for user space. Not a per-CPU map, where a look-up is a call before Linux 6.10. */
MAP(totals, ARRAY, __u32, struct totals_value, TOTALS_ENTRIES_FOR(256), BPF_F_MMAPABLE);

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
 * because bpf_xdp_load_bytes() costs as much as the whole parser (and came with Linux 5.18).
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
