/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `monitor` on a terminal: a table that is kept open (ncurses). */
#ifndef USERSPACE_SCREEN_SCREEN_H
#define USERSPACE_SCREEN_SCREEN_H

#include "userspace/model/filter.h"
#include "userspace/model/history.h"
#include "userspace/model/snapshot.h"

struct host;
struct focus;

/* What there is to be shown; what may be NULL is marked. Only valid during the call. */
struct screen_source {
	const struct snapshot *now;
	const struct snapshot *previous; /* of the interval before; NULL */
	const struct history *history;	 /* NULL: no events are had */
	const struct host *host;	 /* NULL */
	struct focus *focus;		 /* userspace/live/focus.h: for the stream that is open; NULL: not to be had */
	__u64 events_lost, events_suppressed;
};

struct screen;

/*
 * Takes the terminal (standard input and output). filter: text of --filter, NULL; it is known to be right. NULL: this terminal
 * cannot do it, and a line on stderr says why.
 */
struct screen *screen_begin(const char *filter);

/* Every interval. Draws, unless it is paused. */
void screen_show(struct screen *s, const struct screen_source *source);

/* Keys are there, or the size has changed. Draws what that changes, of the same source as before. false: it is to end. */
bool screen_key(struct screen *s, const struct screen_source *source);

/* Gives the terminal back as it was. May be NULL, and be called twice; also what a signal's end needs. */
void screen_end(struct screen *s);

#endif
