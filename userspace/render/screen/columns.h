/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The columns on the screen: their cells, and which of them fit. */
#ifndef USERSPACE_RENDER_SCREEN_COLUMNS_H
#define USERSPACE_RENDER_SCREEN_COLUMNS_H

#include "userspace/render/output/columns.h"
#include "userspace/render/screen/rows.h"

#define COLUMN_WORST COLUMNS /* an order without a column: the worst stream first, then the busiest */

/* Fills a cell. width: columns of the terminal that it has. Returns true if the cell shows a fault. */
bool column_fill(enum column c, char to[TEXT_CELL], const struct rows *rows, const struct stream_row *r, int width);

/* A table of them, for text_table_measure(). */
void columns_begin(struct text_table *t);

/* Chooses columns for a table that is `room` columns wide. measured: the visible rows. sorted: this column is always shown. */
struct text_table columns_choose(const struct text_table *measured, const struct rows *r, int room, int sorted);

#endif
