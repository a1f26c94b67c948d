/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The columns of the table: their cells, which of them fit, and how they order rows. */
#ifndef USERSPACE_RENDER_SCREEN_COLUMNS_H
#define USERSPACE_RENDER_SCREEN_COLUMNS_H

#include "userspace/render/screen/format.h"
#include "userspace/render/screen/rows.h"

/*
 * Columns from left to right, the most important first: where room is short, COLUMN_HEX is left out, and then those at the right.
 */
enum column {
	COLUMN_STREAM, COLUMN_QPN, COLUMN_HEX, COLUMN_SERVICE, COLUMN_BITS, COLUMN_RATE, COLUMN_LOST, COLUMN_BAD, COLUMN_BROKEN,
	COLUMN_FAULT, COLUMN_LIMIT, COLUMN_OWNER, COLUMN_MESSAGES, COLUMN_RECOVERED, COLUMN_DUPLICATES, COLUMN_PACKETS,
	COLUMN_COMPLETE, COLUMN_INCOMPLETE, COLUMN_MISSING, COLUMN_LINT,
	COLUMNS
};

#define COLUMN_WORST COLUMNS /* an order without a column: the worst stream first, then the busiest */

struct column_words {
	const char *title;
	const char *words; /* for the help page */
	bool left;	   /* text is aligned left in its cell, numbers right */
};

extern const struct column_words column_words[COLUMNS];

/* Fills a cell. width: columns of the terminal that it has. Returns true if the cell shows a fault. */
bool column_fill(enum column c, char to[CELL], const struct rows *rows, const struct row *r, size_t width);

/* < 0: x comes first. Higher numbers and later faults come first, and of texts and QPNs the lower ones. */
int column_compare(enum column c, const struct row *x, const struct row *y);

/* The width of each column; 0: it is left out. A blank is between two columns. */
struct layout {
	size_t width[COLUMNS];
};

/*
 * Chooses columns for a table that is `room` columns wide. need: the widths that text needs, by column_measure(). sorted: this
 * column is always shown.
 */
struct layout columns_choose(const struct layout *need, const struct rows *r, size_t room, int sorted);

/* Widens the text columns of *need to what this row needs. Columns of numbers have a fixed width. */
void column_measure(struct layout *need, const struct rows *rows, const struct row *r);

#endif
