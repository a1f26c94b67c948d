/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Draws a table on the terminal, whose columns were chosen (output/text_table.h), and bars below each other. */
#ifndef USERSPACE_RENDER_SCREEN_GRID_H
#define USERSPACE_RENDER_SCREEN_GRID_H

#include "lib/terminal/lines.h"
#include "userspace/render/output/text_table.h"
#include "userspace/render/screen/format.h"

/* Draws the titles in line y. sorted: the index of the column by which rows are ordered; -1: none. */
void grid_titles(const struct text_table *t, int y, int sorted);

/* Draws a row in line y, whose cells `fill` fills. */
void grid_row(const struct text_table *t, const void *row, text_fill *fill, int y, bool selected);

/* Adds a bar for each bucket that is not empty, the largest of which is full. label: what its values are. */
void grid_histogram(struct lines *l, const __u64 *bucket, int count, void (*label)(char to[CELL], int i));

/* Draws a rate and its history in `width` columns. known: as in format_rate(). fault: above 0 it is one. */
void grid_rate(int y, int x, int width, const char *label, double rate, double known, const struct spark *spark, bool fault, bool utf8);

#endif
