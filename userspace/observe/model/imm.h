/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --imm: what counts blocks, as text. */
#ifndef USERSPACE_OBSERVE_MODEL_IMM_H
#define USERSPACE_OBSERVE_MODEL_IMM_H

#include "roce/packet/parse.h"

/*
 * Reads "step=N", "counter=imm>>N", "counter=imm&MASK", "counter=imm>>N&MASK", or a step and a counter with a comma between
 * them (MASK is applied last, and its bits are the lowest ones); or "ring", "ring=START:SIZE:SLOT", "ring=START:SIZE:SLOT:BYTES".
 * Returns NULL, or what is wrong.
 */
const char *imm_parse(const char *text, struct roce_blocks_by *by);

#endif
