/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers in a command line's notation. Functions return false if the text is not such a number. */
#ifndef LIB_NUMBER_H
#define LIB_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum rate_unit { RATE_BITS, RATE_PACKETS };

struct rate {
	double per_second; /* bits or packets; 0: no limit */
	enum rate_unit unit;
};

/* "4096", "64K", "1M", "2G" (powers of 1024). 0 is not allowed. */
bool parse_size(const char *text, uint64_t *size);

/* "1Gbit", "2.5Mpps", "800kbit" (powers of 1000). */
bool parse_rate(const char *text, struct rate *rate);

/* Seconds above 0, fractions allowed. */
bool parse_seconds(const char *text, double *seconds);

/* A decimal number of at most `max`. */
bool parse_number(const char *text, uint64_t max, uint64_t *number);

/* At most 64 bits, decimal or hexadecimal with 0x; no signs, no octal numbers. *end: the first byte behind the number. */
bool parse_whole(const char *text, uint64_t *number, char **end);

#endif
