/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was lost between two points, as JSON and for people. */
#ifndef USERSPACE_RENDER_OUTPUT_VIEW_BETWEEN_H
#define USERSPACE_RENDER_OUTPUT_VIEW_BETWEEN_H

#include <stdio.h>

#include "userspace/diagnose/between/between.h"

/* One rocescope.between/1 object on a line. time: ns since 1970. seconds: since the start. Returns 0, or -1 with errno. */
int between_json(FILE *out, struct between *b, const char *const name[BETWEEN_POINTS], __u64 time, double seconds);

/* For people. Returns as between_json() does. */
int between_lines(FILE *out, struct between *b, const char *const name[BETWEEN_POINTS], double seconds);

#endif
