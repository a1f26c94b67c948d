// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "lib/clock.h"
#include "userspace/render/prometheus/text.h"

void text_family(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP rocescope_%s %s\n# TYPE rocescope_%s %s\n", name, help, name, type);
}

static void begin(FILE *out, const char *name, const char *labels)
{
	fputs("rocescope_", out);
	fputs(name, out);
	if (!*labels)
		return;
	fputc('{', out);
	fputs(labels, out);
	fputc('}', out);
}

void text_count(FILE *out, const char *name, const char *labels, __u64 n)
{
	begin(out, name, labels);
	fprintf(out, " %llu\n", n);
}

void text_seconds(FILE *out, const char *name, const char *labels, __u64 ns)
{
	begin(out, name, labels);
	fprintf(out, " %llu.%09llu\n", ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);
}

void text_gauge(FILE *out, const char *name, const char *help, __u64 n)
{
	text_family(out, name, "gauge", help);
	text_count(out, name, "", n);
}

void text_label(struct text_labels *l, const char *name, const char *value)
{
	char *to = l->text + strlen(l->text), *end = l->text + sizeof(l->text) - sizeof("\\\"\"");

	if (to + strlen(name) + sizeof(",=\"") > end)
		return;
	to += sprintf(to, "%s%s=\"", to > l->text ? "," : "", name);
	for (; *value && to < end; value++) {
		if (*value == '"' || *value == '\\')
			*to++ = '\\';
		*to++ = *value >= ' ' && *value <= '~' ? *value : '?';
	}
	strcpy(to, "\"");
}

void text_label_number(struct text_labels *l, const char *name, __u64 n)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", n);
	text_label(l, name, text);
}
