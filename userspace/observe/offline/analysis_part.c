// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "roce/packet/cm.h"
#include "roce/packet/decap.h"
#include "userspace/observe/offline/analysis_part.h"

static void free_room(struct analysis_part *p)
{
	free(p->parsed);
	free(p->now);
	free(p->order);
}

bool analysis_part_reserve(struct analysis_part *p)
{
	size_t room = p->piece.count;

	if (room <= p->room)
		return true;
	free_room(p);
	p->parsed = calloc(room, sizeof(*p->parsed));
	p->now = calloc(room, sizeof(*p->now));
	p->order = calloc(room, sizeof(*p->order));
	p->room = p->parsed && p->now && p->order ? room : 0;
	return p->room;
}

_Static_assert(CAPTURE_SLACK >= OBSERVER_READABLE, "frames are looked at where they are");

/* If the frame is in a tunnel, replaces it by the frame inside. */
static void unwrap(struct capture_frame *f)
{
	struct roce_inner inner;

	if (!roce_decap(f->bytes, f->captured, f->wire, &inner))
		return;
	f->bytes += inner.offset;
	roce_inner_ethernet(f->bytes, inner.ethertype);
	f->captured = inner.captured;
	f->wire = inner.wire;
	f->cut = true;
}

/* Looks at a batch of frames from index `from`. Returns the index after the batch. */
static size_t parse_batch(const struct analysis_settings *settings, struct analysis_part *p, size_t from)
{
	struct observer_frame frames[OBSERVER_BATCH];
	size_t count = 0;

	for (; count < OBSERVER_BATCH && from + count < p->piece.count; count++) {
		struct capture_frame *f = &p->piece.frames[from + count];

		if (settings->decap)
			unwrap(f);
		f->selected |= settings->selection;
		frames[count] = analysis_frame(f);
		frames[count].blocks = &settings->blocks;
	}
	observer_parse_batch(frames, count, &settings->ports, &p->parsed[from]);
	for (size_t i = 0; i < count; i++)
		p->management |= roce_is_management(&p->parsed[from + i].packet);
	return from + count;
}

void analysis_part_parse(struct analysis_part *p, const struct analysis_settings *settings)
{
	__u64 now = p->latest;

	p->management = false;
	for (size_t i = 0; i < p->piece.count;)
		i = parse_batch(settings, p, i);
	for (size_t i = 0; i < p->piece.count; i++) {
		if (p->piece.frames[i].time > now)
			now = p->piece.frames[i].time;
		p->now[i] = now;
	}
}

/* The shards of one group are adjacent, so that no two threads write to one cache line. */
static unsigned int group_of(const struct observer_parsed *parsed)
{
	return observer_shard(parsed) / (ANALYSIS_SHARDS / ANALYSIS_GROUPS);
}

void analysis_part_sort(struct analysis_part *p)
{
	size_t next[ANALYSIS_GROUPS] = { 0 }, sum = 0;

	for (size_t i = 0; i < p->piece.count; i++)
		next[group_of(&p->parsed[i])]++;
	for (unsigned int g = 0; g < ANALYSIS_GROUPS; g++) {
		p->group[g] = sum;
		sum += next[g];
		next[g] = p->group[g];
	}
	p->group[ANALYSIS_GROUPS] = sum;
	for (size_t i = 0; i < p->piece.count; i++)
		p->order[next[group_of(&p->parsed[i])]++] = i;
}

void analysis_part_free(struct analysis_part *p)
{
	capture_piece_free(&p->piece);
	free_room(p);
}
