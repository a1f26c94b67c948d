/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `rocescope verbs` on a terminal: the QPs of this machine, the worst first, and a page of each. */
#ifndef USERSPACE_RENDER_SCREEN_QP_SCREEN_H
#define USERSPACE_RENDER_SCREEN_QP_SCREEN_H

#include "lib/terminal/lines.h"
#include "userspace/render/output/view_verbs.h"

struct qp_screen;

/*
 * Takes the terminal (standard input and output). filter: the text of --filter, already checked; NULL: none. Returns NULL if
 * the terminal cannot show a table, and a line on stderr says why.
 */
struct qp_screen *qp_screen_begin(const char *filter);

/* The filter that holds now, which rows must be made with: the user may have typed another one. NULL: all QPs. */
const struct filter *qp_screen_filter(const struct qp_screen *s);

/* Call it each interval. What is shown is valid only during the call, as below. */
void qp_screen_show(struct qp_screen *s, const struct verbs_shown *shown);

/* Call it when keys came or the size has changed. rows: those of `shown`, which a new filter selects anew. false: the user quits. */
bool qp_screen_key(struct qp_screen *s, const struct verbs_shown *shown, struct qp_rows *rows);

/* Restores the terminal and frees the screen. s: may be NULL. */
void qp_screen_end(struct qp_screen *s);

/* Adds what is known of one QP: settings, calls, latency and history. */
void qp_page(struct lines *l, const struct qp_row *r, const struct verbs_shown *shown);

/* Adds what is known besides QPs: notes, counters, completion queues and shared receive queues. */
void qp_host_page(struct lines *l, const struct verbs_shown *shown);

#endif
