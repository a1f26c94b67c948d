/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A page of text that is longer or shorter than the terminal: what it says, whatever draws it. */
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
	size_t width; /* of the terminal; set by whoever makes the page */
	bool lacks;   /* no memory for all of it */
};

/*
 * One line behind a label of LINES_LABEL columns (NULL: without one), broken at blanks where the terminal ends; further lines
 * begin below the text. Characters that are no printable ASCII become '?'.
 */
#define LINES_LABEL 13
void lines_add(struct lines *l, enum style style, const char *label, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A line as it is: bars in UTF-8. */
void lines_raw(struct lines *l, enum style style, const char *text);

/* All of it; the width stays. */
void lines_clear(struct lines *l);

#endif
