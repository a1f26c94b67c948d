/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command that is told lines, on its standard input: one at a time, and nobody waits for it. Lines that come while it runs
 * are for the next one, up to a bound; what is beyond it is counted.
 */
#ifndef USERSPACE_OUTPUT_HOOK_H
#define USERSPACE_OUTPUT_HOOK_H

#include <stdbool.h>
#include <stddef.h>

struct hook;

/*
 * most: bytes that wait. quiet: the command's output is dropped (else both go to our standard error), and nothing is said of it
 * before hook_end(). NULL: no memory.
 */
struct hook *hook_new(const char *command, size_t most, bool quiet);

/* A line for the next command, without its newline. */
void hook_tell(struct hook *h, const char *line);

/* Runs the command if lines wait for it and none is running. To be called now and then: nothing else learns that it has ended. */
void hook_run(struct hook *h);

/*
 * Waits a second: for the command that is running, then for one with the lines that are left. One that goes on is left alone.
 * Says on standard error how it went, if anything went wrong. May be NULL.
 */
void hook_end(struct hook *h);

#endif
