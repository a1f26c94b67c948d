// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/terminal/lines.h"
#include "userspace/render/screen/columns.h"
#include "userspace/render/screen/hold.h"
#include "userspace/render/screen/rows.h"

/* Both snapshots have the same order, so the next stream is mostly right after the last one found. */
struct rows_walk {
	const struct snapshot *snapshot;
	size_t next;
};

static const struct snapshot_stream *walk_find(struct rows_walk *w, const struct roce_key *key)
{
	const struct snapshot_stream *found;

	if (!w->snapshot)
		return NULL;
	found = w->next < w->snapshot->stream_count ? &w->snapshot->streams[w->next] : NULL;
	if (!found || memcmp(&found->key, key, sizeof(*key)))
		found = snapshot_find(w->snapshot, key);
	if (found)
		w->next = found - w->snapshot->streams + 1;
	return found;
}

static __u64 time_of(const struct snapshot *s)
{
	return s ? snapshot_time(s) : 0;
}

/* The row of this stream in the previous snapshot. */
static const struct stream_row *old_row(const struct rows *old, const struct snapshot *previous, const struct snapshot_stream *before)
{
	const struct stream_row *row;

	if (!before || old->count != previous->stream_count || old->time != time_of(previous))
		return NULL;
	row = &old->row[before - previous->streams];
	return memcmp(&row->key, &before->key, sizeof(row->key)) ? NULL : row;
}

/* The process that owns the QP, or what is odd about it. */
static void fill_owner(struct stream_row *row, const struct host_owner *owner)
{
	char text[ROW_OWNER] = "";

	if (owner && owner->qp && owner->qp->pid)
		snprintf(text, sizeof(text), "%.28s/%u", owner->qp->program[0] ? owner->qp->program : "?", owner->qp->pid);
	else if (owner && owner->qp)
		snprintf(text, sizeof(text), "%s", owner->qp->program[0] ? owner->qp->program : "kernel");
	else if (owner && owner->words[0])
		snprintf(text, sizeof(text), "%.*s", ROW_OWNER - 1, owner->words);
	format_safe(row->owner, sizeof(row->owner), text);
}

static void fill_counters(struct stream_row *row, const struct snapshot_stream *s, const struct snapshot_stream *base)
{
	struct roce_stream since;

	if (base)
		stream_since(&s->stream, &base->stream, &since);
	stream_row_fill(row, &s->key, base ? &since : &s->stream);
	row->habits = 0; /* the stream's page has them */
}

static __u64 last_fault(const struct stream_row *row, const struct history *history, const struct stream_row *old)
{
	const struct history_stream *h = history ? history_of(history, &row->key) : NULL;
	__u64 time = old ? old->last_fault : 0, newest;

	if (!h || !h->kept)
		return time;
	newest = h->last[(h->kept - 1) % HISTORY_FAULTS].time;
	return newest > time ? newest : time;
}

static void fill_row(struct stream_row *row, const struct snapshot_stream *s, const struct rows_source *source,
		     const struct snapshot_stream *before, const struct snapshot_stream *base)
{
	const struct snapshot *now = source->now;

	row->version = snapshot_version(now, &s->stream);
	row->rates = rates_since(&s->stream.counters, before ? &before->stream.counters : NULL, now, before ? source->previous : NULL);
	fill_counters(row, s, base);
	row->limit = s->dialogue ? limit_of(s, now, source->previous) : LIMIT_UNKNOWN;
	fill_owner(row, s->owner);
}

