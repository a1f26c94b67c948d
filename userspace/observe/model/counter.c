// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/observe/model/counter.h"

#define RED 4 /* beside the severity */

enum { NONE = SEVERITY_NONE, SIGN = SEVERITY_SIGN, LESSER = SEVERITY_LESSER, FAULT = SEVERITY_FAULT };
enum { SELDOM, ALWAYS };

const enum roce_counter counter_order[ROCE_COUNTERS] = {
#define COUNTER(name, ...) COUNTER_##name,
#include "roce/stream/counters.def"
#undef COUNTER
};

const char *const counter_names[ROCE_COUNTERS] = {
#define COUNTER(name, ...) [COUNTER_##name] = #name,
#include "roce/stream/counters.def"
#undef COUNTER
};

const struct counter_facts counter_facts[ROCE_COUNTERS] = {
#define COUNTER(name, unit, kind, scope, of, severity, ...) \
	[COUNTER_##name] = { SCOPE_##scope, OF_##of, (severity) & ~RED, (severity) == FAULT || (severity) & RED },
#include "roce/stream/counters.def"
#undef COUNTER
};

#define COUNTER(name, unit, kind, scope, of, ...) \
	_Static_assert((SCOPE_##scope == SCOPE_FRAME) == (OF_##of == OF_NONE), #name ": streams have it, or only snapshots");
#include "roce/stream/counters.def"
#undef COUNTER

const struct counter_sum counter_sums[ROCE_COUNTERS] = {
#define COUNTER(name, ...)
#define SUM(name, service, counter, ...) [COUNTER_##name] = { true, SERVICE_##service, COUNTER_##counter },
#include "roce/stream/counters.def"
#undef COUNTER
};

const struct counter_shown counter_lines[COUNTER_LINES][COUNTER_PLACES] = {
#define COUNTER(name, ...)
#define SHOWN(name, line, place, usual, label) [line][(place) - 1] = { COUNTER_##name, label, usual },
#include "roce/stream/counters.def"
#undef COUNTER
};
