/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options that several commands share. What is wrong is said in one line, exit status 2. */
#ifndef USERSPACE_ARGUMENTS_H
#define USERSPACE_ARGUMENTS_H

#include "roce/parse.h"
#include "userspace/faults.h"

/* --option: the place of `text` in `words`, which ends with NULL. */
int argument_choice(const char *command, const char *option, const char *text, const char *const *words);

/* --udp PORT,... */
void argument_ports(const char *command, const char *list, struct roce_ports *ports);

/* --fail-on COUNTER,... */
void argument_faults(const char *command, const char *list, struct faults *faults);

#endif
