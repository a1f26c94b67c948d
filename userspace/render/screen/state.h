/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state that the files of the screen share. */
#ifndef USERSPACE_RENDER_SCREEN_STATE_H
#define USERSPACE_RENDER_SCREEN_STATE_H

#include "lib/terminal/draw.h"
#include "lib/terminal/place.h"
#include "lib/terminal/typing.h"
#include "userspace/render/screen/columns.h"
#include "userspace/render/screen/format.h"
#include "userspace/render/screen/hold.h"
#include "userspace/render/screen/screen.h"
#include "userspace/render/screen/typed_filter.h"

#define TEXT TYPING_TEXT /* bytes of a typed line or a message */

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

/* What does not change while the table is paused. */
struct shown {
	struct head head;
	struct rows rows;
};

enum screen_page { PAGE_TABLE, PAGE_STREAM, PAGE_HELP, PAGE_HOST };

/* The position in the table, in rows.shown[]. A cursor that was moved follows the stream `key`. */
struct cursor {
	struct place place;
	struct roce_key key;
};

/* The stream whose page is open. */
struct opened {
	struct roce_key key;
	struct spark gbps;
	bool has_owner;
	struct host_owner owner; /* as of the last snapshot */
	struct host_qp qp;
};

struct screen {
	struct shown live, frozen;
	bool begun; /* a snapshot was shown */
	bool paused;
	struct hold held; /* the snapshot that a paused table shows */
	struct hold base; /* counters are shown since this snapshot */
	__u64 base_lost, base_suppressed; /* events, in the same way */

	int sorted; /* enum column, or COLUMN_WORST */
	bool reversed;
	struct cursor cursor;
	struct text_table measured; /* the widths that cells have needed */

	struct typed_filter filter;
	char message[TEXT]; /* shown instead of the keys until the next key */

	enum screen_page page, behind; /* behind: the page to which a help or host page returns */
	struct opened opened;
	struct lines lines; /* of a page of text */
	size_t scroll;

	bool utf8;
};

static inline const struct shown *screen_shown(const struct screen *s)
{
	return s->paused ? &s->frozen : &s->live;
}

/* The snapshot on the screen. */
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
void cursor_settle(struct screen *s); /* call it after any change of the rows */
void cursor_move(struct screen *s, long by);
bool cursor_key(struct screen *s, int key); /* false: the key does not move it */

/* pages */
void stream_page(struct screen *s, const struct screen_source *source);
void stream_open(struct screen *s, const struct screen_source *source, const struct roce_key *key);
void stream_close(struct screen *s, const struct screen_source *source);
void stream_update(struct screen *s, const struct screen_source *source); /* call it each interval while the page is open */
void help_page(struct screen *s);
void host_page(struct screen *s, const struct screen_source *source);

/* draw.c */
void draw_foot(const struct screen *s);

/* keys.c: one key (of ncurses). false: the user wants to quit. */
bool key_take(struct screen *s, const struct screen_source *source, int key);

/* screen.c: call it after a change of order, filter or base */
void screen_reorder(struct screen *s);

#endif
