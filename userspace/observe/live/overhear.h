/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies of frames that come to the interfaces, whatever they are, a few at a time: packet sockets (packet(7)), behind XDP. Not
 * for counting. (libpcap, as in userspace/diagnose/bring_up/listen.c, has what is not wanted here: promiscuous interfaces, frames that
 * leave, times, a large buffer, and an interface that comes up later.)
 */
#ifndef USERSPACE_OBSERVE_LIVE_OVERHEAR_H
#define USERSPACE_OBSERVE_LIVE_OVERHEAR_H

#include "userspace/observe/live/live.h"

#define OVERHEAR_TURN 64 /* frames of each interface in one reading */

struct overhear {
	int fd[INTERFACES_MOST];
	size_t count;
	bool narrow;
};

/* Where it is not permitted (CAP_NET_RAW), nothing is heard. */
void overhear_begin(struct overhear *o, const struct live_options *options);

/* From now on only UDP that is not RoCEv2: what goes to the wrong port. May be called again. */
void overhear_narrow(struct overhear *o);

/* Passes what came since, without VLAN tags: `captured` bytes of `length`. ROCE_WINDOW_BYTES are readable. */
void overhear_read(struct overhear *o, void (*see)(void *context, const __u8 *bytes, __u32 captured, __u32 length), void *context);

/* May be called again. */
void overhear_end(struct overhear *o);

#endif
