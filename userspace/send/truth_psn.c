// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "userspace/send/truth_psn.h"

enum {
	LARGEST_GAP = 65535,
	WINDOW = 1024,		/* a PSN this close that was not skipped is a duplicate for every service */
	RANGES = 2048,		/* most ranges of missing PSNs, whatever lies between them */
	FIRST_RANGES = 16,
};

/* Positions begin so high that none becomes negative. */
#define POSITIONS (1ull << 40)

void truth_psn_start(struct truth_psn *s, uint32_t psn)
{
	s->next = POSITIONS + psn;
	s->count = s->stepped = 0;
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

enum arrival truth_psn_jump(struct truth_psn *s, uint32_t psn, bool free_jump, bool reliable, uint64_t *position)
{
	int32_t d = (int32_t)((psn - (uint32_t)s->next) << 8) >> 8;
	enum arrival arrival = AFTER_GAP;

	*position = s->next + d;
	if (d < 0) {
		if (find(s, *position)) {
			s->recovered++;
			return RECOVERED;
		}
		if (d >= -WINDOW || reliable) {
			s->duplicates++;
			return AGAIN;
		}
	}
	if (d < 0 || (d > LARGEST_GAP && !free_jump)) {
		s->resyncs++;
		s->count = 0;
		arrival = ELSEWHERE;
	} else if (free_jump) {
		arrival = IN_ORDER;
	} else {
		s->gaps++;
		s->skipped += d;
		miss(s, s->next, *position);
	}
	s->next = *position + 1;
	return arrival;
}
