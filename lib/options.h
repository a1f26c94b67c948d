/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options all stream programs have (`PROG send|recv OPTIONS`, docs/json.md), and how a program adds its own. */
#ifndef LIB_OPTIONS_H
#define LIB_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

enum rate_unit { RATE_BITS, RATE_PACKETS };

struct rate {
	double per_second;	/* bits of messages, or packets; 0: as fast as it goes */
	enum rate_unit unit;
};

struct stream_options {
	bool send;
	uint64_t size;		/* bytes of a message */
	struct rate rate;
	double duration;	/* s; 0: not given */
	uint64_t messages;	/* over all flows; 0: not given */
	unsigned int flows;
	bool json;
	uint16_t port;
	double idle;		/* s without a packet after which a receiver ends */
	double wait;		/* s a receiver waits for its first packet */
	bool latency;
};

/* Values of a program's own long options start here. */
#define OPTION_OWN	0x1000

struct stream_program {
	const char *usage;		/* of its own options, for --help */
	const struct option *own;	/* ends with a zero entry */
	void (*take)(int value, const char *argument);
	uint16_t port;			/* default of --port */
};

/*
 * Fills `o` from the command line; what is wrong is said in one line, exit status 2. Returns the index of the first
 * argument behind `--` (argc if there is none).
 */
int options_parse(struct stream_options *o, const struct stream_program *program, int argc, char **argv);

/* "4096", "64K", "1M" (powers of 1024). false: no size, or 0. */
bool parse_size(const char *text, uint64_t *size);

/* "1Gbit", "2.5Mpps", "800kbit" (powers of 1000). */
bool parse_rate(const char *text, struct rate *rate);

/* Positive seconds, with a fraction if need be. */
bool parse_seconds(const char *text, double *seconds);

/* A decimal number of at most `max`. */
bool parse_number(const char *text, uint64_t max, uint64_t *number);

/* Decimal, or hexadecimal with 0x; neither signs nor octal numbers. *end: behind it. false: none, or beyond 64 bits. */
bool parse_whole(const char *text, uint64_t *number, char **end);

/* One line on stderr, exit status 2. */
__attribute__((noreturn, format(printf, 1, 2))) void usage_error(const char *format, ...);

#endif
