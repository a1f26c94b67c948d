/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames that are no RoCE, but would be with another Ethertype or UDP port: mistakes of a sender. The one rule for `doctor`, with
 * and without --bring-up.
 */
#ifndef USERSPACE_OBSERVE_MODEL_MISTAKEN_H
#define USERSPACE_OBSERVE_MODEL_MISTAKEN_H

#include "userspace/observe/model/observer.h"

enum mistaken {
	MISTAKEN_NOT,		  /* it would be no RoCE, as far as can be told */
	MISTAKEN_ETHERTYPE,	  /* the bytes of the Ethertype are swapped */
	MISTAKEN_PORT_SWAPPED,	  /* the bytes of the UDP destination port are */
	MISTAKEN_PORTS_EXCHANGED, /* the source port is RoCEv2's */
	MISTAKEN_PORT,		  /* another port: one near RoCEv2's, or the ICRC is right */
};

/*
 * f: a frame of kind ROCE_OTHER, with what was parsed of it; its memory must be writable: it is changed meanwhile. *would: the
 * packet that it would be. What is in a tunnel is no mistake. *right: its ICRC is right, over RoCEv2's port or over the port that was sent.
 */
enum mistaken mistaken_find(const struct observer_frame *f, const struct roce_packet *is, struct observer_look *would, bool *right);

/* Whether one of the frame's UDP ports is like RoCEv2's: the source port, a port near it, or one with its bytes swapped. */
bool mistaken_port_is_likely(const struct roce_packet *is);

/* The Ethertype behind VLAN tags. 0: the frame ends before. */
__u16 mistaken_ethertype(const struct observer_frame *f, const struct roce_packet *is);

#endif
