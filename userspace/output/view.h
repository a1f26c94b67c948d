/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ways to show a snapshot. Every counter and lint comes from its .def file. */
#ifndef USERSPACE_OUTPUT_VIEW_H
#define USERSPACE_OUTPUT_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "userspace/model/snapshot.h"

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

/* ---- text for people ---- */

#define PAGE_RED "\033[31m"
#define PAGE_PLAIN "\033[0m"

/* Where text for people goes: a terminal of some width, with colour, or a file, with neither bounds nor colour. */
struct page {
	FILE *out;
	bool colour; /* a terminal, and NO_COLOR is not set */
	int width;   /* columns; of what is no terminal, more than any line needs */
};

struct page page_open(FILE *out);

/*
 * One line of words, broken at blanks where the terminal ends, behind what already fills columns 0 .. at - 1; further lines
 * begin at column `indent`. red: the first word. With the newline.
 */
void page_words(const struct page *page, const char *text, int at, int indent, bool red);

/*
 * For people: a line of totals and a line a stream, with rates since `previous` (NULL: over the whole time), and
 * now->faults. Colour only on a terminal and without NO_COLOR.
 */
int view_lines(FILE *out, const struct snapshot *now, const struct snapshot *previous, const struct view *v);

/* The part of it about streams: a table, how many of them it shows, and what its marks and lints mean. */
void view_table(const struct page *page, const struct snapshot *now, const struct snapshot *previous, const struct view *v);

#endif
