/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a network device can do, and how many frames it dropped. */
#ifndef LIB_NETDEV_H
#define LIB_NETDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* enum netdev_xdp_act of the kernel's include/uapi/linux/netdev.h (Linux 6.3), which Debian 12's headers do not have. */
enum {
	NETDEV_BASIC = 1 << 0,	      /* native XDP */
	NETDEV_REDIRECT = 1 << 1,
	NETDEV_NDO_XMIT = 1 << 2,     /* accepts redirected frames */
	NETDEV_XSK_ZEROCOPY = 1 << 3, /* AF_XDP with zero-copy */
	NETDEV_RX_SG = 1 << 5,	      /* multi-buffer XDP */
	NETDEV_NDO_XMIT_SG = 1 << 6,  /* accepts redirected frames of several buffers */
};

/* The device's XDP features now (a veth's change with its peer). false: the kernel does not report them (before 6.3). */
bool netdev_features(unsigned int ifindex, uint64_t *features);

/* Decided by the driver's name. */
bool netdev_is_veth(unsigned int ifindex);

/*
 * Whether the interface can send frames of that many bytes (without FCS): it exists, is up, and its MTU is large enough.
 * Returns its index, or 0 with the reason in `reason` (room for `size` bytes, one line).
 */
unsigned int netdev_ready(const char *name, uint32_t frame_bytes, bool tagged, char *reason, size_t size);

/*
 * The device's own counters of sent frames since it was created, whoever sent them. They do not include what a veth's peer
 * drops behind its ring: that is the peer's loss.
 */
struct netdev_counters {
	uint64_t sent;	  /* tx_packets */
	bool sent_exact;  /* tx_packets counts all frames, at once: veth. NICs may be seconds late, or omit redirected frames */
	uint64_t dropped; /* tx_dropped, or the driver's own counters of redirected frames if they are more */
	uint64_t errors;  /* tx_errors, or the sum of its parts if that is more */
};

/* Frames that XDP gave to the device to send and that did not leave, by its driver's own counters. 0 if it has none. */
uint64_t netdev_lost_redirects(const char *name);

/* false: the device no longer exists. */
bool netdev_counters(unsigned int ifindex, struct netdev_counters *c);

/*
 * Frames lost while sending since `before`, as far as the device knows. left: frames handed to it. retried: refused frames that
 * were sent again, which the device may have counted as dropped. Waits up to a second for a count that is behind. false: the
 * device no longer exists.
 */
bool netdev_lost(unsigned int ifindex, const struct netdev_counters *before, uint64_t left, uint64_t retried, uint64_t *lost);

#endif
