/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prometheus's text format 0.0.4, line by line. "rocescope_" is put before each name. */
#ifndef USERSPACE_RENDER_PROMETHEUS_TEXT_H
#define USERSPACE_RENDER_PROMETHEUS_TEXT_H

#include <stdio.h>

#include <linux/types.h>

/* The two comment lines of a family. Its samples must follow. */
void text_family(FILE *out, const char *name, const char *type, const char *help);

/*
 * A sample. labels: the text of struct text_labels, or "". Counts are whole numbers. Times are given in ns and written in
 * seconds.
 */
void text_count(FILE *out, const char *name, const char *labels, __u64 n);
void text_seconds(FILE *out, const char *name, const char *labels, __u64 ns);

/* A family of one sample without labels. */
void text_gauge(FILE *out, const char *name, const char *help, __u64 n);

/*
 * Labels, one after the other. Others choose some values (a process name), perhaps to deceive: bytes that are not printable
 * ASCII become '?'. A label that does not fit is left out; all of ours fit.
 */
struct text_labels {
	char text[512];
};

void text_label(struct text_labels *l, const char *name, const char *value);
void text_label_number(struct text_labels *l, const char *name, __u64 n);

#endif
