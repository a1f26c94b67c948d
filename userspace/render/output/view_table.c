// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of a snapshot's streams for people, and the meaning of its marks and lints. */
#include <stdio.h>

#include "userspace/observe/model/event_text.h"
#include "userspace/render/output/columns.h"
#include "userspace/render/output/view.h"

/* From left to right. */
static const enum column order[] = {
	COLUMN_STREAM, COLUMN_QPN, COLUMN_HEX, COLUMN_SERVICE, COLUMN_PACKETS, COLUMN_BITS, COLUMN_LOST, COLUMN_BAD, COLUMN_BROKEN,
	COLUMN_INCOMPLETE, COLUMN_MISSING, COLUMN_RECOVERED, COLUMN_DUPLICATES, COLUMN_COMPLETE, COLUMN_RATE, COLUMN_LINT,
};

/* Numbers have all their digits, as the screen's have not. */
static bool fill(char to[TEXT_CELL], const void *row, int id, int width)
{
	struct column_value v = column_value(id, row);

	if (v.kind == VALUE_TEXT)
		return column_text(id, to, row, width) && id != COLUMN_SERVICE;
	if (v.kind == VALUE_NUMBER)
		snprintf(to, TEXT_CELL, "%s%llu", v.estimate ? "~" : "", v.number);
	else if (id == COLUMN_BITS)
		snprintf(to, TEXT_CELL, "%.3f", ((const struct stream_row *)row)->rates.gbps);
	else
		snprintf(to, TEXT_CELL, "%.1f", v.rate / 1e3);
	return v.fault;
}

/* ---- the table ---- */

struct table_view {
	const struct snapshot *now, *previous;
	const struct view *view;
	const struct snapshot_stream *worst[VIEW_WORST]; /* the streams of STREAMS_WORST, the worst first */
	size_t count; /* rows: streams in worst[], or all of snapshot_shown() */
	size_t wanted; /* streams of snapshot_shown() */
	size_t faulty; /* STREAMS_WORST: streams with any fault, however small */
	struct text_column columns[ROCE_ARRAY_SIZE(order)];
	struct text_table text;
};

/* Fills worst[], the worst stream first. Equal streams keep the order of the snapshot. */
static void choose_worst(struct table_view *t)
{
	struct fault_rank rank[VIEW_WORST + 1];

	for (size_t i = 0; i < t->wanted; i++) {
		const struct snapshot_stream *s = snapshot_shown(t->now, i);
		struct fault_rank new = fault_rank(&s->stream);
		size_t at = t->count;

		t->faulty += fault_rank_any(&new);
		for (; at && fault_rank_compare(&new, &rank[at - 1]) < 0; at--) {
			rank[at] = rank[at - 1];
			if (at < VIEW_WORST)
				t->worst[at] = t->worst[at - 1];
		}
		if (at == VIEW_WORST)
			continue;
		rank[at] = new;
		t->worst[at] = s;
		t->count += t->count < VIEW_WORST;
	}
	/* If some of many streams have faults, only those are shown. */
	if (t->wanted > VIEW_WORST && t->faulty && t->faulty < t->count)
		t->count = t->faulty;
}

static void choose(struct table_view *t)
{
	t->wanted = snapshot_shown_count(t->now);
	if (t->view->streams == STREAMS_WORST)
		choose_worst(t);
	else
		t->count = t->wanted;
}

/* The i-th of t->count rows. false: the stream is not shown. */
static bool get_row(const struct table_view *t, size_t i, struct stream_row *r)
{
	const struct snapshot_stream *s = t->view->streams == STREAMS_WORST ? t->worst[i] : snapshot_shown(t->now, i);

	*r = (struct stream_row){ .rates = rates_of_stream(s, t->now, t->previous), .version = snapshot_version(t->now, &s->stream) };
	stream_row_fill(r, &s->key, &s->stream);
	return view_wants(s, t->previous, t->view);
}

/* Finds the width that each column needs. Returns the number of rows that are shown. */
static size_t measure(struct table_view *t, const struct view_page *page)
{
	size_t rows = 0;
	struct stream_row r;

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(order); i++)
		t->columns[i] = columns_in_text[order[i]];
	t->text = (struct text_table){ .page = page, .columns = t->columns, .count = ROCE_ARRAY_SIZE(order), .fill = fill, .gap = 1 };
	text_table_begin(&t->text);
	for (size_t i = 0; i < t->count; i++) {
		if (!get_row(t, i, &r))
			continue;
		rows++;
		text_table_measure(&t->text, &r);
	}
	text_table_fit(&t->text, page->width);
	return rows;
}

