// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "roce/packet/base.h"
#include "userspace/traffic/send/truth_psn.h"

enum {
	LARGEST_GAP = 65535,
	WINDOW = 1024,		/* a larger gap is believed when a second packet proves it */
	FAR = 65536,		/* a sequence elsewhere has its packets so near each other */
	REACH = FAR + WINDOW,	/* missing PSNs are remembered so long */
	RETRANSMITTED = 1 << 22, /* nobody goes back farther */
	LONGEST_RUN = 1 << 20,
	ENOUGH = 16,		/* packets elsewhere prove a sequence */
	RANGES = REACH / 2 + 1,	/* as many as there can be */
	FIRST_RANGES = 16,
};

/* Positions begin so high that none becomes negative. */
#define POSITIONS (1ull << 40)

static void start_at(struct truth_psn *s, uint64_t position)
{
	s->next = s->begin = position;
	s->count = 0;
	s->unknown_before = 0;
}

void truth_psn_start(struct truth_psn *s, uint32_t psn)
{
	start_at(s, POSITIONS + psn);
	s->unknown_psns = 0;
}

void truth_psn_free(struct truth_psn *s)
{
	free(s->missing);
	free(s->probation.position);
	free(s->probation.packet);
}

/* Makes room for one more range; forgets the oldest one if necessary. */
static void make_room(struct truth_psn *s)
{
	struct psn_range *more;

	if (s->count == RANGES) {
		s->first++;
		s->count--;
	}
	if (s->count == 0)
		s->first = 0;
	if (s->first + s->count < s->room)
		return;
	if (s->room < 2 * RANGES) {
		uint32_t room = s->room ? 2 * s->room : FIRST_RANGES;

		more = realloc(s->missing, room * sizeof(*more));
		if (more) {
			s->missing = more;
			s->room = room;
			return;
		}
	}
	if (s->first == 0 && s->count) {
		s->first++;
		s->count--;
	}
	memmove(s->missing, s->missing + s->first, s->count * sizeof(*s->missing));
	s->first = 0;
}

/* Removes a position from the missing ones. false: it was not missing. */
static bool find(struct truth_psn *s, uint64_t position)
{
	struct psn_range *r, whole;
	uint32_t low, high;

	if (s->count == 0)
		return false;
	make_room(s);
	low = s->first;
	high = s->first + s->count;
	while (low < high) { /* the first range that ends after it */
		uint32_t middle = (low + high) / 2;

		if (s->missing[middle].end > position)
			high = middle;
		else
			low = middle + 1;
	}
	r = &s->missing[low];
	if (low == s->first + s->count || r->begin > position)
		return false;
	whole = *r;
	if (whole.begin < position && position + 1 < whole.end) {
		memmove(r + 1, r, (s->first + s->count - low) * sizeof(*r));
		s->count++;
		r[0].end = position;
		r[1].begin = position + 1;
	} else if (whole.end - whole.begin == 1) {
		s->count--;
		memmove(r, r + 1, (s->first + s->count - low) * sizeof(*r));
	} else if (whole.begin == position) {
		r->begin++;
	} else {
		r->end--;
	}
	return true;
}

static void miss(struct truth_psn *s, uint64_t begin, uint64_t end)
{
	make_room(s);
	if (s->room)
		s->missing[s->first + s->count++] = (struct psn_range){ begin, end };
}

/* Forgets what is missing farther back than `reach`. */
static void age(struct truth_psn *s, uint64_t reach)
{
	uint64_t before = s->next - reach;

	while (s->count && s->missing[s->first].begin < before) {
		struct psn_range *r = &s->missing[s->first];

		s->unknown_before = r->end < before ? r->end : before;
		r->begin = s->unknown_before;
		if (r->begin < r->end)
			break;
		s->first++;
		s->count--;
	}
}

/* Takes a packet at a position that is not too far away. */
static enum arrival place(struct truth_psn *s, const struct psn_packet *p, uint64_t position, uint64_t reach)
{
	enum arrival arrival = IN_ORDER;

