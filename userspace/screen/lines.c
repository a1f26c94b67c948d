// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/screen/format.h"
#include "userspace/screen/lines.h"

void lines_raw(struct lines *l, enum style style, const char *text)
{
	struct line *line = realloc(l->line, (l->count + 1) * sizeof(*line));

	if (line)
		l->line = line;
	line = line ? &line[l->count] : NULL;
	if (line)
		*line = (struct line){ .style = style, .text = strdup(text) };
	if (!line || !line->text)
		l->lacks = true;
	else
		l->count++;
}

/* The length of `text` that fits in `room` columns: it ends at a blank. A word that is longer than a line is cut. */
static size_t portion(const char *text, size_t room)
{
	size_t length = strlen(text), end = room;

	if (length <= room)
		return length;
	while (end && text[end] != ' ')
		end--;
	return end ?: room;
}

void lines_add(struct lines *l, enum style style, const char *label, const char *format, ...)
{
	char words[2048], safe[2048], *line, *at = safe;
	size_t indent = label ? LINES_LABEL : 0, room;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	format_safe(safe, sizeof(safe), words);
	room = l->width > indent + 10 ? l->width - indent : 10;
	line = malloc(indent + room + 1);
	if (!line) {
		l->lacks = true;
		return;
	}
	do {
		size_t length = portion(at, room);

		sprintf(line, "%-*.*s%.*s", (int)indent, (int)indent, label ?: "", (int)length, at);
		lines_raw(l, style, line);
		at += length + (at[length] == ' ');
		label = label ? "" : NULL;
	} while (*at);
	free(line);
}

void lines_clear(struct lines *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->line[i].text);
	free(l->line);
	*l = (struct lines){ .width = l->width };
}
