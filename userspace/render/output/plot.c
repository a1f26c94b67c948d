// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cause.h"
#include "userspace/observe/offline/fault_list.h"
#include "userspace/render/output/plot.h"

#define SHIFT_FIRST 10 /* bins of 1.024 us */

/* Packets that a stream without a right ICRC needs before it is followed: flipped bits make false streams (docs/rules.md). */
#define UNTRUSTED_PACKETS 16

bool plot_is_name(const char *path)
{
	size_t length = strlen(path);

	return length > 4 && (!strcmp(path + length - 4, ".svg") || !strcmp(path + length - 4, ".png"));
}

struct plot *plot_new(const struct filter *filter)
{
	struct plot *p = calloc(1, sizeof(*p));

	if (p)
		p->filter = filter;
	return p;
}

/* ---- rows ---- */

struct plot_cell *plot_row_cell(struct plot_row *r, __u64 number)
{
	return &r->cell[number % PLOT_BINS];
}

/* from: not earlier than `to`. */
static void add_cell(struct plot_cell *to, const struct plot_cell *from)
{
	to->packets += from->packets;
	to->bytes += from->bytes;
	to->psn = from->psn ?: to->psn;
	for (int i = 0; i < PLOT_MARKS; i++)
		to->mark[i] += from->mark[i];
}

void plot_row_coarsen(struct plot_row *r)
{
	struct plot_cell fine[PLOT_BINS];

	memcpy(fine, r->cell, sizeof(fine));
	memset(r->cell, 0, sizeof(r->cell));
	for (__u64 i = r->first; r->used && i <= r->last; i++)
		add_cell(plot_row_cell(r, i >> 1), &fine[i % PLOT_BINS]);
	r->first >>= 1;
	r->last >>= 1;
	r->shift++;
}

struct plot_cell *plot_row_at(struct plot_row *r, __u64 time)
{
	__u64 first, last;

	if (!r->used) {
		r->shift = r->shift ?: SHIFT_FIRST;
		r->first = r->last = time >> r->shift;
		r->used = true;
	}
	for (;; plot_row_coarsen(r)) {
		__u64 number = time >> r->shift;

		first = number < r->first ? number : r->first;
		last = number > r->last ? number : r->last;
		if (last - first < PLOT_BINS)
			break;
	}
	r->first = first;
	r->last = last;
	return plot_row_cell(r, time >> r->shift);
}

void plot_row_add(struct plot_row *to, struct plot_row *from)
{
	if (!from->used)
		return;
	while (to->shift < from->shift)
		plot_row_coarsen(to);
	for (__u64 i = from->first; i <= from->last; i++)
		add_cell(plot_row_at(to, i << from->shift), plot_row_cell(from, i));
}

/* ---- frames ---- */

static void *take_memory(struct plot *p, size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		__atomic_store_n(&p->failed, 1, __ATOMIC_RELAXED);
	return memory;
}

/* Whether the packet takes a place in its stream's sequence (as in roce_observe()). */
static bool has_psn(const struct roce_packet *p)
{
	return p->kind == ROCE_UDP ? !p->foreign && !p->stream_end : p->op && !(p->op & OP_NO_PLACE);
}

/* A new track begins in the middle of its stream, so a small difference is not worth it. */
static bool is_much_worse(const struct fault_rank *a, const struct fault_rank *b)
{
	if (a->faults || b->faults)
		return a->faults > 2 * b->faults;
	if (a->lesser || b->lesser)
		return a->lesser > 2 * b->lesser;
	return a->packets > 2 * b->packets;
}

/* Whether no earlier packet of the stream was faulty: then this packet's faults are the stream's whole rank. */
static bool is_first_fault(const struct roce_stream *s, const struct fault_rank *rank, const struct roce_event *e,
			   __u32 kinds)
{
	struct roce_stream only = { .trusted = s->trusted, .service = s->service };
	struct fault_rank own;

	faults_count(&only, e, kinds);
	own = fault_rank(&only);
	return rank->faults <= own.faults && rank->lesser <= own.lesser;
}

/* Begins a track. Its line starts at the stream's first packet if there was no fault before this one, else at this packet. */
static void begin(struct plot_track *t, const struct analysis_seen *seen, const struct fault_rank *rank, __u32 kinds)
{
	const struct roce_stream *s = seen->stream;

	memset(t, 0, sizeof(*t));
	t->key = seen->parsed->key;
	if (s->met && is_first_fault(s, rank, seen->event, kinds))
		plot_row_at(&t->row, s->first_seen)->psn = s->sequence.first_psn + 1;
}

/*
 * The track of this packet's stream. NULL: the shard's tracks are worth more. rank: the stream's rank. worth: the same, or zero
 * if the filter leaves the stream out.
 */
static struct plot_track *find_track(struct plot *p, const struct analysis_seen *seen, const struct fault_rank *rank,
				     const struct fault_rank *worth, __u32 kinds)
{
	struct plot_track **track = p->track[seen->shard], *least = NULL;
	const struct roce_key *key = &seen->parsed->key;

	for (int i = 0; i < PLOT_TRACKS; i++) {
		if (!track[i]) {
			least = track[i] = take_memory(p, sizeof(**track));
			break;
		}
		if (!memcmp(&track[i]->key, key, sizeof(*key)))
			return track[i];
		if (!least || fault_rank_compare(&track[i]->rank, &least->rank) > 0)
			least = track[i];
	}
	if (!least || (least->row.used && !is_much_worse(worth, &least->rank)))
		return NULL;
	begin(least, seen, rank, kinds);
	return least;
}

