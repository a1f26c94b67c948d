// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/address.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/qpn.h"
#include "userspace/render/output/columns.h"
#include "userspace/render/output/text_cut.h"

_Static_assert(COLUMNS <= TEXT_COLUMNS, "a table has room for all");

const struct text_column columns_on_screen[COLUMNS] = {
#define COLUMN(id, value, title, how, width, text_title, text_how, words) { title, how, COLUMN_##id, width },
#include "userspace/render/output/column.def"
#undef COLUMN
};

const struct text_column columns_in_text[COLUMNS] = {
#define COLUMN(id, value, title, how, width, text_title, text_how, words) { text_title, text_how, COLUMN_##id, 0 },
#include "userspace/render/output/column.def"
#undef COLUMN
};

const char *const column_words[COLUMNS] = {
#define COLUMN(id, value, title, how, width, text_title, text_how, words) words,
#include "userspace/render/output/column.def"
#undef COLUMN
};

static const struct {
	int kind;
	size_t at; /* in struct stream_row */
	enum { NEVER, JUDGED, ALWAYS } fault;
} values[COLUMNS] = {
#define TEXT { VALUE_TEXT, 0, NEVER }
#define RATE(member) { VALUE_RATE, offsetof(struct stream_row, member), NEVER }
#define NUMBER(member, fault) { VALUE_NUMBER, offsetof(struct stream_row, member), fault }
#define COLUMN(id, value, ...) value,
#include "userspace/render/output/column.def"
#undef COLUMN
};

void stream_row_fill(struct stream_row *row, const struct roce_key *key, const struct roce_stream *s)
{
	const __u64 *v = s->counters.value;

	row->key = *key;
	row->rank = fault_rank(s);
	row->packets = row->rank.packets;
	row->lost = snapshot_lost(&s->counters);
	row->recovered = v[COUNTER_psn_recovered];
	row->duplicates = v[COUNTER_psn_duplicates];
	row->messages = v[COUNTER_messages];
	row->incomplete = v[COUNTER_blocks_incomplete];
	row->missing = v[COUNTER_blocks_missing];
	row->broken = v[COUNTER_messages_broken];
	row->icrc_bad = v[COUNTER_icrc_bad];
	row->lints = row->habits = 0;
	for (int i = 0; i < ROCE_LINTS; i++)
		*(stream_is_habit(s, i) ? &row->habits : &row->lints) |= (__u32)(s->lint[i] > 0) << i;
	row->service = s->service;
	row->trusted = s->trusted;
	row->estimate = snapshot_is_estimate(s);
	memcpy(row->dst, key->kind == KEY_DATAGRAM ? s->ud.dst : key->dst, sizeof(row->dst));
}

/* ---- cells ---- */

struct column_value column_value(enum column c, const struct stream_row *r)
{
	struct column_value v = { .kind = values[c].kind };
	const void *at = (const char *)r + values[c].at;

	if (v.kind == VALUE_NUMBER) {
		v.number = *(const __u64 *)at;
		v.estimate = c == COLUMN_LOST && r->estimate;
		v.fault = v.number && (values[c].fault == ALWAYS || (values[c].fault == JUDGED && r->trusted && !r->estimate));
	} else if (c == COLUMN_BITS) {
		v.rate = r->rates.gbps * 1e9;
		v.known = rates_known_bits(&r->rates);
	} else if (v.kind == VALUE_RATE) {
		v.rate = *(const double *)at;
		v.known = rates_known(&r->rates, v.rate);
	}
	return v;
}

/* The names of limit.h, without "-limited": the column's title says it. */
static void put_limit(char *to, enum limit limit)
{
	snprintf(to, TEXT_CELL, "%.*s", (int)strcspn(limit_names[limit], "-"), limit == LIMIT_UNKNOWN ? "" : limit_names[limit]);
}

static void put_lints(char *to, __u32 lints)
{
	size_t length = 0;

	to[0] = '\0';
	for (int i = 0; i < ROCE_LINTS && length < TEXT_CELL; i++)
		if (lints >> i & 1)
			length += snprintf(to + length, TEXT_CELL - length, "%s%s", length ? "," : "", lint_names[i]);
}

bool column_text(enum column c, char to[TEXT_CELL], const struct stream_row *r, int width)
{
	bool response = r->key.side == SIDE_RESPONSE && r->service != SERVICE_CNP;

	switch (c) {
	case COLUMN_STREAM:
		text_cut_path(to, width, address_text(r->key.src).text, address_text(r->dst).text);
		return false;
	case COLUMN_QPN:
		strcpy(to, qpn_cell(&r->key).text);
		return false;
	case COLUMN_HEX:
		strcpy(to, qpn_hex_cell(&r->key).text);
		return false;
	case COLUMN_SERVICE:
		snprintf(to, TEXT_CELL, "%s%s%s%s", roce_service_name(r->service), response ? " resp" : "", r->version,
			 r->trusted ? "" : "?");
		return !r->trusted;
	case COLUMN_LIMIT:
		put_limit(to, r->limit);
		return r->limit == LIMIT_STALLED || r->limit == LIMIT_LOSS;
	case COLUMN_OWNER:
		strcpy(to, r->owner);
		return false;
	case COLUMN_LINT:
		put_lints(to, r->lints | r->habits);
		return r->lints;
	default:
		to[0] = '\0';
		return false;
	}
}

/* ---- order ---- */

static int more_first(double a, double b)
{
	return a > b ? -1 : a < b;
}

static int less_first(__u64 a, __u64 b)
{
	return a < b ? -1 : a > b;
}

/* Unknown (empty) text comes last. */
static int text_first(const char *a, const char *b)
{
	return !*a - !*b ?: strcmp(a, b);
}

int column_compare(enum column c, const struct stream_row *x, const struct stream_row *y)
{
	struct column_value a = column_value(c, x), b = column_value(c, y);

	switch (c) {
	case COLUMN_STREAM:
		return less_first(x->place, y->place);
	case COLUMN_QPN:
	case COLUMN_HEX:
		return less_first(x->key.port, y->key.port) ?: less_first(x->key.qpn, y->key.qpn);
	case COLUMN_SERVICE:
		return less_first(x->service, y->service) ?: less_first(x->key.side, y->key.side);
	case COLUMN_FAULT:
		return more_first(x->last_fault, y->last_fault);
	case COLUMN_LIMIT:
		return more_first(x->limit, y->limit); /* stalled and lossy first */
	case COLUMN_OWNER:
		return text_first(x->owner, y->owner);
	case COLUMN_LINT:
		return more_first(__builtin_popcount(x->lints), __builtin_popcount(y->lints));
	default:
		return more_first(a.number, b.number) ?: more_first(a.rate, b.rate);
	}
}
