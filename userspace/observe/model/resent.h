/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether a request that is sent again has the content that it had before. The ICRC covers the content, and the headers in front of it,
 * some of which may differ: a packet that is sent again has another IPv4 identification, and may ask for an acknowledgement. A CRC is
 * linear, so what these headers add to it can be taken away; nobody reads the payload a second time.
 */
#ifndef USERSPACE_OBSERVE_MODEL_RESENT_H
#define USERSPACE_OBSERVE_MODEL_RESENT_H

#include "roce/packet/packet.h"

#define RESENT_PACKETS 1024 /* that are remembered; a power of two */
#define RESENT_HEADER 68    /* bytes from the IP header to the BTH's end: IPv6 or a GRH, UDP, BTH, and eight of options */

struct resent_packet {
	__u64 what; /* hash of stream and PSN, never 0; 0: none */
	__u32 icrc;
	__u32 covered; /* bytes that the ICRC covers */
	__u16 head;    /* of these in `header` */
	__u16 opcode;
	__u8 header[RESENT_HEADER];
};

/* All zero at first. */
struct resent {
	struct resent_packet *packets; /* by PSN and stream; NULL: none yet */
};

/* Whether such a packet must be the same each time. A READ may be asked for from where it broke off. */
static inline bool resent_is_fixed(const struct roce_packet *p)
{
	return p->kind == ROCE_PACKET && p->op && (p->service == SERVICE_RC || p->service == SERVICE_XRC) &&
	       !(p->op & (OP_RESPONSE | OP_READ_REQUEST | OP_CNP));
}

/*
 * Takes a packet for which resent_is_fixed() holds, with a right ICRC. hash: of its stream. frame: ROCE_WINDOW_BYTES of it can be read.
 * again: its PSN was seen before. Returns whether it has another opcode, length or content than the packet that had its PSN before. false
 * as well, if that one is not remembered.
 */
bool resent_take(struct resent *r, __u64 hash, const __u8 *frame, const struct roce_packet *p, bool again);

void resent_free(struct resent *r);

#endif
