// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "userspace/render/screen/hold.h"

static void *copy(const void *from, size_t bytes)
{
	void *to = malloc(bytes ?: 1);

	if (to && bytes)
		memcpy(to, from, bytes);
	return to;
}

static bool hold_dialogues(struct snapshot *s)
{
	size_t count = 0, at = 0;

	for (size_t i = 0; i < s->stream_count; i++)
		count += s->streams[i].dialogue != NULL;
	s->dialogues = calloc(count ?: 1, sizeof(*s->dialogues));
	if (!s->dialogues)
		return false;
	for (size_t i = 0; i < s->stream_count; i++) {
		struct snapshot_stream *stream = &s->streams[i];

		stream->owner = NULL;
		if (!stream->dialogue)
			continue;
		s->dialogues[at] = *stream->dialogue;
		stream->dialogue = &s->dialogues[at++];
	}
	return true;
}

bool hold_take(struct hold *h, const struct snapshot *from)
{
	struct snapshot *s = &h->snapshot;

	hold_release(h);
	s->time = from->time;
	s->seconds = from->seconds;
	s->complete = from->complete;
	s->selection = from->selection;
	s->left_out = from->left_out;
	s->totals = from->totals;
	s->untracked = from->untracked;
	s->max_streams = from->max_streams;
	s->realtime_offset = from->realtime_offset;
	s->interface_count = from->interface_count;
	s->interfaces = copy(from->interfaces, from->interface_count * sizeof(*from->interfaces));
	s->stream_count = from->stream_count;
	s->streams = copy(from->streams, from->stream_count * sizeof(*from->streams));
	h->held = s->interfaces && s->streams && hold_dialogues(s);
	if (!h->held)
		hold_release(h);
	return h->held;
}

void hold_release(struct hold *h)
{
	snapshot_free(&h->snapshot);
	*h = (struct hold){ 0 };
}

/* Subtracts `base`, but never below 0. */
static void subtract(__u64 *v, const __u64 *base, int count)
{
	for (int i = 0; i < count; i++)
		v[i] -= base[i] < v[i] ? base[i] : v[i];
}

void totals_since(const struct roce_totals *t, const struct roce_totals *base, struct roce_totals *since)
{
	*since = *t;
	if (!base)
		return;
	subtract(since->value, base->value, ROCE_COUNTERS);
	snapshot_total_lost(since);
}

void stream_since(const struct roce_stream *s, const struct roce_stream *base, struct roce_stream *since)
{
	*since = *s;
	if (!base || base->first_seen != s->first_seen || snapshot_packets(base) > snapshot_packets(s))
		return;
	subtract(since->counters.value, base->counters.value, ROCE_STREAM_COUNTERS);
	since->counters.value[COUNTER_psn_lost] = snapshot_lost(&since->counters);
	for (int i = 0; i < ROCE_LINTS; i++)
		since->lint[i] -= base->lint[i] < s->lint[i] ? base->lint[i] : s->lint[i];
}
