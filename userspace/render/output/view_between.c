// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope.between/1 (docs/json.md, docs/schema/between.schema.json), and the same for people. */
#include <string.h>

#include "lib/json.h"
#include "lib/shown.h"
#include "userspace/render/output/columns.h"
#include "userspace/render/output/view.h"
#include "userspace/render/output/view_between.h"
#include "userspace/render/output/view_json.h"

static __u64 positive(__s64 n)
{
	return n > 0 ? n : 0;
}

/* ---- JSON ---- */

static json_t *place_object(const struct between_place *p, const char *name)
{
	return json_pack("{s:o, s:o, s:f, s:b, s:o, s:o}", "name", json_text(name),
			 "time", json_text_or_null(p->seen ? view_time(p->time).text : NULL), "seconds", p->seconds,
			 "complete", p->seen && p->complete, "ring_missed", json_count(p->missed),
			 "untracked_packets", json_count(p->untracked));
}

/* The members that a stream and the totals have. */
static void set_figures(json_t *o, const struct between_figures *f, bool known, __u64 lost_before)
{
	json_object_set_new(o, "entered", json_count_or_null(known, f->entered));
	json_object_set_new(o, "left", json_count_or_null(known, f->left));
	json_object_set_new(o, "lost", json_count_or_null(known, positive(f->least)));
	json_object_set_new(o, "lost_most", json_count_or_null(known, positive(f->most)));
	json_object_set_new(o, "damaged", json_count_or_null(known, positive(f->damaged)));
	json_set_count(o, "lost_before", lost_before);
}

static void add_object(const struct between_stream *s, void *context)
{
	static const char *const seen[] = { "A", "B", "both" };
	json_t *streams = context;
	json_t *o = view_json_stream(&s->key, s->dst, s->dqpn, s->service);

	json_object_set_new(o, "seen", json_string(seen[between_is_joined(s) ? 2 : s->at[BETWEEN_A].seen ? 0 : 1]));
	json_object_set_new(o, "icrc_trusted", json_boolean(s->at[BETWEEN_A].trusted || s->at[BETWEEN_B].trusted));
	json_object_set_new(o, "exact", json_boolean(s->known && s->figures.least == s->figures.most));
	set_figures(o, &s->figures, s->known, s->at[BETWEEN_A].now.lost);
	json_object_set_new(o, "added", json_count_or_null(s->known, positive(-s->figures.most)));
	json_array_append_new(streams, o);
}

int between_json(FILE *out, struct between *b, const char *const name[BETWEEN_POINTS], __u64 time, double seconds)
{
	struct between_totals t = between_totals(b);
	json_t *streams = json_array(), *totals, *o;

	totals = json_pack("{s:o, s:o, s:o, s:o, s:o}", "streams", json_count(t.streams), "only_a", json_count(t.only[BETWEEN_A]),
			   "only_b", json_count(t.only[BETWEEN_B]), "unknown", json_count(t.unknown),
			   "left_out", json_count(b->left_out));
	set_figures(totals, &t.figures, true, t.lost_before);
	json_set_count(totals, "lost_before_only_a", t.lost_before_only_a);
	between_each(b, add_object, streams);
	o = json_pack("{s:s, s:s, s:f, s:[o, o], s:o, s:o}", "schema", "rocescope.between/1", "time", view_time(time).text,
		      "seconds", seconds, "points", place_object(&b->place[BETWEEN_A], name[BETWEEN_A]),
		      place_object(&b->place[BETWEEN_B], name[BETWEEN_B]), "totals", totals, "streams", streams);
	return json_line(out, o, JSON_LINE) && !ferror(out) ? 0 : -1;
}

/* ---- for people ---- */

#define HEAD 11 /* lines that a terminal needs beside the rows, at most: totals, what was not seen, titles, and the shell's prompt */

/* "12"; "12..15" where it is not exact. */
static void put_range(char to[TEXT_CELL], const struct between_figures *f)
{
	if (f->least == f->most)
		snprintf(to, TEXT_CELL, "%llu", positive(f->least));
	else
		snprintf(to, TEXT_CELL, "%llu..%llu", positive(f->least), positive(f->most));
}

static bool is_faulty(const struct between_stream *s)
{
	return s->known && (s->figures.least > 0 || s->figures.damaged > 0);
}

static const char *seen_only(const struct between_stream *s)
{
	return between_is_joined(s) ? "" : s->at[BETWEEN_A].seen ? " (only A)" : " (only B)";
}

/* A figure that both points together know. */
static bool put_figure(char *to, const struct between_stream *s, __u64 n)
{
	if (s->known)
		snprintf(to, TEXT_CELL, "%llu", n);
	else
		strcpy(to, between_is_joined(s) ? "?" : "-");
	return s->known && n;
}

/* Beside those of columns.h. */
enum { ENTERED = COLUMNS, LEFT, LOST, DAMAGED, BEFORE };

