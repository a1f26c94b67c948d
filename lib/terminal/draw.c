// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ncurses.h>
#include <stdio.h>
#include <string.h>

#include "lib/terminal/draw.h"

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

/* Draws as many keys as fit, without cutting one. */
void draw_keys(const char *keys, int x)
{
	int length = strlen(keys);

	while (length > 0 && (length > COLS - x || (keys[length] && strncmp(keys + length, "  ", 2))))
		length--;
	draw_text(LINES - 1, x, length, STYLE_DIM, keys, false);
}

/* ---- a page of lines ---- */

int page_room(void)
{
	return LINES > 2 ? LINES - 2 : 1; /* one for the keys, and an empty line above them */
}

void page_settle(const struct lines *l, size_t *scroll)
{
	if (*scroll + page_room() > l->count)
		*scroll = l->count > (size_t)page_room() ? l->count - page_room() : 0;
}

void page_draw(const struct lines *l, size_t scroll)
{
	for (int i = 0; i < page_room() && scroll + i < l->count; i++)
		draw_text(i, 0, COLS, l->line[scroll + i].style, l->line[scroll + i].text, false);
}

int page_place(const struct lines *l, size_t scroll, int x)
{
	size_t end = scroll + page_room();
	char text[64];

	if (l->count <= (size_t)page_room())
		return x;
	snprintf(text, sizeof(text), "%zu-%zu of %zu  ", scroll + 1, end < l->count ? end : l->count, l->count);
	draw_text(LINES - 1, x, COLS, STYLE_PLAIN, text, false);
	return x + strlen(text);
}

int page_width(void)
{
	return COLS;
}

void page_show(const struct lines *l, size_t *scroll, const char *keys)
{
	page_settle(l, scroll);
	erase();
	page_draw(l, *scroll);
	draw_keys(keys, page_place(l, *scroll, 0));
	refresh();
}

static void scroll_by(const struct lines *l, size_t *scroll, long by)
{
	long to = (long)*scroll + by;

	*scroll = to < 0 ? 0 : to;
	page_settle(l, scroll);
}

bool page_scroll(const struct lines *l, size_t *scroll, int key)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		scroll_by(l, scroll, -1);
		return true;
	case KEY_DOWN:
	case 'j':
		scroll_by(l, scroll, 1);
		return true;
	case KEY_PPAGE:
		scroll_by(l, scroll, -page_room());
		return true;
	case KEY_NPAGE:
	case ' ':
		scroll_by(l, scroll, page_room());
		return true;
	case KEY_HOME:
	case 'g':
		*scroll = 0;
		return true;
	case KEY_END:
	case 'G':
		scroll_by(l, scroll, l->count);
		return true;
	}
	return false;
}
