/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A snapshot that outlives its own: what a paused table shows, and what counters are shown since. */
#ifndef USERSPACE_SCREEN_HOLD_H
#define USERSPACE_SCREEN_HOLD_H

#include "roce/dialogue.h"
#include "userspace/model/snapshot.h"

struct hold {
	bool held;
	struct snapshot snapshot; /* without owners and faults, which belong to others */
};

/* Instead of what was held. false: no memory, nothing is held. */
bool hold_take(struct hold *h, const struct snapshot *from);

void hold_release(struct hold *h);

/*
 * What a stream has counted since `base`, in *since: all of it where base is NULL, or is of an earlier stream of the same
 * key that was evicted meanwhile.
 */
void stream_since(const struct roce_stream *s, const struct roce_stream *base, struct roce_stream *since);

/* The same of the totals; psn_lost is what is lost of those skipped since. */
void totals_since(const struct roce_totals *t, const struct roce_totals *base, struct roce_totals *since);

#endif
