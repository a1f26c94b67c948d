// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of a snapshot's streams for people, and the meaning of its marks and lints. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/address.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/faults.h"
#include "userspace/observe/model/qpn.h"
#include "userspace/render/output/text_table.h"
#include "userspace/render/output/view.h"

struct row {
	const struct snapshot_stream *now;
	struct rates rates;
	const char *version; /* snapshot_version() */
};

/* ---- the table's columns ---- */

static void cell(char *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void cell(char *to, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(to, TEXT_CELL, format, arguments);
	va_end(arguments);
}

/* Each of these fills one cell. They return true if the cell shows a fault. */
static bool cell_path(char *to, const void *row)
{
	const struct row *r = row;
	const struct roce_key *key = &r->now->key;
	const __u8 *dst = snapshot_destination(r->now);

	cell(to, "%s > %s", address_text(key->src).text, address_text(dst).text);
	return false;
}

static bool cell_qpn(char *to, const void *row)
{
	const struct row *r = row;

	cell(to, "%s", qpn_cell(&r->now->key).text);
	return false;
}

static bool cell_hex(char *to, const void *row)
{
	const struct row *r = row;

	cell(to, "%s", qpn_hex_cell(&r->now->key).text);
	return false;
}

static bool cell_service(char *to, const void *row)
{
	const struct row *r = row;
	const struct roce_stream *s = &r->now->stream;
	bool response = r->now->key.side == SIDE_RESPONSE && s->service != SERVICE_CNP;

	cell(to, "%s%s%s%s", roce_service_name(s->service), response ? " resp" : "", r->version, s->trusted ? "" : "?");
	return false;
}

static bool cell_packets(char *to, const void *row)
{
	const struct row *r = row;

	cell(to, "%llu", snapshot_packets(&r->now->stream));
	return false;
}

static bool cell_gbit(char *to, const void *row)
{
	const struct row *r = row;

	cell(to, "%.3f", r->rates.gbps);
	return false;
}

static bool cell_kpps(char *to, const void *row)
{
	const struct row *r = row;

	cell(to, "%.1f", r->rates.packets / 1e3);
	return false;
}

static bool cell_counter(char *to, const struct row *r, enum roce_counter c, bool fault)
{
	__u64 n = r->now->stream.counters.value[c];

	cell(to, "%llu", n);
	return fault && n;
}

static bool cell_lost(char *to, const void *row)
{
	const struct row *r = row;
	const struct roce_stream *s = &r->now->stream;

	if (!snapshot_is_estimate(s))
		return cell_counter(to, r, COUNTER_psn_lost, s->trusted);
	cell(to, "~%llu", s->counters.value[COUNTER_psn_lost]);
	return false;
}

static bool cell_bad(char *to, const void *row)
{
	return cell_counter(to, row, COUNTER_icrc_bad, true);
}

static bool cell_recovered(char *to, const void *row)
{
	return cell_counter(to, row, COUNTER_psn_recovered, false);
}

static bool cell_duplicates(char *to, const void *row)
{
	return cell_counter(to, row, COUNTER_psn_duplicates, false);
}

static bool cell_messages(char *to, const void *row)
{
	return cell_counter(to, row, COUNTER_messages, false);
}

static bool cell_broken(char *to, const void *row)
{
	return cell_counter(to, row, COUNTER_messages_broken, true);
}

static bool cell_incomplete(char *to, const void *row)
{
	return cell_counter(to, row, COUNTER_blocks_incomplete, true);
}

static bool cell_missing(char *to, const void *row)
{
	return cell_counter(to, row, COUNTER_blocks_missing, true);
}

static bool cell_lints(char *to, const void *row)
{
	const struct row *r = row;
	size_t length = 0;
	bool fault = false;

	to[0] = 0;
	for (int i = 0; i < ROCE_LINTS && length < TEXT_CELL; i++) {
		if (!r->now->stream.lint[i])
			continue;
		length += snprintf(to + length, TEXT_CELL - length, "%s%s", length ? "," : "", lint_names[i]);
		fault |= !stream_is_habit(&r->now->stream, i);
	}
	return fault;
}

static const struct text_column columns[] = {
	{ "stream", cell_path, TEXT_LEFT | TEXT_PATH },
	{ "QPN", cell_qpn, 0 },
	{ "hex", cell_hex, TEXT_SPARE | TEXT_SELDOM },
	{ "service", cell_service, TEXT_LEFT },
	{ "packets", cell_packets, 0 },
	{ "Gbit/s", cell_gbit, 0 },
	{ "lost", cell_lost, 0 },
	{ "badICRC", cell_bad, 0 },
	{ "broken", cell_broken, TEXT_COMMON },
	{ "incomplete", cell_incomplete, TEXT_COMMON | TEXT_SELDOM },
	{ "missing", cell_missing, TEXT_COMMON | TEXT_SELDOM },
	{ "recovered", cell_recovered, TEXT_COMMON },
	{ "dup", cell_duplicates, TEXT_COMMON },
	{ "messages", cell_messages, TEXT_COMMON },
	{ "kpps", cell_kpps, TEXT_COMMON },
	{ "lint", cell_lints, TEXT_COMMON | TEXT_LEFT },
};

/* ---- the table ---- */

struct table_view {
	const struct snapshot *now, *previous;
	const struct view *view;
	const struct snapshot_stream *worst[VIEW_WORST]; /* the streams of STREAMS_WORST, the worst first */
	size_t count; /* rows: streams in worst[], or all of snapshot_shown() */
	size_t wanted; /* streams of snapshot_shown() */
	size_t faulty; /* STREAMS_WORST: streams with any fault, however small */
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
static bool get_row(const struct table_view *t, size_t i, struct row *r)
{
	const struct snapshot_stream *s = t->view->streams == STREAMS_WORST ? t->worst[i] : snapshot_shown(t->now, i);

	*r = (struct row){ .now = s, .rates = rates_of_stream(s, t->now, t->previous), .version = snapshot_version(t->now, &s->stream) };
	return view_wants(s, t->previous, t->view);
}

/* Finds the width that each column needs. Returns the number of rows that are shown. */
static size_t measure(struct table_view *t, const struct page *page)
{
	size_t rows = 0;
	struct row r;

	text_table_begin(&t->text, page, columns, ROCE_ARRAY_SIZE(columns), 1);
	for (size_t i = 0; i < t->count; i++) {
		if (!get_row(t, i, &r))
			continue;
		rows++;
		text_table_measure(&t->text, &r);
	}
	text_table_fit(&t->text, page->width);
	return rows;
}

static void print_rows(const struct page *page, const struct table_view *t)
{
	struct row r;

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
static void print_lint(const struct page *page, int lint, __u64 packets, bool more, bool fault)
{
	int at = fprintf(page->out, "lint %s, %s%llu packet%s%s: ", lint_names[lint], more ? "at least " : "", packets,
			 packets == 1 ? "" : "s", fault ? "" : ", a habit and no fault, since every packet has it");

	page_words(page, lint_words[lint], at, 2, false);
}

static void print_meanings(const struct page *page, const struct table_view *t)
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
static void print_filter(const struct page *page, const struct table_view *t)
{
	size_t streams = t->now->stream_count;

	if (t->now->filter)
		fprintf(page->out, "  filter    %zu of %zu stream%s: %s (the totals are of all)\n", t->wanted, streams,
			streams == 1 ? "" : "s", t->now->filter);
}

/* The line above a table of STREAMS_WORST says which streams the table shows. */
static void print_count(const struct page *page, const struct table_view *t)
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
static void print_rest(const struct page *page, const struct table_view *t)
{
	size_t rest = t->wanted - t->count;

	if (t->view->streams == STREAMS_WORST && rest)
		fprintf(page->out, "... and %zu more: --streams all\n", rest);
}

void view_table(const struct page *page, const struct snapshot *now, const struct snapshot *previous, const struct view *v)
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
