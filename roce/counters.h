/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* counters.def as an enumeration; a set of counters is an array of __u64 indexed by it. */
#ifndef ROCE_COUNTERS_H
#define ROCE_COUNTERS_H

#include "roce/base.h"

enum roce_counter {
#define COUNTER(name, unit, kind, scope, words) COUNTER_##name,
#include "roce/counters.def"
#undef COUNTER
	ROCE_COUNTERS
};

struct roce_counters {
	__u64 value[ROCE_COUNTERS];
};

#endif
