/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads what `rocescope verbs -j` of any host has written (rocescope.verbs/1, docs/json.md), as if it were of this one. */
#ifndef USERSPACE_DIAGNOSE_QP_ERROR_LOAD_H
#define USERSPACE_DIAGNOSE_QP_ERROR_LOAD_H

#include "userspace/diagnose/qp_error/why.h"

#define LOAD_QPS VERBS_QPS /* most QPs, and memory regions, that are taken of a file */

/* A host by its file. Times are in ns since 1970. */
struct loaded_host {
	struct why_host host; /* its driver is that of the device asked for: load_driver() */
	struct verbs_qp *qps;
	const struct verbs_qp **list;
	struct host_mr *mrs;
	struct host_counter *counters;
	struct loaded_device {
		char name[HOST_NAME], driver[32];
	} devices[16];
	size_t device_count;
	struct why_way way; /* if has_way */
	bool has_way;
};

/* Takes the last object of the file; "-": standard input. false: an error was said on stderr. Free it in any case. */
bool load_host(struct loaded_host *h, const char *file);
void load_free(struct loaded_host *h);

/* The driver of a device; NULL: unknown. */
const char *load_driver(const struct loaded_host *h, const char *device);

/* Takes one object. false: it is none of rocescope.verbs/1, or there is no memory. For load.c and its test. */
bool load_text(struct loaded_host *h, const char *text);

/* Takes a rocescope.path/1 object. false: an error was said on stderr. */
bool load_way(struct why_way *w, const char *file);

#endif
