/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USERSPACE_OUTPUT_DIALOGUE_JSON_H
#define USERSPACE_OUTPUT_DIALOGUE_JSON_H

#include <jansson.h>

#include "userspace/model/snapshot.h"

/* The dialogue of a stream that has one. previous: of the snapshot before; NULL: none. The caller's. */
json_t *dialogue_json(const struct snapshot_stream *s, const struct snapshot *now, const struct snapshot *previous);

#endif
