// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "lib/address.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/qpn.h"
#include "userspace/render/output/text_cut.h"
#include "userspace/render/screen/columns.h"

#define NUMBER 7	 /* width of a number (format.h) */
#define RATE 6		 /* width of a rate (format.h) */
#define ELASTIC_LEAST 12 /* least width of a column whose text may be cut */
#define PATH_GOOD 45	 /* width of "stream" that tells most addresses apart */
#define PATH_LEAST 23	 /* least width of "stream" */
#define RECENT 10000000000ull /* ns: a fault is highlighted for this long */

const struct column_words column_words[COLUMNS] = {
	[COLUMN_STREAM] = { "stream", "who sends to whom", true },
	[COLUMN_QPN] = { "QPN", "the destination QPN; UD: the source QPN; --udp: port/flow", false },
	[COLUMN_HEX] = { "hex", "the same in hexadecimal", false },
	[COLUMN_SERVICE] = { "svc",
			     "service; resp: responses; v1, v2: of RoCE, where both occur; ?: no packet had a right ICRC: "
			     "totals of PSNs leave it out",
			     true },
	[COLUMN_BITS] = { "bit/s", "bits of whole frames a second in the last interval: 1.234G is 1.234 Gbit/s", false },
	[COLUMN_RATE] = { "pkt/s", "packets a second, in the last interval", false },
	[COLUMN_LOST] = { "lost", "PSNs that were skipped and have not come; ~: an estimate (UD)", false },
	[COLUMN_BAD] = { "badICRC", "packets with a wrong ICRC", false },
	[COLUMN_BROKEN] = { "broken", "messages that were seen, but not whole and in order", false },
	[COLUMN_FAULT] = { "ago", "time since the last fault of any kind", false },
	[COLUMN_LIMIT] = { "limit", "what holds the stream back (--direction both)", true },
	[COLUMN_OWNER] = { "owner", "program/process that owns the QP on this machine", true },
	[COLUMN_MESSAGES] = { "msg/s", "messages completed a second, in the last interval", false },
	[COLUMN_RECOVERED] = { "recover", "skipped PSNs that came later: late, or sent again", false },
	[COLUMN_DUPLICATES] = { "dup", "PSNs seen before", false },
	[COLUMN_PACKETS] = { "packets", "all packets of the stream", false },
	[COLUMN_COMPLETE] = { "msgs", "messages completed", false },
	[COLUMN_INCOMPLETE] = { "incompl", "blocks that lack packets", false },
	[COLUMN_MISSING] = { "missing", "blocks of which nothing came", false },
	[COLUMN_LINT] = { "lint", "mistakes in headers; the stream's page explains them", true },
};

/* ---- cells ---- */

static void fill_path(char *to, const struct row *r, size_t width)
{
	struct address_text src = address_text(r->key.src), dst = address_text(r->dst);

	text_cut_path(to, width, src.text, dst.text);
}

static void fill_service(char *to, const struct row *r)
{
	bool response = r->key.side == SIDE_RESPONSE && r->service != SERVICE_CNP;

	snprintf(to, CELL, "%s%s%s%s", roce_service_name(r->service), response ? " resp" : "", r->version ?: "",
		 r->trusted ? "" : "?");
}

static void fill_fault(char *to, const struct row *r, __u64 time)
{
	if (!r->last_fault)
		strcpy(to, "-");
	else
		format_ago(to, time > r->last_fault ? (time - r->last_fault) / 1e9 : 0);
}

/* The names of limit.h, without "-limited": the column's title says it. */
static void fill_limit(char *to, const struct row *r)
{
	const char *name = limit_names[r->limit];

	snprintf(to, CELL, "%.*s", (int)(strchr(name, '-') ? strcspn(name, "-") : strlen(name)),
		 r->limit == LIMIT_UNKNOWN ? "" : name);
}

static void fill_lint(char *to, const struct row *r)
{
	size_t length = 0;

	to[0] = '\0';
	for (int i = 0; i < ROCE_LINTS && length < CELL; i++)
		if (r->lints >> i & 1)
			length += snprintf(to + length, CELL - length, "%s%s", length ? "," : "", lint_names[i]);
}

