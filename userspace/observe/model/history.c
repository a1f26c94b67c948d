// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "lib/interfaces.h"
#include "userspace/observe/model/faults.h"
#include "userspace/observe/model/history.h"
#include "userspace/observe/model/table.h"

#define FIRST_ROOM 16
#define BUCKETS 16384 /* a power of two */
#define RECENT 64     /* gaps remembered per interface, to be compared with gaps of other streams; a power of two */
#define NOBODY UINT32_MAX

/* A stream, linked into its bucket's chain and into a list ordered by the last fault. */
struct history_entry {
	struct history_stream stream;
	__u32 chain;
	__u32 older, newer;
};

struct gap {
	__u64 time;
	__u32 place;	/* of the gap's stream */
	__u64 evicted;	/* number of evictions at that time: later the place may belong to another stream */
	bool together;
};

struct port {
	struct gap gap[RECENT];
	__u64 gaps;
	__u64 first, last; /* ns */
};

struct history {
	struct history_entry *entries;
	__u32 count, room;
	__u32 oldest, newest;
	__u32 bucket[BUCKETS];
	__u64 evicted;
	struct port port[INTERFACES_MOST];
};

struct history *history_new(void)
{
	struct history *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->oldest = h->newest = NOBODY;
	for (__u32 i = 0; i < BUCKETS; i++)
		h->bucket[i] = NOBODY;
	return h;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	free(h->entries);
	free(h);
}

/* ---- streams ---- */

static __u32 *bucket_of(struct history *h, const struct roce_key *key)
{
	return &h->bucket[table_hash(key) % BUCKETS];
}

static __u32 find(const struct history *h, const struct roce_key *key)
{
	__u32 place = h->bucket[table_hash(key) % BUCKETS];

	while (place != NOBODY && memcmp(&h->entries[place].stream.key, key, sizeof(*key)))
		place = h->entries[place].chain;
	return place;
}

static void unlist(struct history *h, __u32 place)
{
	const struct history_entry *e = &h->entries[place];

	*(e->older == NOBODY ? &h->oldest : &h->entries[e->older].newer) = e->newer;
	*(e->newer == NOBODY ? &h->newest : &h->entries[e->newer].older) = e->older;
}

static void list_newest(struct history *h, __u32 place)
{
	struct history_entry *e = &h->entries[place];

	e->older = h->newest;
	e->newer = NOBODY;
	*(h->newest == NOBODY ? &h->oldest : &h->entries[h->newest].newer) = place;
	h->newest = place;
}

/* Frees the place of the stream with the oldest last fault. */
static __u32 evict(struct history *h)
{
	__u32 place = h->oldest, *link = bucket_of(h, &h->entries[place].stream.key);

	while (*link != place)
		link = &h->entries[*link].chain;
	*link = h->entries[place].chain;
	unlist(h, place);
	h->evicted++;
	return place;
}

static __u32 take_place(struct history *h)
{
	if (h->count == HISTORY_STREAMS)
		return evict(h);
	if (!grow(h->entries, h->count, h->room, FIRST_ROOM))
		return h->count ? evict(h) : NOBODY;
	return h->count++;
}

static __u32 find_or_make(struct history *h, const struct roce_key *key)
{
	__u32 place = find(h, key), *bucket;

	if (place != NOBODY) {
		unlist(h, place);
		list_newest(h, place);
		return place;
	}
	place = take_place(h);
	if (place == NOBODY)
		return NOBODY;
	bucket = bucket_of(h, key);
	h->entries[place] = (struct history_entry){ .stream.key = *key, .chain = *bucket };
	*bucket = place;
	list_newest(h, place);
	return place;
}

/* ---- loss together or alone ---- */

/* Whether the gap's stream is still at its place. */
static bool is_there(const struct history *h, const struct gap *g)
{
	return g->evicted == h->evicted;
}

