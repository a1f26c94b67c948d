/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who asks for whose MAC address, and who answers: ARP (RFC 826) for IPv4, neighbour discovery (RFC 4861) for IPv6. */
#ifndef USERSPACE_OBSERVE_MODEL_ARP_H
#define USERSPACE_OBSERVE_MODEL_ARP_H

#include "userspace/observe/model/observer.h"

struct arp_message {
	__u8 from[16];	 /* who sends it */
	__u8 target[16]; /* who is asked for; of an answer by ARP, who had asked; of one by neighbour discovery, whose MAC address it tells */
	__u8 to[16];	 /* the destination of neighbour discovery */
	bool answer, ipv6;
};

/* p: what was parsed of the frame. false: it is no such message. */
bool arp_find(const struct observer_frame *f, const struct roce_packet *p, struct arp_message *m);

/* Whether the sender has no address yet, and looks whether one is free. */
bool arp_is_probe(const struct arp_message *m);

#endif
