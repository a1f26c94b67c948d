// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "userspace/render/output/text_cut.h"
#include "userspace/render/output/text_table.h"
#include "userspace/render/output/view.h"

#define PATH_LEAST 23 /* columns to which a path is cut */

void text_table_begin(struct text_table *t, const struct page *page, const struct text_column *columns, size_t count, int gap)
{
	*t = (struct text_table){ .page = page, .columns = columns, .count = count, .gap = gap };
	for (size_t c = 0; c < count; c++)
		t->need[c] = columns[c].how & TEXT_SELDOM ? 0 : strlen(columns[c].title);
}

static int larger(int a, int b)
{
	return a > b ? a : b;
}

void text_table_measure(struct text_table *t, const void *row)
{
	char text[TEXT_CELL];

	for (size_t c = 0; c < t->count; c++) {
		const struct text_column *column = &t->columns[c];

		column->fill(text, row);
		if (column->how & TEXT_SELDOM && !t->need[c] && (!text[0] || !strcmp(text, "0")))
			continue;
		t->need[c] = larger(t->need[c], larger(strlen(column->title), strlen(text)));
	}
}

static void leave_out(struct text_table *t, enum text_how which, int room, int *used)
{
	for (size_t c = t->count; c-- > 0 && *used > room;) {
		if (!(t->columns[c].how & which) || !t->width[c])
			continue;
		*used -= t->width[c] + t->gap;
		t->width[c] = 0;
	}
}

int text_table_fit(struct text_table *t, int room)
{
	int used = -t->gap;

	for (size_t c = 0; c < t->count; c++) {
		t->width[c] = t->need[c];
		used += t->width[c] ? t->width[c] + t->gap : 0;
	}
	leave_out(t, TEXT_SPARE, room, &used);
	leave_out(t, TEXT_COMMON, room, &used);
	for (size_t c = 0; c < t->count; c++) {
		int least = larger(t->width[c] - larger(used - room, 0), PATH_LEAST);

		if (!(t->columns[c].how & TEXT_PATH) || t->width[c] <= least)
			continue;
		used -= t->width[c] - least;
		t->width[c] = least;
	}
	return used;
}

/* ---- printing ---- */

struct writer {
	const struct text_table *t;
	int at, blanks; /* columns printed; blanks before the next text */
};

static void put(struct writer *w, size_t c, const char *text, bool fault)
{
	const struct page *page = w->t->page;
	int rest = w->t->width[c] - (int)strlen(text);
	bool red = fault && page->colour;

	if (!w->t->width[c])
		return;
	w->blanks += (w->at || w->blanks ? w->t->gap : 0) + (w->t->columns[c].how & TEXT_LEFT ? 0 : larger(rest, 0));
	if (text[0]) {
		fprintf(page->out, "%*s%s%s%s", w->blanks, "", red ? PAGE_RED : "", text, red ? PAGE_PLAIN : "");
		w->at += w->blanks + strlen(text);
		w->blanks = 0;
	}
	w->blanks += w->t->columns[c].how & TEXT_LEFT ? larger(rest, 0) : 0;
}

int text_table_titles(const struct text_table *t)
{
	struct writer w = { .t = t };

	for (size_t c = 0; c < t->count; c++)
		put(&w, c, t->columns[c].title, false);
	return w.at;
}

static void cut_cell(char text[TEXT_CELL], int width)
{
	char *between = strstr(text, " > "), whole[TEXT_CELL];

	if (!between || (int)strlen(text) <= width)
		return;
	*between = 0;
	text_cut_path(whole, width, text, between + strlen(" > "));
	strcpy(text, whole);
}

int text_table_row(const struct text_table *t, const void *row)
{
	struct writer w = { .t = t };
	char text[TEXT_CELL];

	for (size_t c = 0; c < t->count; c++) {
		bool fault = t->columns[c].fill(text, row);

		if (t->columns[c].how & TEXT_PATH && t->width[c])
			cut_cell(text, t->width[c]);
		put(&w, c, text, fault);
	}
	return w.at;
}
