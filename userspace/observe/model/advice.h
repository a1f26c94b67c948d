/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What to make of a snapshot's counters, in words, wherever the snapshot is from. */
#ifndef USERSPACE_OBSERVE_MODEL_ADVICE_H
#define USERSPACE_OBSERVE_MODEL_ADVICE_H

#include "lib/shell.h"
#include "userspace/observe/model/snapshot.h"

#define ADVICE_LINES 8
#define ADVICE_TEXT 480

/* Sentences, without newline. */
struct advice {
	char line[ADVICE_LINES][ADVICE_TEXT];
	size_t count;
};

/* What `rocescope doctor` is to look at. */
struct shell_word advice_where(const struct snapshot *s);

void advice_make(struct advice *a, const struct snapshot *s);

/* One line on stderr if RoCE is in tunnels that were not looked into: where advice_make()'s lines are not printed. */
void advice_warn(const struct snapshot *s);

#endif