static void fill_rows(struct rows *r, const struct rows_source *source, const struct rows *old)
{
	struct rows_walk previous = { .snapshot = source->previous }, base = { .snapshot = source->base };
	__u64 earlier = time_of(source->previous);

	for (size_t i = 0; i < r->count; i++) {
		const struct snapshot_stream *s = &source->now->streams[i];
		const struct snapshot_stream *before = walk_find(&previous, &s->key);
		struct stream_row *row = &r->row[i];

		fill_row(row, s, source, before, walk_find(&base, &s->key));
		row->place = i;
		row->last_fault = last_fault(row, source->history, old_row(old, source->previous, before));
		/* A rise of fault counters came in this interval, or before the first snapshot: take this time for both. */
		if (row->last_fault <= earlier && faults_rose(&s->stream, before ? &before->stream : NULL))
			row->last_fault = r->time;
		r->faulty += fault_rank_any(&row->rank);
		r->has_qpns |= row->key.kind != KEY_UDP;
		r->has_blocks |= s->stream.counters.value[COUNTER_blocks_incomplete] || s->stream.counters.value[COUNTER_blocks_missing];
		r->has_limits |= row->limit != LIMIT_UNKNOWN;
		r->has_owners |= row->owner[0] != '\0';
	}
}

bool rows_update(struct rows *r, const struct rows_source *source)
{
	const struct snapshot *now = source->now;
	struct rows new = {
		.row = calloc(now->stream_count ?: 1, sizeof(*new.row)),
		.count = now->stream_count,
		.shown = calloc(now->stream_count ?: 1, sizeof(*new.shown)),
		.time = time_of(now),
	};

	if (!new.row || !new.shown) {
		rows_free(&new);
		return false;
	}
	fill_rows(&new, source, r);
	rows_filter(&new, now, source->filter);
	rows_free(r);
	*r = new;
	return true;
}

void rows_rebase(struct rows *r, const struct snapshot *now, const struct snapshot *base)
{
	struct rows_walk walk = { .snapshot = base };

	r->faulty = 0;
	for (size_t i = 0; i < r->count && i < now->stream_count; i++) {
		struct stream_row *row = &r->row[i];

		fill_counters(row, &now->streams[i], walk_find(&walk, &row->key));
		r->faulty += fault_rank_any(&row->rank);
	}
}

void rows_filter(struct rows *r, const struct snapshot *now, const struct filter *filter)
{
	r->shown_count = 0;
	for (size_t i = 0; i < r->count && i < now->stream_count; i++)
		if (filter_wants(filter, &now->streams[i]))
			r->shown[r->shown_count++] = i;
}

/* ---- the order ---- */

struct rows_order {
	const struct stream_row *row;
	int column;
	bool reversed;
};

static int compare_shown(const void *a, const void *b, void *context)
{
	const struct rows_order *o = context;
	const struct stream_row *x = &o->row[*(const __u32 *)a], *y = &o->row[*(const __u32 *)b];
	int order = o->column == COLUMN_WORST ? fault_rank_compare(&x->rank, &y->rank) : column_compare(o->column, x, y);

	if (o->reversed)
		order = -order;
	return order ?: x->place < y->place ? -1 : 1;
}

void rows_order(struct rows *r, int column, bool reversed)
{
	struct rows_order o = { .row = r->row, .column = column, .reversed = reversed };

	if (r->shown_count)
		qsort_r(r->shown, r->shown_count, sizeof(*r->shown), compare_shown, &o);
}

size_t rows_find(const struct rows *r, const struct roce_key *key)
{
	size_t i;

	for (i = 0; i < r->shown_count; i++)
		if (!memcmp(&r->row[r->shown[i]].key, key, sizeof(*key)))
			break;
	return i;
}

bool rows_copy(struct rows *to, const struct rows *from)
{
	*to = *from;
	to->row = malloc(from->count * sizeof(*to->row) + 1);
	to->shown = malloc(from->count * sizeof(*to->shown) + 1);
	if (!to->row || !to->shown) {
		rows_free(to);
		return false;
	}
	if (from->count) {
		memcpy(to->row, from->row, from->count * sizeof(*to->row));
		memcpy(to->shown, from->shown, from->count * sizeof(*to->shown));
	}
	return true;
}

void rows_free(struct rows *r)
{
	free(r->row);
	free(r->shown);
	*r = (struct rows){ 0 };
}
