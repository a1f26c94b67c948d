/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text that is too long for its place. */
#ifndef USERSPACE_RENDER_OUTPUT_TEXT_CUT_H
#define USERSPACE_RENDER_OUTPUT_TEXT_CUT_H

#include <stddef.h>

/* Copies text to `width` columns. If it is longer, '~' replaces its middle. */
void text_cut(char *to, size_t width, const char *text);

/* "a > b" in at most `width` columns (at least 9). to: width + 1 bytes. */
void text_cut_path(char *to, size_t width, const char *a, const char *b);

#endif
