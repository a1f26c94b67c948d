// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The pages of text: help, and what this machine knows. stream_page.c has the page of a stream. */
#include "userspace/render/screen/state.h"

/* ---- help ---- */

static const struct {
	const char *keys, *words;
} keys[] = {
	{ "q", "quit; on a page: back to the table" },
	{ "Up Down", "choose a stream; the cursor follows it when the order changes (also j, k)" },
	{ "PgUp PgDn", "one page up or down (also Space)" },
	{ "Home End", "the top, where the cursor then stays, or the bottom (also g, G)" },
	{ "Enter", "open the stream: its faults, loss pattern, PSNs, last headers, message sizes and more" },
	{ "< >", "in the table: order by the previous or next column; on a stream's page: the previous or next stream "
	  "(also Left, Right)" },
	{ "w", "the first order: the worst stream first, then the busiest" },
	{ "r", "reverse the order" },
	{ "/", "filter: 10.9.0.1, 10.9.0.0/24, src=..., qpn=17, rc, uc, request, faulty, untrusted, lost>10, "
	  "not, or, parentheses; an empty filter shows all" },
	{ "p", "pause the screen, or go on; counting never pauses" },
	{ "z", "show counters since now; Z: since the start again. Only the screen changes, not what is counted or exported" },
	{ "i", "what this machine knows: hints, and counters of devices that have moved" },
	{ "Ctrl-L", "redraw the screen" },
	{ "? F1", "this page" },
};

void help_page(struct screen *s)
{
	struct lines *l = &s->lines;

	lines_add(l, STYLE_TITLE, NULL, "Keys");
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(keys); i++)
		lines_add(l, STYLE_PLAIN, keys[i].keys, "%s", keys[i].words);
	lines_raw(l, STYLE_PLAIN, "");
	lines_add(l, STYLE_TITLE, NULL, "Columns; a narrow terminal leaves out those at the right");
	for (int c = 0; c < COLUMNS; c++)
		lines_add(l, STYLE_PLAIN, columns_on_screen[c].title, "%s", column_words[c]);
	lines_raw(l, STYLE_PLAIN, "");
	lines_add(l, STYLE_PLAIN, NULL, "Counters are since the start (or since z), rates are of the last interval. 12.35M is "
		  "12.35 million; a stream's page has all digits. The bars show the last intervals, the newest at the right. "
		  "The highest bar is full.");
}

/* ---- this machine ---- */

static void add_hints(struct lines *l, const struct host *host)
{
	const char *const *hints;
	size_t count = host ? host_hints(host, &hints) : 0;

	lines_add(l, STYLE_TITLE, NULL, "What may be silently wrong");
	for (size_t i = 0; i < count; i++)
		lines_add(l, STYLE_HINT, "hint", "%s", hints[i]);
	if (!count)
		lines_add(l, STYLE_DIM, NULL, "No hints.");
	lines_raw(l, STYLE_PLAIN, "");
}

static void add_counters(struct lines *l, const struct host *host)
{
	const struct host_counter *counters;
	size_t count = host ? host_counters(host, &counters) : 0;

	lines_add(l, STYLE_TITLE, NULL, "Counters of devices that have moved since the start, losses first");
	for (size_t i = 0; i < count; i++) {
		const struct host_counter *c = &counters[i];

		lines_add(l, c->dropped ? STYLE_FAULT : STYLE_PLAIN, c->where, "%12llu  %s", c->value, c->name);
	}
	if (!count)
		lines_add(l, STYLE_DIM, NULL, "None has moved, or there is none.");
	lines_raw(l, STYLE_PLAIN, "");
}

/* Lists all interfaces with all digits. The head has no room for that. */
static void add_interfaces(struct lines *l, const struct snapshot *now)
{
	lines_add(l, STYLE_TITLE, NULL, "Interfaces");
	for (size_t i = 0; i < now->interface_count; i++) {
		const struct snapshot_interface *f = &now->interfaces[i];

		lines_add(l, f->ring_missed ? STYLE_FAULT : STYLE_PLAIN, f->name,
			  "%s, %s; %llu frames missed before they could be seen", f->gone ? "gone" : f->mode, f->direction,
			  f->ring_missed);
	}
}

void host_page(struct screen *s, const struct screen_source *source)
{
	add_hints(&s->lines, source->host);
	add_counters(&s->lines, source->host);
	add_interfaces(&s->lines, screen_snapshot(s, source));
}
