/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The terminal: taken and given back, whatever happens. What is said on standard error meanwhile is kept, if that is the
 * terminal as well, and said when the terminal is given back.
 */
#ifndef USERSPACE_SCREEN_TERMINAL_H
#define USERSPACE_SCREEN_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* false: it cannot, and a line on stderr says why. */
bool terminal_begin(bool *utf8, bool *colour);

/* Whether there is room for what we would write: nobody has stopped it. */
bool terminal_takes(void);

/* Whether it is gone. */
bool terminal_gone(void);

/* The last line that was said on standard error since the last call. false: none. */
bool terminal_said(char *line, size_t size);

/* May be called twice. */
void terminal_end(void);

#endif
