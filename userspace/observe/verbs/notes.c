// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/shown.h"
#include "userspace/observe/verbs/notes.h"

static bool has(const struct notes *n, const char *line)
{
	for (size_t i = 0; i < n->count; i++)
		if (!strcmp(n->lines[i], line))
			return true;
	return false;
}

void notes_add(struct notes *n, const char *format, ...)
{
	va_list arguments;
	char *line;
	int length;

	va_start(arguments, format);
	length = vasprintf(&line, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	shown(line);
	if (n->count < NOTES_MOST && !has(n, line))
		n->lines[n->count++] = line;
	else
		free(line);
}

void notes_remove(struct notes *n, const char *begin)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->count; i++)
		if (strncmp(n->lines[i], begin, strlen(begin)))
			n->lines[kept++] = n->lines[i];
		else
			free(n->lines[i]);
	n->count = kept;
}

void notes_free(struct notes *n)
{
	notes_remove(n, "");
}
