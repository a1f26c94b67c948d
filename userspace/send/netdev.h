/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a network device can do, and what it says of frames that it dropped. */
#ifndef USERSPACE_SEND_NETDEV_H
#define USERSPACE_SEND_NETDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* enum netdev_xdp_act of the kernel's include/uapi/linux/netdev.h (Linux 6.3), which Debian 12's headers do not have. */
enum {
	NETDEV_REDIRECT = 1 << 1,
	NETDEV_NDO_XMIT = 1 << 2,     /* takes redirected frames */
	NETDEV_XSK_ZEROCOPY = 1 << 3, /* AF_XDP without a copy */
	NETDEV_NDO_XMIT_SG = 1 << 6,  /* redirected frames of several buffers */
};

/* The device's XDP features as they are now (a veth's change with its peer). false: this kernel does not tell (before 6.3). */
bool netdev_features(unsigned int ifindex, uint64_t *features);

/* By the name of its driver. */
bool netdev_is_veth(unsigned int ifindex);

/*
 * Whether frames of that many bytes (without FCS) can be sent by the interface: it is there, up, and its MTU is large enough.
 * 0: no; said, room for `size` bytes, has the reason in one line. Otherwise its index.
 */
unsigned int netdev_ready(const char *name, uint32_t frame_bytes, bool tagged, char *said, size_t size);

/*
 * What the device's own counters say of frames on the way out since it was made, whoever sent them. What a veth's peer drops
 * behind its ring is the peer's loss and in none of them.
 */
struct netdev_counters {
	uint64_t sent;	  /* tx_packets */
	bool sent_exact;  /* that counts all frames, and soon: veth. NICs may be seconds behind, or leave redirected ones out */
	uint64_t dropped; /* tx_dropped, or the driver's own counters of redirected frames where those are more */
	uint64_t errors;  /* tx_errors, or those it is made of where they are more */
};

/* false: there is no such device any more. */
bool netdev_counters(unsigned int ifindex, struct netdev_counters *c);

/*
 * Frames lost on the way out since `before`; 0: none that the device knows of. left: how many were handed to it; retried: how
 * many it refused that were then sent again, which it may have counted as dropped. Waits up to a second for a count that is
 * behind. false: there is no such device any more.
 */
bool netdev_lost(unsigned int ifindex, const struct netdev_counters *before, uint64_t left, uint64_t retried, uint64_t *lost);

#endif
