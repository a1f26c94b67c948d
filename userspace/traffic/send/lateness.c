// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <sys/param.h>

#include "lib/clock.h"
#include "userspace/traffic/send/lateness.h"

#define LITTLE (100 * NSEC_PER_USEC) /* tolerance for runs so short that one percent is too little */

__u64 lateness_of_bucket(__u32 bucket)
{
	__u32 log2 = bucket / LATE_STEPS, step = bucket % LATE_STEPS;

	if (bucket < LATE_STEPS)
		return bucket;
	return ((__u64)(LATE_STEPS + step + 1) << (log2 - 2)) - 1;
}

__u64 lateness_quantile(const struct send_memory *m, double q)
{
	__u64 all = 0, seen = 0;

	for (__u32 i = 0; i < LATE_BUCKETS; i++)
		all += m->late[i];
	for (__u32 i = 0; i < LATE_BUCKETS && all; i++) {
		seen += m->late[i];
		if (m->late[i] && seen >= q * all) {
			__u64 end = lateness_of_bucket(i);

			return end < m->late_max ? end : m->late_max;
		}
	}
	return m->late_max;
}

bool lateness_kept_rate(const struct send_memory *m, __u64 between)
{
	return 2 * lateness_quantile(m, .5) <= MAX(between, MAX(LITTLE, (m->last - m->start) / 100));
}
