// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts every frame of an interface as bpf/monitor.bpf.c does, and passes faulty ones to user space (bpf/capture.h;
 * userspace/observe/live/taken.c reads them). Needs Linux 5.18. `capture` and the live `doctor` always run this program.
 * `monitor` runs it if its table, --events or --on-fault needs single faults, which is the default on a terminal.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

#include "bpf/watch.h"
#include "bpf/capture.h"

SEC("xdp.frags")
int capture_frags(struct xdp_md *ctx)
{
	capture_count(ctx->ingress_ifindex);
	watch_xdp(ctx, true, WATCH_ALL | WATCH_CAPTURE);
	return settings.drop ? XDP_DROP : XDP_PASS;
}

/* --decap */
SEC("xdp.frags")
int capture_decap(struct xdp_md *ctx)
{
	capture_count(ctx->ingress_ifindex);
	watch_mirrored(ctx, WATCH_ALL | WATCH_CAPTURE);
	return settings.drop ? XDP_DROP : XDP_PASS;
}

/* As watch_egress(). */
SEC("tc")
int capture_egress(struct __sk_buff *skb)
{
	__u32 tag = skb->vlan_present ? skb->vlan_tci | 1 << 16 : 0, copied;
	struct scratch *s = watch_begin((struct xdp_md *)skb, skb->len, tag, WATCH_ALL | WATCH_OUTWARD);

	capture_count(skb->ifindex);
	if (s) {
		copied = watch_copied(s);
		if (WATCH_CAN_COPY(copied) && !bpf_skb_load_bytes(skb, 0, s->work.frame, copied))
			watch((struct xdp_md *)skb, s, PLACE_SCRATCH, WATCH_ALL | WATCH_OUTWARD | WATCH_CAPTURE);
	}
	return TC_ACT_UNSPEC;
}

char LICENSE[] SEC("license") = "GPL";
