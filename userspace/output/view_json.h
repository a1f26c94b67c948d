/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of rocescope.snapshot/1 that other documents have as well. */
#ifndef USERSPACE_OUTPUT_VIEW_JSON_H
#define USERSPACE_OUTPUT_VIEW_JSON_H

#include <jansson.h>

#include "userspace/model/snapshot.h"
#include "userspace/output/view.h"

/* How documents are written. */
#define VIEW_JSON (JSON_COMPACT | JSON_REAL_PRECISION(15))

/* schema, time, seconds, complete, interfaces, totals; selection if it is one. The caller's to free; NULL: no memory. */
json_t *view_json_head(const struct snapshot *s, const char *schema);

/* Who the stream is. dst, dqpn: of a packet, since UD's are not in the key. */
json_t *view_json_stream(const struct roce_key *key, const __u8 dst[16], __u32 dqpn, __u8 service);

#endif
