/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one stream that somebody looks at: the kernel counts of it what costs too much for every stream (roce/focus.h). By the
 * programs of bpf/capture.bpf.c only.
 *
 *     focus_set(focus, &key);
 *     ... an interval later ...
 *     if (focus_read(focus, &seen))
 *             ... seen.gap[], seen.size[], seen.low ...
 *     focus_set(focus, NULL);
 */
#ifndef USERSPACE_LIVE_FOCUS_H
#define USERSPACE_LIVE_FOCUS_H

#include "roce/focus.h"

struct focus;

/* map: that of the name `focus`. Nothing is in focus. NULL, with errno: it cannot be had. */
struct focus *focus_open(int map);

/*
 * The stream of this key is in focus from now on, and what was counted of it or of another is forgotten; NULL: none is, which
 * costs nothing. The same key again starts anew. May take some 30 ms: until no CPU is at work on the one before.
 */
void focus_set(struct focus *f, const struct roce_key *key);

/* The key in focus, NULL: none is. */
const struct roce_key *focus_key(const struct focus *f);

/*
 * What was seen since focus_set(); it may have been counted on by a packet or two while it was copied. false: nothing is in
 * focus, *seen is empty.
 */
bool focus_read(const struct focus *f, struct roce_focus *seen);

/* Of the gaps: the upper end of the bucket where that part (0 to 1) of them is reached, but no more than the longest; ns. 0: none. */
__u64 focus_gap_quantile(const struct roce_focus *seen, double part);

/* What the kernel counts of a focus ends. May be NULL. */
void focus_close(struct focus *f);

#endif
