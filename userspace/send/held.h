/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets of a QP that are delayed behind later ones. */
#ifndef USERSPACE_SEND_HELD_H
#define USERSPACE_SEND_HELD_H

#include "userspace/send/packet.h"

struct held {
	struct held *next;
	uint64_t due;	 /* leaves after the QP's packet with this number */
	struct packet packet, before; /* before: the QP's previous packet; its number is 0 if there is none */
	uint64_t faults; /* set of the faults that are not yet applied (a bit each) */
};

/* Inserts the packet after those that are due no later. before: may be NULL. Returns false without memory. */
bool held_add(struct send_qp *qp, const struct packet *p, const struct packet *before, uint64_t faults, uint64_t due);

/* Removes and returns the first packet if it is due by that number, else NULL. The caller frees it. */
struct held *held_due(struct send_qp *qp, uint64_t number);

#endif
