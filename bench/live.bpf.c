// SPDX-License-Identifier: GPL-2.0-only
/*
 * The live measurement's two ends: `drop`, the emptiest receiver there is, and what live frames of the test run go through:
 * `send`, by which each becomes the next packet of its QP and is sent into the wire, and `unchanged`, the fastest sender there
 * is.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "bench/rewrite.bpf.h"

const volatile __u32 wire;	/* interface index of the end that is sent into */
struct rewrite_position position;
__u64 packets, first; /* sent, and when the first of them was, ns */

static __always_inline int sent(void)
{
	if (!packets++)
		first = bpf_ktime_get_ns();
	return bpf_redirect(wire, 0);
}

SEC("xdp.frags")
int drop(__attribute__((unused)) struct xdp_md *ctx)
{
	return XDP_DROP;
}

SEC("xdp")
int send(struct xdp_md *ctx)
{
	if (!rewrite(ctx, false, &position))
		return XDP_ABORTED;
	return sent();
}

SEC("xdp")
int unchanged(__attribute__((unused)) struct xdp_md *ctx)
{
	return sent();
}

char LICENSE[] SEC("license") = "GPL";
