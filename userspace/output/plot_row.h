/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What happened when, in memory that does not grow with time: PLOT_BINS bins of equal width, a power of two of ns. When a
 * time does not fit in, each two bins become one. What is in them then depends on the frames and their times alone.
 */
#ifndef USERSPACE_OUTPUT_PLOT_ROW_H
#define USERSPACE_OUTPUT_PLOT_ROW_H

#include <linux/types.h>
#include <stdbool.h>

#define PLOT_BINS 512

enum plot_mark { MARK_LOST, MARK_AGAIN, MARK_RESYNC, MARK_BAD, PLOT_MARKS };

struct plot_cell {
	__u64 packets, bytes;
	__u64 psn; /* + 1, counted on beyond 24 bits, of the last packet that went forward; 0: none */
	__u32 mark[PLOT_MARKS]; /* so many packets */
};

struct plot_row {
	__u64 first, last; /* numbers of bins: time >> shift */
	unsigned int shift;
	bool used;
	struct plot_cell cell[PLOT_BINS]; /* by number % PLOT_BINS; those outside first .. last are zero */
};

/* The bin of this time, ns. */
struct plot_cell *plot_row_at(struct plot_row *r, __u64 time);

/* Bin `number` of first .. last. */
struct plot_cell *plot_row_cell(struct plot_row *r, __u64 number);

/* Each two bins become one. */
void plot_row_coarsen(struct plot_row *r);

/* Adds what another row holds. */
void plot_row_add(struct plot_row *to, struct plot_row *from);

#endif
