/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cursor in a list that is longer than the terminal, and the part of the list that is drawn. */
#ifndef LIB_TERMINAL_PLACE_H
#define LIB_TERMINAL_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct place {
	size_t top;	 /* the first row that is drawn */
	size_t selected; /* the row of the cursor */
	bool follows;	 /* the user has moved it: it stays at what it is at; else it stays at the top */
};

/* Moves the part that is drawn, so that the cursor is in it. count: rows; room: those that fit. Call it when one has changed. */
void place_settle(struct place *p, size_t count, size_t room);

/* Moves the cursor by so many rows. */
void place_move(struct place *p, long by, size_t count, size_t room);

/* Moves it by a key of ncurses. false: the key does not move it. */
bool place_key(struct place *p, int key, size_t count, size_t room);

#endif
