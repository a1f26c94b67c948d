// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "userspace/model/faults.h"

static const char *const names[ROCE_COUNTERS] = {
#define COUNTER(name, unit, kind, scope, words) #name,
#include "roce/counters.def"
#undef COUNTER
};

struct faults faults_default(void)
{
	return (struct faults){ .counter = {
		[COUNTER_psn_lost] = true,
		[COUNTER_messages_broken] = true,
		[COUNTER_icrc_bad] = true,
		[COUNTER_malformed] = true,
		[COUNTER_unknown_opcodes] = true,
		[COUNTER_psn_resyncs] = true,
	} };
}

static int find_counter(const char *name, size_t length)
{
	for (int i = 0; i < ROCE_COUNTERS; i++)
		if (strlen(names[i]) == length && !memcmp(names[i], name, length))
			return i;
	return -1;
}

bool faults_parse(struct faults *f, const char *list, const char **bad)
{
	*f = (struct faults){};
	for (const char *name = list;; name++) {
		size_t length = strcspn(name, ",");
		int counter = find_counter(name, length);

		*bad = name;
		if (counter < 0)
			return false;
		f->counter[counter] = true;
		name += length;
		if (!*name)
			return true;
	}
}

bool faults_seen(const struct faults *f, const struct roce_counters *totals)
{
	for (int i = 0; i < ROCE_COUNTERS; i++)
		if (f->counter[i] && totals->value[i])
			return true;
	return false;
}
