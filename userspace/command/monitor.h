/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The run of `rocescope monitor`: the kernel counts, and whoever wants to know is told each interval. */
#ifndef USERSPACE_COMMAND_MONITOR_H
#define USERSPACE_COMMAND_MONITOR_H

#include "userspace/live/live.h"
#include "userspace/model/faults.h"
#include "userspace/model/filter.h"
#include "userspace/output/view.h"

struct monitor_options {
	struct live_options live;
	enum view_streams streams;
	struct fault_exit fail;
	struct filter *filter; /* NULL: all */
	const char *prometheus; /* ADDR:PORT, NULL */
	size_t prometheus_streams;
	const char *on_fault; /* command, NULL */
	const char *unpin;    /* that is all there is to do, NULL */
	__u64 event_limit;    /* of a stream and second */
	bool json, plain, quiet, events;
	bool detach; /* nothing but that: live_clear() */
};

/* Until the end. Returns the exit status; what went wrong was said. */
int monitor_run(const struct monitor_options *o);

#endif
