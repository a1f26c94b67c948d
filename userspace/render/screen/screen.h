/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `monitor` on a terminal: a table that stays on the screen (ncurses). */
#ifndef USERSPACE_RENDER_SCREEN_SCREEN_H
#define USERSPACE_RENDER_SCREEN_SCREEN_H

#include "userspace/observe/model/filter.h"
#include "userspace/observe/model/history.h"
#include "userspace/observe/model/snapshot.h"

struct host;
struct focus;

/* What the screen shows. It is valid only during the call. */
struct screen_source {
	const struct snapshot *now;
	const struct snapshot *previous; /* of the interval before; may be NULL */
	const struct history *history;	 /* NULL: no events are read */
	const struct host *host;	 /* may be NULL */
	struct focus *focus;		 /* for the open stream (userspace/observe/live/focus.h); NULL: not available */
	__u64 events_lost, events_suppressed;
};

struct screen;

/*
 * Takes the terminal (standard input and output). filter: the text of --filter, already checked; NULL: none. Returns NULL if
 * the terminal cannot show a table, and a line on stderr says why.
 */
struct screen *screen_begin(const char *filter);

/* Call it each interval. Draws the table unless it is paused. */
void screen_show(struct screen *s, const struct screen_source *source);

/* Call it when keys came or the size has changed. source: as in the last screen_show(). false: the user quits. */
bool screen_key(struct screen *s, const struct screen_source *source);

/* Restores the terminal and frees the screen. s: may be NULL. */
void screen_end(struct screen *s);

#endif
