/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames that are no RoCE: what they are, and whether they would be RoCE with another port or Ethertype. The memory is bounded, and
 * so is the number of frames that are tried without a likely port.
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_STRANGER_H
#define USERSPACE_DIAGNOSE_FLOW_STRANGER_H

#include "userspace/diagnose/finding/packet.h"
#include "userspace/diagnose/finding/sign.h"

#define STRANGER_PORTS 16

struct strangers {
	__u64 frames, arp, tcp, udp, ip; /* ip: neither TCP nor UDP */
	struct {
		__u16 port;
		__u64 packets;
	} port[STRANGER_PORTS]; /* destination ports of UDP that are frequent (Misra and Gries, 1982) */
	__u64 tried;
	__u64 right[FINDING_KINDS]; /* of each kind of sign, frames whose ICRC is right, too */
	__u8 *copy; /* of a frame, to be changed */
};

/* Counts a frame that is no RoCE packet, with what was parsed of it, for strangers_say(). */
void strangers_count(struct strangers *t, const struct observer_frame *f, const struct roce_packet *p);

/*
 * Looks into a frame that is no RoCE packet. alone: there is hardly a RoCE packet; else only a right ICRC tells a mistake. Returns
 * the kind of its sign, and the packet that it would be; FINDING_KINDS: none.
 */
enum finding_kind stranger_take(struct strangers *t, struct signs *signs, const struct doctor_packet *p, bool alone,
				struct roce_packet *would);

/* Whether nobody takes such a packet for RoCE, wherever it goes. */
bool stranger_is_astray(enum finding_kind kind);

/* Doubts signs of frames whose ICRCs are not right. */
void strangers_conclude(const struct strangers *t, struct signs *signs);

/* "12 frames: 10 UDP (10 to port 46866), 2 ARP". Empty: no frame. */
void strangers_say(const struct strangers *t, char text[DOCTOR_INSTEAD]);

void strangers_free(struct strangers *t);

#endif
