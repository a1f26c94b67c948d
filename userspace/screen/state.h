/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the screen share. */
#ifndef USERSPACE_SCREEN_STATE_H
#define USERSPACE_SCREEN_STATE_H

#include "userspace/screen/columns.h"
#include "userspace/screen/hold.h"
#include "userspace/screen/lines.h"
#include "userspace/screen/screen.h"

#define TEXT 256 /* bytes of a line that is typed or told */

/* The figures above the table. */
struct head {
	char interfaces[TEXT];
	double seconds;
	__u64 time; /* ns since 1970 */
	struct roce_totals totals;
	struct rates rates;
	__u64 events_lost, events_suppressed;
	char hint[HOST_WORDS];
	size_t hints;
	struct spark gbps, packets, lost, icrc_bad;
};

/* Everything that stands still while it is paused. */
struct shown {
	struct head head;
	struct rows rows;
};

enum page { PAGE_TABLE, PAGE_STREAM, PAGE_HELP, PAGE_HOST };

/* Where one is in the table. */
struct cursor {
	size_t top;	 /* the first row that is drawn */
	size_t selected; /* in rows.shown[] */
	bool follows;	 /* it stays at the stream `key`, wherever that goes; else it stays on top */
	struct roce_key key;
};

/* The stream that is open. */
struct opened {
	struct roce_key key;
	struct spark gbps;
	bool has_owner;
	struct host_owner owner; /* as it was at the last snapshot */
	struct host_qp qp;
};

struct screen {
	struct shown live, frozen;
	bool begun; /* there was a snapshot */
	bool paused;
	struct hold held; /* what is shown while it is paused */
	struct hold base; /* counters are shown since then */
	__u64 base_lost, base_suppressed; /* events */

	int sorted; /* enum column, or COLUMN_WORST */
	bool reversed;
	struct cursor cursor;
	struct layout need;

	struct filter *filter;
	char filter_text[TEXT];
	bool typing; /* a filter */
	char typed[TEXT];
	char message[TEXT]; /* instead of the keys, until the next key */

	enum page page, behind; /* behind: a help or host page */
	struct opened opened;
	struct lines lines; /* of a page that is no table */
	size_t scroll;

	bool utf8;
};

static inline const struct shown *screen_shown(const struct screen *s)
{
	return s->paused ? &s->frozen : &s->live;
}

/* The snapshot that is shown. */
static inline const struct snapshot *screen_snapshot(const struct screen *s, const struct screen_source *source)
{
	return s->paused ? &s->held.snapshot : source->now;
}

/* head.c */
void head_fill(struct screen *s, const struct screen_source *source);
int head_height(const struct screen *s);
void head_draw(const struct screen *s);

/* table.c */
int table_room(const struct screen *s); /* rows of streams that fit */
void table_draw(struct screen *s);
void cursor_settle(struct screen *s); /* behind any change of the rows */
void cursor_move(struct screen *s, long by);
void cursor_page(struct screen *s, int pages);

/* pages */
void stream_page(struct screen *s, const struct screen_source *source);
void stream_open(struct screen *s, const struct screen_source *source, const struct roce_key *key);
void stream_close(struct screen *s, const struct screen_source *source);
void stream_look(struct screen *s, const struct screen_source *source); /* each interval, while it is open */
void help_page(struct screen *s);
void host_page(struct screen *s, const struct screen_source *source);

/* draw.c: everything that stands on the terminal goes through it; text is clipped at `width` columns */
void draw_begin(bool colour);
void draw_text(int y, int x, int width, enum style style, const char *text, bool selected);
void draw_page(const struct screen *s);
void draw_foot(const struct screen *s);
int page_room(void); /* lines of a page that fit */

/* keys.c: one key (of ncurses). false: it is to end. */
bool key_take(struct screen *s, const struct screen_source *source, int key);

/* screen.c: what follows from another order, filter or base */
void screen_reorder(struct screen *s);

#endif
