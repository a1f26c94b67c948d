// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ncurses.h>
#include <string.h>

#include "userspace/render/screen/state.h"

static const char *keys_of(const struct screen *s)
{
	switch (s->page) {
	case PAGE_TABLE:
		return "? help  q quit  Enter open  < > sort  / filter  p pause  i host  z zero  r reverse";
	case PAGE_STREAM:
		return "q back  < > next stream  arrows scroll  p pause  z zero  ? help";
	default:
		return "q back  arrows scroll";
	}
}

/* Draws what differs from the usual view: pause, zero, order, filter. Returns its width. */
static int draw_state(const struct screen *s)
{
	char text[TEXT];
	int x = 0;

	if (s->paused) {
		draw_text(LINES - 1, x, COLS, STYLE_HEADER, "PAUSED", false);
		x += 8;
	}
	if (s->base.held) {
		char clock[CELL];

		format_clock(clock, s->base.snapshot.seconds);
		snprintf(text, sizeof(text), "since %.20s  ", clock);
		draw_text(LINES - 1, x, COLS, STYLE_HINT, text, false);
		x += strlen(text);
	}
	if (s->page != PAGE_TABLE)
		return x;
	snprintf(text, sizeof(text), "by %s%s  ", s->sorted == COLUMN_WORST ? "worst" : columns_on_screen[s->sorted].title,
		 s->reversed ? ", reversed" : "");
	draw_text(LINES - 1, x, COLS, STYLE_PLAIN, text, false);
	x += strlen(text);
	if (!s->filter.filter)
		return x;
	snprintf(text, sizeof(text), "%zu shown: %.*s  ", screen_shown(s)->rows.shown_count, COLS / 2, s->filter.text);
	draw_text(LINES - 1, x, COLS, STYLE_HINT, text, false);
	return x + strlen(text);
}

void draw_foot(const struct screen *s)
{
	int x;

	if (s->filter.typing.on) {
		typing_draw(&s->filter.typing, "filter", s->message);
		return;
	}
	x = draw_state(s);
	if (s->page != PAGE_TABLE)
		x = page_place(&s->lines, s->scroll, x);
	if (s->message[0])
		draw_text(LINES - 1, x, COLS, STYLE_HINT, s->message, false);
	else
		draw_keys(keys_of(s), x);
}
