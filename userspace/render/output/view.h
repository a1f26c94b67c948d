/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints a snapshot as JSON or as text for people. The counters and lints come from their .def files. */
#ifndef USERSPACE_RENDER_OUTPUT_VIEW_H
#define USERSPACE_RENDER_OUTPUT_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "userspace/observe/model/snapshot.h"

/*
 * The value of --streams. STREAMS_WORST: JSON has all streams. The text has at most VIEW_WORST, and only streams with faults if
 * there are any.
 */
enum view_streams { STREAMS_ALL, STREAMS_CHANGED, STREAMS_NONE, STREAMS_WORST };

#define VIEW_WORST 20

/* A time as text: RFC 3339, in UTC. ns: since 1970. */
struct view_time {
	char text[sizeof("2000-01-01T00:00:00.000000000Z")];
};

struct view_time view_time(__u64 ns);

/* Which streams of snapshot_shown() are printed, in JSON and in text alike. */
struct view {
	enum view_streams streams;
	struct json_t *receive; /* JSON: the member of that name, which view_json() frees; NULL: none */
	bool live; /* the snapshot ends an interval of a live run, so rates are printed; false: it is of a capture file */
};

/*
 * Whether a stream of snapshot_shown() is printed. STREAMS_CHANGED: it is if it has had a packet since `previous` (NULL: since
 * the start).
 */
bool view_wants(const struct snapshot_stream *s, const struct snapshot *previous, const struct view *v);

/*
 * Prints one rocescope.snapshot/1 object on one line. previous: the snapshot of the interval before, for rates and for
 * STREAMS_CHANGED; may be NULL. Returns 0, or -1 with errno if the output cannot be written.
 */
int view_json(FILE *out, const struct snapshot *now, const struct snapshot *previous, const struct view *v);

struct host_calls;

/* "81920 posted, 81900 completions, 20 waiting, half within 12.3 us, 99 % within 40.0 us": what a QP's program posts. */
struct view_calls {
	char text[200];
};

struct view_calls view_calls(const struct host_calls *c);

/* ---- text for people ---- */

#define PAGE_RED "\033[31m"
#define PAGE_PLAIN "\033[0m"

/* The output for people: a terminal with a width and perhaps colour, or a file without either. */
struct view_page {
	FILE *out;
	bool colour; /* the output is a terminal, and NO_COLOR is not set */
	int width;   /* columns; a file has more than any line needs */
	int height;  /* lines of the terminal; a file has more than any report needs */
	FILE *terminal; /* where page_close() prints what `out` keeps in `text`; NULL: out is the output itself */
	char *text;
	size_t length;
};

void page_open(struct view_page *page, FILE *out);

/* Prints what was written to page->out, with lines broken at blanks where the terminal ends. Call it at the end. */
void page_close(struct view_page *page);

/*
 * Prints words and a newline, and breaks lines at blanks where the terminal ends. at: the column where the text begins; the
 * caller has filled the columns before it. indent: the column where further lines begin. red: the first word is red.
 */
void page_words(const struct view_page *page, const char *text, int at, int indent, bool red);

/*
 * Prints a snapshot for people: lines of totals, a line for each stream with its rates since `previous` (NULL: over the whole
 * time), now->host and now->faults. Colour is used only on a terminal and without NO_COLOR. Returns as view_json() does.
 */
int view_lines(FILE *out, const struct snapshot *now, const struct snapshot *previous, const struct view *v);

/* The part of view_lines() about streams: the table, the number of streams, and the meaning of marks and lints. */
void view_table(const struct view_page *page, const struct snapshot *now, const struct snapshot *previous,
		const struct view *v);

#endif
