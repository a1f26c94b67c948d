// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The QPs of this machine for people. */
#include <string.h>

#include "lib/address.h"
#include "lib/clock.h"
#include "lib/shown.h"
#include "userspace/render/output/text_table.h"
#include "userspace/render/output/view.h"
#include "userspace/render/output/view_verbs.h"

#define HEAD 9 /* lines that a terminal needs beside the rows, at least */

struct verbs_shown verbs_shown(const struct verbs *v, const struct qp_rows *rows, const char *filter, double seconds)
{
	struct verbs_shown s = { .rows = rows, .filter = filter, .seconds = seconds, .now = rows->now.time };

	s.cq_count = verbs_cqs(v, &s.cqs);
	s.srq_count = verbs_srqs(v, &s.srqs);
	s.cost = verbs_cost(v);
	s.counter_count = verbs_counters(v, &s.counters);
	s.note_count = verbs_notes(v, &s.notes);
	s.realtime_offset = realtime_offset_ns();
	return s;
}

/* ---- words ---- */

struct verbs_peer verbs_peer(const struct verbs_qp *q)
{
	bool path = q->attributes.known & VERBS_KNOWS_PATH;
	struct verbs_peer p = { "" };

	if (path)
		snprintf(p.text, sizeof(p.text), q->qp.peer_qpn ? "%s:%u" : "%s", address_text(q->attributes.dgid).text, q->qp.peer_qpn);
	else if (q->qp.peer_qpn)
		snprintf(p.text, sizeof(p.text), "?:%u", q->qp.peer_qpn);
	return p;
}

/* 850 ns, 12.3 us, 4.56 ms, 1.20 s; without blanks, for a table. */
static void put_time(char *to, __u64 ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double n = ns;
	int unit = 0;

	for (; n >= 999.5 && unit < 3; unit++)
		n /= 1000;
	snprintf(to, TEXT_CELL, "%.*f%s", !unit || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2, n, units[unit]);
}

bool verbs_remark(char to[VERBS_REMARK], const struct qp_row *r)
{
	const struct verbs_calls *c = &r->qp->calls;
	char time[TEXT_CELL];

	*to = '\0';
	if (qp_has_failed(r->qp)) {
		snprintf(to, VERBS_REMARK, "%s", verbs_status_name(c->error_status));
	} else if (r->condition == QP_STALLED) {
		put_time(time, r->waits);
		snprintf(to, VERBS_REMARK, "no completion for %.20s", time);
	} else if (r->qp->gone) {
		snprintf(to, VERBS_REMARK, "%s", r->qp->killed ? "its process ended" : "");
	} else {
		snprintf(to, VERBS_REMARK, "%s", qp_blind_brief(r->qp->blind));
	}
	return r->condition == QP_ERROR || r->condition == QP_STALLED;
}

void verbs_step_words(char to[VERBS_EVENT_WORDS], const struct verbs_step *s)
{
	int length = snprintf(to, VERBS_EVENT_WORDS, "%s", verbs_step_name(s));

	if (s->kind == VERBS_MODIFIED && s->state != s->state_before)
		length += snprintf(to + length, VERBS_EVENT_WORDS - length, " (was %s)", host_state_name(s->state_before));
	if (s->signal)
		length += snprintf(to + length, VERBS_EVENT_WORDS - length, ": signal %u has ended its process", s->signal);
	if (s->error)
		length += snprintf(to + length, VERBS_EVENT_WORDS - length, ", refused: %s", strerror(-s->error));
	if (s->by_netlink)
		snprintf(to + length, VERBS_EVENT_WORDS - length, " (noticed; it happened up to an interval before)");
}

/* ---- the table ---- */

enum { CONDITION, DEVICE, QPN, SERVICE, STATE, PEER, PROGRAM, PID, CONTAINER, WRS, GBPS, OUTSTANDING, HALF, LATE, RECEIVED, REMARK };

