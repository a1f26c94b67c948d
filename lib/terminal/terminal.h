/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes the terminal and restores it, whatever happens. If standard error is a terminal as well, messages on it are kept
 * meanwhile and printed when the terminal is restored.
 */
#ifndef LIB_TERMINAL_TERMINAL_H
#define LIB_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* The size of a terminal, which need not be taken. false: it is no terminal, and *width and *height stay. */
bool terminal_size(int fd, size_t *width, size_t *height);

/* Whether the user wants colours on a terminal: NO_COLOR is not set, or empty (no-color.org). */
bool terminal_wants_colour(void);

/* false: the terminal cannot move its cursor, and a line on stderr says why. */
bool terminal_begin(bool *utf8, bool *colour);

/* Whether a write would not block: nobody has stopped the output. */
bool terminal_takes(void);

/* Whether the terminal has gone. */
bool terminal_gone(void);

/* Passes on each key (of ncurses) that has come. *any: whether there was one. false: the terminal has gone, or take() has returned false. */
bool terminal_keys(bool (*take)(void *context, int key), void *context, bool *any);

/* The last line on standard error since the last call. false: there was none. */
bool terminal_message(char *line, size_t size);

/* Restores the terminal. It may be called twice. */
void terminal_end(void);

#endif
