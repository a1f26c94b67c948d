/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which streams are wanted: `--filter`, and `/` in the table. Terms, all of which must hold, `or` between alternatives,
 * `not` (or !) before a term, and parentheses:
 *
 *     10.9.0.1                 source or destination; also a prefix, 10.9.0.0/24, and IPv6
 *     src 10.9.0.1  dst ...    only that side
 *     17  qpn 17  qpn 0x11     destination QPN, UD's source QPN, or the peer's QPN; of --udp the flow
 *     rc uc ud xrc udp         the service;  request, response: the side
 *     faulty                   what the tables call a stream with faults (userspace/model/faults.h), or not trusted
 *     untrusted                no right ICRC was seen
 *     lost icrc broken ...     a counter's name, or one of its usual words, or a lint's name: more than 0
 *     NAME<N NAME>=N ...       a counter or lint compared with a number;  packets: of whatever kind
 */
#ifndef USERSPACE_MODEL_FILTER_H
#define USERSPACE_MODEL_FILTER_H

#include "userspace/model/snapshot.h"

#define FILTER_MISTAKE 160

struct filter;

/* NULL, and what is wrong in `mistake`, in words with the place: the text is no filter. An empty one wants everything. */
struct filter *filter_parse(const char *text, char mistake[FILTER_MISTAKE]);

/* f may be NULL: everything is wanted. */
bool filter_wants(const struct filter *f, const struct snapshot_stream *s);

/*
 * The same of a stream as it is in the engine's hands. s: NULL for a packet that belongs to none, of which nothing but the
 * addresses in `key` is known: no other term holds.
 */
bool filter_wants_stream(const struct filter *f, const struct roce_key *key, const struct roce_stream *s);

/*
 * Chooses what views show of a finished snapshot: the streams that f wants. The totals stay those of all streams. f: NULL for
 * all; else it has to live as long as the snapshot. false: no memory.
 */
bool filter_snapshot(const struct filter *f, struct snapshot *s);

/* What it was parsed from. */
const char *filter_text(const struct filter *f);

void filter_free(struct filter *f);

#endif
