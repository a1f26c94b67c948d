// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The faults of a capture for people: how many of which kind, and what that is; and the first ones, frame by frame. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/model/address.h"
#include "userspace/model/event_text.h"
#include "userspace/offline/fault_list.h"
#include "userspace/output/view.h"

#define NSEC 1000000000ll
#define CELL 112 /* bytes of a cell, the end included */
#define INDENT 4
#define WORDS 60 /* columns that the words want beside the rest; else they get lines of their own */

enum { FRAME, TIME, STREAM, QPN, SERVICE, COLUMNS };

struct cells {
	char text[COLUMNS][CELL];
};

static const struct cells titles = { { "frame", "after s", "stream", "QPN", "service" } };
static const bool left[COLUMNS] = { [STREAM] = true, [SERVICE] = true };

/* ns since the capture's first frame; a frame may be older. */
static void print_time(char to[CELL], __s64 since)
{
	long long ns = llabs(since);

	snprintf(to, CELL, "%s%lld.%09lld", since < 0 ? "-" : "", ns / NSEC, ns % NSEC);
}

static void fill(struct cells *c, const struct snapshot *now, const struct fault *f)
{
	__u64 start = snapshot_time(now) - llround(now->seconds * NSEC);
	bool ip = memcmp(f->dst, (__u8[16]){ 0 }, sizeof(f->dst));

	*c = (struct cells){ 0 };
	snprintf(c->text[FRAME], CELL, "%llu", f->number);
	print_time(c->text[TIME], f->time - start);
	snprintf(c->text[STREAM], CELL, "%s > %s", ip ? address_text(f->key.src).text : "?", ip ? address_text(f->dst).text : "?");
	if (f->key.kind == KEY_NONE)
		return;
	if (f->key.kind == KEY_UDP)
		snprintf(c->text[QPN], CELL, "%u/%u", f->key.port, f->key.qpn);
	else
		snprintf(c->text[QPN], CELL, "%u", f->key.qpn);
	snprintf(c->text[SERVICE], CELL, "%s%s", roce_service_name(f->service),
		 f->key.side == SIDE_RESPONSE && f->service != SERVICE_CNP ? " resp" : "");
}

static void print_cells(const struct page *page, const int width[COLUMNS], const struct cells *c)
{
	for (int i = 0; i < COLUMNS - 1; i++)
		fprintf(page->out, "%*s  ", left[i] ? -width[i] : width[i], c->text[i]);
	fputs(c->text[COLUMNS - 1], page->out);
}

/* What stands behind them, in a column of its own or on the next line. Returns where it begins. */
static int print_behind(const struct page *page, const int width[COLUMNS], bool beside, const struct cells *c)
{
	int at = 2 * COLUMNS;

	if (!beside)
		return fprintf(page->out, "\n%*s", INDENT, "") - 1;
	for (int i = 0; i < COLUMNS; i++)
		at += width[i];
	fprintf(page->out, "%*s", width[COLUMNS - 1] - (int)strlen(c->text[COLUMNS - 1]) + 2, "");
	return at;
}

static void measure(int width[COLUMNS], const struct cells *c)
{
	for (int i = 0; i < COLUMNS; i++)
		if ((int)strlen(c->text[i]) > width[i])
			width[i] = strlen(c->text[i]);
}

static void print_fault(const struct page *page, const int width[COLUMNS], bool beside, const struct cells *c,
			const struct fault *f)
{
	char text[EVENT_TEXT];
	int at;

	event_text(&f->event, text);
	text[strcspn(text, ":")] = 0; /* the words stand above, once */
	print_cells(page, width, c);
	at = print_behind(page, width, beside, c);
	page_words(page, text + strlen("reason="), at, at, true);
}

static void print_kinds(const struct page *page, const struct fault_list *l)
{
	int digits = snprintf(NULL, 0, "%llu", l->packets), name = 0;

	for (int i = 0; i < ROCE_EVENTS; i++)
		if (l->kind[i] && (int)strlen(event_names[i]) > name)
			name = strlen(event_names[i]);
	fprintf(page->out, "\n%llu packet%s with faults:\n", l->packets, l->packets == 1 ? "" : "s");
	for (int i = 0; i < ROCE_EVENTS; i++) {
		int at;

		if (!l->kind[i])
			continue;
		at = fprintf(page->out, "  %*llu %-*s  ", digits, l->kind[i], name, event_names[i]);
		page_words(page, event_words[i], at, at, false);
	}
}

static void print_list(const struct page *page, const struct snapshot *now, const struct fault_list *l)
{
	int width[COLUMNS] = { 0 }, room = page->width;
	struct cells c;
	bool beside;

	measure(width, &titles);
	for (size_t i = 0; i < l->count; i++) {
		fill(&c, now, &l->faults[i]);
		measure(width, &c);
	}
	for (int i = 0; i < COLUMNS; i++)
		room -= width[i] + 2;
	beside = room >= WORDS;
	print_cells(page, width, &titles);
	if (beside)
		print_behind(page, width, beside, &titles);
	fputs(beside ? "fault\n" : "\n", page->out);
	for (size_t i = 0; i < l->count; i++) {
		fill(&c, now, &l->faults[i]);
		print_fault(page, width, beside, &c, &l->faults[i]);
	}
}

void view_faults(const struct page *page, const struct snapshot *now)
{
	const struct fault_list *l = now->faults;

	if (!l->packets) {
		fputs("\nno packet with a fault\n", page->out);
		return;
	}
	print_kinds(page, l);
	if (!l->count)
		return;
	fputc('\n', page->out);
	print_list(page, now, l);
	if (l->packets > l->count)
		fprintf(page->out, "... and %llu more: --faults N lists the first N\n", l->packets - l->count);
}