static bool fill_number(char *to, __u64 n, bool fault)
{
	format_count(to, n);
	return fault && n;
}

bool column_fill(enum column c, char to[CELL], const struct rows *rows, const struct row *r, size_t width)
{
	bool sequence = r->trusted && !r->estimate; /* its PSNs and messages are part of the totals */
	char number[CELL];

	switch (c) {
	case COLUMN_STREAM:
		fill_path(to, r, width);
		return false;
	case COLUMN_QPN:
		strcpy(to, qpn_cell(&r->key).text);
		return false;
	case COLUMN_HEX:
		strcpy(to, qpn_hex_cell(&r->key).text);
		return false;
	case COLUMN_SERVICE:
		fill_service(to, r);
		return !r->trusted;
	case COLUMN_BITS:
		format_rate(to, r->rates.gbps * 1e9, rates_known_bits(&r->rates));
		return false;
	case COLUMN_RATE:
		format_rate(to, r->rates.packets, rates_known(&r->rates, r->rates.packets));
		return false;
	case COLUMN_LOST:
		if (!r->estimate)
			return fill_number(to, r->lost, sequence);
		format_count(number, r->lost);
		snprintf(to, CELL, "~%.*s", CELL - 2, number);
		return false;
	case COLUMN_BAD:
		return fill_number(to, r->icrc_bad, true);
	case COLUMN_BROKEN:
		return fill_number(to, r->broken, sequence);
	case COLUMN_FAULT:
		fill_fault(to, r, rows->time);
		return r->last_fault && (rows->time < r->last_fault || rows->time - r->last_fault < RECENT);
	case COLUMN_LIMIT:
		fill_limit(to, r);
		return r->limit == LIMIT_STALLED || r->limit == LIMIT_LOSS;
	case COLUMN_OWNER:
		snprintf(to, CELL, "%s", r->owner);
		return false;
	case COLUMN_MESSAGES:
		format_rate(to, r->rates.messages, rates_known(&r->rates, r->rates.messages));
		return false;
	case COLUMN_RECOVERED:
		return fill_number(to, r->recovered, false);
	case COLUMN_DUPLICATES:
		return fill_number(to, r->duplicates, false);
	case COLUMN_PACKETS:
		return fill_number(to, r->packets, false);
	case COLUMN_COMPLETE:
		return fill_number(to, r->messages, false);
	case COLUMN_INCOMPLETE:
		return fill_number(to, r->incomplete, sequence);
	case COLUMN_MISSING:
		return fill_number(to, r->missing, sequence);
	case COLUMN_LINT:
		fill_lint(to, r);
		return to[0];
	case COLUMNS:
		break;
	}
	to[0] = '\0';
	return false;
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

int column_compare(enum column c, const struct row *x, const struct row *y)
{
	switch (c) {
	case COLUMN_STREAM:
		return less_first(x->place, y->place);
	case COLUMN_QPN:
	case COLUMN_HEX:
		return less_first(x->key.port, y->key.port) ?: less_first(x->key.qpn, y->key.qpn);
	case COLUMN_SERVICE:
		return less_first(x->service, y->service) ?: less_first(x->key.side, y->key.side);
	case COLUMN_BITS:
		return more_first(x->rates.gbps, y->rates.gbps);
	case COLUMN_RATE:
		return more_first(x->rates.packets, y->rates.packets);
	case COLUMN_LOST:
		return more_first(x->lost, y->lost);
	case COLUMN_BAD:
		return more_first(x->icrc_bad, y->icrc_bad);
	case COLUMN_BROKEN:
		return more_first(x->broken, y->broken);
	case COLUMN_FAULT:
		return more_first(x->last_fault, y->last_fault);
	case COLUMN_LIMIT:
		return more_first(x->limit, y->limit); /* stalled and lossy first */
	case COLUMN_OWNER:
		return text_first(x->owner, y->owner);
	case COLUMN_MESSAGES:
		return more_first(x->rates.messages, y->rates.messages);
	case COLUMN_RECOVERED:
		return more_first(x->recovered, y->recovered);
	case COLUMN_DUPLICATES:
		return more_first(x->duplicates, y->duplicates);
	case COLUMN_PACKETS:
		return more_first(x->packets, y->packets);
	case COLUMN_COMPLETE:
		return more_first(x->messages, y->messages);
	case COLUMN_INCOMPLETE:
		return more_first(x->incomplete, y->incomplete);
	case COLUMN_MISSING:
		return more_first(x->missing, y->missing);
	case COLUMN_LINT:
		return more_first(__builtin_popcount(x->lints), __builtin_popcount(y->lints));
	case COLUMNS:
		break;
	}
	return 0;
}

/* ---- choice and widths ---- */

void column_measure(struct layout *need, const struct rows *rows, const struct row *r)
{
	static const enum column texts[] = { COLUMN_STREAM, COLUMN_QPN, COLUMN_HEX, COLUMN_SERVICE, COLUMN_OWNER, COLUMN_LINT };
	char text[CELL];

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(texts); i++) {
		enum column c = texts[i];

		column_fill(c, text, rows, r, CELL - 1);
		if (strlen(text) > need->width[c])
			need->width[c] = strlen(text);
	}
}

