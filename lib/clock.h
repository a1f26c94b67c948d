/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LIB_CLOCK_H
#define LIB_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC	1000000000ull
#define NSEC_PER_MSEC	1000000ull
#define NSEC_PER_USEC	1000ull

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* CLOCK_MONOTONIC, ns: for everything except timestamps on the wire. */
static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/*
 * CLOCK_REALTIME minus now_ns(), ns. Takes the fastest of several readings of both clocks: an interruption between two readings
 * adds its length to the error.
 */
static inline uint64_t realtime_offset_ns(void)
{
	uint64_t least = UINT64_MAX, offset = 0;

	for (int i = 0; i < 5; i++) {
		uint64_t before = now_ns(), real = clock_ns(CLOCK_REALTIME), took = now_ns() - before;

		if (took >= least)
			continue;
		least = took;
		offset = real - before - took / 2;
	}
	return offset;
}

/* Sleeps until `when` (CLOCK_MONOTONIC, ns), or until a signal. */
static inline void sleep_until_ns(uint64_t when)
{
	struct timespec ts = { .tv_sec = when / NSEC_PER_SEC, .tv_nsec = when % NSEC_PER_SEC };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static inline uint64_t seconds_to_ns(double seconds)
{
	return (uint64_t)(seconds * NSEC_PER_SEC);
}

#endif
