/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers as people write them on a command line. Every function returns false where the text is no such number. */
#ifndef LIB_NUMBER_H
#define LIB_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum rate_unit { RATE_BITS, RATE_PACKETS };

struct rate {
	double per_second; /* bits or packets; 0: no limit */
	enum rate_unit unit;
};

/* "4096", "64K", "1M" (powers of 1024). 0 is no size. */
bool parse_size(const char *text, uint64_t *size);

/* "1Gbit", "2.5Mpps", "800kbit" (powers of 1000). */
bool parse_rate(const char *text, struct rate *rate);

/* Seconds above 0, with a fraction if need be. */
bool parse_seconds(const char *text, double *seconds);

/* A decimal number of at most `max`. */
bool parse_number(const char *text, uint64_t max, uint64_t *number);

/* Decimal, or hexadecimal with 0x; neither signs nor octal numbers; at most 64 bits. *end: the first byte behind the number. */
bool parse_whole(const char *text, uint64_t *number, char **end);

#endif
