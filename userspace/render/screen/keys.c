// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The effect of each key. */
#include <ncurses.h>
#include <string.h>

#include "userspace/render/screen/state.h"

/* ---- the filter ---- */

static void type_key(struct screen *s, const struct screen_source *source, int key)
{
	if (!typed_filter_key(&s->filter, key, s->message))
		return;
	rows_filter(&s->live.rows, source->now, s->filter.filter);
	if (s->paused)
		rows_filter(&s->frozen.rows, &s->held.snapshot, s->filter.filter);
	screen_reorder(s);
}

/* ---- pause and zero ---- */

static void pause_or_go_on(struct screen *s, const struct screen_source *source)
{
	if (s->paused) {
		s->paused = false;
		hold_release(&s->held);
		rows_free(&s->frozen.rows);
	} else if (!hold_take(&s->held, source->now)) {
		snprintf(s->message, sizeof(s->message), "no memory to pause");
	} else {
		s->frozen.head = s->live.head;
		s->paused = rows_copy(&s->frozen.rows, &s->live.rows);
		if (!s->paused)
			hold_release(&s->held);
	}
	screen_reorder(s);
}

/* Shows counters since now (set), or since the start. */
static void rebase(struct screen *s, const struct screen_source *source, bool set)
{
	const struct snapshot *shown = screen_snapshot(s, source);
	struct shown *v = s->paused ? &s->frozen : &s->live;

	if (set && !hold_take(&s->base, shown))
		snprintf(s->message, sizeof(s->message), "no memory for the counters of now");
	if (!set)
		hold_release(&s->base);
	v->head.events_lost += s->base_lost;
	v->head.events_suppressed += s->base_suppressed;
	s->base_lost = s->base.held ? v->head.events_lost : 0;
	s->base_suppressed = s->base.held ? v->head.events_suppressed : 0;
	v->head.events_lost -= s->base_lost;
	v->head.events_suppressed -= s->base_suppressed;
	totals_since(&shown->totals, s->base.held ? &s->base.snapshot.totals : NULL, &v->head.totals);
	rows_rebase(&v->rows, shown, s->base.held ? &s->base.snapshot : NULL);
	screen_reorder(s);
}

/* ---- the table ---- */

static void sort_by(struct screen *s, int step)
{
	s->sorted = (s->sorted + step + COLUMNS + 1) % (COLUMNS + 1);
	s->reversed = false;
	screen_reorder(s);
}

static void open_selected(struct screen *s, const struct screen_source *source)
{
	const struct rows *r = &screen_shown(s)->rows;

	if (r->shown_count)
		stream_open(s, source, &r->row[r->shown[s->cursor.place.selected]].key);
}

static bool table_key(struct screen *s, const struct screen_source *source, int key)
{
	if (cursor_key(s, key))
		return true;
	switch (key) {
	case 'q':
		return false;
	case '<':
	case ',':
	case KEY_LEFT:
		sort_by(s, -1);
		break;
	case '>':
	case '.':
	case KEY_RIGHT:
		sort_by(s, 1);
		break;
	case 'w':
		s->sorted = COLUMN_WORST;
		s->reversed = false;
		screen_reorder(s);
		break;
	case 'r':
		s->reversed = !s->reversed;
		screen_reorder(s);
		break;
	case '/':
		typing_begin(&s->filter.typing, s->filter.text);
		break;
	default:
		if (typing_is_enter(key))
			open_selected(s, source);
	}
	return true;
}

/* ---- pages ---- */

static void neighbour(struct screen *s, const struct screen_source *source, int by)
{
	cursor_move(s, by);
	open_selected(s, source);
}

static void leave_page(struct screen *s, const struct screen_source *source)
{
	if (s->page == PAGE_STREAM)
		stream_close(s, source);
	else
		s->page = s->behind;
	s->scroll = 0;
}

static void page_key(struct screen *s, const struct screen_source *source, int key)
{
	if (page_scroll(&s->lines, &s->scroll, key))
		return;
	switch (key) {
	case '<':
	case ',':
	case KEY_LEFT:
	case '>':
	case '.':
	case KEY_RIGHT:
		if (s->page == PAGE_STREAM)
			neighbour(s, source, key == '<' || key == ',' || key == KEY_LEFT ? -1 : 1);
		break;
	case 'q':
	case TYPING_ESCAPE:
	case KEY_BACKSPACE:
	case 127:
		leave_page(s, source);
		break;
	default:
		if (typing_is_enter(key))
			leave_page(s, source);
	}
}

static void show_page(struct screen *s, enum screen_page page)
{
	if (s->page == page)
		return;
	if (s->page == PAGE_TABLE || s->page == PAGE_STREAM)
		s->behind = s->page;
	s->page = page;
	s->scroll = 0;
}

bool key_take(struct screen *s, const struct screen_source *source, int key)
{
	if (key == KEY_RESIZE)
		return true;
	if (s->filter.typing.on) {
		type_key(s, source, key);
		return true;
	}
	s->message[0] = '\0';
	switch (key) {
	case '?':
	case KEY_F(1):
		show_page(s, PAGE_HELP);
		return true;
	case 'i':
		show_page(s, PAGE_HOST);
		return true;
	case 'p':
		pause_or_go_on(s, source);
		return true;
	case 'z':
	case 'Z':
		rebase(s, source, key == 'z');
		return true;
	case 'L' - '@': /* Ctrl-L */
		clearok(stdscr, true);
		return true;
	}
	if (s->page == PAGE_TABLE)
		return table_key(s, source, key);
	page_key(s, source, key);
	return true;
}