static void print_rows(const struct view_page *page, const struct table_view *t)
{
	struct stream_row r;

	text_table_titles(&t->text);
	fputc('\n', page->out);
	for (size_t i = 0; i < t->count; i++) {
		if (!get_row(t, i, &r))
			continue;
		text_table_row(&t->text, &r);
		fputc('\n', page->out);
	}
}

/* ---- what marks and lints mean ---- */

/* more: perhaps more packets. fault: it is not a habit of every stream that has it. */
static void print_lint(const struct view_page *page, int lint, __u64 packets, bool more, bool fault)
{
	int at = fprintf(page->out, "lint %s, %s%llu packet%s%s: ", lint_names[lint], more ? "at least " : "", packets,
			 packets == 1 ? "" : "s", fault ? "" : ", a habit and no fault, since every packet has it");

	page_words(page, lint_words[lint], at, 2, false);
}

static void print_meanings(const struct view_page *page, const struct table_view *t)
{
	bool untrusted = false, estimate = false, more[ROCE_LINTS] = { 0 }, fault[ROCE_LINTS] = { 0 };
	__u64 lint[ROCE_LINTS] = { 0 };

	for (size_t i = 0; i < t->wanted; i++) {
		const struct snapshot_stream *s = snapshot_shown(t->now, i);

		if (!view_wants(s, t->previous, t->view))
			continue;
		untrusted |= !s->stream.trusted;
		estimate |= snapshot_is_estimate(&s->stream);
		for (int l = 0; l < ROCE_LINTS; l++) {
			lint[l] += s->stream.lint[l];
			more[l] |= s->stream.lint[l] == LINT_COUNT_MOST;
			fault[l] |= s->stream.lint[l] && !stream_is_habit(&s->stream, l);
		}
	}
	if (untrusted)
		fputs("?: no packet had a right ICRC: not in the PSN and message totals\n", page->out);
	if (estimate)
		fputs("~: nobody checks the PSN of UD: an estimate, not in the totals\n", page->out);
	for (int l = 0; l < ROCE_LINTS; l++)
		if (lint[l])
			print_lint(page, l, lint[l], more[l], fault[l]);
}

/* The table has only the filtered streams; the totals have all. */
static void print_filter(const struct view_page *page, const struct table_view *t)
{
	size_t streams = t->now->stream_count;

	if (t->now->filter)
		fprintf(page->out, "  filter    %zu of %zu stream%s: %s (the totals are of all)\n", t->wanted, streams,
			streams == 1 ? "" : "s", t->now->filter);
}

/* The line above a table of STREAMS_WORST says which streams the table shows. */
static void print_count(const struct view_page *page, const struct table_view *t)
{
	size_t streams = t->wanted;

	if (t->view->streams != STREAMS_WORST)
		return;
	fprintf(page->out, "\n%zu stream%s", streams, streams == 1 ? "" : "s");
	if (t->faulty && t->faulty == t->count && streams > t->count)
		fprintf(page->out, "; the %zu with faults:\n", t->faulty);
	else if (t->faulty)
		fprintf(page->out, ", %zu with faults%s:\n", t->faulty, streams > t->count ? "; the worst" : "");
	else
		fprintf(page->out, ", none with faults%s:\n", streams > t->count ? "; the busiest" : "");
}

/* The line below says how many streams it leaves out. */
static void print_rest(const struct view_page *page, const struct table_view *t)
{
	size_t rest = t->wanted - t->count;

	if (t->view->streams == STREAMS_WORST && rest)
		fprintf(page->out, "... and %zu more: --streams all\n", rest);
}

void view_table(const struct view_page *page, const struct snapshot *now, const struct snapshot *previous, const struct view *v)
{
	struct table_view t = { .now = now, .previous = previous, .view = v };

	choose(&t);
	print_filter(page, &t);
	if (!measure(&t, page))
		return;
	print_count(page, &t);
	print_rows(page, &t);
	print_rest(page, &t);
	/* A live run prints a table each interval: the meanings are printed under the first one only. */
	if (!previous)
		print_meanings(page, &t);
}
