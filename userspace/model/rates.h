/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rates of counters between two snapshots. In one place, so that table, lines and JSON agree. */
#ifndef USERSPACE_MODEL_RATES_H
#define USERSPACE_MODEL_RATES_H

#include "userspace/model/snapshot.h"

struct rates {
	double gbps;	 /* 1e9 bit per second, of frames on the wire */
	double packets;	 /* per second */
	double messages; /* completed, per second */
	double lost;	 /* skipped PSNs per second */
	double icrc_bad; /* per second */
};

/* before: earlier counters, NULL: all zero. seconds <= 0: all rates are 0. A counter that fell counts as 0. */
struct rates rates_of(const struct roce_counters *now, const struct roce_counters *before, double seconds);

/*
 * Rates of a stream of `now` since `previous` (NULL: since the start). The period is the same for streams met later, so that
 * streams sum up to the totals.
 */
struct rates rates_of_stream(const struct snapshot_stream *s, const struct snapshot *now, const struct snapshot *previous);

/* Rates of the totals. */
struct rates rates_of_totals(const struct snapshot *now, const struct snapshot *previous);

#endif