	if (position < s->next) {
		age(s, reach);
		if (find(s, position)) {
			s->recovered++;
			s->messages += p->ends;
			return RECOVERED;
		}
		if (position < s->unknown_before && position >= s->begin)
			s->unknown++;
		else
			s->duplicates++;
		return AGAIN;
	}
	if (position > s->next && !p->free_jump) {
		s->gaps++;
		s->skipped += position - s->next;
		miss(s, s->next, position);
		arrival = AFTER_GAP;
	}
	s->next = position + 1;
	s->messages += p->ends;
	age(s, reach);
	return arrival;
}

/* Remembers the first packet, and those at the last multiples of 256 * 4^n. */
static void remember(struct truth_psn *s, const struct psn_packet *p, uint64_t position)
{
	uint64_t multiple = position / 256;
	int i = 1;

	if (!p->reliable || p->response || (position != s->begin && position % 256))
		return;
	while (multiple % 4 == 0 && i < PSN_SAMPLES - 1) {
		multiple /= 4;
		i++;
	}
	if (position == s->begin)
		i = 0;
	s->sample[i].position = position;
	s->sample[i].what = p->what;
	s->sample[i].set = true;
}

static bool is_another(const struct truth_psn *s, const struct psn_packet *p, uint64_t position)
{
	for (int i = 0; i < PSN_SAMPLES; i++)
		if (s->sample[i].set && s->sample[i].position == position && s->sample[i].what != p->what)
			return true;
	return false;
}

/* Without memory the probation has only its last packet. */
static void another_add(struct psn_probation *t, const struct psn_packet *p, uint64_t position)
{
	if (t->count == t->room && t->room < LONGEST_RUN) {
		uint32_t room = t->room ? 2 * t->room : 2 * ENOUGH;
		void *positions = realloc(t->position, room * sizeof(*t->position));
		void *packets = positions ? realloc(t->packet, room * sizeof(*t->packet)) : NULL;

		t->position = positions ? positions : t->position;
		t->packet = packets ? packets : t->packet;
		t->room = packets ? room : t->room;
	}
	if (t->count == t->room)
		t->count -= t->count > 0;
	if (t->count < t->room) {
		t->position[t->count] = position;
		t->packet[t->count++] = *p;
	}
	t->row = position == t->next ? t->row + 1 : 0;
	if (t->count == 1 || position >= t->next)
		t->next = position + 1;
}

static void another_begin(struct truth_psn *s, const struct psn_packet *p, uint64_t position, int kind)
{
	struct psn_probation *t = &s->probation;

	t->kind = kind;
	t->count = 0;
	t->next = position - 1;
	t->differs = false;
	t->interleaved = s->has_interleaved && ((p->psn - s->interleaved_next) & TRUTH_PSN_MASK) <= WINDOW;
	another_add(t, p, position);
}

static void another_lose(struct truth_psn *s)
{
	struct psn_probation *t = &s->probation;

	if (t->kind != SEEN_BEFORE) {
		*(t->interleaved ? &s->interleaved : &s->strays) += t->count;
		s->interleaved_next = t->next;
		s->has_interleaved = true;
	}
	t->kind = NO_PROBATION;
}

static void another_win(struct truth_psn *s)
{
	struct psn_probation *t = &s->probation;
	uint64_t duplicates = s->duplicates, unknown = s->unknown;

	s->by_run = t->kind == SEEN_BEFORE;
	t->kind = NO_PROBATION;
	s->restarted = true;
	s->resyncs++;
	s->alternations += t->interleaved && s->alternations < 8;
	s->interleaved_next = s->next;
	s->has_interleaved = true;
	memset(s->sample, 0, sizeof(s->sample));
	start_at(s, t->position[0]);
	for (uint32_t i = 0; i < t->count; i++) {
		bool next = t->position[i] == s->next;

		place(s, &t->packet[i], t->position[i], WINDOW);
		if (next)
			remember(s, &t->packet[i], t->position[i]);
	}
	s->duplicates = duplicates; /* that they were when they came */
	s->unknown = unknown;
}

/* A run from before the first packet seen is a part of the sequence. */
static void join(struct truth_psn *s)
{
	struct psn_probation *t = &s->probation;

	if (t->position[0] >= s->begin || t->differs)
		return;
	s->begin = t->position[0];
	s->sample[0].set = t->packet[0].reliable && !t->packet[0].response;
	s->sample[0].position = s->begin;
	s->sample[0].what = t->packet[0].what;
}

