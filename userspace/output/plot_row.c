// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "userspace/output/plot_row.h"

#define SHIFT_FIRST 10 /* bins of 1.024 us */

struct plot_cell *plot_row_cell(struct plot_row *r, __u64 number)
{
	return &r->cell[number % PLOT_BINS];
}

/* from: later than what is in `to`. */
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
