// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/terminal/draw.h"
#include "lib/terminal/place.h"
#include "lib/terminal/terminal.h"
#include "roce/packet/base.h"
#include "userspace/observe/verbs/qp_filter.h"
#include "userspace/render/screen/grid.h"
#include "userspace/render/screen/qp_screen.h"
#include "userspace/render/screen/typed_filter.h"

#define TEXT TYPING_TEXT

enum page { PAGE_TABLE, PAGE_QP, PAGE_HELP, PAGE_HOST };

/* Which QP it is. A QPN is used again. */
struct identity {
	char device[HOST_NAME];
	__u32 qpn;
	__u64 first_seen;
};

struct qp_screen {
	struct place place;
	struct identity at; /* the QP of the cursor */
	struct typed_filter filter;
	char message[TEXT]; /* shown instead of the keys until the next key */
	enum page page, behind; /* behind: to which a help or host page returns */
	struct lines lines;	/* of a page of text */
	size_t scroll;
	struct spark posts, bits;
	double posts_now, bits_now;
	bool utf8;
};

static const struct {
	const char *keys, *words;
} keys[] = {
	{ "q", "quit; on a page: back to the table" },
	{ "Up Down", "choose a QP; the cursor follows it when the order changes (also j, k)" },
	{ "PgUp PgDn", "one page up or down (also Space)" },
	{ "Home End", "the top, where the cursor then stays, or the bottom (also g, G)" },
	{ "Enter", "open the QP: its settings, what is posted and completed, latency and history" },
	{ "< >", "on a QP's page: the previous or next QP (also Left, Right)" },
	{ "/", "filter: 10.9.0.1, qpn=17, pid=4711, program=ib_*, error, stalled, rc, rts, wrs>100, not, or, parentheses; an empty "
	  "filter shows all" },
	{ "i", "notes, counters of devices that have moved, completion queues and shared receive queues" },
	{ "Ctrl-L", "redraw the screen" },
	{ "? F1", "this page" },
};

/* ---- the cursor ---- */

static int head_height(const struct verbs_shown *v)
{
	return LINES < 16 ? 1 : 1 + !!v->cost + !!v->cost + !!v->counter_count + !!v->note_count;
}

static size_t table_room(const struct verbs_shown *v)
{
	int room = LINES - head_height(v) - 2; /* for its titles and the keys */

	return room > 1 ? room : 1;
}

static bool is_at(const struct identity *i, const struct verbs_qp *q)
{
	return i->qpn == q->qp.qpn && i->first_seen == q->first_seen && !strcmp(i->device, q->qp.device);
}

static void remember(struct qp_screen *s, const struct qp_rows *r)
{
	const struct verbs_qp *q = r->count ? r->row[s->place.selected].qp : NULL;

	if (!q)
		return;
	s->at = (struct identity){ .qpn = q->qp.qpn, .first_seen = q->first_seen };
	memcpy(s->at.device, q->qp.device, sizeof(s->at.device));
}

/* Call it after any change of the rows. */
static void settle(struct qp_screen *s, const struct verbs_shown *v)
{
	const struct qp_rows *r = v->rows;

	for (size_t i = 0; i < r->count && s->place.follows; i++) {
		if (!is_at(&s->at, r->row[i].qp))
			continue;
		s->place.selected = i;
		break;
	}
	place_settle(&s->place, r->count, table_room(v));
	if (s->page == PAGE_TABLE)
		remember(s, r);
}

/* ---- drawing ---- */

static void draw_first(const struct verbs_shown *v)
{
	const struct qp_rows *r = v->rows;
	char text[TEXT], clock[CELL], time[CELL];
	int x;

	format_clock(clock, v->seconds);
	snprintf(text, sizeof(text), "RDMA  %.20s  %zu QP%s", clock, r->of, r->of == 1 ? "" : "s");
	draw_text(0, 0, COLS, STYLE_TITLE, text, false);
	x = strlen(text);
	for (int c = 0; c < QP_CONDITIONS; c++) {
		if (!r->condition[c])
			continue;
		snprintf(text, sizeof(text), ", %zu %s", r->condition[c], c == QP_ERROR ? "in error" : qp_condition_names[c]);
		draw_text(0, x, COLS, c <= QP_STALLED ? STYLE_FAULT : STYLE_PLAIN, text, false);
		x += strlen(text);
	}
	format_time(time, v->now + v->realtime_offset);
	if (x + 10 <= COLS)
		draw_text(0, COLS - 8, 8, STYLE_PLAIN, time, false);
}

static void draw_line(int y, const char *label, enum style style, const char *text)
{
	char safe[2 * TEXT];

	format_safe(safe, sizeof(safe), text);
	draw_text(y, 0, 10, STYLE_DIM, label, false);
	draw_text(y, 10, COLS, style, safe, false);
}