static void mark(struct plot_cell *cell, __u32 kinds)
{
	cell->mark[MARK_LOST] += !!(kinds & ROCE_EVENT(psn_gap));
	cell->mark[MARK_AGAIN] += !!(kinds & (ROCE_EVENT(psn_recovered) | ROCE_EVENT(psn_duplicate)));
	cell->mark[MARK_RESYNC] += !!(kinds & ROCE_EVENT(psn_resync));
	cell->mark[MARK_BAD] += !!(kinds & ROCE_EVENT(icrc_bad));
}

static void see_stream(struct plot *p, const struct analysis_seen *seen)
{
	const struct roce_packet *packet = &seen->parsed->packet;
	const struct roce_stream *s = seen->stream;
	struct fault_rank rank = fault_rank(s), worth = rank;
	__u32 kinds = fault_kinds(seen);
	struct plot_track *t;
	struct plot_cell *cell;

	if (!s->trusted && rank.packets < UNTRUSTED_PACKETS)
		return;
	if (!filter_wants_stream(p->filter, &seen->parsed->key, s))
		worth = (struct fault_rank){ 0 };
	t = find_track(p, seen, &rank, &worth, kinds);
	if (!t)
		return;
	t->rank = worth;
	cell = plot_row_at(&t->row, seen->time);
	mark(cell, kinds);
	if (seen->parsed->icrc == ICRC_BAD && s->trusted)
		return; /* its PSN may be wrong */
	if (packet->kind == ROCE_UDP)
		cell->psn = packet->number + 1;
	else if (!(kinds & (ROCE_EVENT(psn_recovered) | ROCE_EVENT(psn_duplicate))))
		cell->psn = s->psn.next + psn_distance(s->psn.next & PSN_MASK, packet->number) + 1;
}

void plot_see(struct plot *p, const struct analysis_seen *seen)
{
	const struct roce_packet *packet = &seen->parsed->packet;
	struct plot_row **rate = &p->rate[seen->shard];
	struct plot_cell *cell;

	if (packet->kind != ROCE_PACKET && packet->kind != ROCE_UDP)
		return;
	if (!*rate)
		*rate = take_memory(p, sizeof(**rate));
	if (!*rate)
		return;
	cell = plot_row_at(*rate, seen->time);
	cell->packets++;
	cell->bytes += packet->frame_bytes;
	if (seen->stream && has_psn(packet))
		see_stream(p, seen);
}

/* ---- the picture ---- */

/* Inserts a track in order, the worst first. Equal tracks keep the order of the snapshot. */
static void choose(struct plot_picture *picture, struct plot_track *t)
{
	const struct snapshot_stream *s = snapshot_find(picture->snapshot, &t->key);
	size_t at = picture->tracks;

	if (!s || !snapshot_is_shown(picture->snapshot, s))
		return;
	t->rank = fault_rank(&s->stream);
	for (; at; at--) {
		int order = fault_rank_compare(&t->rank, &picture->track[at - 1]->rank);

		if (order > 0 || (!order && s > picture->stream[at - 1]))
			break;
		if (at == PLOT_STREAMS)
			continue;
		picture->track[at] = picture->track[at - 1];
		picture->stream[at] = picture->stream[at - 1];
	}
	if (at == PLOT_STREAMS)
		return;
	picture->track[at] = t;
	picture->stream[at] = s;
	picture->tracks += picture->tracks < PLOT_STREAMS;
}

static bool is_faulty(const struct plot_track *t)
{
	return fault_rank_any(&t->rank);
}

static void compose(struct plot *p, struct plot_picture *picture)
{
	for (int s = 0; s < ANALYSIS_SHARDS; s++) {
		if (p->rate[s])
			plot_row_add(&picture->rate, p->rate[s]);
		for (int i = 0; i < PLOT_TRACKS && p->track[s][i]; i++)
			choose(picture, p->track[s][i]);
	}
	/* If some streams have faults, the others are not drawn. */
	picture->faulty = picture->tracks && is_faulty(picture->track[0]);
	while (picture->faulty && !is_faulty(picture->track[picture->tracks - 1]))
		picture->tracks--;
}

bool plot_write(struct plot *p, const struct snapshot *s, const char *title, const char *path)
{
	struct plot_picture *picture = p->failed ? NULL : calloc(1, sizeof(*picture));
	bool drawn;

	if (!picture) {
		fprintf(stderr, "rocescope: %s: the picture cannot be written: %s\n", path, cause(ENOMEM).text);
		return false;
	}
	*picture = (struct plot_picture){ .snapshot = s, .title = title };
	compose(p, picture);
	drawn = plot_draw(picture, path);
	free(picture);
	return drawn;
}

void plot_free(struct plot *p)
{
	if (!p)
		return;
	for (int s = 0; s < ANALYSIS_SHARDS; s++) {
		free(p->rate[s]);
		for (int i = 0; i < PLOT_TRACKS; i++)
			free(p->track[s][i]);
	}
	free(p);
}
