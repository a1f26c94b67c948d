/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs `rocescope monitor`: the kernel counts, and each interval the counters are read and shown. `rocescope receive` adds
 * programs and a report of its own.
 */
#ifndef USERSPACE_COMMAND_MONITOR_H
#define USERSPACE_COMMAND_MONITOR_H

#include <jansson.h>

#include "userspace/observe/live/taken.h"
#include "userspace/observe/model/faults.h"
#include "userspace/observe/model/filter.h"
#include "userspace/observe/model/group.h"
#include "userspace/render/output/view.h"

/* What another command adds. Every function is needed, and gets `context`. Errors are printed. */
struct monitor_added {
	void *context;
	int over; /* a descriptor that can be read from when the run shall end */
	bool alone; /* without -j only its own lines are printed */
	bool files; /* end() opens files */
	/* Opens programs that count as the monitor's do. events: they also send packets (bpf/capture.h). false: it could not. */
	bool (*open)(void *context, bool events, struct taken_programs *to);
	/* The programs are attached. false: the command ends with a failure. */
	bool (*begin)(void *context, const struct live *l);
	/* The programs are detached, or pinned: ends what begin() began. false: the exit status is EXIT_COULD_NOT. */
	bool (*end)(void *context);
	/* Whether it has seen one of these faults, of those that the snapshot does not have. */
	bool (*faulty)(void *context, const struct faults *f);
	/* The member "receive" of a snapshot; NULL: no memory. */
	json_t *(*json)(void *context);
	/* Prints what is new since the last call. last: the summary. Returns 0, or -1 with errno. */
	int (*lines)(void *context, FILE *out, const struct snapshot *now, bool last);
	/* Writes families of its own behind the monitor's metrics (prometheus/text.h). Returns as lines() does. */
	int (*metrics)(void *context, FILE *out);
};

struct monitor_options {
	struct live_options live;
	const struct monitor_added *added; /* NULL: nothing */
	enum view_streams streams;
	struct fault_exit fail;
	struct filter *filter; /* NULL: all streams */
	struct group_rule group;
	const char *prometheus; /* ADDR:PORT; NULL: none */
	size_t prometheus_streams;
	const char *on_fault; /* command; NULL: none */
	const char *unpin;    /* remove this pin and do nothing else; NULL: no */
	__u64 event_limit;    /* events of one stream in a second */
	bool json, plain, quiet, events;
	bool calls; /* what the programs of this machine's QPs post is counted, too (userspace/observe/verbs/verbs.h) */
	double calls_most; /* share of a core that this may cost */
	bool detach; /* call live_clear() and do nothing else */
};

/* Runs until the end. Returns the exit status. Errors are printed. */
int monitor_run(const struct monitor_options *o);

#endif
