/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `monitor --events` and `--on-fault`: every fault as a line or as rocescope.event/1 objects, and a command that is told.
 * What is a fault is what analyze lists as one (userspace/model/faults.h).
 */
#ifndef USERSPACE_OUTPUT_EVENTS_H
#define USERSPACE_OUTPUT_EVENTS_H

#include <stdio.h>

#include "userspace/live/taken.h"
#include "userspace/model/filter.h"

#define EVENTS_WAITING (1 << 20) /* bytes of JSON that wait for the command at most */

struct events_options {
	bool print, json;
	const char *command; /* run by the shell, with events as JSON on its standard input, one a line; NULL */
	bool quiet; /* the terminal is a table's: nothing is said before events_end(), and the command's output is dropped */
	const struct filter *filter;
	const char *const *interfaces; /* their names, by their place in live_options */
};

struct events;

/* out: where they are printed. NULL: no memory. */
struct events *events_begin(const struct events_options *o, FILE *out);

/* What of a packet's event is a fault, as a set of ROCE_EVENT(). packet: its bytes, parsed. */
__u32 events_faults(const struct taken_packet *p, const struct roce_packet *packet);

/*
 * One packet that was taken. known: its stream as it was in the last snapshot, NULL. It is printed; the command is run, one at
 * a time: what comes while it runs waits, and is told to the next one together. 0, or an errno of printing.
 */
int events_see(struct events *e, const struct taken_packet *p, const struct roce_packet *packet,
	       const struct snapshot_stream *known);

/*
 * To be called some times a second, and a last time: what was printed is written, what the command did is looked at, and once
 * a second what was left out is told: by the limit (taken_suppressed()), and for want of room (taken_lost()). 0, or an errno.
 */
int events_tick(struct events *e, __u64 suppressed, __u64 lost, bool last);

/* Waits a second for the command, and says how it went. May be NULL. */
void events_end(struct events *e);

#endif
