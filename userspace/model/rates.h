/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What counters have moved between two snapshots, a second. One place, so that table, lines and JSON agree. */
#ifndef USERSPACE_MODEL_RATES_H
#define USERSPACE_MODEL_RATES_H

#include "userspace/model/snapshot.h"

struct rates {
	double gbps;	 /* 1e9 bit of frames on the wire a second */
	double packets;	 /* a second */
	double messages; /* completed, a second */
	double lost;	 /* PSNs skipped, a second */
	double icrc_bad; /* a second */
};

/* before: counters at the earlier moment, NULL: all zero. seconds <= 0: all rates are 0. A counter that fell counts as 0. */
struct rates rates_of(const struct roce_counters *now, const struct roce_counters *before, double seconds);

/* Of a stream of `now`, since `previous` (NULL: since the start), also if it was met later: so streams sum up to the totals. */
struct rates rates_of_stream(const struct snapshot_stream *s, const struct snapshot *now, const struct snapshot *previous);

/* Of the totals. */
struct rates rates_of_totals(const struct snapshot *now, const struct snapshot *previous);

#endif
