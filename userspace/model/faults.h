/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --exit-code and --fail-on: which counters make a snapshot faulty. */
#ifndef USERSPACE_MODEL_FAULTS_H
#define USERSPACE_MODEL_FAULTS_H

#include "roce/counters.h"

/* A set of counters. */
struct faults {
	bool counter[ROCE_COUNTERS];
};

/* psn_lost, messages_broken, icrc_bad, malformed, unknown_opcodes, psn_resyncs. */
struct faults faults_default(void);

/* A comma-separated list of counter names instead. false: *bad points at the name that is none. */
bool faults_parse(struct faults *f, const char *list, const char **bad);

/* Whether any counter of the set is above zero in the totals. */
bool faults_seen(const struct faults *f, const struct roce_counters *totals);

#endif
