/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tracks which numbers of a sequence 0, 1, 2, ... were seen. Exact under loss, reordering and duplication, unless a number
 * comes more than GAPS_WINDOW numbers late. Fixed memory: one bit per number of the window.
 */
#ifndef USERSPACE_TRAFFIC_STREAMS_GAPS_H
#define USERSPACE_TRAFFIC_STREAMS_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#define GAPS_WINDOW	(1u << 18)

struct gaps {
	uint64_t next;		/* highest number seen + 1 */
	uint64_t seen;		/* distinct numbers seen */
	uint64_t duplicates;
	uint64_t late;		/* older than the window: new or duplicate is unknown; not in `seen` */
	uint64_t bits[GAPS_WINDOW / 64];
};

enum gaps_verdict { GAPS_NEW, GAPS_DUPLICATE, GAPS_LATE };

/* `g` starts as zeroes. */
enum gaps_verdict gaps_see(struct gaps *g, uint64_t number);

/* Whether all of first .. first + count - 1 were seen. false if they reach back beyond the window. */
bool gaps_all_seen(const struct gaps *g, uint64_t first, uint64_t count);

/*
 * The first run of numbers in from .. end - 1 that were not seen: returns its begin; *count 0: there is none. `from` is at most
 * GAPS_WINDOW before `next`.
 */
uint64_t gaps_missing(const struct gaps *g, uint64_t from, uint64_t end, uint64_t *count);

/* How many of 0 .. total - 1 were not seen. total: 0 if unknown; then losses at the end are not counted. */
uint64_t gaps_lost(const struct gaps *g, uint64_t total);

/* The number nearest `g->next` with these low 32 bits, for numbers that are sent as 32 bits. */
uint64_t gaps_widen(const struct gaps *g, uint32_t low);

#endif
