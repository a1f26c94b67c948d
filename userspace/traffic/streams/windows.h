/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rate of a receiver in windows of 100 ms, which shows dips that the rate of a whole run hides. Fixed memory, one pass.
 *
 * The first windows are left out, because a run's start is no steady state. So are the last incomplete window and the last
 * complete one: the sender may have ended within them. A window in which nothing came counts as 0.
 */
#ifndef USERSPACE_TRAFFIC_STREAMS_WINDOWS_H
#define USERSPACE_TRAFFIC_STREAMS_WINDOWS_H

#include <stdint.h>

#define WINDOW_MS	100
#define WINDOWS_WARM_UP	2	/* windows at the start that do not count */

struct windows {
	uint64_t end_ns;		/* of the window that is open; 0: nothing came yet */
	uint64_t open, last;		/* bytes of that window, and of the last complete one */
	uint64_t complete;		/* windows before the open one */
	uint64_t counted;		/* of them: neither warm-up nor the last one */
	uint64_t bytes, least;		/* of those counted: sum and minimum */
};

/* Counts bytes that came at `now` (ns), which never goes back. `w` starts as zeroes. */
void windows_add(struct windows *w, uint64_t now, uint64_t bytes);

/* Gbit/s over all windows counted, and of the one with the least. Both are 0 if none counts. */
double windows_mean_gbps(const struct windows *w);
double windows_least_gbps(const struct windows *w);

#endif
