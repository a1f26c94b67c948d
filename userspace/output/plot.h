/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A picture of a capture: the rate over time, and PSNs over time of the streams with most faults (of the busiest, if none
 * has one), by gnuplot. Memory depends neither on the capture's length nor on its streams: of each shard PLOT_TRACKS
 * streams are followed. When another one has more than twice as many faults, or packets, as the least of them, it takes its
 * place.
 */
#ifndef USERSPACE_OUTPUT_PLOT_H
#define USERSPACE_OUTPUT_PLOT_H

#include <stdio.h>

#include "userspace/model/faults.h"
#include "userspace/model/filter.h"
#include "userspace/offline/analysis.h"

/* ---- a row of bins ---- */

#define PLOT_BINS 512

enum plot_mark { MARK_LOST, MARK_AGAIN, MARK_RESYNC, MARK_BAD, PLOT_MARKS };

struct plot_cell {
	__u64 packets, bytes;
	__u64 psn; /* + 1, counted on beyond 24 bits, of the last packet that went forward; 0: none */
	__u32 mark[PLOT_MARKS]; /* so many packets */
};

/*
 * What happened when, in memory that does not grow with time: PLOT_BINS bins of equal width, a power of two of ns. When a
 * time does not fit in, each two bins become one. What is in them then depends on the frames and their times alone.
 */
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

/* ---- the plot ---- */

#define PLOT_TRACKS 16
#define PLOT_STREAMS 8 /* drawn */

struct plot_track {
	struct roce_key key;
	struct fault_rank rank;
	struct plot_row row;
};

struct plot {
	const struct filter *filter; /* streams that it does not want make room for others; NULL: all */
	struct plot_row *rate[ANALYSIS_SHARDS]; /* NULL: nothing was seen */
	struct plot_track *track[ANALYSIS_SHARDS][PLOT_TRACKS];
	__u32 failed; /* there was no memory for a part of it */
};

/* Whether the name ends with .svg or .png. */
bool plot_is_name(const char *path);

/* filter: may be NULL; else it has to live as long. NULL: no memory. */
struct plot *plot_new(const struct filter *filter);

/* To be called for every frame, by any thread, as analysis_settings.see is. */
void plot_see(struct plot *p, const struct analysis_seen *seen);

/*
 * Draws into a file: the rate of all that was seen, and streams of those that snapshot_shown() has. s: finished; title: stands above. false: it could not, which was said in one line on stderr.
 */
bool plot_write(struct plot *p, const struct snapshot *s, const char *title, const char *path);

/* p: may be NULL. */
void plot_free(struct plot *p);

/* ---- by plot_draw.c ---- */

struct plot_picture {
	const struct snapshot *snapshot;
	const char *title;
	bool svg;
	struct plot_row rate;
	struct plot_track *track[PLOT_STREAMS];
	const struct snapshot_stream *stream[PLOT_STREAMS];
	size_t tracks;
	bool faulty; /* they were chosen by their faults */
};

/* gnuplot's commands for it. */
void plot_draw(FILE *out, struct plot_picture *picture);

#endif
