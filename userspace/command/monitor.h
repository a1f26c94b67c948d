/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs `rocescope monitor`: the kernel counts, and each interval the counters are read and shown. */
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
	struct filter *filter; /* NULL: all streams */
	const char *prometheus; /* ADDR:PORT; NULL: none */
	size_t prometheus_streams;
	const char *on_fault; /* command; NULL: none */
	const char *unpin;    /* remove this pin and do nothing else; NULL: no */
	__u64 event_limit;    /* events of one stream in a second */
	bool json, plain, quiet, events;
	bool detach; /* call live_clear() and do nothing else */
};

/* Runs until the end. Returns the exit status. Errors are printed. */
int monitor_run(const struct monitor_options *o);

#endif
