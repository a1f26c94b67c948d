/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table's columns: what stands in them, which of them fit, how rows are put in order by them. */
#ifndef USERSPACE_SCREEN_COLUMNS_H
#define USERSPACE_SCREEN_COLUMNS_H

#include "userspace/screen/format.h"
#include "userspace/screen/rows.h"

/* In the order in which they stand: the most important first, since those at the right are left out where room is short. */
enum column {
	COLUMN_STREAM, COLUMN_QPN, COLUMN_SERVICE, COLUMN_BITS, COLUMN_RATE, COLUMN_LOST, COLUMN_BAD, COLUMN_BROKEN,
	COLUMN_FAULT, COLUMN_LIMIT, COLUMN_OWNER, COLUMN_MESSAGES, COLUMN_RECOVERED, COLUMN_DUPLICATES, COLUMN_PACKETS,
	COLUMN_LINT,
	COLUMNS
};

#define COLUMN_WORST COLUMNS /* no column, an order: the worst first, then the busiest */

struct column_words {
	const char *title;
	const char *words; /* for the help page */
	bool left;	   /* text, at the left of its cell */
};

extern const struct column_words column_words[COLUMNS];

/* The cell as text; `width` is what the column has. true: it shows a fault. */
bool column_fill(enum column c, char to[CELL], const struct rows *rows, const struct row *r, size_t width);

/* < 0: x comes first. Numbers: the higher first, and the latest fault; texts and QPNs: the lower first. */
int column_compare(enum column c, const struct row *x, const struct row *y);

/* How wide each column is; 0: it is left out. A blank is between two columns. */
struct layout {
	size_t width[COLUMNS];
};

/*
 * Of a table of `room` columns. need: the widths that rows need, which were measured by column_measure() for text. sorted:
 * that column is shown in any case.
 */
struct layout columns_choose(const struct layout *need, const struct rows *r, size_t room, int sorted);

/* Widens text columns of *need to what this row needs; the others have their width by nature. */
void column_measure(struct layout *need, const struct rows *rows, const struct row *r);

#endif
