// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stddef.h>

#include "screen/screen.h"

struct screen *screen_begin(const char *filter)
{
	(void)filter;
	return NULL;
}

void screen_show(struct screen *s, const struct screen_source *source)
{
	(void)s, (void)source;
}

bool screen_key(struct screen *s, const struct screen_source *source)
{
	(void)s, (void)source;
	return true;
}

void screen_end(struct screen *s)
{
	(void)s;
}
