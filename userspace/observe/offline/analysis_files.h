/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of an analysis, read one after the other as one capture, and the messages about them on stderr. For one thread at a
 * time.
 */
#ifndef USERSPACE_OBSERVE_OFFLINE_ANALYSIS_FILES_H
#define USERSPACE_OBSERVE_OFFLINE_ANALYSIS_FILES_H

#include "userspace/observe/offline/analysis.h"

struct analysis_files {
	const struct analysis_settings *settings;
	char *const *names; /* files not opened yet */
	size_t count;
	struct capture *capture; /* the open file, or NULL */
	size_t opened;
	bool complete;	/* all that should be read was read */
	bool selection; /* some file contains selected packets only, */
	__u64 left_out; /* ... and left out faulty ones */
	bool complained; /* about the open file */
	bool progress_shown;
	__u64 progress_next; /* ns, monotonic */
};

struct analysis_files analysis_files(const struct analysis_settings *settings, char *const names[], size_t count);

/*
 * Gets the next piece of all files. A piece whose bytes were fetched may have no frames. false: no more pieces, or stopped. All
 * claims of a file are made before it ends, so that no thread holds one when the file is closed.
 */
bool analysis_files_next(struct analysis_files *f, struct capture_piece *piece);

/* Prints progress now and then, if the settings ask for it. frames: number read so far. */
void analysis_files_show(struct analysis_files *f, __u64 frames);

/* Closes the files, also before their end. */
void analysis_files_end(struct analysis_files *f);

#endif
