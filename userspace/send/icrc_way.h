/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The right ICRC, and a wrong one for each mistake that send makes (roce/icrc_mistake.def). None of it is the engine's or the
 * doctor's code, so that each can be held against the other.
 */
#ifndef USERSPACE_SEND_ICRC_WAY_H
#define USERSPACE_SEND_ICRC_WAY_H

#include "userspace/send/packet.h"

#define ICRC_FIELD 4

/* Adds one, behind those that are there. One that is there already is not added again, nor is ICRC_WAY_RIGHT. */
void icrc_add(struct icrc_ways *ways, enum icrc_way way);

/*
 * The field's bytes for the frame as it is now; the frame's last four bytes are taken for the field and not looked at.
 * value: of ICRC_WAY_constant; before: the QP's frame before this one, or NULL.
 */
void icrc_make(const struct frame *f, const struct icrc_ways *made, uint32_t value, const struct frame *before, __u8 field[ICRC_FIELD]);

#endif
