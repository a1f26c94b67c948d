/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rewriting in the kernel, see rewrite.h. Linear packets are changed directly, the ICRC of a multi-buffer packet by a helper.
 */
#ifndef BENCH_REWRITE_BPF_H
#define BENCH_REWRITE_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "bench/frame.h"

struct rewrite_tables rewrite_tables;
__u32 icrc_offset; /* bytes from the frame's beginning */

static __always_inline bool put_icrc(struct xdp_md *ctx, bool frags, __u32 icrc)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 at = icrc_offset & 0x1fff;

	if (frags)
		return !bpf_xdp_store_bytes(ctx, at, &icrc, sizeof(icrc));
	if (data + at + sizeof(icrc) > end)
		return false;
	*(__u32 *)(data + at) = icrc;
	return true;
}

/* frags: the packet may be a multi-buffer one. false: not a packet of the bench. */
static __always_inline bool rewrite(struct xdp_md *ctx, bool frags, struct rewrite_position *at)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 qpn, psn = at->psn;

	if (data + FRAME_RETH > end)
		return false;
	if (at->qps) {
		qpn = REWRITE_QPN + at->index++;
		if (at->index >= at->qps) {
			at->index = 0;
			at->psn = (psn + 1) & 0xffffff;
		}
	} else {
		qpn = REWRITE_FLOOD | (bpf_get_prandom_u32() & (REWRITE_FLOOD - 1));
		at->psn = (psn + 1) & 0xffffff;
	}
	*(__u64 *)(data + FRAME_BTH + REWRITE_WORD) = rewrite_word(qpn, psn);
	return put_icrc(ctx, frags, rewrite_icrc(&rewrite_tables, qpn, psn));
}

const volatile enum rewrite_change change;

/* The TOS, and the header's checksum: a sum of words in any byte order, here in little endian (RFC 1071, 2B). */
static __always_inline void put_tos(__u8 *ip, __u8 tos)
{
	__u32 sum = (__u16)~*(__u16 *)(ip + 10) + 0xffff + (tos - ip[1]) * 256;

	sum = (sum & 0xffff) + (sum >> 16);
	ip[1] = tos;
	*(__u16 *)(ip + 10) = ~(sum + (sum >> 16));
}

/* The same, and what else changes. */
static __always_inline bool rewrite_changed(struct xdp_md *ctx, struct rewrite_position *at)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 psn = at->psn;

	if (!rewrite(ctx, false, at) || data + FRAME_RETH + FRAME_RETH_LEN > end)
		return false;
	if (change == CHANGE_RING)
		*(__u32 *)(data + FRAME_RETH + 4) = __builtin_bswap32(FRAME_VA + psn % REWRITE_SLOTS * FRAME_PAYLOAD_MAX);
	else
		put_tos(data + FRAME_IP, psn & 1 ? REWRITE_TOS : 0);
	return true;
}

const volatile enum rewrite_datagram datagram_what;
const volatile __u64 datagram_base;
const volatile __u32 datagram_payload;

/* As rewrite() for a datagram of --udp, which has no ICRC. */
static __always_inline bool rewrite_datagram(struct xdp_md *ctx, struct rewrite_position *at)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 flow = at->index++, n = at->psn;

	if (data + FRAME_BTH + REWRITE_DATAGRAM_BYTES > end)
		return false;
	if (at->index >= at->qps) {
		at->index = 0;
		at->psn = n + 1;
	}
	rewrite_number(data + FRAME_BTH, datagram_what, datagram_base, datagram_payload, flow, n);
	return true;
}

#endif