static bool fill(char to[TEXT_CELL], const void *row, int id, int width)
{
	const struct between_stream *s = row;
	struct stream_row r = { .key = s->key, .service = s->service, .trusted = true, .version = seen_only(s) };

	switch (id) {
	case ENTERED:
		put_figure(to, s, s->figures.entered);
		return false;
	case LEFT:
		put_figure(to, s, s->figures.left);
		return false;
	case LOST:
		if (!s->known)
			return put_figure(to, s, 0);
		put_range(to, &s->figures);
		return s->figures.least > 0;
	case DAMAGED:
		return put_figure(to, s, positive(s->figures.damaged));
	case BEFORE:
		snprintf(to, TEXT_CELL, "%llu", s->at[BETWEEN_A].now.lost);
		return false;
	default:
		memcpy(r.dst, s->dst, sizeof(r.dst));
		return column_text(id, to, &r, width);
	}
}

static const struct text_column columns[] = {
	{ "stream", TEXT_LEFT | TEXT_PATH, COLUMN_STREAM, 0 },
	{ "QPN", 0, COLUMN_QPN, 0 },
	{ "hex", TEXT_SPARE | TEXT_SELDOM, COLUMN_HEX, 0 },
	{ "service", TEXT_LEFT, COLUMN_SERVICE, 0 },
	{ "entered", TEXT_COMMON, ENTERED, 0 },
	{ "left", TEXT_COMMON, LEFT, 0 },
	{ "lost between", 0, LOST, 0 },
	{ "damaged", 0, DAMAGED, 0 },
	{ "lost before", TEXT_COMMON, BEFORE, 0 },
};

struct table {
	struct text_table text;
	bool measures; /* the widths are measured, nothing is printed */
	bool faulty;   /* only streams that lost something */
	size_t rows, more;
	size_t most; /* rows */
};

static void add_row(const struct between_stream *s, void *context)
{
	struct table *t = context;

	/* damaged headers make streams that are none */
	if (!between_is_joined(s) && !s->at[BETWEEN_A].trusted && !s->at[BETWEEN_B].trusted)
		return;
	if (t->rows == t->most || (t->faulty && !is_faulty(s))) {
		t->more++;
		return;
	}
	t->rows++;
	if (t->measures) {
		text_table_measure(&t->text, s);
		return;
	}
	text_table_row(&t->text, s);
	fputc('\n', t->text.page->out);
}

/* At most VIEW_WORST streams, and as many as fit; if there are more, those that lost something. */
static void print_streams(const struct view_page *page, struct between *b)
{
	struct table t = {
		.text = { .page = page, .columns = columns, .count = ROCE_ARRAY_SIZE(columns), .fill = fill, .gap = 1 },
		.measures = true,
		.most = VIEW_WORST,
	};

	if (page->height < HEAD + VIEW_WORST)
		t.most = page->height > HEAD ? page->height - HEAD : 1;
	text_table_begin(&t.text);
	between_each(b, add_row, &t);
	if (t.more) {
		t.faulty = true;
		t.rows = t.more = 0;
		text_table_begin(&t.text);
		between_each(b, add_row, &t);
	}
	text_table_fit(&t.text, page->width);
	if (t.rows) {
		text_table_titles(&t.text);
		fputc('\n', page->out);
	}
	t.measures = false;
	t.rows = t.more = 0;
	between_each(b, add_row, &t);
	if (t.more)
		fprintf(page->out, "... and %zu more streams: -j prints all\n", t.more);
}

static void print_place(FILE *out, const struct between_place *p, char letter)
{
	if (p->missed || p->untracked)
		fprintf(out, "  not seen  %c itself missed %llu frames and had no room for %llu packets%s: what seems lost may have "
			"passed it\n", letter, p->missed, p->untracked, p->untracked ? " (more room: `-- --max-streams N`)" : "");
	if (p->seen && !p->complete)
		fprintf(out, "  %c lacks an interface that it watched\n", letter);
	if (!p->seen)
		fprintf(out, "  nothing has come from %c yet\n", letter);
}

int between_lines(FILE *out, struct between *b, const char *const name[BETWEEN_POINTS], double seconds)
{
	struct between_totals t = between_totals(b);
	struct view_page page;
	char lost[TEXT_CELL];

	page_open(&page, out);
	put_range(lost, &t.figures);
	fprintf(page.out, "%.1f s: A is %s, B is %s; %zu streams at both, %zu only at A, %zu only at B\n", seconds,
		shown_text(name[BETWEEN_A]).text, shown_text(name[BETWEEN_B]).text, t.streams, t.only[BETWEEN_A], t.only[BETWEEN_B]);
	fprintf(page.out, "  between   %s%s%s lost, %llu damaged; %llu packets entered at A, %llu left at B\n",
		page.colour && t.figures.least > 0 ? PAGE_RED : "", lost, page.colour && t.figures.least > 0 ? PAGE_PLAIN : "",
		positive(t.figures.damaged), t.figures.entered, t.figures.left);
	fprintf(page.out, "  before A  %llu PSNs lost", t.lost_before + t.lost_before_only_a);
	if (t.lost_before_only_a)
		fprintf(page.out, ", %llu of them in streams that are only at A", t.lost_before_only_a);
	fputc('\n', page.out);
	print_place(page.out, &b->place[BETWEEN_A], 'A');
	print_place(page.out, &b->place[BETWEEN_B], 'B');
	if (t.unknown)
		fprintf(page.out, "  unknown   %zu streams: their figures come when they pause\n", t.unknown);
	if (b->left_out)
		fprintf(page.out, "  no room   for streams (%zu times): --max-streams\n", b->left_out);
	print_streams(&page, b);
	page_close(&page);
	return ferror(out) ? -1 : 0;
}
