/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The object a stream program prints when it ends (rocescope.stream/1), and its progress meanwhile. */
#ifndef LIB_REPORT_H
#define LIB_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/cpu.h"
#include "lib/histogram.h"

#define STREAM_UNKNOWN	UINT64_MAX	/* null in JSON */

enum stream_answer { STREAM_NOT_ASKED, STREAM_NO, STREAM_YES };

struct stream_report {
	const char *transport;		/* udp, dpdk-udp, rc, uc, ud */
	bool send;
	uint64_t size;
	unsigned int flows;
	uint64_t messages, messages_lost, packets, packets_lost;
	uint64_t payload_bytes;		/* of the packets: also of messages that are not complete */
	uint64_t run_ns;		/* first packet to last */
	struct cpu_meter cpu;
	const struct histogram *latency;	/* ns; NULL: not measured */
	enum stream_answer end_seen;
	json_t *drops, *extra;		/* by report_drop() and report_extra() */
	const char *error;		/* what ended the run too early; NULL: nothing did */
};

/* Packets dropped at a place that has a counter of its own. */
void report_drop(struct stream_report *report, const char *place, uint64_t count);

/* A field that only some programs have: docs/json.md and docs/schema/stream.schema.json list it as optional. */
void report_extra(struct stream_report *report, const char *name, uint64_t value);

/* To stdout, as one JSON object or for people; frees drops and extra. */
void report_print(struct stream_report *report, bool json);

/* Once a second a line on stderr, if that is a terminal. Totals so far. */
void report_progress(uint64_t now, uint64_t packets, uint64_t bytes);

#endif
