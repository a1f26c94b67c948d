/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `monitor --events` and `--on-fault`: prints every fault as a line or as rocescope.event/1 objects, and runs a command that
 * receives the objects on its standard input. A fault is what `analyze` lists as one (userspace/observe/model/faults.h).
 */
#ifndef USERSPACE_RENDER_OUTPUT_EVENTS_H
#define USERSPACE_RENDER_OUTPUT_EVENTS_H

#include <stdio.h>

#include "userspace/observe/live/taken.h"
#include "userspace/observe/model/filter.h"

#define EVENTS_WAITING (1 << 20) /* bytes of JSON that wait for the command, at most */

struct events_options {
	bool print, json;
	const char *command; /* run by the shell; its standard input has one JSON object a line; NULL: none */
	bool quiet; /* the table is on the terminal: no message before events_end(), and the command's output is dropped */
	const struct filter *filter;
	const char *const *interfaces; /* their names, by index in live_options; read at each event */
};

struct events;

/* out: where events are printed. NULL: no memory. */
struct events *events_begin(const struct events_options *o, FILE *out);

/* The faults among a packet's events, as a set of ROCE_EVENT(). packet: the parsed bytes of `p`. */
__u32 events_faults(const struct taken_packet *p, const struct roce_packet *packet);

/*
 * Reports the faults of one packet: prints them, and passes them to the command. Only one command runs at a time. Faults that
 * come while it runs wait, and the next one gets them together. known: the packet's stream in the last snapshot; NULL: it has
 * none. Returns 0, or the errno of a failed write.
 */
int events_see(struct events *e, const struct taken_packet *p, const struct roce_packet *packet,
	       const struct snapshot_stream *known);

/*
 * Call it several times a second, and once at the end with `last`. Flushes the output and checks on the command. Once a second
 * it reports packets that were left out: by the limit (taken_suppressed()), and for lack of room (taken_lost()). Returns 0, or
 * an errno.
 */
int events_tick(struct events *e, __u64 suppressed, __u64 lost, bool last);

/* Waits a second for the command, and reports its failures. e: may be NULL. */
void events_end(struct events *e);

#endif
