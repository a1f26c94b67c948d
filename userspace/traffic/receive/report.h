/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a receiver has taken and refused: as JSON (docs/json.md, "Receive"), and as lines for people. */
#ifndef USERSPACE_TRAFFIC_RECEIVE_REPORT_H
#define USERSPACE_TRAFFIC_RECEIVE_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "userspace/traffic/receive/maps.h"
#include "userspace/traffic/receive/server.h"
#include "userspace/traffic/receive/setup.h"

/* Since the receiver began. */
struct receive_totals {
	__u64 packets, bytes; /* taken; bytes of payload */
	__u64 messages, incomplete;
	__u64 passed; /* to whoever else owns the port */
	__u64 unsent; /* answers that could not be made */
	__u64 transmit_errors;
	__u64 records_lost;
	__u64 answers[RECEIVE_ANSWERS];
	__u64 refused[ROCE_REFUSALS];
	struct receive_example example[ROCE_REFUSALS]; /* of a reason that there was */
};

struct receive_report {
	const struct receive_setup *setup;
	const struct receive_maps *maps;
	struct receive_server *server; /* NULL: there is none */
	__u64 transmit_errors; /* that the device had before */
	/* printed so far */
	struct receive_totals before;
	double seconds;
	__u64 runs;
};

void receive_totals_read(const struct receive_report *r, struct receive_totals *to);

/* By enum receive_answer. */
extern const char *const receive_answer_names[RECEIVE_ANSWERS];

/* NULL: no memory. */
json_t *receive_report_json(const struct receive_report *r);

/* Prints a line with what is new since the last call, and one for each run that has ended. seconds: since the start. */
void receive_report_line(struct receive_report *r, FILE *out, double seconds);

/* Prints the totals. */
void receive_report_summary(struct receive_report *r, FILE *out, double seconds);

/* Writes what a sender without a control connection must know. false: it cannot, which is reported. */
bool receive_tell(const struct receive_setup *s, const struct receive_maps *m);

/* Writes the memory to --dump. Returns as receive_tell(). */
bool receive_dump(const struct receive_options *o, const struct receive_maps *m);

#endif
