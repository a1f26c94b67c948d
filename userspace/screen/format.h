/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers, times and names in as many columns as the table gives them. Nothing here knows a terminal. */
#ifndef USERSPACE_SCREEN_FORMAT_H
#define USERSPACE_SCREEN_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define CELL 96 /* bytes of a cell, the end included */

/* 7 columns at most: 9999999, then 12.35M, 1.234G, ... */
void format_count(char to[CELL], __u64 n);

/* A rate in 6 columns at most: four digits, and k, M, G, ... for thousands of them: 0, 0.250, 13.14, 1.234G. */
void format_rate(char to[CELL], double rate);

/* How long ago, 4 columns at most: now, 12s, 5m, 3h, 12d. */
void format_ago(char to[CELL], double seconds);

/* A duration as a clock shows it: 0:01:23, 100:00:00. */
void format_clock(char to[CELL], double seconds);

/* Time of day, here, of ns since 1970: 17:04:05.123 */
void format_time(char to[CELL], __u64 ns);

/* A latency: 850 ns, 12.3 us, 4.56 ms, 1.20 s. */
void format_latency(char to[CELL], __u64 ns);

/* Bytes: 512 B, 16.0 KiB, 8.0 MiB. */
void format_bytes(char to[CELL], __u64 bytes);

/* `text` with everything that is no printable ASCII as '?': names come from elsewhere, and may hold escape sequences. */
void format_safe(char *to, size_t size, const char *text);

/* `text` in `width` columns; where that is too few, its middle is left out and marked by '~'. */
void format_short(char *to, size_t width, const char *text);

/* "a > b" in at most `width` columns (9 to CELL - 1). */
void format_path(char to[CELL], size_t width, const char *a, const char *b);

/* ---- a history of one figure, drawn as a row of bars ---- */

#define SPARK_SAMPLES 256
#define SPARK_LEVELS 9 /* 0: there was no sample yet; 1: zero; 2 to 8: up to the highest shown */

struct spark {
	double sample[SPARK_SAMPLES]; /* a ring */
	__u64 count;
};

void spark_add(struct spark *s, double sample);

/* Of the last `cells` samples, the newest at the right; returns the highest of them. */
double spark_levels(const struct spark *s, size_t cells, __u8 *level);

/* The same as text, a character a cell: blocks in UTF-8 (3 bytes each), or ASCII. to: 3 * cells + 1 bytes. */
double spark_text(const struct spark *s, size_t cells, bool utf8, char *to);

#endif
