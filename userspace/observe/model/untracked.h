/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The streams for which a table has no room, over all its writers (roce/stream/untracked.h). */
#ifndef USERSPACE_OBSERVE_MODEL_UNTRACKED_H
#define USERSPACE_OBSERVE_MODEL_UNTRACKED_H

#include "roce/stream/untracked.h"

#define UNTRACKED_SHOWN 16

struct untracked {
	__u64 streams; /* of which packets found no room; 0: none */
	bool estimate; /* `streams` is about that many */
	struct roce_untracked_stream worst[UNTRACKED_SHOWN]; /* most packets first, at least `packets` of them */
	size_t count;
};

/* Starts as zeroes. */
struct untracked_sum {
	__u8 rank[UNTRACKED_RANKS];
	struct roce_untracked_stream *list;
	size_t count;
};

/* Adds what one writer knows. false: no memory. */
bool untracked_add(struct untracked_sum *sum, const struct roce_untracked *one);

/* Fills in *u and frees the sum. */
void untracked_finish(struct untracked_sum *sum, struct untracked *u);

#endif
