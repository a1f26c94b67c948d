/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rocescope verbs why, and the verdicts that `rocescope verbs --events` tells. */
#ifndef USERSPACE_COMMAND_VERBS_WHY_H
#define USERSPACE_COMMAND_VERBS_WHY_H

#include "lib/option.h"
#include "userspace/diagnose/qp_error/why.h"
#include "userspace/observe/verbs/qp_filter.h"
#include "userspace/observe/verbs/resources.h"
#include "userspace/observe/verbs/verbs.h"

struct why_options {
	const char *peer, *wire, *path, *from; /* files; NULL: none */
};

extern const struct option_entry verbs_why_entries[]; /* struct why_options */

struct why_run {
	const struct why_options *options;
	struct verbs_options verbs;
	double seconds; /* for which to watch first */
	bool json, exit_code;
};

/* words: what is behind `why`: nothing, a QPN, or a PID. Returns the exit status. */
int verbs_why(const struct why_run *r, char *const words[], size_t count);

/*
 * Why a QP is as it is, by what this machine alone knows at present; nothing is asked of the path. read: the devices and their memory are
 * asked for anew.
 */
void why_now(struct why_verdict *verdict, const struct verbs *v, struct verbs_resources *resources, bool read, const struct verbs_qp *q);

/* The QPs whose end, or stall, was told. Begin with all zero. */
struct why_watch {
	__u64 *told;
	size_t count;
	struct verbs_resources resources;
};

/* Tells of each QP, of those that the filter wants, that is newly in error, or newly stalls. filter NULL: all. Call it after verbs_update(). Returns 0, or -1 with errno. */
int why_watch_update(struct why_watch *w, const struct verbs *v, const struct filter *filter, FILE *out, bool json);
void why_watch_free(struct why_watch *w);

#endif
