/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Dialogues of requests and responses (roce/dialogue/dialogue.h) for Prometheus. */
#ifndef USERSPACE_RENDER_PROMETHEUS_DIALOGUES_H
#define USERSPACE_RENDER_PROMETHEUS_DIALOGUES_H

#include <stdio.h>

#include "userspace/observe/model/snapshot.h"

/* A dialogue and its labels. */
struct dialogue_series {
	const struct roce_dialogue *dialogue; /* NULL: none */
	const char *labels;
};

/* prefix of names: "" or "stream_". merged: how many buckets of a histogram become one. */
void dialogues_write(FILE *out, const char *prefix, const struct dialogue_series *series, size_t count, int merged);

struct metrics_memory;

/* Writes the sum over all streams; nothing if no stream has a dialogue. memory: may be NULL. */
void dialogues_write_totals(FILE *out, const struct snapshot *s, struct metrics_memory *memory);

#endif