/* Counts a gap as alone until a gap of another stream of the interface is near. */
static void place_gap(struct history *h, __u32 place, __u64 time, __u32 interface)
{
	struct port *port = &h->port[interface % INTERFACES_MOST];
	struct gap *own = &port->gap[port->gaps % RECENT];
	__u64 kept = port->gaps < RECENT ? port->gaps : RECENT - 1;
	bool together = false;

	for (__u64 i = 1; i <= kept; i++) {
		struct gap *g = &port->gap[(port->gaps - i) % RECENT];
		__u64 apart = time > g->time ? time - g->time : g->time - time;
		struct history_stream *s = &h->entries[g->place].stream;

		if (g->place == place || apart > HISTORY_TOGETHER || !is_there(h, g))
			continue;
		together = true;
		if (g->together)
			continue;
		g->together = true;
		s->alone--;
		s->together++;
	}
	*own = (struct gap){ .time = time, .place = place, .evicted = h->evicted, .together = together };
	if (!port->gaps++)
		port->first = time;
	if (time > port->last)
		port->last = time;
	*(together ? &h->entries[place].stream.together : &h->entries[place].stream.alone) += 1;
}

/* ---- faults ---- */

static __u32 log2_of(__u32 n)
{
	return 31 - __builtin_clz(n | 1);
}

void history_add(struct history *h, const struct roce_key *key, const struct roce_event *event, __u64 time, __u32 interface,
		 __u64 suppressed)
{
	struct roce_event kept = *event;
	struct history_stream *s;
	__u32 place, burst;

	kept.kinds &= FAULT_EVENTS;
	if (!kept.kinds)
		return;
	place = find_or_make(h, key);
	if (place == NOBODY)
		return;
	s = &h->entries[place].stream;
	s->faults++;
	s->suppressed += suppressed;
	s->interface = interface;
	s->last[s->kept++ % HISTORY_FAULTS] = (struct history_fault){ .time = time, .event = kept };
	if (!(kept.kinds & ROCE_EVENT(psn_gap)))
		return;
	burst = log2_of(kept.skipped);
	s->burst[burst < HISTORY_BURSTS ? burst : HISTORY_BURSTS - 1]++;
	place_gap(h, place, time, interface);
}

const struct history_stream *history_of(const struct history *h, const struct roce_key *key)
{
	__u32 place = find(h, key);

	return place == NOBODY ? NULL : &h->entries[place].stream;
}

/* ---- text ---- */

/* The losing streams of one interface. */
struct losers {
	__u64 streams;
	__u64 gaps;
	__u64 together;	 /* of their gaps */
};

static struct losers losers_of(const struct history *h, __u32 interface)
{
	struct losers l = { 0 };

	for (__u32 i = 0; i < h->count; i++) {
		const struct history_stream *s = &h->entries[i].stream;

		if (s->interface != interface || !(s->together + s->alone))
			continue;
		l.streams++;
		l.gaps += s->together + s->alone;
		l.together += s->together;
	}
	return l;
}

/*
 * The expected part of the stream's gaps that have one of another stream near, if each stream lost on its own. Gaps of other
 * streams are a Poisson process, counted within HISTORY_TOGETHER before and after.
 */
static double chance(const struct port *p, const struct losers *l, const struct history_stream *s)
{
	double seen = p->last - p->first, others = l->gaps - (s->together + s->alone);

	return seen > 0 ? 1 - exp(-others * 2 * HISTORY_TOGETHER / seen) : 1;
}

/* Fewer events may be chance. */
#define ENOUGH 5

void history_words(const struct history *h, const struct history_stream *s, char words[HISTORY_WORDS])
{
	const struct port *p = &h->port[s->interface % INTERFACES_MOST];
	struct losers l = losers_of(h, s->interface);
	__u64 gaps = s->together + s->alone;
	double by_chance, together;

	words[0] = '\0';
	if (gaps < ENOUGH)
		return;
	by_chance = chance(p, &l, s);
	together = (double)s->together / gaps;
	if (gaps >= 0.9 * l.gaps)
		snprintf(words, HISTORY_WORDS,
			 "%llu of the %llu gaps of this interface are this stream's: look at this QP, its sender "
			 "and its path",
			 gaps, l.gaps);
	else if (together >= 0.5 && together >= 2 * by_chance)
		snprintf(words, HISTORY_WORDS,
			 "%.0f %% of its gaps came within 10 ms of other streams', by chance it would be %.0f %%; "
			 "%llu streams lose: a port, a link or a host loses, not one QP",
			 together * 100, by_chance * 100, l.streams);
	else if (by_chance > 0.5)
		snprintf(words, HISTORY_WORDS,
			 "%llu streams of this interface lose so often that it is chance which of them lose at "
			 "the same moments",
			 l.streams);
	else
		snprintf(words, HISTORY_WORDS,
			 "%llu streams of this interface lose, each at its own moments: single packets are lost "
			 "on what they share, or each QP for itself",
			 l.streams);
}
