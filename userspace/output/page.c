// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "userspace/output/page.h"

struct page page_open(FILE *out)
{
	const char *no_colour = getenv("NO_COLOR");
	struct page page = { .out = out, .width = 10000 };
	struct winsize size;

	/* not a terminal: whoever reads it has room for every column */
	if (!isatty(fileno(out)))
		return page;
	page.colour = !no_colour || !*no_colour;
	page.width = ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
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
