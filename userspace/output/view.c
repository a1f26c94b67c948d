// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "userspace/output/view.h"
#include "userspace/terminal/terminal.h"

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

struct page page_open(FILE *out)
{
	const char *no_colour = getenv("NO_COLOR");
	struct page page = { .out = out, .width = 10000, .height = 10000 };
	size_t width, height;

	/* A file has room for every column. */
	if (!terminal_size(fileno(out), &width, &height))
		return page;
	page.colour = !no_colour || !*no_colour;
	page.width = width;
	page.height = height;
	return page;
}

void page_words(const struct page *page, const char *text, int at, int indent, bool red)
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
