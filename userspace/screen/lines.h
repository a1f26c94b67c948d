/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The text of a page, line by line. It may be longer than the terminal. draw.c draws it. */
#ifndef USERSPACE_SCREEN_LINES_H
#define USERSPACE_SCREEN_LINES_H

#include <stdbool.h>
#include <stddef.h>

enum style { STYLE_PLAIN, STYLE_TITLE, STYLE_HEADER, STYLE_SORTED, STYLE_FAULT, STYLE_HINT, STYLE_DIM, STYLE_BARS, STYLES };

struct line {
	enum style style;
	char *text;
};

struct lines {
	struct line *line;
	size_t count;
	size_t width; /* of the terminal; the caller sets it */
	bool lacks;   /* lines are missing for lack of memory */
};

/*
 * Adds text after a label of LINES_LABEL columns (NULL: no label). Lines are broken at blanks where the terminal ends; further
 * lines begin below the text. Characters other than printable ASCII become '?'.
 */
#define LINES_LABEL 13
void lines_add(struct lines *l, enum style style, const char *label, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Adds a line as it is, such as bars in UTF-8. */
void lines_raw(struct lines *l, enum style style, const char *text);

/* Frees all lines. The width stays. */
void lines_clear(struct lines *l);

#endif
