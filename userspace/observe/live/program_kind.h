/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kinds of programs that commands attach. One constant describes each, in the room that has the programs, and main() passes all of
 * them down, because another rocescope may have attached or pinned any kind. Nothing in live/ knows a kind by name.
 */
#ifndef USERSPACE_OBSERVE_LIVE_PROGRAM_KIND_H
#define USERSPACE_OBSERVE_LIVE_PROGRAM_KIND_H

#include <stdbool.h>

struct program_kind {
	const char *command; /* `rocescope COMMAND --pin NAME` goes on with what is pinned, and --unpin ends it; at most 15 bytes */
	const char *alone;   /* its XDP programs, whose names begin so, share an interface with no other one; NULL: they share */
	const char *less;    /* options that make it take less memory; NULL: --max-streams */
	/* Maps that only this kind has. The last entry is NULL. NULL: none. */
	const char *const *remade; /* each run makes them anew: working memory, and state that a program can do without */
	const char *const *needed; /* without them a run cannot go on with what is pinned */
};

/* All kinds; the last entry is NULL. main() sets it before it runs a command; empty at first. Kinds that need maps come first. */
extern const struct program_kind *const *program_kinds;

/* Whether an XDP program of this name shares an interface with no other one. */
bool program_kind_is_alone(const char *program);

#endif