static void draw_head(const struct qp_screen *s, const struct verbs_shown *v)
{
	char text[2 * TEXT];
	int y = 1;

	draw_first(v);
	if (head_height(v) == 1)
		return;
	if (v->cost) {
		grid_rate(y, 0, COLS / 2, "posts/s", s->posts_now, 0, &s->posts, false, s->utf8);
		grid_rate(y++, COLS / 2, COLS - COLS / 2, "bit/s", s->bits_now, 0, &s->bits, false, s->utf8);
		verbs_cost_words(text, v->cost);
		draw_line(y++, "probes", v->cost->stopped ? STYLE_FAULT : STYLE_PLAIN, text);
	}
	if (v->counter_count) {
		snprintf(text, sizeof(text), "%s %s %llu%s", v->counters[0].where, v->counters[0].name, v->counters[0].value,
			 v->counter_count > 1 ? ", ... (i)" : "");
		draw_line(y++, "counters", v->counters[0].dropped ? STYLE_FAULT : STYLE_PLAIN, text);
	}
	if (v->note_count) {
		snprintf(text, sizeof(text), "%.400s%s", v->notes[0], v->note_count > 1 ? " (i: more)" : "");
		draw_line(y, "note", STYLE_HINT, text);
	}
}

static void draw_table(struct qp_screen *s, const struct verbs_shown *v)
{
	const struct qp_rows *r = v->rows;
	struct text_table t = verbs_table();
	int y = head_height(v);
	size_t room = table_room(v);

	place_settle(&s->place, r->count, room); /* the size of the terminal may have changed */
	for (size_t i = s->place.top; i < r->count && i < s->place.top + room; i++)
		text_table_measure(&t, &r->row[i]);
	text_table_fit(&t, COLS);
	grid_titles(&t, y++, -1);
	for (size_t i = s->place.top; i < r->count && i < s->place.top + room; i++)
		grid_row(&t, &r->row[i], t.fill, y++, i == s->place.selected);
	if (!r->count)
		draw_text(y, 0, COLS, STYLE_DIM, r->of ? "No QP passes the filter (/ changes it)." : "There are no QPs (i: what is known).", false);
}

static void draw_foot(const struct qp_screen *s, const struct verbs_shown *v)
{
	static const char *const of_page[] = { "? help  q quit  Enter open  / filter  i notes", "q back  < > next QP  arrows scroll  ? help",
					       "q back  arrows scroll", "q back  arrows scroll" };
	char text[TEXT + 32];
	int x = 0;

	if (s->filter.typing.on) {
		typing_draw(&s->filter.typing, "filter", s->message);
		return;
	}
	if (s->page != PAGE_TABLE) {
		x = page_place(&s->lines, s->scroll, 0);
	} else if (s->filter.filter) {
		snprintf(text, sizeof(text), "%zu shown: %.*s  ", v->rows->count, COLS / 2, s->filter.text);
		draw_text(LINES - 1, 0, COLS, STYLE_HINT, text, false);
		x = strlen(text);
	}
	if (s->message[0])
		draw_text(LINES - 1, x, COLS, STYLE_HINT, s->message, false);
	else
		draw_keys(of_page[s->page], x);
}

/* ---- pages ---- */

static const struct qp_row *opened(const struct qp_screen *s, const struct qp_rows *r)
{
	for (size_t i = 0; i < r->of; i++)
		if (is_at(&s->at, r->row[i].qp))
			return &r->row[i];
	return NULL;
}

static void help_page(struct lines *l)
{
	lines_add(l, STYLE_TITLE, NULL, "Keys");
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(keys); i++)
		lines_add(l, STYLE_PLAIN, keys[i].keys, "%s", keys[i].words);
	lines_raw(l, STYLE_PLAIN, "");
	lines_add(l, STYLE_PLAIN, NULL, "The worst QP is first: error, stalled (a request waits for a second or longer), busy, idle, ended. posts/s, "
		  "recv/s and Mbit/s are of the last interval; `waiting` are requests that are posted and not known to be "
		  "completed; `half in` and `99%% in` are times from post to completion, by buckets of powers of two. - is not known.");
}

static void make_page(struct qp_screen *s, const struct verbs_shown *v)
{
	const struct qp_row *r = opened(s, v->rows);

	lines_clear(&s->lines);
	s->lines.width = COLS;
	if (s->page == PAGE_HELP)
		help_page(&s->lines);
	else if (s->page == PAGE_HOST)
		qp_host_page(&s->lines, v);
	else if (r)
		qp_page(&s->lines, r, v);
	else
		lines_add(&s->lines, STYLE_HINT, NULL, "This QP was destroyed some time ago, and is no longer remembered.");
	page_settle(&s->lines, &s->scroll);
}

static void draw(struct qp_screen *s, const struct verbs_shown *v)
{
	if (!terminal_takes())
		return; /* draw later: the terminal must not block us */
	erase();
	if (s->page == PAGE_TABLE) {
		draw_head(s, v);
		draw_table(s, v);
	} else {
		make_page(s, v);
		page_draw(&s->lines, s->scroll);
	}
	draw_foot(s, v);
	refresh();
}

