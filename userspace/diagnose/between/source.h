/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the snapshots of a point come from: an interface, of this host or of another one that ssh reaches, for which a
 * `rocescope monitor -j` is started; or a file or pipe.
 */
#ifndef USERSPACE_DIAGNOSE_BETWEEN_SOURCE_H
#define USERSPACE_DIAGNOSE_BETWEEN_SOURCE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#define SOURCE_LINE_MOST (1ul << 30) /* bytes: a million streams */
#define SOURCE_WORDS 64 /* arguments of a monitor, the NULL at the end included */

#define SOURCE_FAR "ssh:" /* ssh:HOST:INTERFACE */

struct source_how {
	char *words[SOURCE_WORDS]; /* further arguments of the monitors, which end with NULL */
	const char *remote;	   /* the rocescope of other hosts */
};

struct between_source {
	const char *name; /* interface, SOURCE_FAR..., file, or "-": standard input */
	int fd;		  /* -1: it has ended */
	pid_t child;	  /* the monitor, or the ssh to it; 0: none */
	bool far;	  /* the monitor is on another host */
	bool stopped;	  /* source_stop() has ended it */
	bool is_file;	  /* all of it is there already */
	char *bytes;	  /* what was read of the next lines */
	size_t length, room, searched; /* searched: bytes without a newline */
	unsigned long line;
	json_t *next;	  /* a snapshot that nobody has taken yet; NULL: none */
	unsigned long long arrived; /* ns since 1970 */
};

/* Whether the name is an interface of another host. */
bool source_is_far(const char *name);

/* Opens a source. false: it could not, which is reported. An interface takes precedence over a file of its name. */
bool source_open(struct between_source *s, const char *name, const struct source_how *how);

/* Reads until `next` is there, nothing can be read now, or the end, which closes fd. false: it failed, which is reported. */
bool source_read(struct between_source *s);

/* Asks a monitor of this host for its final snapshot. Of other sources nothing more is awaited. */
void source_stop(struct between_source *s);

/* Ends the monitor and frees all. false: the monitor had failed, which is reported. */
bool source_close(struct between_source *s);

#endif
