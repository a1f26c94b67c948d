/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters.def as an enumeration, the index of sets of counters. The counters of streams come first, whatever their place in
 * the file, so that a stream has memory for no others.
 */
#ifndef ROCE_STREAM_COUNTERS_H
#define ROCE_STREAM_COUNTERS_H

#include "roce/packet/base.h"

/* Who counts a counter, and when (counters.def). From SCOPE_STREAM on it is of the stream's sequence, messages and blocks. */
enum roce_scope { SCOPE_FRAME, SCOPE_PACKET, SCOPE_REPORT, SCOPE_STREAM, SCOPE_SEEN };

enum roce_counter {
#define COUNTER(name, unit, kind, scope, ...) COUNTER_OF_##scope(COUNTER_##name)
#define COUNTER_OF_FRAME(name)
#define COUNTER_OF_PACKET(name) name,
#define COUNTER_OF_STREAM(name) name,
#define COUNTER_OF_SEEN(name) name,
#define COUNTER_OF_REPORT(name) name,
#include "roce/stream/counters.def"
	ROCE_STREAM_COUNTERS,
	COUNTER_BEFORE_FRAMES = ROCE_STREAM_COUNTERS - 1, /* so that the next one continues from here */
#undef COUNTER_OF_FRAME
#undef COUNTER_OF_PACKET
#undef COUNTER_OF_STREAM
#undef COUNTER_OF_SEEN
#undef COUNTER_OF_REPORT
#define COUNTER_OF_FRAME(name) name,
#define COUNTER_OF_PACKET(name)
#define COUNTER_OF_STREAM(name)
#define COUNTER_OF_SEEN(name)
#define COUNTER_OF_REPORT(name)
#include "roce/stream/counters.def"
#undef COUNTER_OF_FRAME
#undef COUNTER_OF_PACKET
#undef COUNTER_OF_STREAM
#undef COUNTER_OF_SEEN
#undef COUNTER_OF_REPORT
#undef COUNTER
	ROCE_COUNTERS
};

/* Counters of a stream. */
struct roce_counters {
	__u64 value[ROCE_STREAM_COUNTERS];
};

/* 0 for counters that streams do not have. */
roce_inline __u64 roce_counter(const struct roce_counters *c, enum roce_counter counter)
{
	return counter < ROCE_STREAM_COUNTERS ? c->value[counter] : 0;
}

/* Counters of all frames. */
struct roce_totals {
	union {
		__u64 value[ROCE_COUNTERS];
		struct roce_counters counters;
	};
};

roce_inline __u64 roce_add_COUNT(__u64 a, __u64 b)
{
	return a + b;
}

roce_inline __u64 roce_add_GAUGE(__u64 a, __u64 b)
{
	return a + b;
}

roce_inline __u64 roce_add_LEAST(__u64 a, __u64 b)
{
	return a && (!b || a < b) ? a : b;
}

roce_inline __u64 roce_add_MOST(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/* Adds what another CPU or part of the work has counted. */
roce_inline void roce_add_totals(struct roce_totals *to, const struct roce_totals *more)
{
#define COUNTER(name, unit, kind, ...) \
	to->value[COUNTER_##name] = roce_add_##kind(to->value[COUNTER_##name], more->value[COUNTER_##name]);
#include "roce/stream/counters.def"
#undef COUNTER
}

#endif