static void put_rate(char *to, const struct qp_row *r, double rate)
{
	if (r->has_rates)
		snprintf(to, TEXT_CELL, "%.*f", rate && rate < 10 ? 2 : 0, rate);
	else
		strcpy(to, r->qp->has_calls ? "?" : "-");
}

static void put_latency(char *to, const struct verbs_qp *q, double share)
{
	if (q->has_calls && q->calls.latency_count)
		put_time(to, qp_latency(&q->calls, share));
	else
		strcpy(to, "-");
}

/* Names are others': they are cleaned, and short enough. */
static void put_name(char *to, const char *name)
{
	snprintf(to, TEXT_CELL, "%.80s", shown_text(name).text);
}

static bool fill(char to[TEXT_CELL], const void *row, int id, int width)
{
	const struct qp_row *r = row;
	const struct verbs_qp *q = r->qp;
	bool bad = r->condition == QP_ERROR || r->condition == QP_STALLED;
	(void)width;
	*to = '\0';
	switch (id) {
	case CONDITION:
		strcpy(to, qp_condition_names[r->condition]);
		return bad;
	case DEVICE:
		put_name(to, q->qp.device);
		break;
	case QPN:
		snprintf(to, TEXT_CELL, "%u", q->qp.qpn);
		break;
	case SERVICE:
		strcpy(to, host_type_name(q->qp.type));
		break;
	case STATE:
		strcpy(to, host_state_name(q->gone ? HOST_QP_GONE : q->qp.state));
		break;
	case PEER:
		strcpy(to, verbs_peer(q).text);
		break;
	case PROGRAM:
		put_name(to, q->qp.program);
		break;
	case PID:
		snprintf(to, TEXT_CELL, "%u", q->qp.pid);
		break;
	case CONTAINER:
		put_name(to, q->container);
		break;
	case WRS:
		put_rate(to, r, r->wrs);
		break;
	case GBPS:
		put_rate(to, r, (r->bits + r->received_bits) / 1e6);
		break;
	case OUTSTANDING:
		snprintf(to, TEXT_CELL, q->has_calls ? "%llu" : "-", r->outstanding);
		break;
	case HALF:
		put_latency(to, q, 0.5);
		break;
	case LATE:
		put_latency(to, q, 0.99);
		break;
	case RECEIVED:
		put_rate(to, r, r->received);
		break;
	case REMARK:
		return verbs_remark(to, r);
	}
	return false;
}

static const struct text_column columns[] = {
	{ "", TEXT_LEFT, CONDITION, 0 },
	{ "device", TEXT_LEFT, DEVICE, 0 },
	{ "QPN", 0, QPN, 0 },
	{ "type", TEXT_LEFT | TEXT_GOOD, SERVICE, 0 },
	{ "state", TEXT_LEFT, STATE, 0 },
	{ "peer", TEXT_LEFT | TEXT_GOOD | TEXT_SELDOM, PEER, 0 },
	{ "program", TEXT_LEFT | TEXT_ELASTIC, PROGRAM, 0 },
	{ "PID", TEXT_SPARE, PID, 0 },
	{ "container", TEXT_LEFT | TEXT_SPARE | TEXT_SELDOM, CONTAINER, 0 },
	{ "posts/s", TEXT_COMMON, WRS, 0 },
	{ "recv/s", TEXT_SPARE, RECEIVED, 0 },
	{ "Mbit/s", TEXT_COMMON, GBPS, 0 },
	{ "waiting", TEXT_BASIC, OUTSTANDING, 0 },
	{ "half in", TEXT_COMMON, HALF, 0 },
	{ "99% in", TEXT_SPARE, LATE, 0 },
	{ "", TEXT_LEFT, REMARK, 0 },
};

struct text_table verbs_table(void)
{
	struct text_table t = { .columns = columns, .count = ROCE_ARRAY_SIZE(columns), .fill = fill, .gap = 1 };

	text_table_begin(&t);
	return t;
}