/* A packet that was seen before, or is too old to know. */
static void seen_before(struct truth_psn *s, const struct psn_packet *p, uint64_t position)
{
	struct psn_probation *t = &s->probation;
	bool near = position + WINDOW >= t->next && position <= t->next + WINDOW, wins;

	if (t->kind == NO_PROBATION && position + 1 == s->next)
		return; /* the newest one again: both sequences would go on alike */
	if (t->kind != NO_PROBATION && (position == t->next || (p->reliable && near))) {
		another_add(t, p, position);
	} else if (p->reliable || p->begins) {
		another_begin(s, p, position, SEEN_BEFORE);
	} else {
		t->kind = NO_PROBATION;
		return;
	}
	t->differs |= is_another(s, p, position);
	if (p->reliable) {
		wins = t->differs && t->row >= 1;
		wins |= t->count >= LONGEST_RUN;
	} else {
		wins = t->row >= 2 && (position >= s->begin + 2 || s->next >= s->begin + ENOUGH);
	}
	if (wins)
		another_win(s);
	else if (p->reliable && position == s->begin)
		join(s);
}

static int another_kind(const struct psn_packet *p, int32_t d)
{
	if (d > 0 && p->free_jump)
		return NO_PROBATION;
	if (d > WINDOW)
		return d > LARGEST_GAP ? FAR_AWAY : AFTER_LARGE_GAP;
	if (d >= -REACH || (p->reliable && (p->response || d >= -RETRANSMITTED)))
		return NO_PROBATION;
	return FAR_AWAY;
}

/* Whether a packet that would carry the sequence off waits. */
static bool waits(struct truth_psn *s, const struct psn_packet *p, uint64_t position, int kind)
{
	struct psn_probation *t = &s->probation;
	int32_t d = psn_distance(t->next, p->psn);
	uint32_t enough = t->interleaved ? 1u << 2 * s->alternations : 1;

	if (t->kind == AFTER_LARGE_GAP &&
	    (kind == AFTER_LARGE_GAP || (position >= t->position[0] && position <= t->position[0] + LARGEST_GAP))) {
		if (position == t->position[0])
			return true;
		t->kind = NO_PROBATION;
		place(s, &t->packet[0], t->position[0], REACH);
		kind = another_kind(p, psn_distance(s->next, p->psn));
		if (kind != NO_PROBATION) /* it may be behind a large gap itself */
			another_begin(s, p, position, kind);
		return kind != NO_PROBATION;
	}
	if (t->kind == FAR_AWAY && d >= -FAR && d <= LARGEST_GAP) {
		another_add(t, p, t->next + d);
		if (t->row >= enough || t->count >= ENOUGH * enough)
			another_win(s);
		return true;
	}
	if (t->kind != NO_PROBATION)
		another_lose(s);
	another_begin(s, p, position, kind);
	return true;
}

enum arrival truth_psn_judge(struct truth_psn *s, const struct psn_packet *p, uint64_t *position)
{
	int32_t d = psn_distance(s->next, p->psn);
	struct psn_probation *t = &s->probation;
	enum arrival arrival;
	int kind;

	*position = s->next + d;
	kind = another_kind(p, d);
	if (p->free_jump && d < -REACH) {
		start_at(s, *position);
		t->kind = NO_PROBATION;
	}
	if (kind != NO_PROBATION && waits(s, p, *position, kind))
		return ELSEWHERE;
	if (d < 0 && -d <= (int32_t)s->unknown_psns)
		s->next = *position; /* it is the one that an unknown opcode seemed to be */
	if (d >= 0 || -d <= (int32_t)s->unknown_psns)
		s->unknown_psns = 0;
	arrival = place(s, p, *position, REACH);
	if (arrival == IN_ORDER || arrival == AFTER_GAP) {
		remember(s, p, *position);
		s->alternations -= s->alternations && *position % 65536 == 0;
	}
	if ((t->kind == AFTER_LARGE_GAP && s->next > t->position[0]) || t->kind == FAR_AWAY ||
	    (t->kind == SEEN_BEFORE && arrival != AGAIN && !(arrival == RECOVERED && p->reliable))) {
		if (t->kind == SEEN_BEFORE)
			join(s);
		another_lose(s);
	} else if (t->kind == SEEN_BEFORE || (t->kind == NO_PROBATION && arrival == AGAIN))
		seen_before(s, p, *position);
	return arrival;
}
