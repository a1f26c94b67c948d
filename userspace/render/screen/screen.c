// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "lib/terminal/terminal.h"
#include "userspace/render/screen/state.h"

static void make_page(struct screen *s, const struct screen_source *source)
{
	lines_clear(&s->lines);
	s->lines.width = COLS;
	if (s->page == PAGE_STREAM)
		stream_page(s, source);
	else if (s->page == PAGE_HELP)
		help_page(s);
	else
		host_page(s, source);
	page_settle(&s->lines, &s->scroll);
}

static void draw(struct screen *s, const struct screen_source *source)
{
	if (!terminal_takes())
		return; /* draw later: the terminal must not block us */
	erase();
	if (s->page == PAGE_TABLE) {
		head_draw(s);
		table_draw(s);
	} else {
		make_page(s, source);
		page_draw(&s->lines, s->scroll);
	}
	draw_foot(s);
	refresh();
}

static void take_message(struct screen *s)
{
	char line[TEXT];

	if (terminal_message(line, sizeof(line)))
		format_safe(s->message, sizeof(s->message), line);
}

void screen_reorder(struct screen *s)
{
	rows_order(&s->live.rows, s->sorted, s->reversed);
	if (s->paused)
		rows_order(&s->frozen.rows, s->sorted, s->reversed);
	cursor_settle(s);
}

struct screen *screen_begin(const char *filter)
{
	static const struct snapshot nothing;
	struct screen *s = calloc(1, sizeof(*s));
	bool colour;

	if (!s)
		return NULL;
	s->sorted = COLUMN_WORST;
	columns_begin(&s->measured);
	typed_filter_begin(&s->filter, filter_parse, filter);
	if (!terminal_begin(&s->utf8, &colour)) {
		typed_filter_free(&s->filter);
		free(s);
		return NULL;
	}
	draw_begin(colour);
	draw(s, &(struct screen_source){ .now = &nothing });
	return s;
}

void screen_show(struct screen *s, const struct screen_source *source)
{
	struct rows_source rows = {
		.now = source->now,
		.previous = source->previous,
		.base = s->base.held ? &s->base.snapshot : NULL,
		.history = source->history,
		.filter = s->filter.filter,
	};

	take_message(s);
	if (!rows_update(&s->live.rows, &rows))
		snprintf(s->message, sizeof(s->message), "no memory for %zu streams", source->now->stream_count);
	s->begun = true;
	head_fill(s, source);
	stream_update(s, source);
	if (s->paused)
		return;
	screen_reorder(s);
	draw(s, source);
}

struct keyed {
	struct screen *screen;
	const struct screen_source *source;
};

static bool take(void *context, int key)
{
	const struct keyed *k = context;

	return key_take(k->screen, k->source, key);
}

bool screen_key(struct screen *s, const struct screen_source *source)
{
	bool any;

	if (!terminal_keys(take, &(struct keyed){ s, source }, &any))
		return false;
	if (any)
		draw(s, source);
	return true;
}

void screen_end(struct screen *s)
{
	if (!s)
		return;
	terminal_end();
	rows_free(&s->live.rows);
	rows_free(&s->frozen.rows);
	hold_release(&s->held);
	hold_release(&s->base);
	lines_clear(&s->lines);
	typed_filter_free(&s->filter);
	free(s);
}
