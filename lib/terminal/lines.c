// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/terminal/lines.h"

void format_safe(char *to, size_t size, const char *text)
{
	size_t i;

	for (i = 0; text[i] && i + 1 < size; i++)
		to[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	to[i] = '\0';
}

void lines_raw(struct lines *l, enum style style, const char *text)
{
	struct terminal_line *line = realloc(l->line, (l->count + 1) * sizeof(*line));

	if (line)
		l->line = line;
	line = line ? &line[l->count] : NULL;
	if (line)
		*line = (struct terminal_line){ .style = style, .text = strdup(text) };
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
	size_t indent = label ? l->label ?: LINES_LABEL : 0, room;
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

void lines_cut(struct lines *l, size_t count)
{
	struct terminal_line *last;
	size_t length;

	if (l->count <= count)
		return;
	while (l->count > count)
		free(l->line[--l->count].text);
	last = count ? &l->line[count - 1] : NULL;
	length = last ? strlen(last->text) : 0;
	if (length + 3 > l->width)
		length = l->width > 3 ? l->width - 3 : 0;
	if (last && (last->text = realloc(last->text, length + 4)))
		strcpy(last->text + length, "...");
}

void lines_words(struct lines *l, enum style style, const char *label, const char *text)
{
	lines_add(l, style, label, "%s", text);
}

void lines_one(struct lines *l, enum style style, const char *label, const char *text)
{
	size_t before = l->count;

	lines_words(l, style, label, text);
	lines_cut(l, before + 1);
}

void lines_print(FILE *out, const struct lines *l, bool bold)
{
	for (size_t i = 0; i < l->count; i++) {
		bool fault = bold && l->line[i].style == STYLE_FAULT;

		fprintf(out, "%s%s%s\n", fault ? "\033[1m" : "", l->line[i].text, fault ? "\033[0m" : "");
	}
}

void lines_clear(struct lines *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->line[i].text);
	free(l->line);
	*l = (struct lines){ .width = l->width, .label = l->label };
}
