/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --imm: the counter in immediate data, as text. */
#ifndef USERSPACE_MODEL_IMM_H
#define USERSPACE_MODEL_IMM_H

#include "roce/parse.h"

/*
 * Reads "step=N", "counter=imm>>N", "counter=imm&MASK", "counter=imm>>N&MASK", or a step and a counter with a comma between
 * them. MASK is applied last, and its bits are the lowest ones. Returns NULL, or what is wrong.
 */
const char *imm_parse(const char *text, struct roce_imm *imm);

#endif
