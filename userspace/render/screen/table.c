// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ncurses.h>
#include <string.h>

#include "userspace/render/screen/state.h"

int table_room(const struct screen *s)
{
	int room = LINES - head_height(s) - 2; /* for its header and the keys */

	return room > 1 ? room : 1;
}

/* ---- the cursor ---- */

static void keep_in_sight(struct screen *s, size_t count)
{
	struct cursor *c = &s->cursor;
	size_t room = table_room(s);

	if (c->selected >= count)
		c->selected = count ? count - 1 : 0;
	if (c->top > c->selected)
		c->top = c->selected;
	if (c->selected >= c->top + room)
		c->top = c->selected - room + 1;
	if (c->top + room > count)
		c->top = count > room ? count - room : 0;
}

void cursor_settle(struct screen *s)
{
	const struct rows *r = &screen_shown(s)->rows;
	struct cursor *c = &s->cursor;
	size_t at;

	if (!c->follows) {
		c->top = c->selected = 0;
	} else {
		at = rows_find(r, &c->key);
		if (at < r->shown_count)
			c->selected = at;
	}
	keep_in_sight(s, r->shown_count);
	if (r->shown_count)
		c->key = r->row[r->shown[c->selected]].key;
}

void cursor_move(struct screen *s, long by)
{
	const struct rows *r = &screen_shown(s)->rows;
	struct cursor *c = &s->cursor;
	long to = (long)c->selected + by;

	if (!r->shown_count)
		return;
	c->selected = to < 0 ? 0 : to;
	keep_in_sight(s, r->shown_count);
	c->key = r->row[r->shown[c->selected]].key;
	c->follows = true;
}

void cursor_page(struct screen *s, int pages)
{
	struct cursor *c = &s->cursor;
	long top = (long)c->top + (long)pages * table_room(s);

	c->top = top < 0 ? 0 : top;
	cursor_move(s, (long)pages * table_room(s));
}

/* ---- drawing ---- */

static void draw_cell(int y, int x, int width, bool left, enum style style, const char *text, bool selected)
{
	char cell[TEXT_CELL];

	snprintf(cell, sizeof(cell), left ? "%-*.*s" : "%*.*s", width, width, text);
	draw_text(y, x, width, style, cell, selected);
}

static void draw_header(const struct screen *s, const struct text_table *t, int y)
{
	int x = 0;

	draw_cell(y, 0, COLS < CELL ? COLS : CELL - 1, true, STYLE_HEADER, "", false);
	for (int i = CELL - 1; i < COLS; i++)
		draw_text(y, i, 1, STYLE_HEADER, " ", false);
	for (int c = 0; c < COLUMNS; c++) {
		const struct text_column *column = &t->columns[c];

		if (!t->width[c])
			continue;
		draw_cell(y, x, t->width[c], column->how & TEXT_LEFT, c == s->sorted ? STYLE_SORTED : STYLE_HEADER, column->title,
			  false);
		x += t->width[c] + 1;
	}
}

static void draw_row(const struct screen *s, const struct text_table *t, const struct stream_row *row, int y, bool selected)
{
	char text[TEXT_CELL];
	int x = 0;

	for (int c = 0; c < COLUMNS; c++) {
		bool fault;

		if (!t->width[c])
			continue;
		fault = column_fill(c, text, &screen_shown(s)->rows, row, t->width[c]);
		draw_cell(y, x, t->width[c], t->columns[c].how & TEXT_LEFT, fault ? STYLE_FAULT : STYLE_PLAIN, text, selected);
		x += t->width[c];
		draw_text(y, x++, 1, STYLE_PLAIN, " ", selected);
	}
	for (; selected && x < COLS; x++)
		draw_text(y, x, 1, STYLE_PLAIN, " ", true);
}

static void draw_nothing(const struct screen *s, int y)
{
	if (!s->begun)
		draw_text(y, 0, COLS, STYLE_DIM, "The first interval has not ended yet.", false);
	else if (screen_shown(s)->rows.count)
		draw_text(y, 0, COLS, STYLE_DIM, "No stream passes the filter (/ changes it).", false);
	else
		draw_text(y, 0, COLS, STYLE_DIM, "No RoCE packet was seen yet (i: what this machine knows).", false);
}

void table_draw(struct screen *s)
{
	const struct rows *r = &screen_shown(s)->rows;
	int y = head_height(s), room = table_room(s);
	struct text_table t;

	keep_in_sight(s, r->shown_count); /* the size of the terminal may have changed */
	for (int i = 0; i < room && s->cursor.top + i < r->shown_count; i++)
		text_table_measure(&s->measured, &r->row[r->shown[s->cursor.top + i]]);
	t = columns_choose(&s->measured, r, COLS, s->sorted);
	draw_header(s, &t, y++);
	for (int i = 0; i < room && s->cursor.top + i < r->shown_count; i++) {
		size_t at = s->cursor.top + i;

		draw_row(s, &t, &r->row[r->shown[at]], y + i, at == s->cursor.selected);
	}
	if (!r->shown_count)
		draw_nothing(s, y);
}
