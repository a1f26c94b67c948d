/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the probes cost: how often they are met is counted; what a trap takes is measured once at a function of our own; what
 * the programs take is the kernel's own measure (BPF_ENABLE_STATS), from time to time, because it slows down all programs a
 * little.
 */
#ifndef USERSPACE_OBSERVE_VERBS_COST_H
#define USERSPACE_OBSERVE_VERBS_COST_H

#include "userspace/observe/verbs/verbs.h"

struct verbs_bpf;

struct cost {
	double entry, returned; /* ns a trap, with a program that does nothing */
	double empty;		/* ns that both probes add to a poll that finds nothing */
	double run;		/* ns of the programs for each other call, as last measured */
	__u64 before[VERBS_COSTS], time;
	__u64 run_time;		/* at the beginning of the measurement */
	__u64 run_empty, run_calls;
	int stats;		/* the kernel measures; -1: it does not */
	unsigned int updates;
};

/* false: no probe can be put at our own function, so that none works. */
bool cost_open(struct cost *c, const struct verbs_bpf *b, bool multi);
void cost_close(struct cost *c);

/* Once an interval. */
void cost_update(struct cost *c, const struct verbs_bpf *b, struct verbs_cost *shown);

#endif
