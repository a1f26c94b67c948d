// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ncurses.h>
#include <string.h>

#include "userspace/screen/state.h"

static attr_t attributes[STYLES] = {
	[STYLE_TITLE] = A_BOLD, [STYLE_HEADER] = A_REVERSE, [STYLE_SORTED] = A_REVERSE | A_BOLD | A_UNDERLINE,
	[STYLE_FAULT] = A_BOLD, [STYLE_HINT] = A_BOLD, [STYLE_DIM] = A_DIM,
};

void draw_begin(bool colour)
{
	if (!colour)
		return;
	init_pair(1, COLOR_RED, -1);
	init_pair(2, COLOR_YELLOW, -1);
	init_pair(3, COLOR_CYAN, -1);
	attributes[STYLE_FAULT] = COLOR_PAIR(1) | A_BOLD;
	attributes[STYLE_HINT] = COLOR_PAIR(2);
	attributes[STYLE_BARS] = COLOR_PAIR(3);
}

void draw_text(int y, int x, int width, enum style style, const char *text, bool selected)
{
	if (x + width > COLS)
		width = COLS - x;
	if (y < 0 || y >= LINES || x < 0 || width <= 0)
		return;
	attrset(attributes[style] | (selected ? A_REVERSE : 0));
	/* Bars already fit. They have more bytes than columns. */
	if (style == STYLE_BARS)
		mvaddstr(y, x, text);
	else
		mvprintw(y, x, "%.*s", width, text);
	attrset(A_NORMAL);
}

int page_room(void)
{
	return LINES > 2 ? LINES - 2 : 1; /* one for the keys, and an empty line above them */
}

void draw_page(const struct screen *s)
{
	for (int i = 0; i < page_room() && s->scroll + i < s->lines.count; i++) {
		const struct line *line = &s->lines.line[s->scroll + i];

		draw_text(i, 0, COLS, line->style, line->text, false);
	}
}

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

/* Draws as many keys as fit, without cutting one. */
static void draw_keys(const struct screen *s, int x)
{
	const char *keys = keys_of(s);
	int length = strlen(keys);

	while (length > 0 && (length > COLS - x || (keys[length] && strncmp(keys + length, "  ", 2))))
		length--;
	draw_text(LINES - 1, x, length, STYLE_DIM, keys, false);
}

static void draw_typing(const struct screen *s)
{
	int visible = COLS > 12 ? COLS - 10 : 2, length = strlen(s->typed);
	char text[TEXT + 16];

	snprintf(text, sizeof(text), "filter: %s_", length > visible ? s->typed + length - visible : s->typed);
	draw_text(LINES - 1, 0, COLS, STYLE_TITLE, text, false);
	if (!s->message[0])
		return;
	mvhline(LINES - 2, 0, ' ', COLS);
	draw_text(LINES - 2, 0, COLS, STYLE_FAULT, s->message, false);
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
	snprintf(text, sizeof(text), "by %s%s  ", s->sorted == COLUMN_WORST ? "worst" : column_words[s->sorted].title,
		 s->reversed ? ", reversed" : "");
	draw_text(LINES - 1, x, COLS, STYLE_PLAIN, text, false);
	x += strlen(text);
	if (!s->filter)
		return x;
	snprintf(text, sizeof(text), "%zu shown: %.*s  ", screen_shown(s)->rows.shown_count, COLS / 2, s->filter_text);
	draw_text(LINES - 1, x, COLS, STYLE_HINT, text, false);
	return x + strlen(text);
}

/* Draws which lines are visible if the page is longer than the terminal. */
static int draw_place(const struct screen *s, int x)
{
	size_t end = s->scroll + page_room();
	char text[64];

	if (s->page == PAGE_TABLE || s->lines.count <= (size_t)page_room())
		return x;
	snprintf(text, sizeof(text), "%zu-%zu of %zu  ", s->scroll + 1, end < s->lines.count ? end : s->lines.count,
		 s->lines.count);
	draw_text(LINES - 1, x, COLS, STYLE_PLAIN, text, false);
	return x + strlen(text);
}

void draw_foot(const struct screen *s)
{
	int x;

	if (s->typing) {
		draw_typing(s);
		return;
	}
	x = draw_place(s, draw_state(s));
	if (s->message[0])
		draw_text(LINES - 1, x, COLS, STYLE_HINT, s->message, false);
	else
		draw_keys(s, x);
}
