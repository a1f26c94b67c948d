/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The text of a page, line by line. It may be longer than the terminal. draw.h draws it. */
#ifndef LIB_TERMINAL_LINES_H
#define LIB_TERMINAL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum style { STYLE_PLAIN, STYLE_TITLE, STYLE_HEADER, STYLE_SORTED, STYLE_FAULT, STYLE_HINT, STYLE_DIM, STYLE_BARS, STYLES };

struct terminal_line {
	enum style style;
	char *text;
};

struct lines {
	struct terminal_line *line;
	size_t count;
	size_t width; /* of the terminal; the caller sets it */
	size_t label; /* columns of labels; 0: LINES_LABEL */
	bool lacks;   /* lines are missing for lack of memory */
};

/* Copies text and replaces all but printable ASCII by '?': names from outside may hold escape sequences. */
void format_safe(char *to, size_t size, const char *text);

/*
 * Adds text after a label of so many columns (NULL: no label). Lines are broken at blanks where the terminal ends; further
 * lines begin below the text. Characters other than printable ASCII become '?'.
 */
#define LINES_LABEL 13
void lines_add(struct lines *l, enum style style, const char *label, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The same, of text as it is. */
void lines_words(struct lines *l, enum style style, const char *label, const char *text);

/* The same, in one line, which ends in "..." if there is more. */
void lines_one(struct lines *l, enum style style, const char *label, const char *text);

/* Drops all lines but the first `count`, the last of which then ends in "...". */
void lines_cut(struct lines *l, size_t count);

/* Adds a line as it is, such as bars in UTF-8. */
void lines_raw(struct lines *l, enum style style, const char *text);

/* Prints them; bold: those of STYLE_FAULT are, by ECMA-48. */
void lines_print(FILE *out, const struct lines *l, bool bold);

/* Frees all lines. The widths stay. */
void lines_clear(struct lines *l);

#endif
