/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sentences of what is missing and why, each once. */
#ifndef USERSPACE_OBSERVE_VERBS_NOTES_H
#define USERSPACE_OBSERVE_VERBS_NOTES_H

#include <stddef.h>

#define NOTES_MOST 64

struct notes {
	char *lines[NOTES_MOST];
	size_t count;
};

/* A note that is there already, and one behind NOTES_MOST, is not taken. Nothing a terminal would obey stays in it. */
void notes_add(struct notes *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Takes back all notes that begin with these words. */
void notes_remove(struct notes *n, const char *begin);

void notes_free(struct notes *n);

#endif
