/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of rocescope.snapshot/1 that other documents share. */
#ifndef USERSPACE_RENDER_OUTPUT_VIEW_JSON_H
#define USERSPACE_RENDER_OUTPUT_VIEW_JSON_H

#include <jansson.h>

#include "userspace/observe/model/snapshot.h"
#include "userspace/render/output/view.h"

/* schema, time, seconds, complete, interfaces, totals, and selection if s->selection. The caller frees it. NULL: no memory. */
json_t *view_json_head(const struct snapshot *s, const char *schema);

/* The identity of a stream. dst, dqpn: from a packet, since the key of a UD stream lacks them. */
json_t *view_json_stream(const struct roce_key *key, const __u8 dst[16], __u32 dqpn, __u8 service);

#endif
