/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The JSON object that a stream program prints at its end (rocescope.stream/1), and its progress line. */
#ifndef USERSPACE_TRAFFIC_STREAMS_REPORT_H
#define USERSPACE_TRAFFIC_STREAMS_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "userspace/traffic/streams/cpu.h"
#include "userspace/traffic/streams/histogram.h"
#include "userspace/traffic/streams/windows.h"

#define STREAM_UNKNOWN	UINT64_MAX	/* null in JSON */

enum stream_answer { STREAM_NOT_ASKED, STREAM_NO, STREAM_YES };

struct stream_report {
	const char *transport;		/* udp, tcp, af-xdp, dpdk-udp, rc, uc, ud */
	bool send;
	uint64_t size;
	unsigned int flows;
	uint64_t messages, messages_lost, packets, packets_lost;
	uint64_t payload_bytes;		/* of all packets, also those of incomplete messages */
	uint64_t run_ns;		/* first packet to last; like the numbers above it may be STREAM_UNKNOWN */
	struct windows windows;		/* of what a receiver took; none of a sender */
	struct cpu_meter cpu;
	const struct histogram *latency;	/* ns; NULL: not measured */
	bool ping_pong;			/* that is half of the round trip */
	enum stream_answer end_seen;
	json_t *payload;		/* what a receiver verified of it; NULL: not asked */
	json_t *drops, *extra;		/* from report_drop() and report_extra() */
	const char *error;		/* what ended the run early; NULL: nothing */
};

/* Adds packets dropped at a place that has its own counter. */
void report_drop(struct stream_report *report, const char *place, uint64_t count);

/* Adds a field that only some programs have. docs/json.md and docs/schema/stream.schema.json list it as optional. */
void report_extra(struct stream_report *report, const char *name, uint64_t value);

/*
 * Adds what arrived of several flows (or QPs), messages of report->size: `flow_messages`, and the distribution of their goodput in the
 * time of the run, `flow_gbps`. A quantile is by the nearest rank: the least figure that so many flows do not exceed.
 */
void report_flows(struct stream_report *report, const uint64_t *messages, unsigned int flows);

/* Parts of the object: null if no window counts. */
json_t *report_windows(const struct windows *w);
json_t *report_cpu(const struct cpu_meter *m);

/* Prints to stdout, as one JSON object or as text. Frees payload, drops and extra. */
void report_print(struct stream_report *report, bool json);

/* Prints a line to stderr once a second, if that is a terminal. packets, bytes: totals so far. */
void report_progress(uint64_t now, uint64_t packets, uint64_t bytes);

#endif
