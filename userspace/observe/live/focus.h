/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stream in focus. The kernel counts details of it that would cost too much for every stream (roce/event/focus.h). Only the
 * programs of bpf/capture.bpf.c do so.
 *
 *     focus_set(focus, &key);
 *     ... an interval later ...
 *     if (focus_read(focus, &seen))
 *             ... seen.gap[], seen.size[], seen.low ...
 *     focus_set(focus, NULL);
 */
#ifndef USERSPACE_OBSERVE_LIVE_FOCUS_H
#define USERSPACE_OBSERVE_LIVE_FOCUS_H

#include "roce/event/focus.h"

struct focus;

/* map: the one named `focus`. No stream is in focus at first. NULL, with errno, on failure. */
struct focus *focus_open(int map);

/*
 * Puts the stream of this key into focus, and clears earlier counts. NULL: no stream, which costs nothing. Setting the same key
 * again restarts the counts. May take some 30 ms, until no CPU is at work on the former stream.
 */
void focus_set(struct focus *f, const struct roce_key *key);

/* The key in focus. NULL: none. */
const struct roce_key *focus_key(const struct focus *f);

/*
 * Copies the counts since focus_set(). A packet or two may be counted during the copy. false: no stream is in focus, and *seen
 * is empty.
 */
bool focus_read(const struct focus *f, struct roce_focus *seen);

/* Quantile `part` (0 to 1) of the gaps: the upper end of its bucket, but at most the longest gap; ns. 0: no gaps. */
__u64 focus_gap_quantile(const struct roce_focus *seen, double part);

/* Ends the kernel's counting for the focus. f may be NULL. */
void focus_close(struct focus *f);

#endif
