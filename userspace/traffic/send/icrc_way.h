/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes the right ICRC, and a wrong one for each ICRC mistake of send (roce/icrc/icrc_mistake.def). Shares no code with the
 * engine or the doctor, so that each can be checked against the other.
 */
#ifndef USERSPACE_TRAFFIC_SEND_ICRC_WAY_H
#define USERSPACE_TRAFFIC_SEND_ICRC_WAY_H

#include "userspace/traffic/send/packet.h"

#define ICRC_FIELD 4

/* Appends a way. Ignores one that is already there, and ICRC_WAY_RIGHT. */
void icrc_add(struct icrc_ways *ways, enum icrc_way way);

/*
 * Computes the field's bytes for the present frame. Ignores the frame's last four bytes, which are the field. value: for
 * ICRC_WAY_constant. before: the QP's previous frame, or NULL.
 */
void icrc_make(const struct send_frame *f, const struct icrc_ways *made, uint32_t value, const struct send_frame *before,
	       __u8 field[ICRC_FIELD]);

#endif