static size_t natural_width(enum column c, const struct layout *need)
{
	size_t title = strlen(column_words[c].title);

	switch (c) {
	case COLUMN_STREAM:
	case COLUMN_QPN:
	case COLUMN_HEX:
	case COLUMN_SERVICE:
	case COLUMN_OWNER:
	case COLUMN_LINT:
		return need->width[c] > title ? need->width[c] : title;
	case COLUMN_FAULT:
		return 4;
	case COLUMN_LIMIT:
		return 8;
	case COLUMN_BITS:
	case COLUMN_RATE:
	case COLUMN_MESSAGES:
		return RATE;
	default:
		return NUMBER;
	}
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

static bool is_elastic(int c)
{
	return c == COLUMN_OWNER || c == COLUMN_LINT;
}

static void leave_out(struct layout *l, size_t *used, int c)
{
	*used -= l->width[c] ? l->width[c] + 1 : 0;
	l->width[c] = 0;
}

/* Leaves out columns from `last` down to `first` until the rest fits. */
static void leave_out_some(struct layout *l, size_t *used, size_t room, int last, int first, int sorted)
{
	for (int c = last; c >= first && *used > room; c--)
		if (c != sorted)
			leave_out(l, used, c);
}

static void cut_path(struct layout *l, size_t *used, size_t room, size_t least)
{
	size_t width = l->width[COLUMN_STREAM], most = width > least ? width - least : 0;
	size_t cut = *used > room ? *used - room : 0;

	if (cut > most)
		cut = most;
	l->width[COLUMN_STREAM] -= cut;
	*used -= cut;
}

/* Gives the remaining room to columns that were cut. */
static void widen(struct layout *l, const struct layout *need, size_t room, size_t used)
{
	for (int c = 0; c < COLUMNS && used < room; c++) {
		size_t lacks = is_elastic(c) && l->width[c] ? natural_width(c, need) - l->width[c] : 0;

		if (lacks > room - used)
			lacks = room - used;
		l->width[c] += lacks;
		used += lacks;
	}
}

struct layout columns_choose(const struct layout *need, const struct rows *r, size_t room, int sorted)
{
	struct layout l = { 0 };
	size_t used = 0;

	for (int c = 0; c < COLUMNS; c++) {
		if (!is_wanted(c, r) && c != sorted)
			continue;
		l.width[c] = natural_width(c, need);
		if (is_elastic(c) && l.width[c] > ELASTIC_LEAST)
			l.width[c] = ELASTIC_LEAST;
		used += l.width[c] + 1;
	}
	used--; /* no blank after the last column */
	/* Long addresses are cut before the most important columns are left out. */
	leave_out_some(&l, &used, room, COLUMN_HEX, COLUMN_HEX, sorted);
	leave_out_some(&l, &used, room, COLUMNS - 1, COLUMN_FAULT + 1, sorted);
	cut_path(&l, &used, room, PATH_GOOD);
	leave_out_some(&l, &used, room, COLUMN_FAULT, COLUMN_BAD + 1, sorted);
	cut_path(&l, &used, room, PATH_LEAST);
	leave_out_some(&l, &used, room, COLUMN_BAD, COLUMN_STREAM + 1, sorted);
	widen(&l, need, room, used);
	return l;
}
