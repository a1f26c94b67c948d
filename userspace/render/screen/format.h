/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Formats numbers, times and names in a given width. Needs no terminal. */
#ifndef USERSPACE_RENDER_SCREEN_FORMAT_H
#define USERSPACE_RENDER_SCREEN_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define CELL 96 /* bytes of a cell, the end included */

/* A count in at most 7 columns: 9999999, then 12.35M, 1.234G, ... */
void format_count(char to[CELL], __u64 n);

/*
 * A rate in at most 6 columns, with up to four digits and k, M, G, ...: 0, 0.250, 13.14, 1.234G. known: how exactly it is known;
 * digits behind the point that say less are left out: 75 instead of 74.99 with 1.
 */
void format_rate(char to[CELL], double rate, double known);

/* How long ago, in at most 4 columns: now, 12s, 5m, 3h, 12d. */
void format_ago(char to[CELL], double seconds);

/* A duration: 0:01:23, 100:00:00. */
void format_clock(char to[CELL], double seconds);

/* The local time of day: 17:04:05.123. ns: since 1970. */
void format_time(char to[CELL], __u64 ns);

/* A latency: 850 ns, 12.3 us, 4.56 ms, 1.20 s. */
void format_latency(char to[CELL], __u64 ns);

/* Bytes: 512 B, 16.0 KiB, 8.0 MiB. */
void format_bytes(char to[CELL], __u64 bytes);

/* ---- the history of one figure, drawn as a row of bars ---- */

#define SPARK_SAMPLES 256
#define SPARK_LEVELS 9 /* 0: no sample yet; 1: zero; 2 to 8: up to the highest sample */

struct spark {
	double sample[SPARK_SAMPLES]; /* a ring */
	__u64 count;
};

void spark_add(struct spark *s, double sample);

/* Sets the levels of the last `cells` samples, the newest at the right. Returns the highest sample. */
double spark_levels(const struct spark *s, size_t cells, __u8 *level);

/* The same as text, one character for each cell: blocks in UTF-8 (3 bytes each), or ASCII. to: 3 * cells + 1 bytes. */
double spark_text(const struct spark *s, size_t cells, bool utf8, char *to);

#endif
