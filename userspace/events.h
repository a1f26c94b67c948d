/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `monitor --events` and `--on-fault`: every fault as a line or as a rocescope.event/1 object, and a command that is told. */
#ifndef USERSPACE_EVENTS_H
#define USERSPACE_EVENTS_H

#include <stdio.h>

#include "userspace/filter.h"
#include "userspace/taken.h"

#define EVENTS_LIMIT 10 /* of a stream and second, where nothing is said */

struct events_options {
	bool print, json;
	const char *command; /* run by the shell, with the event as JSON on its standard input; NULL */
	const struct filter *filter;
	const char *const *interfaces; /* their names, by their place in live_options */
};

struct events;

/* out: where they are printed. NULL: no memory. */
struct events *events_begin(const struct events_options *o, FILE *out);

/* One packet that was taken: printed, and the command is run, at most one at a time. 0, or an errno of printing. */
int events_see(struct events *e, const struct taken_packet *p);

/* To be called now and then: what the command did, what was left out meanwhile. */
void events_tick(struct events *e);

/* Waits a second for the command. May be NULL. */
void events_end(struct events *e);

#endif
