/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What requests and responses say together (roce/dialogue.h), for Prometheus. */
#ifndef USERSPACE_PROMETHEUS_DIALOGUES_H
#define USERSPACE_PROMETHEUS_DIALOGUES_H

#include <stdio.h>

#include "userspace/model/snapshot.h"

/* One dialogue and whose it is. */
struct dialogue_series {
	const struct roce_dialogue *dialogue; /* NULL: it has none */
	const char *labels;
};

/* prefix: of the names, "" or "stream_". The buckets of histograms are merged by so many. */
void dialogues_write(FILE *out, const char *prefix, const struct dialogue_series *series, size_t count, int merged);

struct metrics_memory;

/* Those of all streams as one. Nothing where there are none. memory: may be NULL. */
void dialogues_write_totals(FILE *out, const struct snapshot *s, struct metrics_memory *memory);

#endif
