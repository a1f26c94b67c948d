// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ncurses.h>
#include <stdio.h>

#include "lib/terminal/draw.h"
#include "userspace/render/screen/grid.h"

#define BAR 24 /* columns of the longest bar in a histogram */

static void draw_cell(int y, int x, int width, bool left, enum style style, const char *text, bool selected)
{
	char cell[TEXT_CELL];

	snprintf(cell, sizeof(cell), left ? "%-*.*s" : "%*.*s", width, width, text);
	draw_text(y, x, width, style, cell, selected);
}

void grid_titles(const struct text_table *t, int y, int sorted)
{
	int x = 0;

	for (int i = 0; i < COLS; i++)
		draw_text(y, i, 1, STYLE_HEADER, " ", false);
	for (int c = 0; c < (int)t->count; c++) {
		if (!t->width[c])
			continue;
		draw_cell(y, x, t->width[c], t->columns[c].how & TEXT_LEFT, c == sorted ? STYLE_SORTED : STYLE_HEADER,
			  t->columns[c].title, false);
		x += t->width[c] + t->gap;
	}
}

void grid_row(const struct text_table *t, const void *row, text_fill *fill, int y, bool selected)
{
	char text[TEXT_CELL];
	int x = 0;

	for (size_t c = 0; c < t->count; c++) {
		bool fault;

		if (!t->width[c])
			continue;
		fault = fill(text, row, t->columns[c].id, t->width[c]);
		draw_cell(y, x, t->width[c], t->columns[c].how & TEXT_LEFT, fault ? STYLE_FAULT : STYLE_PLAIN, text, selected);
		x += t->width[c];
		for (int gap = t->gap; gap; gap--)
			draw_text(y, x++, 1, STYLE_PLAIN, " ", selected);
	}
	for (; selected && x < COLS; x++)
		draw_text(y, x, 1, STYLE_PLAIN, " ", true);
}

void grid_histogram(struct lines *l, const __u64 *bucket, int count, void (*label)(char to[CELL], int i))
{
	static const char bar[] = "########################";
	char words[CELL];
	__u64 most = 0;

	for (int i = 0; i < count; i++)
		most = bucket[i] > most ? bucket[i] : most;
	for (int i = 0; i < count; i++) {
		if (!bucket[i])
			continue;
		label(words, i);
		lines_add(l, STYLE_PLAIN, NULL, "%*s %10llu  %.*s", BAR, words, bucket[i], (int)((bucket[i] * BAR + most - 1) / most), bar);
	}
}

void grid_rate(int y, int x, int width, const char *label, double rate, double known, const struct spark *spark, bool fault, bool utf8)
{
	char number[CELL], text[32], bars[3 * SPARK_SAMPLES + 1];
	int room = width - 10 - 8 - 2;

	format_rate(number, rate, known);
	draw_text(y, x, 10, STYLE_DIM, label, false);
	snprintf(text, sizeof(text), "%7.7s", number);
	draw_text(y, x + 10, 8, fault && rate > 0 ? STYLE_FAULT : STYLE_TITLE, text, false);
	if (room <= 0)
		return;
	spark_text(spark, room, utf8, bars);
	draw_text(y, x + 18, room, STYLE_BARS, bars, false);
}
