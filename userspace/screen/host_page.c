// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "userspace/screen/state.h"

static void add_hints(struct lines *l, const struct host *host)
{
	const char *const *hints;
	size_t count = host ? host_hints(host, &hints) : 0;

	lines_add(l, STYLE_TITLE, NULL, "What may be silently wrong");
	for (size_t i = 0; i < count; i++)
		lines_add(l, STYLE_HINT, "hint", "%s", hints[i]);
	if (!count)
		lines_add(l, STYLE_DIM, NULL, "Nothing that this machine knows of.");
	lines_raw(l, STYLE_PLAIN, "");
}

static void add_counters(struct lines *l, const struct host *host)
{
	const struct host_counter *counters;
	size_t count = host ? host_counters(host, &counters) : 0;

	lines_add(l, STYLE_TITLE, NULL, "Counters of devices that have moved since the start, those of losses first");
	for (size_t i = 0; i < count; i++) {
		const struct host_counter *c = &counters[i];

		lines_add(l, c->dropped ? STYLE_FAULT : STYLE_PLAIN, c->where, "%12llu  %s", c->value, c->name);
	}
	if (!count)
		lines_add(l, STYLE_DIM, NULL, "None has moved, or there is none.");
	lines_raw(l, STYLE_PLAIN, "");
}

/* All interfaces with all digits: the head has room for little. */
static void add_interfaces(struct lines *l, const struct snapshot *now)
{
	lines_add(l, STYLE_TITLE, NULL, "Interfaces");
	for (size_t i = 0; i < now->interface_count; i++) {
		const struct snapshot_interface *f = &now->interfaces[i];

		lines_add(l, f->ring_missed ? STYLE_FAULT : STYLE_PLAIN, f->name, "%s, %s; %llu frames missed before they could be seen",
			  f->gone ? "gone" : f->mode, f->direction, f->ring_missed);
	}
}

void host_page(struct screen *s, const struct screen_source *source)
{
	add_hints(&s->lines, source->host);
	add_counters(&s->lines, source->host);
	add_interfaces(&s->lines, screen_snapshot(s, source));
}