/* ---- keys ---- */

static void type_key(struct qp_screen *s, const struct verbs_shown *v, struct qp_rows *rows, int key)
{
	if (!typed_filter_key(&s->filter, key, s->message))
		return;
	qp_rows_filter(rows, s->filter.filter);
	settle(s, v);
}

static void show_page(struct qp_screen *s, enum page page)
{
	if (s->page == page)
		return;
	if (s->page == PAGE_TABLE || s->page == PAGE_QP)
		s->behind = s->page;
	s->page = page;
	s->scroll = 0;
}

static void leave_page(struct qp_screen *s)
{
	s->page = s->page == PAGE_QP ? PAGE_TABLE : s->behind;
	s->scroll = 0;
}

/* The page of the QP that is above or below in the table. */
static void neighbour(struct qp_screen *s, const struct verbs_shown *v, int by)
{
	place_move(&s->place, by, v->rows->count, table_room(v));
	remember(s, v->rows);
	s->scroll = 0;
}

static void page_key(struct qp_screen *s, const struct verbs_shown *v, int key)
{
	bool back = key == '<' || key == ',' || key == KEY_LEFT;

	if (page_scroll(&s->lines, &s->scroll, key))
		return;
	if (s->page == PAGE_QP && (back || key == '>' || key == '.' || key == KEY_RIGHT))
		neighbour(s, v, back ? -1 : 1);
	else if (key == 'q' || key == TYPING_ESCAPE || key == KEY_BACKSPACE || key == 127 || typing_is_enter(key))
		leave_page(s);
}

static bool table_key(struct qp_screen *s, const struct verbs_shown *v, int key)
{
	if (place_key(&s->place, key, v->rows->count, table_room(v))) {
		remember(s, v->rows);
	} else if (key == '/') {
		typing_begin(&s->filter.typing, s->filter.text);
	} else if (typing_is_enter(key) && v->rows->count) {
		s->place.follows = true;
		show_page(s, PAGE_QP);
	}
	return key != 'q';
}

struct keyed {
	struct qp_screen *screen;
	const struct verbs_shown *shown;
	struct qp_rows *rows;
};

/* false: the user quits. */
static bool take_key(void *context, int key)
{
	const struct keyed *k = context;
	const struct verbs_shown *v = k->shown;
	struct qp_screen *s = k->screen;

	if (key == KEY_RESIZE)
		return true;
	if (s->filter.typing.on) {
		type_key(s, v, k->rows, key);
		return true;
	}
	s->message[0] = '\0';
	if (key == '?' || key == KEY_F(1))
		show_page(s, PAGE_HELP);
	else if (key == 'i')
		show_page(s, PAGE_HOST);
	else if (key == 'L' - '@') /* Ctrl-L */
		clearok(stdscr, true);
	else if (s->page == PAGE_TABLE)
		return table_key(s, v, key);
	else
		page_key(s, v, key);
	return true;
}

/* ---- the screen ---- */

struct qp_screen *qp_screen_begin(const char *filter)
{
	struct qp_screen *s = calloc(1, sizeof(*s));
	bool colour;

	if (!s)
		return NULL;
	typed_filter_begin(&s->filter, qp_filter_parse, filter);
	if (!terminal_begin(&s->utf8, &colour)) {
		typed_filter_free(&s->filter);
		free(s);
		return NULL;
	}
	draw_begin(colour);
	return s;
}

const struct filter *qp_screen_filter(const struct qp_screen *s)
{
	return s->filter.filter;
}

static void add_sample(struct qp_screen *s, const struct qp_rows *r)
{
	s->posts_now = s->bits_now = 0;
	for (size_t i = 0; i < r->of; i++) {
		s->posts_now += r->row[i].wrs;
		s->bits_now += r->row[i].bits + r->row[i].received_bits;
	}
	spark_add(&s->posts, s->posts_now);
	spark_add(&s->bits, s->bits_now);
}

void qp_screen_show(struct qp_screen *s, const struct verbs_shown *shown)
{
	char line[TEXT];

	if (terminal_message(line, sizeof(line)))
		format_safe(s->message, sizeof(s->message), line);
	add_sample(s, shown->rows);
	settle(s, shown);
	draw(s, shown);
}

bool qp_screen_key(struct qp_screen *s, const struct verbs_shown *shown, struct qp_rows *rows)
{
	bool any;

	settle(s, shown);
	if (!terminal_keys(take_key, &(struct keyed){ s, shown, rows }, &any))
		return false;
	if (any)
		draw(s, shown);
	return true;
}

void qp_screen_end(struct qp_screen *s)
{
	if (!s)
		return;
	terminal_end();
	lines_clear(&s->lines);
	typed_filter_free(&s->filter);
	free(s);
}
