/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets of a QP that leave later than their turn. */
#ifndef USERSPACE_SEND_HELD_H
#define USERSPACE_SEND_HELD_H

#include "userspace/send/packet.h"

struct held {
	struct held *next;
	uint64_t due;	 /* leaves behind the place of its QP's packet of this number */
	struct packet packet, before; /* before: the one made before it; number 0: none */
	uint64_t faults; /* a bit each: those that are still to be applied */
};

/* Behind those of the QP that are due as early. before: or NULL. false: no memory. */
bool held_add(struct send_qp *qp, const struct packet *p, const struct packet *before, uint64_t faults, uint64_t due);

/* Takes out the first one, to be given to free(), if it is due by that number; NULL: there is none. */
struct held *held_due(struct send_qp *qp, uint64_t number);

#endif
