// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/terminal/terminal.h"
#include "userspace/render/output/view.h"

#define NSEC 1000000000u

struct view_time view_time(__u64 ns)
{
	time_t seconds = ns / NSEC;
	struct view_time t;
	struct tm tm;
	size_t length;

	gmtime_r(&seconds, &tm);
	length = strftime(t.text, sizeof(t.text), "%FT%T", &tm);
	snprintf(t.text + length, sizeof(t.text) - length, ".%09lluZ", ns % NSEC);
	return t;
}

bool view_wants(const struct snapshot_stream *s, const struct snapshot *previous, const struct view *v)
{
	const struct snapshot_stream *before;

	if (v->streams == STREAMS_NONE)
		return false;
	if (v->streams != STREAMS_CHANGED)
		return true;
	before = snapshot_find(previous, &s->key);
	return !before || snapshot_packets(&before->stream) != snapshot_packets(&s->stream);
}

/* ---- text for people ---- */

#define LABEL_MOST 20 /* columns of the longest label of a line */

void page_open(struct view_page *page, FILE *out)
{
	int fd = fileno(out) < 0 ? STDOUT_FILENO : fileno(out); /* live_output() writes there, and has no number */
	size_t width, height;

	/* A file has room for every column. */
	*page = (struct view_page){ .out = out, .width = 10000, .height = 10000 };
	if (!terminal_size(fd, &width, &height))
		return;
	page->colour = terminal_wants_colour();
	page->width = width;
	page->height = height;
	page->out = open_memstream(&page->text, &page->length);
	if (page->out)
		page->terminal = out;
	else
		page->out = out;
}

/* Bytes of the colour that begins here. */
static size_t colour_bytes(const char *at)
{
	return at[0] == '\033' ? strcspn(at, "m") + 1 : 0;
}

/*
 * Where to break a line for `room` columns: at its last blank, but behind a comma or the like if there is one in the second half.
 * from: the blanks before it are none to break at. Returns the offset of the blank; of the line's end if it fits.
 */
static size_t place_to_break(const char *line, size_t from, int room)
{
	size_t blank = 0, pause = 0;
	int columns = 0;

	for (size_t i = 0; line[i];) {
		size_t colour = colour_bytes(line + i);

		if (colour) {
			i += colour;
			continue;
		}
		if (line[i] == ' ' && i > from) {
			blank = i;
			if (strchr(",;:", line[i - 1]) && columns > room / 2)
				pause = i;
		}
		if (++columns > room && (pause || blank))
			return pause ?: blank;
		i++;
	}
	return strlen(line);
}

/* Where further lines begin: below the text behind a label, as in "  PSN       5 lost". */
static size_t indent_of(const char *line)
{
	size_t blanks = strspn(line, " "), label = blanks + strcspn(line + blanks, " "), text = label + strspn(line + label, " ");

	return blanks && text - label > 1 && text < LABEL_MOST ? text : blanks + 2;
}

static void fold(FILE *out, const char *line, int width)
{
	size_t indent = indent_of(line), end = place_to_break(line, indent, width);

	fprintf(out, "%.*s\n", (int)end, line);
	for (line += end; *line; line += end) {
		line += strspn(line, " ");
		end = place_to_break(line, 0, width - (int)indent);
		fprintf(out, "%*s%.*s\n", (int)indent, "", (int)end, line);
	}
}

void page_close(struct view_page *page)
{
	char *rest, *line;

	if (!page->terminal)
		return;
	if (fclose(page->out))
		errno = ENOMEM;
	rest = page->text;
	while ((line = strsep(&rest, "\n")))
		if (rest)
			fold(page->terminal, line, page->width);
		else
			fputs(line, page->terminal);
	free(page->text);
}

void page_words(const struct view_page *page, const char *text, int at, int indent, bool red)
{
	bool first = true;

	for (int length; *text; text += length + (text[length] == ' ')) {
		length = strcspn(text, " ");
		if (!first && at + 1 + length > page->width) {
			fprintf(page->out, "\n%*s", indent, "");
			at = indent;
		} else if (!first) {
			fputc(' ', page->out);
			at++;
		}
		red = red && first && page->colour;
		fprintf(page->out, "%s%.*s%s", red ? PAGE_RED : "", length, text, red ? PAGE_PLAIN : "");
		at += length;
		first = false;
	}
	fputc('\n', page->out);
}