static void print_rows(const struct view_page *page, const struct qp_rows *rows)
{
	struct text_table t = verbs_table();
	size_t room = page->height > HEAD ? page->height - HEAD : 1, most = rows->count;

	if (page->terminal && most > room)
		most = room;
	if (!most)
		return;
	t.page = page;
	for (size_t i = 0; i < most; i++)
		text_table_measure(&t, &rows->row[i]);
	text_table_fit(&t, page->width);
	text_table_titles(&t);
	fputc('\n', page->out);
	for (size_t i = 0; i < most; i++) {
		text_table_row(&t, &rows->row[i]);
		fputc('\n', page->out);
	}
	if (most < rows->count)
		fprintf(page->out, "... and %zu more QPs: -j prints all\n", rows->count - most);
}

/* ---- the lines above it ---- */

static void print_totals(const struct view_page *page, const struct verbs_shown *s)
{
	const struct qp_rows *r = s->rows;
	bool first = true;

	fprintf(page->out, "%.1f s: %zu QP%s", s->seconds, r->of, r->of == 1 ? "" : "s");
	for (int c = 0; c < QP_CONDITIONS; c++) {
		bool red = page->colour && c <= QP_STALLED;

		if (!r->condition[c])
			continue;
		fprintf(page->out, "%s%s%zu %s%s", first ? ": " : ", ", red ? PAGE_RED : "", r->condition[c],
			c == QP_ERROR ? "in error" : qp_condition_names[c], red ? PAGE_PLAIN : "");
		first = false;
	}
	if (s->filter)
		fprintf(page->out, "; %zu shown: %s", r->count, shown_text(s->filter).text);
	fputc('\n', page->out);
}

void verbs_cost_words(char to[VERBS_COST_WORDS], const struct verbs_cost *c)
{
	int length = snprintf(to, VERBS_COST_WORDS, "%.0f calls/s x %.2f us = %.1f %% of a core%s", c->calls, c->ns / 1e3, c->share * 100,
			      c->stopped ? ": stopped (--most)" : "");

	if (c->empty_calls && length < VERBS_COST_WORDS)
		snprintf(to + length, VERBS_COST_WORDS - length, "; %.0f polls/s that found nothing: %.1f %%", c->empty_calls,
			 c->empty_share * 100);
}

static void print_cost(FILE *out, const struct verbs_cost *c)
{
	char words[VERBS_COST_WORDS];

	if (!c)
		return;
	verbs_cost_words(words, c);
	fprintf(out, "  probes    %s\n", words);
}

static void print_counters(FILE *out, const struct verbs_shown *s)
{
	for (size_t i = 0; i < s->counter_count; i++)
		fprintf(out, "%s%s %s %llu", i ? ", " : "  counters  ", shown_text(s->counters[i].where).text,
			shown_text(s->counters[i].name).text, s->counters[i].value);
	if (s->counter_count)
		fputc('\n', out);
}

int verbs_lines(FILE *out, const struct verbs_shown *s)
{
	struct view_page page;

	page_open(&page, out);
	print_totals(&page, s);
	print_cost(page.out, s->cost);
	print_counters(page.out, s);
	for (size_t i = 0; i < s->note_count; i++)
		fprintf(page.out, "  note      %s\n", shown_text(s->notes[i]).text);
	print_rows(&page, s->rows);
	page_close(&page);
	return ferror(out) ? -1 : 0;
}

int verbs_event_line(FILE *out, const struct verbs_event *e, __u64 realtime_offset)
{
	const struct host_qp *q = &e->qp->qp;
	char words[VERBS_EVENT_WORDS];

	verbs_step_words(words, &e->step);
	fprintf(out, "%s %s QPN %u %s", view_time(e->step.time + realtime_offset).text, shown_text(q->device).text, q->qpn,
		host_type_name(q->type));
	if (q->pid)
		fprintf(out, " of %s (%u)", q->program[0] ? shown_text(q->program).text : "a process", q->pid);
	if (verbs_peer(e->qp).text[0])
		fprintf(out, " to %s", verbs_peer(e->qp).text);
	fprintf(out, ": %s\n", words);
	return ferror(out) ? -1 : 0;
}
