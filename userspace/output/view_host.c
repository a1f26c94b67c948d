// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the machine itself knows (userspace/host/host.h), in JSON and for people. */
#include <jansson.h>
#include <stdint.h>

#include "userspace/host/host.h"
#include "userspace/model/address.h"
#include "userspace/output/view.h"
#include "userspace/output/view_json.h"

#define COUNTERS_SHOWN 8

/* ---- JSON ---- */

static json_t *number_or_null(bool known, __u64 n)
{
	return known ? json_integer(n <= INT64_MAX ? (json_int_t)n : INT64_MAX) : json_null();
}

static json_t *text_or_null(const char *text)
{
	json_t *o = text && text[0] ? json_string(text) : NULL;

	return o ?: json_null();
}

json_t *view_json_owner(const struct host_owner *owner)
{
	const struct host_qp *qp = owner->qp;

	if (!owner->local)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "device", text_or_null(qp ? qp->device : NULL),
			 "port", number_or_null(qp && qp->port, qp ? qp->port : 0), "qpn", number_or_null(qp, qp ? qp->qpn : 0),
			 "peer_qpn", number_or_null(qp && qp->peer_qpn, qp ? qp->peer_qpn : 0),
			 "state", text_or_null(qp ? host_state_name(qp->state) : NULL),
			 "expected_psn", number_or_null(qp && qp->rq_psn != HOST_NO_PSN, qp ? qp->rq_psn : 0),
			 "pid", number_or_null(qp && qp->pid, qp ? qp->pid : 0),
			 "program", text_or_null(qp ? qp->program : NULL), "words", text_or_null(owner->words));
}

json_t *view_json_host(const struct host_report *r)
{
	json_t *counters = json_array(), *hints = json_array();

	for (size_t i = 0; i < r->counter_count; i++) {
		const struct host_counter *c = &r->counters[i];

		json_array_append_new(counters, json_pack("{s:o, s:o, s:o, s:b}", "where", text_or_null(c->where),
							  "name", text_or_null(c->name), "value", number_or_null(true, c->value),
							  "dropped", c->dropped));
	}
	for (size_t i = 0; i < r->hint_count; i++)
		json_array_append_new(hints, text_or_null(r->hints[i]));
	return json_pack("{s:o, s:o}", "counters", counters, "hints", hints);
}

/* ---- lines ---- */

static void print_owner(FILE *out, const struct snapshot_stream *s)
{
	bool datagram = s->key.kind == KEY_DATAGRAM, response = s->key.side == SIDE_RESPONSE;
	const struct host_owner *o = s->owner;
	const struct host_qp *qp = o->qp;

	fprintf(out, "  %s > %s QPN %u%s: ", address_text(s->key.src).text,
		address_text(datagram ? s->stream.dst : s->key.dst).text, datagram ? s->stream.dqpn : s->key.qpn,
		response ? " resp" : "");
	if (qp) {
		fprintf(out, "%s QP %u", qp->device, qp->qpn);
		if (qp->peer_qpn)
			fprintf(out, " (peer %u)", qp->peer_qpn);
		fprintf(out, " %s %s", host_type_name(qp->type), host_state_name(qp->state));
		if (qp->program[0])
			fprintf(out, ", %s", qp->program);
		if (qp->pid)
			fprintf(out, "[%u]", qp->pid);
		if (qp->rq_psn != HOST_NO_PSN && !o->outward && !response && qp->state != HOST_QP_GONE)
			fprintf(out, ", expects PSN %u", qp->rq_psn);
	}
	fprintf(out, "%s%s\n", qp && o->words[0] ? ": " : "", o->words);
}

static void print_owners(const struct page *page, const struct snapshot *now, const struct snapshot *previous,
			 const struct view *v)
{
	size_t shown = 0, more = 0;

	for (size_t i = 0; i < snapshot_shown_count(now); i++) {
		const struct snapshot_stream *s = snapshot_shown(now, i);

		if (!s->owner || (!s->owner->qp && !s->owner->words[0]) || !view_wants(s, previous, v))
			continue;
		if (v->streams == STREAMS_WORST && shown == VIEW_WORST) {
			more++;
			continue;
		}
		if (!shown++)
			fputs("\nQPs of this machine\n", page->out);
		print_owner(page->out, s);
	}
	if (more)
		fprintf(page->out, "  ... and %zu more: --streams all\n", more);
}

static void print_counters(const struct page *page, const struct host_report *r)
{
	size_t shown = 0;

	for (; shown < r->counter_count && shown < COUNTERS_SHOWN && r->counters[shown].dropped; shown++)
		fprintf(page->out, "%s%s %s %llu", shown ? ", " : "  dropped   ", r->counters[shown].where,
			r->counters[shown].name, r->counters[shown].value);
	if (shown)
		fputc('\n', page->out);
}

void view_host(const struct page *page, const struct snapshot *now, const struct snapshot *previous, const struct view *v)
{
	print_owners(page, now, previous, v);
	print_counters(page, now->host);
	for (size_t i = 0; i < now->host->hint_count; i++) {
		int at = fprintf(page->out, "hint: ");

		page_words(page, now->host->hints[i], at, 2, false);
	}
}
