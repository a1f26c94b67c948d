/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prometheus's text format 0.0.4, line by line. Names come without "rocescope_", which is put in front of each. */
#ifndef USERSPACE_PROMETHEUS_TEXT_H
#define USERSPACE_PROMETHEUS_TEXT_H

#include <stdio.h>

#include <linux/types.h>

/* A family's two lines of comment. Its samples have to follow. */
void text_family(FILE *out, const char *name, const char *type, const char *help);

/*
 * A sample. labels: struct text_labels' text, or "". Counts are whole numbers, times come
 * in ns and are written in seconds.
 */
void text_count(FILE *out, const char *name, const char *labels, __u64 n);
void text_seconds(FILE *out, const char *name, const char *labels, __u64 ns);

/* A family of one sample without labels. */
void text_gauge(FILE *out, const char *name, const char *help, __u64 n);

/*
 * Labels, one behind the other. Whoever chose a value (the name of a process) may want to deceive: what is not printable
 * ASCII becomes '?'. What there is no room for is left out; there is for all that we have.
 */
struct text_labels {
	char text[512];
};

void text_label(struct text_labels *l, const char *name, const char *value);
void text_label_number(struct text_labels *l, const char *name, __u64 n);

#endif
