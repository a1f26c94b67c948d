/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of text. A table's columns are one list: what fills their cells, and which of them are left out where the terminal is too
 * narrow. Measure all rows, fit, then print the titles and the rows.
 */
#ifndef USERSPACE_RENDER_OUTPUT_TEXT_TABLE_H
#define USERSPACE_RENDER_OUTPUT_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#define TEXT_CELL 160	/* bytes of a cell, the end included */
#define TEXT_WHOLE (TEXT_CELL - 1) /* a width in which nothing is cut */
#define TEXT_COLUMNS 32 /* of a table, at most */

struct view_page;

/*
 * How a column is shown. Where the width does not suffice, spare columns are left out first, then common, good and basic ones; of each
 * kind the last one first. All others are always shown. Paths are cut before good columns are left out, and more before basic ones.
 */
enum text_how {
	TEXT_LEFT = 1,	 /* aligned left */
	TEXT_SPARE = 2,
	TEXT_COMMON = 4,
	TEXT_GOOD = 8,
	TEXT_BASIC = 16,
	TEXT_SELDOM = 32, /* left out where no row has anything but 0 */
	TEXT_PATH = 64,	  /* "a > b" */
	TEXT_ELASTIC = 128, /* gets more than a few columns only of what the others leave */
};

struct text_column {
	const char *title;
	unsigned int how; /* enum text_how */
	int id;		  /* for text_fill */
	int width;	  /* 0: as titles and cells need it */
};

/* Fills a cell of the column `id`. width: the room for it; only a path is cut. Returns whether the cell shows a fault. */
typedef bool text_fill(char to[TEXT_CELL], const void *row, int id, int width);

struct text_table {
	const struct view_page *page; /* where rows are printed */
	const struct text_column *columns;
	size_t count;
	text_fill *fill;
	int gap; /* blanks between two columns */
	const struct text_column *kept; /* this one is never left out; NULL: none */
	int need[TEXT_COLUMNS];	 /* what titles and cells need; 0: left out */
	int width[TEXT_COLUMNS]; /* 0: left out */
};

/* The caller has set the members before `need`. */
void text_table_begin(struct text_table *t);

/* Call it for each row. */
void text_table_measure(struct text_table *t, const void *row);

/* Chooses the columns for a line of `room`. Returns the table's width, which may be larger. May be called again. */
int text_table_fit(struct text_table *t, int room);

/* Print a line without blanks at its end, and without a newline. Return its width. */
int text_table_titles(const struct text_table *t);
int text_table_row(const struct text_table *t, const void *row);

#endif
