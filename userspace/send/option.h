/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options of `rocescope send` that have rules of their own. Private to send/option*.c; options.c has the table. */
#ifndef USERSPACE_SEND_OPTION_H
#define USERSPACE_SEND_OPTION_H

#include "lib/option.h"
#include "userspace/send/options.h"

/* A copy, instead of what *to points to: a plan file is gone when its text is used. */
void option_store_text(const char **to, const char *text);

/* What was allocated; there is none: exit status 1. */
void *option_memory(void *memory);

/* option_rules.c */
option_take take_copy, take_vlan, take_dscp, take_ecn, take_message, take_first_psn, take_rate, take_burst, take_interleave,
	take_payload, take_qp, take_fault;

/* Files of options: option_file.c */
option_take take_plan, take_preset;

#endif
