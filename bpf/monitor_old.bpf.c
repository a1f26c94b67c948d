// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf/monitor.bpf.c for kernels without bpf_loop() (Linux 5.15): one program, and the same maps. What the other programs do needs
 * newer kernels.
 */
#define ROCE_HAS_LOOP 0

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/watch.h"

SEC("xdp")
int watch_old(struct xdp_md *ctx)
{
	watch_xdp(ctx, false, WATCH_ALL);
	return settings.drop ? XDP_DROP : XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
