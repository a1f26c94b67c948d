// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two ends of the live measurement. `drop` is the smallest receiver. The sender's end runs on the live frames of the test
 * run: `send` turns each into the next packet of its QP and redirects it into the wire, and `unchanged` redirects it only,
 * which is the fastest sender.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "bench/rewrite.bpf.h"

const volatile __u32 wire;	/* interface index of the sender's end */
struct rewrite_position position;
__u64 packets, first; /* packets sent, and the time of the first, ns */

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
