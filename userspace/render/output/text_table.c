// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "userspace/render/output/text_table.h"
#include "userspace/render/output/view.h"

#define PATH_GOOD 45	 /* width of a path that tells most addresses apart */
#define PATH_LEAST 23	 /* least width of a path */
#define ELASTIC_LEAST 12 /* least width of an elastic column */

static int larger(int a, int b)
{
	return a > b ? a : b;
}

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

void text_table_begin(struct text_table *t)
{
	for (size_t c = 0; c < t->count; c++)
		t->need[c] = t->columns[c].how & TEXT_SELDOM ? 0 : t->columns[c].width ?: (int)strlen(t->columns[c].title);
}

void text_table_measure(struct text_table *t, const void *row)
{
	char text[TEXT_CELL];

	for (size_t c = 0; c < t->count; c++) {
		const struct text_column *column = &t->columns[c];

		if (column->width)
			continue;
		t->fill(text, row, column->id, TEXT_WHOLE);
		if (column->how & TEXT_SELDOM && !t->need[c] && (!text[0] || !strcmp(text, "0")))
			continue;
		t->need[c] = larger(t->need[c], larger(strlen(column->title), strlen(text)));
	}
}

static void leave_out(struct text_table *t, enum text_how which, int room, int *used)
{
	for (size_t c = t->count; c-- > 0 && *used > room;) {
		if (!(t->columns[c].how & which) || !t->width[c] || &t->columns[c] == t->kept)
			continue;
		*used -= t->width[c] + t->gap;
		t->width[c] = 0;
	}
}

static void cut_paths(struct text_table *t, int least, int room, int *used)
{
	for (size_t c = 0; c < t->count; c++) {
		int cut = smaller(*used - room, t->width[c] - least);

		if (!(t->columns[c].how & TEXT_PATH) || cut <= 0)
			continue;
		t->width[c] -= cut;
		*used -= cut;
	}
}

/* Gives the remaining room to elastic columns. */
static void widen(struct text_table *t, int room, int *used)
{
	for (size_t c = 0; c < t->count; c++) {
		int more = t->width[c] ? smaller(t->need[c] - t->width[c], room - *used) : 0;

		if (!(t->columns[c].how & TEXT_ELASTIC) || more <= 0)
			continue;
		t->width[c] += more;
		*used += more;
	}
}

int text_table_fit(struct text_table *t, int room)
{
	int used = -t->gap;

	for (size_t c = 0; c < t->count; c++) {
		t->width[c] = t->columns[c].how & TEXT_ELASTIC ? smaller(t->need[c], ELASTIC_LEAST) : t->need[c];
		used += t->width[c] ? t->width[c] + t->gap : 0;
	}
	leave_out(t, TEXT_SPARE, room, &used);
	leave_out(t, TEXT_COMMON, room, &used);
	cut_paths(t, PATH_GOOD, room, &used);
	leave_out(t, TEXT_GOOD, room, &used);
	cut_paths(t, PATH_LEAST, room, &used);
	leave_out(t, TEXT_BASIC, room, &used);
	widen(t, room, &used);
	return used;
}

/* ---- printing ---- */

struct cell_writer {
	const struct text_table *t;
	int at, blanks; /* columns printed; blanks before the next text */
};

static void put(struct cell_writer *w, size_t c, const char *text, bool fault)
{
	const struct view_page *page = w->t->page;
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
	struct cell_writer w = { .t = t };

	for (size_t c = 0; c < t->count; c++)
		put(&w, c, t->columns[c].title, false);
	return w.at;
}

int text_table_row(const struct text_table *t, const void *row)
{
	struct cell_writer w = { .t = t };
	char text[TEXT_CELL];

	for (size_t c = 0; c < t->count; c++) {
		if (!t->width[c])
			continue;
		put(&w, c, text, t->fill(text, row, t->columns[c].id, t->width[c]));
	}
	return w.at;
}
