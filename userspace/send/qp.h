/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The QPs of a plan and the packets they make when nothing goes wrong. */
#ifndef USERSPACE_SEND_QP_H
#define USERSPACE_SEND_QP_H

#include "userspace/send/packet.h"
#include "userspace/send/plan.h"

/* The plan's QPs before their first packet, or NULL: no memory. random: of PORTS_RANDOM. To be given to free(). */
struct send_qp *qps_new(const struct plan *plan, uint64_t *random);

/* The QP's next packet; it has messages left. */
void qp_packet(const struct plan *plan, struct send_qp *qp, struct packet *p);

/* That packet is not made after all: its PSN, which was `psn`, is the next one's. */
void qp_take_back(struct send_qp *qp, uint32_t psn);

/* Bytes of the longest headers behind the BTH that the plan's packets have. */
uint32_t qp_extension_bytes(const struct plan *plan);

#endif
