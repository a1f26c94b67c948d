/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selects streams: `--filter`, and `/` in the table. A filter is a list of terms that must all hold, `or` between alternatives,
 * `not` (or !) before a term, and parentheses:
 *
 *     10.9.0.1                 source or destination; also a prefix, 10.9.0.0/24, and IPv6
 *     src=10.9.0.1  dst=...    only that side
 *     17  qpn=17  qpn=0x11     destination QPN, UD's source QPN, or the peer's QPN; of --udp the flow
 *     rc  service=rc ...       the service: rc uc ud xrc udp
 *     request  side=request    the side: request response
 *     faulty                   streams with faults (userspace/observe/model/faults.h), and untrusted ones
 *     untrusted                no right ICRC was seen
 *     lost icrc broken ...     a counter's name, or one of its usual words, or a lint's name: more than 0
 *     NAME<N NAME>=N ...       a counter or lint compared with a number;  packets: of all kinds
 *
 * Behind src, dst, qpn, service and side stands =, == or a blank, or != for `not`.
 */
#ifndef USERSPACE_OBSERVE_MODEL_FILTER_H
#define USERSPACE_OBSERVE_MODEL_FILTER_H

#include "userspace/observe/model/filter_language.h"
#include "userspace/observe/model/snapshot.h"

/* filter_make() for streams. */
struct filter *filter_parse(const char *text, char mistake[FILTER_MISTAKE]);

/* f: NULL selects all streams. */
bool filter_wants(const struct filter *f, const struct snapshot_stream *s);

/*
 * Like filter_wants(), for a stream of the engine. s: NULL for a packet without a stream: only the addresses in `key` are
 * known, and no other term holds.
 */
bool filter_wants_stream(const struct filter *f, const struct roce_key *key, const struct roce_stream *s);

/*
 * Selects the streams that views show of a finished snapshot. The totals stay those of all streams. f: NULL for all; must
 * outlive the snapshot. false: no memory.
 */
bool filter_snapshot(const struct filter *f, struct snapshot *s);

#endif
