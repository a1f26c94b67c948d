// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The pairs: a bounded table of them, and which one is shown. */
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "userspace/diagnose/bring_up/bring_up.h"

/* ---- the table ---- */

struct bring_up_exchange *bring_up_exchange(struct bring_up *b, const struct bring_up_stream *s)
{
	return &b->exchange[s ? s - b->streams : BRING_UP_STREAMS];
}

/*
 * A place for another stream. If there is none, that of the lightest one, whose weight goes on: thus each stream of more than a
 * 64th of the packets gets a place and keeps it, whatever else comes (Metwally et al., "Space-Saving", 2005). The shown one stays.
 */
static struct bring_up_stream *find_place(struct bring_up *b)
{
	struct bring_up_stream *lightest = NULL;

	if (b->stream_count < BRING_UP_STREAMS)
		return &b->streams[b->stream_count++];
	for (size_t i = 0; i < BRING_UP_STREAMS; i++) {
		struct bring_up_stream *s = &b->streams[i];

		if (s != b->shown && (!lightest || s->weight < lightest->weight ||
				      (s->weight == lightest->weight && s->seen < lightest->seen)))
			lightest = s;
	}
	b->more += lightest->packets;
	return lightest;
}

struct bring_up_stream *bring_up_find(struct bring_up *b, const struct roce_packet *p)
{
	bool roce = p->kind == ROCE_PACKET;
	__u32 dqpn = roce ? p->dqpn : 0;
	struct bring_up_stream *s;

	for (size_t i = 0; i < b->stream_count; i++) {
		s = &b->streams[i];
		if (s->dqpn == dqpn && s->roce == roce && !memcmp(s->src, p->src, 16) && !memcmp(s->dst, p->dst, 16))
			return s;
	}
	s = find_place(b);
	*s = (struct bring_up_stream){ .id = ++b->ids, .weight = s->weight, .dqpn = dqpn, .roce = roce, .failed = STEPS,
				       .kind = FINDING_KINDS, .answer_qpn = NO_QPN };
	memcpy(s->src, p->src, 16);
	memcpy(s->dst, p->dst, 16);
	bring_up_exchange(b, s)->count = 0;
	return s;
}

/* ---- the pair that is shown ---- */

bool bring_up_is_active(const struct bring_up *b, const struct bring_up_stream *s)
{
	return s->seen + BRING_UP_QUIET >= b->newest;
}

static void set_shown(struct bring_up *b, const struct bring_up_stream *s)
{
	size_t kept = 0;

	b->shown = s;
	for (size_t i = 0; i < b->bad_count; i++)
		if (b->bad[i].stream == s->id)
			b->bad[kept++] = b->bad[i];
	b->bad_count = kept;
	b->named = 0;
	b->mistake.kind[0] = 0;
}

void bring_up_choose(struct bring_up *b)
{
	const struct bring_up_stream *most = NULL, *shown = b->shown;

	for (size_t i = 0; i < b->stream_count; i++) {
		const struct bring_up_stream *s = &b->streams[i];

		if (bring_up_is_active(b, s) && (!most || s->packets > most->packets))
			most = s;
	}
	if (most && (!shown || !bring_up_is_active(b, shown) || most->packets > shown->packets + shown->packets / 8))
		set_shown(b, most);
}

/* ---- what is shown of them ---- */

/* The row before the `at`th; NULL: there is none, or it is no longer kept. */
static const struct bring_up_row *row_before(const struct bring_up_exchange *e, __u64 at)
{
	return e && at && e->count - at < BRING_UP_ROWS ? &e->rows[(at - 1) % BRING_UP_ROWS] : NULL;
}

size_t bring_up_rows(const struct bring_up *b, const struct bring_up_row *rows[], size_t most, bool *more)
{
	const struct bring_up_exchange *own = b->shown ? &b->exchange[b->shown - b->streams] : NULL,
				       *rest = &b->exchange[BRING_UP_STREAMS];
	__u64 at = own ? own->count : 0, rest_at = rest->count;
	size_t count = 0;

	for (; count < most; count++) {
		const struct bring_up_row *a = row_before(own, at), *z = row_before(rest, rest_at);

		if (!a && !z)
			break;
		if (a && (!z || a->time >= z->time))
			at--;
		else
			rest_at--;
		rows[count] = a && (!z || a->time >= z->time) ? a : z;
	}
	*more = at || rest_at;
	for (size_t i = 0; i < count / 2; i++) {
		const struct bring_up_row *later = rows[i];

		rows[i] = rows[count - 1 - i];
		rows[count - 1 - i] = later;
	}
	return count;
}

static int compare_others(const void *a, const void *b)
{
	const struct bring_up_stream *const *x = a, *const *y = b;
	int wrong = ((*y)->failed < STEPS) - ((*x)->failed < STEPS);
	int packets = ((*y)->packets > (*x)->packets) - ((*y)->packets < (*x)->packets);

	return wrong ?: packets ?: ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

size_t bring_up_others(const struct bring_up *b, const struct bring_up_stream *others[BRING_UP_STREAMS])
{
	size_t count = 0;

	for (size_t i = 0; i < b->stream_count; i++)
		if (&b->streams[i] != b->shown)
			others[count++] = &b->streams[i];
	qsort(others, count, sizeof(*others), compare_others);
	return count;
}
