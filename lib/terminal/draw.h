/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Draws text on the terminal that terminal_begin() has taken (ncurses): at a place, or a page of lines that can be scrolled. */
#ifndef LIB_TERMINAL_DRAW_H
#define LIB_TERMINAL_DRAW_H

#include "lib/terminal/lines.h"

/* colour: as terminal_begin() says. */
void draw_begin(bool colour);

/* Text is clipped at `width` columns, and where the terminal ends. */
void draw_text(int y, int x, int width, enum style style, const char *text, bool selected);

/* Draws keys, two blanks between them, in the last line from column x on: as many as fit. */
void draw_keys(const char *keys, int x);

/* ---- a page; scroll: the first line that is drawn ---- */

int page_room(void); /* lines that fit */
void page_draw(const struct lines *l, size_t scroll);

/* Draws which lines are visible, if not all are, in the last line from column x on. Returns the column behind it. */
int page_place(const struct lines *l, size_t scroll, int x);

/* Call it when lines or the size have changed. */
void page_settle(const struct lines *l, size_t *scroll);

/* Draws nothing but the page, which is settled, and the keys. */
void page_show(const struct lines *l, size_t *scroll, const char *keys);
int page_width(void); /* columns of the terminal */

/* A key of ncurses. false: it is none that scrolls. */
bool page_scroll(const struct lines *l, size_t *scroll, int key);

#endif
