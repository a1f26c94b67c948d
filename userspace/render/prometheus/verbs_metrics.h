/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `verbs --prometheus`: sums by device, and series of a few QPs, the worst ones. */
#ifndef USERSPACE_RENDER_PROMETHEUS_VERBS_METRICS_H
#define USERSPACE_RENDER_PROMETHEUS_VERBS_METRICS_H

#include "userspace/render/output/view_verbs.h"
#include "userspace/render/prometheus/memory.h"

#define VERBS_METRICS_DEVICES 64 /* those of more have no sums */
#define VERBS_METRICS_QPS 10000	 /* with series of their own, at most */

/* What was exported of a device, whose QPs come and go. */
struct verbs_metrics_device {
	char name[HOST_NAME];
	struct memory_sum counters[VERBS_COUNTERS], statuses[VERBS_STATUSES], latency[VERBS_LATENCY], latency_sum;
};

/* All zero at first. */
struct verbs_metrics_memory {
	struct verbs_metrics_device devices[VERBS_METRICS_DEVICES];
	size_t count;
};

/* Writes everything. qps: so many QPs have series. calls: they are counted. Returns 0, or -1 with errno. */
int verbs_metrics(FILE *out, const struct verbs_shown *s, size_t qps, bool calls, struct verbs_metrics_memory *memory);

#endif
