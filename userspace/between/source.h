/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the snapshots of a point come from: an interface, for which a `rocescope monitor -j` is started, or a file or pipe. */
#ifndef USERSPACE_BETWEEN_SOURCE_H
#define USERSPACE_BETWEEN_SOURCE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#define SOURCE_LINE_MOST (1ul << 30) /* bytes: a million streams */
#define SOURCE_WORDS 64 /* arguments of a monitor, the NULL at the end included */

struct source {
	const char *name; /* interface, file, or "-": standard input */
	int fd;		  /* -1: it has ended */
	pid_t child;	  /* the monitor; 0: none */
	bool is_file;	  /* all of it is there already */
	char *bytes;	  /* what was read of the next lines */
	size_t length, room, searched; /* searched: bytes without a newline */
	unsigned long line;
	json_t *next;	  /* a snapshot that nobody has taken yet; NULL: none */
	unsigned long long arrived; /* ns since 1970 */
};

/*
 * Opens a source. words: further arguments of the monitor, which end with NULL. false: it could not, which is reported.
 * An interface takes precedence over a file of its name.
 */
bool source_open(struct source *s, const char *name, char *const *words);

/* Reads until `next` is there, nothing can be read now, or the end, which closes fd. false: it failed, which is reported. */
bool source_read(struct source *s);

/* Asks the monitor for its final snapshot. Of other sources nothing more is awaited. */
void source_stop(struct source *s);

/* Ends the monitor and frees all. false: the monitor had failed, which is reported. */
bool source_close(struct source *s);

#endif
