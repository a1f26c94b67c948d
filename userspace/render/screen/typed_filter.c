// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "lib/terminal/lines.h"
#include "userspace/render/screen/typed_filter.h"

void typed_filter_begin(struct typed_filter *f, struct filter *(*parse)(const char *text, char mistake[FILTER_MISTAKE]), const char *text)
{
	char mistake[FILTER_MISTAKE];

	*f = (struct typed_filter){ .parse = parse };
	if (!text || strlen(text) >= sizeof(f->text))
		return;
	f->filter = parse(text, mistake);
	format_safe(f->text, sizeof(f->text), text);
}

void typed_filter_free(struct typed_filter *f)
{
	filter_free(f->filter);
	f->filter = NULL;
}

static bool is_blank(const char *text)
{
	return !text[strspn(text, " ")];
}

bool typed_filter_key(struct typed_filter *f, int key, char message[TYPING_TEXT])
{
	char mistake[FILTER_MISTAKE];
	struct filter *filter = NULL;

	message[0] = '\0';
	if (!typing_key(&f->typing, key))
		return false;
	if (!is_blank(f->typing.text)) {
		filter = f->parse(f->typing.text, mistake);
		if (!filter) {
			format_safe(message, TYPING_TEXT, mistake);
			return false;
		}
	}
	filter_free(f->filter);
	f->filter = filter;
	strcpy(f->text, f->typing.text);
	f->typing.on = false;
	return true;
}
