// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "roce/packet/base.h"
#include "userspace/traffic/streams/gaps.h"

static bool test_bit(const struct gaps *g, uint64_t n)
{
	return g->bits[n / 64 % (GAPS_WINDOW / 64)] >> n % 64 & 1;
}

static void set_bit(struct gaps *g, uint64_t n)
{
	g->bits[n / 64 % (GAPS_WINDOW / 64)] |= 1ull << n % 64;
}

static void clear_bits(struct gaps *g, uint64_t from, uint64_t to)
{
	if (to - from >= GAPS_WINDOW) {
		memset(g->bits, 0, sizeof(g->bits));
		return;
	}
	for (uint64_t n = from; n < to; n++)
		g->bits[n / 64 % (GAPS_WINDOW / 64)] &= ~(1ull << n % 64);
}

enum gaps_verdict gaps_see(struct gaps *g, uint64_t number)
{
	if (number >= g->next) {
		clear_bits(g, g->next, number);
		g->next = number + 1;
	} else if (g->next - number > GAPS_WINDOW) {
		g->late++;
		return GAPS_LATE;
	} else if (test_bit(g, number)) {
		g->duplicates++;
		return GAPS_DUPLICATE;
	}
	set_bit(g, number);
	g->seen++;
	return GAPS_NEW;
}

/* Searches backwards: with packets in order, the last number is the missing one. */
bool gaps_all_seen(const struct gaps *g, uint64_t first, uint64_t count)
{
	if (first + count > g->next || g->next - first > GAPS_WINDOW)
		return false;
	for (uint64_t n = first + count; n-- > first; )
		if (!test_bit(g, n))
			return false;
	return true;
}

uint64_t gaps_missing(const struct gaps *g, uint64_t from, uint64_t end, uint64_t *count)
{
	uint64_t known = g->next < end ? g->next : end, first = from, n;

	while (first < known && test_bit(g, first))
		first++;
	for (n = first; n < known && !test_bit(g, n); )
		n++;
	*count = (n < known ? n : end) - first;
	return first;
}

uint64_t gaps_lost(const struct gaps *g, uint64_t total)
{
	return (total > g->next ? total : g->next) - g->seen;
}

uint64_t gaps_widen(const struct gaps *g, uint32_t low)
{
	int64_t ahead = roce_distance(g->next, low, 32);

	if (ahead < 0 && g->next < (uint64_t)-ahead)
		return low;
	return g->next + ahead;
}
