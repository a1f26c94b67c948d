// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "lib/clock.h"
#include "userspace/traffic/streams/windows.h"

#define WINDOW_NS	(WINDOW_MS * NSEC_PER_MSEC)

/* Counts `n` windows of `bytes` each. The first of them is the run's window number `first`, from 0. */
static void count(struct windows *w, uint64_t first, uint64_t n, uint64_t bytes)
{
	uint64_t cold = first < WINDOWS_WARM_UP ? WINDOWS_WARM_UP - first : 0;

	if (n <= cold)
		return;
	if (!w->counted || bytes < w->least)
		w->least = bytes;
	w->counted += n - cold;
	w->bytes += (n - cold) * bytes;
}

/* Completes the open window, and `empty` ones behind it. The last of them does not count yet; the one before them now does. */
static void complete(struct windows *w, uint64_t empty)
{
	if (w->complete)
		count(w, w->complete - 1, 1, w->last);
	if (empty) {
		count(w, w->complete, 1, w->open);
		count(w, w->complete + 1, empty - 1, 0);
	}
	w->last = empty ? 0 : w->open;
	w->complete += 1 + empty;
	w->open = 0;
}

void windows_add(struct windows *w, uint64_t now, uint64_t bytes)
{
	if (!w->end_ns)
		w->end_ns = now + WINDOW_NS;
	if (now >= w->end_ns) {
		uint64_t passed = (now - w->end_ns) / WINDOW_NS;

		complete(w, passed);
		w->end_ns += (passed + 1) * WINDOW_NS;
	}
	w->open += bytes;
}

static double gbps(double bytes)
{
	return bytes * 8 / WINDOW_NS;
}

double windows_mean_gbps(const struct windows *w)
{
	return w->counted ? gbps((double)w->bytes / w->counted) : 0;
}

double windows_least_gbps(const struct windows *w)
{
	return gbps(w->least);
}
