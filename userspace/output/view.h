/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ways to show a snapshot. Every counter and lint comes from its .def file. */
#ifndef USERSPACE_OUTPUT_VIEW_H
#define USERSPACE_OUTPUT_VIEW_H

#include <stdio.h>

#include "userspace/model/snapshot.h"
#include "userspace/output/page.h"

/* --streams. WORST: programs get all streams, people at most VIEW_WORST: those with faults if there are any. */
enum view_streams { STREAMS_ALL, STREAMS_CHANGED, STREAMS_NONE, STREAMS_WORST };

#define VIEW_WORST 20

/* RFC 3339 in UTC, of ns since 1970. */
struct view_time {
	char text[sizeof("2000-01-01T00:00:00.000000000Z")];
};

struct view_time view_time(__u64 ns);

/* Which of the streams that snapshot_shown() has are shown, whoever shows them. */
struct view {
	enum view_streams streams;
	bool live; /* rates mean something: a snapshot belongs to an interval, and not to a capture */
};

/* Whether a stream of those that snapshot_shown() has is shown. CHANGED: it has seen a packet since `previous` (NULL: since ever). */
bool view_wants(const struct snapshot_stream *s, const struct snapshot *previous, const struct view *v);

/*
 * One rocescope.snapshot/1 object on one line. previous: the snapshot of the interval before, for rates and for
 * STREAMS_CHANGED (a stream is shown if it has seen a packet since), may be NULL. Returns 0, or -1 with errno when it
 * cannot be written.
 */
int view_json(FILE *out, const struct snapshot *now, const struct snapshot *previous, const struct view *v);

/*
 * For people: a line of totals and a line a stream, with rates since `previous` (NULL: over the whole time), and
 * now->faults. Colour only on a terminal and without NO_COLOR.
 */
int view_lines(FILE *out, const struct snapshot *now, const struct snapshot *previous, const struct view *v);

/* The part of it about now->faults, which are there. */
void view_faults(const struct page *page, const struct snapshot *now);

/* The part of it about now->host, which is there: whose QPs, what was dropped, hints. */
void view_host(const struct page *page, const struct snapshot *now, const struct snapshot *previous, const struct view *v);

#endif
