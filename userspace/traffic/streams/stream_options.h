/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of all stream programs: `PROGRAM send|recv OPTIONS` (docs/json.md). */
#ifndef USERSPACE_TRAFFIC_STREAMS_STREAM_OPTIONS_H
#define USERSPACE_TRAFFIC_STREAMS_STREAM_OPTIONS_H

#include "lib/number.h"
#include "lib/option.h"

struct stream_options {
	bool send;
	uint64_t size;		/* bytes of a message */
	bool size_given;
	struct rate rate;	/* bits of messages, or packets; 0: unlimited */
	double duration;	/* s; 0: not given */
	uint64_t messages;	/* over all flows; 0: not given */
	unsigned int flows;
	bool ping_pong;		/* one message at a time, each answered; only of a sender */
	bool json;
	uint16_t port;
	double idle;		/* s without packets after which a receiver ends */
	double wait;		/* s a receiver waits for its first packet */
	uint64_t pause_ms;	/* a receiver sleeps so long after each read */
	bool latency;
	uint32_t verify;	/* a receiver verifies the payload of one packet of so many; 0: of none */
};

/* A table for struct stream_options. */
extern const struct option_entry stream_entries[];

/* The arguments of each stream program's command. */
#define STREAM_ARGUMENTS "send|recv [OPTIONS]"

/*
 * Fills in `options`, the program's struct, which contains `common`. A mistake prints one line and exits with status 2. Returns
 * the index of the first argument behind `--` (argc if there is none).
 */
int stream_parse(const struct command *c, void *options, struct stream_options *common, int argc, char **argv);

#endif
