/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What came that is no RoCE, counted by kind. The memory is bounded. */
#ifndef USERSPACE_OBSERVE_MODEL_OTHER_FRAMES_H
#define USERSPACE_OBSERVE_MODEL_OTHER_FRAMES_H

#include "userspace/observe/model/observer.h"

#define OTHER_PORTS 16
#define OTHER_FRAMES_TEXT 160

struct other_frames {
	__u64 frames, arp, tcp, udp, ip; /* ip: neither TCP nor UDP */
	struct {
		__u16 port;
		__u64 packets;
	} port[OTHER_PORTS]; /* destination ports of UDP that are frequent (Misra and Gries, 1982) */
};

/* Counts a frame that is no RoCE packet, with what was parsed of it. */
void other_frames_count(struct other_frames *o, const struct observer_frame *f, const struct roce_packet *p);

/* "12 frames: 10 UDP (most to port 46866), 2 ARP". Empty: no frame. */
void other_frames_say(const struct other_frames *o, char text[OTHER_FRAMES_TEXT]);

/* The Ethertype behind VLAN tags, host order. 0: the frame ends before. */
__u16 other_frame_ethertype(const struct observer_frame *f, const struct roce_packet *p);

/* Where it is in the frame. */
__u32 other_frame_ethertype_offset(const struct roce_packet *p);

#endif
