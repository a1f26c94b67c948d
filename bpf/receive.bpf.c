// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts every frame of an interface as bpf/monitor.bpf.c does, and takes RoCE packets for its queue pairs into memory
 * (bpf/receive.h). Other frames are passed on. Needs Linux 5.18.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

#include "bpf/watch.h"
#include "bpf/capture.h"
#include "bpf/receive.h"

SEC("xdp.frags")
int receive_frags(struct xdp_md *ctx)
{
	watch_xdp(ctx, true, WATCH_ALL | WATCH_RECEIVE);
	return receive_frame(ctx);
}

/* With the events of bpf/capture.bpf.c. */
SEC("xdp.frags")
int receive_events(struct xdp_md *ctx)
{
	capture_count(ctx->ingress_ifindex);
	watch_xdp(ctx, true, WATCH_ALL | WATCH_RECEIVE | WATCH_CAPTURE);
	return receive_frame(ctx);
}

char LICENSE[] SEC("license") = "GPL";
