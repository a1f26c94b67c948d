/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rocescope.verbs/1 and rocescope.qpchange/1 (docs/json.md), and the same for people. */
#ifndef USERSPACE_RENDER_OUTPUT_VIEW_VERBS_H
#define USERSPACE_RENDER_OUTPUT_VIEW_VERBS_H

#include <stdio.h>

#include "userspace/diagnose/qp_error/why.h"
#include "userspace/observe/verbs/qp_rows.h"
#include "userspace/observe/verbs/resources.h"
#include "userspace/render/output/text_table.h"

/* What is shown of one reading. */
struct verbs_shown {
	const struct qp_rows *rows;
	const struct verbs_cq *cqs;
	size_t cq_count;
	const struct verbs_srq *srqs;
	size_t srq_count;
	const struct verbs_cost *cost; /* NULL: no probes */
	const struct host_counter *counters;
	size_t counter_count;
	const char *const *notes;
	size_t note_count;
	const struct verbs_resources *resources; /* NULL: not read */
	const char *filter;    /* its text; NULL: none */
	double seconds;	       /* since the start */
	__u64 now;	       /* ns, CLOCK_MONOTONIC: of the reading */
	__u64 realtime_offset; /* CLOCK_REALTIME minus CLOCK_MONOTONIC, ns */
	void (*why)(void *context, const struct verbs_qp *q, struct why_verdict *verdict); /* why a QP is as it is; NULL: nobody knows */
	void *context;
};

/* Of what is open, at this reading. filter: see the struct. */
struct verbs_shown verbs_shown(const struct verbs *v, const struct qp_rows *rows, const char *filter, double seconds);

/* Each prints all of it: an object on a line, or text. Returns 0, or -1 with errno. */
int verbs_json(FILE *out, const struct verbs_shown *s);
int verbs_lines(FILE *out, const struct verbs_shown *s);

/* The same of an event. */
int verbs_event_json(FILE *out, const struct verbs_event *e, __u64 realtime_offset);
int verbs_event_line(FILE *out, const struct verbs_event *e, __u64 realtime_offset);

#define VERBS_EVENT_WORDS 512

/* The table of QPs, begun; its rows are struct qp_row. */
struct text_table verbs_table(void);

/* "31000 calls/s x 0.90 us = 2.8 % of a core; 2000 polls/s that found nothing: 0.2 %" */
#define VERBS_COST_WORDS 160
void verbs_cost_words(char to[VERBS_COST_WORDS], const struct verbs_cost *c);

/* What happened to a QP, in words, without time and QP: "RTS (was RTR): timeout 14, retries 7". */
void verbs_step_words(char to[VERBS_EVENT_WORDS], const struct verbs_step *s);

/* "10.9.0.2:17": the peer's address and QPN, as far as they are known. */
struct verbs_peer {
	char text[80];
} verbs_peer(const struct verbs_qp *q);

/* What there is to be said of a QP, briefly: "RETRY_EXC_ERR", "no completion for 2.00s"; "" if there is nothing. Returns whether it is a fault. */
#define VERBS_REMARK 64
bool verbs_remark(char to[VERBS_REMARK], const struct qp_row *r);

#endif
