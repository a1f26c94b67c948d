// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "userspace/render/screen/columns.h"
#include "userspace/render/screen/format.h"

#define RECENT 10000000000ull /* ns: a fault is highlighted for this long */

static bool fill_fault(char *to, __u64 fault, __u64 now)
{
	if (!fault)
		strcpy(to, "-");
	else
		format_ago(to, now > fault ? (now - fault) / 1e9 : 0);
	return fault && (now < fault || now - fault < RECENT);
}

bool column_fill(enum column c, char to[TEXT_CELL], const struct rows *rows, const struct stream_row *r, int width)
{
	struct column_value v = column_value(c, r);

	if (c == COLUMN_FAULT)
		return fill_fault(to, r->last_fault, rows->time);
	if (v.kind == VALUE_TEXT)
		return column_text(c, to, r, width);
	if (v.kind == VALUE_RATE) {
		format_rate(to, v.rate, v.known);
		return false;
	}
	*to = '~';
	format_count(to + v.estimate, v.number);
	return v.fault;
}

/* What is measured is text; the others have a fixed width. */
static bool fill_text(char to[TEXT_CELL], const void *row, int id, int width)
{
	return column_text(id, to, row, width);
}

void columns_begin(struct text_table *t)
{
	*t = (struct text_table){ .columns = columns_on_screen, .count = COLUMNS, .fill = fill_text, .gap = 1 };
	text_table_begin(t);
}

static bool is_wanted(enum column c, const struct rows *r)
{
	switch (c) {
	case COLUMN_HEX:
		return r->has_qpns;
	case COLUMN_LIMIT:
		return r->has_limits;
	case COLUMN_OWNER:
		return r->has_owners;
	case COLUMN_INCOMPLETE:
	case COLUMN_MISSING:
		return r->has_blocks;
	default:
		return true;
	}
}

struct text_table columns_choose(const struct text_table *measured, const struct rows *r, int room, int sorted)
{
	struct text_table t = *measured;

	for (int c = 0; c < COLUMNS; c++)
		if (!is_wanted(c, r) && c != sorted)
			t.need[c] = 0;
	t.kept = sorted < COLUMNS ? &columns_on_screen[sorted] : NULL;
	text_table_fit(&t, room);
	return t;
}
