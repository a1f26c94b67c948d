/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files of an analysis, one after the other, as one capture, and what is said of them on stderr. One thread at a time. */
#ifndef USERSPACE_OFFLINE_ANALYSIS_FILES_H
#define USERSPACE_OFFLINE_ANALYSIS_FILES_H

#include "userspace/offline/analysis.h"

struct analysis_files {
	const struct analysis_settings *settings;
	char *const *names; /* of those that were not opened yet */
	size_t count;
	struct capture *capture; /* the open one, or NULL */
	size_t opened;
	bool complete;	/* what was to be read was read */
	bool selection; /* one of them holds chosen packets only */
	bool complained; /* of the open one */
	bool progress_shown;
	__u64 progress_next; /* ns, monotonic */
};

struct analysis_files analysis_files(const struct analysis_settings *settings, char *const names[], size_t count);

/*
 * The next piece of all files; one whose bytes were fetched may have no frames. false: there is none, or we are to stop.
 * Claims of the open file come before its end, so that nobody has one any more when it is closed.
 */
bool analysis_files_next(struct analysis_files *f, struct capture_piece *piece);

/* A line of progress, now and then, if the settings want it. frames: read so far. */
void analysis_files_show(struct analysis_files *f, __u64 frames);

/* Also in the middle. */
void analysis_files_end(struct analysis_files *f);

#endif
