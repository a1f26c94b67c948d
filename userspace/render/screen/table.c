// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ncurses.h>
#include <string.h>

#include "userspace/render/screen/grid.h"
#include "userspace/render/screen/state.h"

int table_room(const struct screen *s)
{
	int room = LINES - head_height(s) - 2; /* for its header and the keys */

	return room > 1 ? room : 1;
}

/* ---- the cursor ---- */

/* Remembers the stream at which the cursor is. */
static void remember(struct screen *s)
{
	const struct rows *r = &screen_shown(s)->rows;
	struct cursor *c = &s->cursor;

	if (r->shown_count)
		c->key = r->row[r->shown[c->place.selected]].key;
}

static void keep_in_sight(struct screen *s)
{
	place_settle(&s->cursor.place, screen_shown(s)->rows.shown_count, table_room(s));
}

void cursor_settle(struct screen *s)
{
	const struct rows *r = &screen_shown(s)->rows;
	struct cursor *c = &s->cursor;
	size_t at = rows_find(r, &c->key);

	if (c->place.follows && at < r->shown_count)
		c->place.selected = at;
	keep_in_sight(s);
	remember(s);
}

void cursor_move(struct screen *s, long by)
{
	place_move(&s->cursor.place, by, screen_shown(s)->rows.shown_count, table_room(s));
	remember(s);
}

bool cursor_key(struct screen *s, int key)
{
	bool moved = place_key(&s->cursor.place, key, screen_shown(s)->rows.shown_count, table_room(s));

	if (moved)
		remember(s);
	return moved;
}

/* ---- drawing ---- */

/* What fills a cell. */
struct cell_source {
	const struct rows *rows;
	const struct stream_row *row;
};

static bool fill(char to[TEXT_CELL], const void *row, int id, int width)
{
	const struct cell_source *of = row;

	return column_fill(id, to, of->rows, of->row, width);
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

	keep_in_sight(s); /* the size of the terminal may have changed */
	for (int i = 0; i < room && s->cursor.place.top + i < r->shown_count; i++)
		text_table_measure(&s->measured, &r->row[r->shown[s->cursor.place.top + i]]);
	t = columns_choose(&s->measured, r, COLS, s->sorted);
	grid_titles(&t, y++, s->sorted);
	for (int i = 0; i < room && s->cursor.place.top + i < r->shown_count; i++) {
		size_t at = s->cursor.place.top + i;

		grid_row(&t, &(struct cell_source){ r, &r->row[r->shown[at]] }, fill, y + i, at == s->cursor.place.selected);
	}
	if (!r->shown_count)
		draw_nothing(s, y);
}
