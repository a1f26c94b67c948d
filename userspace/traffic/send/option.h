/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options of `rocescope send` with rules of their own. Private to send/option*.c. options.c has the table. */
#ifndef USERSPACE_TRAFFIC_SEND_OPTION_H
#define USERSPACE_TRAFFIC_SEND_OPTION_H

#include "lib/option.h"
#include "userspace/traffic/send/options.h"

/* Replaces *to by a copy of text, which outlives the plan file that it was read from. */
void option_store_text(const char **to, const char *text);

/* Checks an allocation: NULL ends the program with exit status 1. */
void *option_memory(void *memory);

/* option_rules.c */
option_take take_copy, take_vlan, take_dscp, take_ecn, take_message, take_first_psn, take_burst, take_interleave,
	take_payload, take_qp, take_fault;

/* Files of options: option_file.c */
option_take take_plan, take_preset;

#endif
