// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/screen/state.h"

static const struct {
	const char *keys, *words;
} keys[] = {
	{ "q", "ends; on a page: back to the table" },
	{ "Up Down", "choose a stream, which the cursor then follows wherever it goes (also j, k)" },
	{ "PgUp PgDn", "a terminal further (also Space)" },
	{ "Home End", "the top, where the cursor stays; the bottom (also g, G)" },
	{ "Enter", "opens the stream: its faults, loss pattern, PSNs, last headers, message sizes and more" },
	{ "< >", "in the table: order by the column before, behind; on a stream's page: the stream above, below (also Left, Right)" },
	{ "w", "order as at the beginning: the worst first, then the busiest" },
	{ "r", "the other way round" },
	{ "/", "a filter: 10.9.0.1, 10.9.0.0/24, src ..., qpn 17, rc, uc, request, faulty, untrusted, lost>10, not, or, parentheses; an empty one shows all again" },
	{ "p", "pauses what is shown, not what is counted; again: goes on" },
	{ "z", "shows counters since now; Z since the start again. What is counted, and what others are told, stays" },
	{ "i", "what this machine says: hints, and counters of devices that have moved" },
	{ "Ctrl-L", "draws all of it anew" },
	{ "? F1", "this page" },
};

void help_page(struct screen *s)
{
	struct lines *l = &s->lines;

	lines_add(l, STYLE_TITLE, NULL, "Keys");
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(keys); i++)
		lines_add(l, STYLE_PLAIN, keys[i].keys, "%s", keys[i].words);
	lines_raw(l, STYLE_PLAIN, "");
	lines_add(l, STYLE_TITLE, NULL, "Columns, of which those at the right are left out where the terminal is narrow");
	for (int c = 0; c < COLUMNS; c++)
		lines_add(l, STYLE_PLAIN, column_words[c].title, "%s", column_words[c].words);
	lines_raw(l, STYLE_PLAIN, "");
	lines_add(l, STYLE_PLAIN, NULL, "Counters are since the start (z: since then), rates are those of the last interval. 12.35M "
		  "is 12.35 million; a stream's page has all digits. The bars are the last intervals, the newest at the right, "
		  "the highest of them as high as can be.");
}
