/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What bpf/watch.h calls with WATCH_CAPTURE, and bpf/capture.h defines. A program without WATCH_CAPTURE has no such call, and
 * needs no definition. They are global functions, because the verifier checks a global function once.
 */
#ifndef BPF_CAPTURE_HOOKS_H
#define BPF_CAPTURE_HOOKS_H

#include <linux/bpf.h>

/* Before the packet's ICRC is computed. place: of its stream. Returns 1 if capture_save() was not called yet for this stream. */
int capture_touch(__u32 place);

/* Under the stream's guard, before it observes the packet, if the stream in the scratch is new; or if it was not saved yet. */
int capture_meet(void);
int capture_save(void);

/* Under the guard, after the stream has observed the packet. Returns whether one of the two below shall take the packet. */
int capture_compare(void);
int capture_inward(struct xdp_md *ctx);
int capture_outward(struct __sk_buff *skb);

/* A packet that has no stream: takes it if it is faulty. */
int capture_inward_alone(struct xdp_md *ctx);
int capture_outward_alone(struct __sk_buff *skb);

#endif
