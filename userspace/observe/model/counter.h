/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What roce/stream/counters.def says of each counter, as tables for the views and for what judges. */
#ifndef USERSPACE_OBSERVE_MODEL_COUNTER_H
#define USERSPACE_OBSERVE_MODEL_COUNTER_H

#include "roce/stream/stream.h"

/* The counters in display order, and their names. */
extern const enum roce_counter counter_order[ROCE_COUNTERS];
extern const char *const counter_names[ROCE_COUNTERS];

/* The streams that have a counter (snapshot_has()). */
enum counter_of { OF_NONE, OF_ALL, OF_ROCE, OF_V1, OF_UDP, OF_REQUEST, OF_RESPONSE, OF_MESSAGE, OF_SEQUENCE, OF_NUMBER };

/* SIGN: of a fault that another counter counts. */
enum counter_severity { SEVERITY_NONE, SEVERITY_SIGN, SEVERITY_LESSER, SEVERITY_FAULT };

struct counter_facts {
	enum roce_scope scope;
	enum counter_of of;
	enum counter_severity severity;
	bool red; /* people should notice it once it is above zero */
};

extern const struct counter_facts counter_facts[ROCE_COUNTERS];

/* A sum of `counter` over the streams of `service`, whose counters of sequence and messages stay out of the totals. */
struct counter_sum {
	bool is_sum;
	enum roce_service service;
	enum roce_counter counter;
};

extern const struct counter_sum counter_sums[ROCE_COUNTERS];

/* The lines in which totals are displayed: of the text, and of the head above the table. */
enum counter_line {
	TEXT_FRAMES, TEXT_PAUSES, TEXT_ICRC, TEXT_PSN, TEXT_MESSAGES, TEXT_BLOCKS, TEXT_UDP, TEXT_UNSEEN,
	TABLE_PSN, TABLE_MESSAGES, TABLE_BAD, TABLE_ICRC, TABLE_UDP, TABLE_UNSEEN,
	COUNTER_LINES
};

#define COUNTER_PLACES 12 /* most counters of a line */

struct counter_shown {
	enum roce_counter counter;
	const char *label; /* NULL: nothing has this place */
	bool always;	   /* also if it is 0 */
};

extern const struct counter_shown counter_lines[COUNTER_LINES][COUNTER_PLACES];

#endif
