/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The QPs of a plan, and their packets before any fault. */
#ifndef USERSPACE_TRAFFIC_SEND_QP_H
#define USERSPACE_TRAFFIC_SEND_QP_H

#include "userspace/traffic/send/packet.h"
#include "userspace/traffic/send/plan.h"

/* The plan's QPs before their first packet; NULL: no memory. random: for PORTS_RANDOM. The caller frees the result. */
struct send_qp *qps_new(const struct send_plan *plan, uint64_t *random);

/* Makes the QP's next packet. The QP must have messages left. */
void qp_packet(const struct send_plan *plan, struct send_qp *qp, struct send_packet *p);

/* Undoes the last qp_packet(): the next packet takes its PSN, which was `psn`. */
void qp_take_back(struct send_qp *qp, uint32_t psn);

/* Bytes of the plan's longest extension headers. */
uint32_t qp_extension_bytes(const struct send_plan *plan);

#endif
