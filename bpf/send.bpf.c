// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fastest transmission path for drivers with native XDP. `send` gets live frames from the kernel's test run, turns each
 * into the next packet of the ring, and redirects it to the interface. (Linux 5.18: BPF_F_TEST_XDP_LIVE_FRAMES.)
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "bpf/slot.h"

#define INLINE_PAYLOAD 64 /* up to this size a copy word by word is cheaper than the helper */

struct send_memory memory;
__u64 refused; /* packets that did not fit; no plan should make any */
bool running;  /* the program has started, and found the ring empty */
const volatile __u32 interface;	  /* index */
const volatile __u32 frame_bytes; /* size of the test run's frames */
const volatile bool paced;

/* Whether the slot's time has come. Counts how late it is. */
static __always_inline bool due(const struct slot *s)
{
	__u64 start = *(volatile __u64 *)&memory.start, now = bpf_ktime_get_ns(), late = now - start - s->departure;

	if (!start || (__s64)late < 0 || now - memory.last < memory.spacing)
		return false;
	memory.last = now;
	memory.late[late_bucket(late)]++;
	if (late > memory.late_max)
		memory.late_max = late;
	return true;
}

static __always_inline void copy_words(__u8 *to, const __u8 *from, __u32 words)
{
#pragma unroll
	for (__u32 i = 0; i < words; i++)
		*(__u64 *)(to + 8 * i) = *(const __u64 *)(from + 8 * i);
}

static __always_inline bool put_payload(struct xdp_md *ctx, const struct slot *s)
{
	__u8 *to = (void *)(long)ctx->data + s->header_bytes, *end = (void *)(long)ctx->data_end;
	__u32 bytes = s->payload_bytes, from = s->payload;

	if (from > CELL_OFFSET(CELLS - 1))
		return false;
	if (bytes <= INLINE_PAYLOAD && to + INLINE_PAYLOAD <= end) {
		copy_words(to, memory.payload + from, INLINE_PAYLOAD / 8);
		return true;
	}
	if (!bytes)
		return true;
	/* the verifier of 6.1 does not conclude from `not 0` that the value is at least 1 */
	__asm__ volatile("" : "+r"(bytes));
	bytes = ((bytes - 1) & 0x3fff) + 1;
	if (bytes > CELL_BYTES)
		return false;
	return !bpf_xdp_store_bytes(ctx, s->header_bytes, memory.payload + from, bytes);
}

/* Writes the tail behind the payload. The frame has its final length. */
static __always_inline bool put_tail(struct xdp_md *ctx, const struct slot *s)
{
	__s32 more = s->frame_bytes - frame_bytes;
	__u32 at = (s->frame_bytes - SLOT_TAIL) & 0xfff;
	__u8 *data, *end;

	if (more && bpf_xdp_adjust_tail(ctx, more))
		return false;
	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	if (data + at + SLOT_TAIL > end)
		return false;
	*(__u64 *)(data + at) = *(const __u64 *)s->tail;
	return true;
}

/* If no packet is ready or due, drops the frame; the test run passes the next one. */
SEC("xdp")
int send(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 position = memory.consumed;
	const struct slot *s = &memory.ring[position & (RING_SLOTS - 1)];

	if (position == *(volatile __u64 *)&memory.produced || data + SLOT_HEADERS > end) {
		running = true;
		return XDP_DROP;
	}
	if (paced && !due(s))
		return XDP_DROP;
	copy_words(data, s->headers, SLOT_HEADERS / 8);
	if (!put_payload(ctx, s) || !put_tail(ctx, s)) {
		refused++;
		*(volatile __u64 *)&memory.consumed = position + 1;
		return XDP_ABORTED;
	}
	memory.bytes += s->frame_bytes;
	*(volatile __u64 *)&memory.consumed = position + 1;
	return bpf_redirect(interface, 0);
}

char LICENSE[] SEC("license") = "GPL";
