/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command that receives lines on its standard input. Only one runs at a time, and nobody waits for it. Lines that come while
 * it runs are kept for the next one, up to a limit. Lines beyond the limit are counted and dropped.
 */
#ifndef USERSPACE_RENDER_OUTPUT_HOOK_H
#define USERSPACE_RENDER_OUTPUT_HOOK_H

#include <stdbool.h>
#include <stddef.h>

struct hook;

/*
 * most: bytes of lines that may wait. quiet: the command's output is dropped, and failures are reported by hook_end() only;
 * else its standard output and standard error both go to our standard error. NULL: no memory.
 */
struct hook *hook_new(const char *command, size_t most, bool quiet);

/* Adds a line for the next command. line: without its newline. */
void hook_add(struct hook *h, const char *line);

/* Runs the command if lines wait and none is running. Call it often: only it and hook_end() notice a command's end. */
void hook_run(struct hook *h);

/*
 * Waits at most a second: for the command that is running, then for one with the remaining lines. A command that runs longer is
 * left running. Reports on standard error what went wrong. h: may be NULL.
 */
void hook_end(struct hook *h);

#endif
