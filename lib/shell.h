/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Words of commands that a person is told to run. Names of interfaces, files and pins may have any bytes that a shell takes for
 * something else, and whoever chose them need not be who runs the command.
 */
#ifndef LIB_SHELL_H
#define LIB_SHELL_H

#include <limits.h>
#include <net/if.h>
#include <stdio.h>

struct shell_word {
	char text[PATH_MAX + 64];
};

/*
 * The word as sh takes it for itself: unchanged where no character has a meaning, else in single quotes, and as $'...' where it has
 * bytes that a terminal would obey or that are not UTF-8. Its text is printable. A word that is longer than a path can be is cut, and
 * then is no word of a command (it ends in an open quote).
 */
struct shell_word shell_word(const char *word);

struct shell_name {
	char text[4 * IF_NAMESIZE + 4];
};

/* The same of an interface's name, which is always whole. */
struct shell_name shell_name(const char *interface);

/*
 * Writes the word for a shell that runs it, and that nobody reads: of any length, with any bytes, in the quotes that every sh has
 * (POSIX 2.2.2).
 */
void shell_write(FILE *out, const char *word);

#endif
