/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A line that the user types at the lower end of the terminal. */
#ifndef LIB_TERMINAL_TYPING_H
#define LIB_TERMINAL_TYPING_H

#include <stdbool.h>

#define TYPING_TEXT 256

#define TYPING_ESCAPE 27
#define typing_is_enter(key) ((key) == '\n' || (key) == '\r' || (key) == KEY_ENTER)

struct typing {
	bool on;
	char text[TYPING_TEXT];
};

void typing_begin(struct typing *t, const char *text);

/* Takes a key of ncurses. Returns whether the line is complete; it stays on until the caller ends it. Escape ends it. */
bool typing_key(struct typing *t, int key);

/* Draws it in the last line of the terminal, behind its label, and above it what is wrong with it; "": nothing. */
void typing_draw(const struct typing *t, const char *label, const char *message);

#endif
