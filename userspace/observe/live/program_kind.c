// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stddef.h>
#include <string.h>

#include "userspace/observe/live/program_kind.h"

static const struct program_kind *const none[] = { NULL };

const struct program_kind *const *program_kinds = none;

bool program_kind_is_alone(const char *program)
{
	for (const struct program_kind *const *k = program_kinds; *k; k++)
		if ((*k)->alone && !strncmp(program, (*k)->alone, strlen((*k)->alone)))
			return true;
	return false;
}
