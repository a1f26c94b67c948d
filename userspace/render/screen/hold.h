/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A copy of a snapshot: a paused table shows it, and `z` shows counters since then. */
#ifndef USERSPACE_RENDER_SCREEN_HOLD_H
#define USERSPACE_RENDER_SCREEN_HOLD_H

#include "roce/dialogue/dialogue.h"
#include "userspace/observe/model/snapshot.h"

struct hold {
	bool held;
	struct snapshot snapshot; /* without owners and faults, whose memory belongs to others */
};

/* Replaces the copy. false: no memory, and nothing is held. */
bool hold_take(struct hold *h, const struct snapshot *from);

void hold_release(struct hold *h);

/*
 * Fills *since with what a stream has counted since `base`. That is all of it if base is NULL, or if it is of an earlier stream
 * with the same key that was evicted meanwhile.
 */
void stream_since(const struct roce_stream *s, const struct roce_stream *base, struct roce_stream *since);

/* The same for the totals. psn_lost and its like count only PSNs that were skipped since then. */
void totals_since(const struct roce_totals *t, const struct roce_totals *base, struct roce_totals *since);

#endif
