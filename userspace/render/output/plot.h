/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A picture of a capture, drawn by gnuplot: the rate over time, and PSNs over time of the streams with most faults. Without
 * faults it shows the busiest streams. Memory depends neither on the length of the capture nor on the number of streams: each
 * shard follows PLOT_TRACKS streams. Another stream replaces the least of them when it has more than twice as many faults, or
 * packets.
 */
#ifndef USERSPACE_RENDER_OUTPUT_PLOT_H
#define USERSPACE_RENDER_OUTPUT_PLOT_H

#include "userspace/observe/model/faults.h"
#include "userspace/observe/model/filter.h"
#include "userspace/observe/offline/analysis.h"

/* ---- a row of bins ---- */

#define PLOT_BINS 512

enum plot_mark { MARK_LOST, MARK_AGAIN, MARK_RESYNC, MARK_BAD, PLOT_MARKS };

struct plot_cell {
	__u64 packets, bytes;
	__u64 psn; /* PSN + 1 of the last packet that went forward, counted beyond 24 bits; 0: none */
	__u32 mark[PLOT_MARKS]; /* packets */
};

/*
 * Figures over time in memory that does not grow: PLOT_BINS bins of equal width, a power of two of ns. When a time does not
 * fit, each two bins become one. The content of the bins depends on the frames and their times only.
 */
struct plot_row {
	__u64 first, last; /* numbers of the first and the last bin in use: time >> shift */
	unsigned int shift;
	bool used;
	struct plot_cell cell[PLOT_BINS]; /* by number % PLOT_BINS; bins outside first .. last are zero */
};

/* The bin of a time. time: ns. */
struct plot_cell *plot_row_at(struct plot_row *r, __u64 time);

/* The bin of a number from first to last. */
struct plot_cell *plot_row_cell(struct plot_row *r, __u64 number);

/* Doubles the width: each two bins become one. */
void plot_row_coarsen(struct plot_row *r);

/* Adds all bins of `from`. Widens either row as needed. */
void plot_row_add(struct plot_row *to, struct plot_row *from);

/* ---- the plot ---- */

#define PLOT_TRACKS 16
#define PLOT_STREAMS 8 /* streams that are drawn */

struct plot_track {
	struct roce_key key;
	struct fault_rank rank;
	struct plot_row row;
};

struct plot {
	const struct filter *filter; /* streams that it leaves out are replaced first; NULL: all streams count */
	struct plot_row *rate[ANALYSIS_SHARDS]; /* NULL: the shard had no packet */
	struct plot_track *track[ANALYSIS_SHARDS][PLOT_TRACKS];
	__u32 failed; /* an allocation failed */
};

/* Whether the name ends with .svg or .png. */
bool plot_is_name(const char *path);

/* filter: may be NULL; must live as long as the plot. Returns NULL: no memory. */
struct plot *plot_new(const struct filter *filter);

/* Takes one frame. Any thread may call it, as analysis_settings.see. */
void plot_see(struct plot *p, const struct analysis_seen *seen);

/*
 * Draws a file: the rate of all packets, and streams of snapshot_shown(). s: finished. title: printed above the picture. false:
 * it failed, and one line on stderr says why.
 */
bool plot_write(struct plot *p, const struct snapshot *s, const char *title, const char *path);

/* p: may be NULL. */
void plot_free(struct plot *p);

/* ---- plot_draw.c ---- */

struct plot_picture {
	const struct snapshot *snapshot;
	const char *title;
	struct plot_row rate;
	struct plot_track *track[PLOT_STREAMS];
	const struct snapshot_stream *stream[PLOT_STREAMS];
	size_t tracks;
	bool faulty; /* the streams were chosen by their faults */
};

/* Draws the file. As plot_write(). */
bool plot_draw(struct plot_picture *picture, const char *path);

#endif
