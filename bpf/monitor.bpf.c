// SPDX-License-Identifier: GPL-2.0-only
/* Counts every frame of an interface, incoming by XDP and outgoing by tc, and passes it on. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

#include "bpf/watch.h"

static __always_inline int verdict(void)
{
	return settings.drop ? XDP_DROP : XDP_PASS;
}

/* For Linux 5.17, which has no XDP fragments yet. */
SEC("xdp")
int watch_plain(struct xdp_md *ctx)
{
	watch_xdp(ctx, false, WATCH_ALL);
	return verdict();
}

SEC("xdp.frags")
int watch_frags(struct xdp_md *ctx)
{
	watch_xdp(ctx, true, WATCH_ALL);
	return verdict();
}

/* --decap */
SEC("xdp.frags")
int watch_decap(struct xdp_md *ctx)
{
	watch_mirrored(ctx, WATCH_ALL);
	return verdict();
}

/* The outermost VLAN tag may still be in the skb's metadata: the hardware will insert it. */
SEC("tc")
int watch_egress(struct __sk_buff *skb)
{
	__u32 tag = skb->vlan_present ? skb->vlan_tci | 1 << 16 : 0, copied;
	struct scratch *s = watch_begin((struct xdp_md *)skb, skb->len, tag, WATCH_ALL | WATCH_OUTWARD);

	if (s) {
		copied = watch_copied(s);
		if (WATCH_CAN_COPY(copied) && !bpf_skb_load_bytes(skb, 0, s->work.frame, copied))
			watch(NULL, s, PLACE_SCRATCH, WATCH_ALL | WATCH_OUTWARD);
	}
	return TC_ACT_UNSPEC; /* the programs behind this one decide */
}

char LICENSE[] SEC("license") = "GPL";
