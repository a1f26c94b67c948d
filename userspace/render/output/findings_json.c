// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope.findings/1 (docs/json.md, docs/schema/findings.schema.json) */
#include "lib/address.h"
#include "lib/json.h"
#include "userspace/render/output/findings_view.h"

static json_t *stream_object(const struct roce_key *k)
{
	bool datagram = k->kind == KEY_DATAGRAM, known = k->qpn != FINDING_NO_QPN;
	json_t *o;

	if (!k->kind)
		return json_null();
	o = json_pack("{s:s, s:o, s:o, s:o, s:s}", "src", address_text(k->src).text,
		      "dst", json_text_or_null(datagram ? NULL : address_text(k->dst).text),
		      "dqpn", json_count_or_null(!datagram && known, k->qpn),
		      "sqpn", json_count_or_null(datagram, k->qpn),
		      "side", k->side == SIDE_RESPONSE ? "response" : "request");
	if (k->kind == KEY_UDP)
		json_set_count(o, "udp_port", k->port);
	return o;
}

static json_t *evidence_array(const struct finding *f)
{
	json_t *array = json_array();

	for (size_t i = 0; i < f->evidence_count; i++) {
		const struct evidence *e = &f->evidence[i];

		json_array_append_new(array, json_pack("{s:o, s:s, s:s}", "frame", json_count(e->frame), "expected", e->expected,
						       "found", e->found));
	}
	return array;
}

static json_t *hex(__u32 v)
{
	return json_sprintf("0x%08x", v);
}

static json_t *field_names(__u32 set)
{
	json_t *array = json_array();

	for (; set; set &= set - 1)
		json_array_append_new(array, json_string(solve_field_name(__builtin_ctz(set))));
	return array;
}

static json_t *solution_object(const struct solution *s)
{
	static const char *const first[] = { "ethernet", "ip", "udp", "bth" };
	json_t *o = json_pack("{s:o, s:o, s:b, s:b, s:o, s:s, s:s, s:b, s:s, s:o, s:o}", "polynomial", hex(s->polynomial),
			      "start", hex(s->start), "refin", s->refin, "refout", s->refout, "xor_out", hex(s->xor_out),
			      "byte_order", s->swapped ? "big" : "little", "first", first[s->first], "ones", s->ones, "filled",
			      s->zeroes ? "zeroes" : "ones", "masked", field_names(s->masked), "shown", field_names(s->shown));

	if (s->loose)
		json_object_set_new(o, "bare_start", hex(s->bare_start));
	return o;
}

static json_t *solutions_array(const struct finding *f)
{
	json_t *array = json_array();

	for (int i = 0; i < f->solution_count; i++)
		json_array_append_new(array, solution_object(&f->solutions[i]));
	return array;
}

static json_t *causes_array(const struct finding *f)
{
	json_t *array = json_array();

	for (size_t i = 0; i < f->cause_count; i++)
		json_array_append_new(array, json_string(f->causes[i]));
	return array;
}

static json_t *consequence_object(const struct finding *f)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:s, s:o}", "kind", f->kind, "packets", json_count(f->packets), "streams",
			 json_count(f->streams), "stream", stream_object(&f->stream), "evidence", evidence_array(f), "text", f->text,
			 "explained_by", causes_array(f));
}

static json_t *consequences_array(const struct findings *all, const struct finding *f)
{
	json_t *array = json_array();

	for (size_t i = 0; i < all->count; i++)
		if (finding_is_below(&all->list[i], f))
			json_array_append_new(array, consequence_object(&all->list[i]));
	return array;
}

static json_t *finding_object(const struct findings *all, const struct finding *f)
{
	json_t *consequences = consequences_array(all, f);
	json_t *o = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:s, s:s}", "kind", f->kind, "certainty",
			 f->habit ? "habit" : f->certain ? "finding" : "candidate", "packets", json_count(f->packets), "streams",
			 json_count(f->streams), "stream", stream_object(&f->stream), "evidence", evidence_array(f), "text",
			 f->text, "asks", f->asks ?: "", "fix", f->fix);

	if (json_array_size(consequences))
		json_object_set(o, "explains", consequences);
	json_decref(consequences);
	if (f->cause_count)
		json_object_set_new(o, "explained_by", causes_array(f));
	if (f->solution_count)
		json_object_set_new(o, "crc", solutions_array(f));
	return o;
}

static json_t *hint_object(const struct finding *f)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:s, s:s}", "kind", f->kind, "packets", json_count(f->packets), "streams",
			 json_count(f->streams), "stream", stream_object(&f->stream), "text", f->text, "fix", f->fix);
}

static json_t *checked_object(const struct doctor_checked *c)
{
	json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "packets", json_count(c->packets), "streams",
			      json_count(c->streams), "icrcs", json_count(c->icrcs), "sequences", json_count(c->sequences),
			      "messages", json_count(c->messages), "first_psns", json_count(c->starts));

	if (c->answers) {
		json_set_count(o, "answers", c->answers);
		json_set_count(o, "answers_compared", c->compared);
	}
	if (c->datagrams) {
		json_set_count(o, "datagrams", c->datagrams);
		json_set_count(o, "flows", c->flows);
	}
	if (c->receiver)
		json_set_count(o, "to_receiver", c->received);
	if (*c->instead)
		json_object_set_new(o, "instead", json_string(c->instead));
	return o;
}

/* Losses by each property by which they differ by more than chance. NULL: by none. */
static json_t *losses_array(const struct findings_report *r)
{
	json_t *array = NULL;

	for (enum losses_by by = 0; by < LOSSES_BY; by++) {
		const struct doctor_losses *t = &r->losses[by];
		json_t *rows = json_array();

		for (size_t i = 0; i < t->rows; i++) {
			const struct losses_row *row = &t->row[i];
			bool none = by == LOSSES_BY_VLAN && row->value == LOSSES_NO_VLAN;

			json_array_append_new(rows, json_pack("{s:o, s:o, s:o, s:o, s:o}", "value",
							      json_count_or_null(!none, row->value),
							      "streams", json_count(row->streams), "packets", json_count(row->packets),
							      "lost", json_count(row->lost), "gaps", json_count(row->gaps)));
		}
		if (!t->values) {
			json_decref(rows);
			continue;
		}
		array = array ?: json_array();
		json_array_append_new(array, json_pack("{s:s, s:o, s:o}", "by", losses_by_names[by], "values", json_count(t->values),
						       "worst", rows));
	}
	return array;
}

/* The priorities that were paused, and the DSCPs that lose. NULL: of one of them none is known. */
static json_t *pauses_object(const struct doctor_pauses *p)
{
	json_t *priorities, *dscps;

	if (!p->known)
		return NULL;
	priorities = json_array();
	dscps = json_array();
	for (unsigned int i = 0; i < DOCTOR_PRIORITIES; i++) {
		json_t *o = json_pack("{s:i, s:o}", "priority", i, "pfc_frames", json_count(p->frames[i]));

		for (int c = 0; c < PRIORITY_COUNTS; c++)
			json_set_count(o, host_priority_names[c], p->host[i][c]);
		if (doctor_is_paused(p, i))
			json_array_append(priorities, o);
		json_decref(o);
	}
	for (unsigned int i = 0; i < DOCTOR_DSCPS; i++) {
		const struct losses_row *row = &p->dscp[i];

		if (row->lost)
			json_array_append_new(dscps, json_pack("{s:i, s:i, s:b, s:o, s:o, s:o}", "dscp", i, "priority", DOCTOR_PRIORITY(i),
							       "paused", doctor_is_paused(p, DOCTOR_PRIORITY(i)),
							       "streams", json_count(row->streams), "packets", json_count(row->packets),
							       "lost", json_count(row->lost)));
	}
	return json_pack("{s:s, s:o, s:o, s:o}", "assumes", "priority = dscp / 8", "pause_frames", json_count(p->all),
			 "priorities", priorities, "dscps", dscps);
}

int findings_json(FILE *out, const struct findings_report *r)
{
	json_t *findings = json_array(), *hints = json_array(), *o;

	for (size_t i = 0; i < r->findings->count; i++) {
		const struct finding *f = &r->findings->list[i];

		if (f->below)
			continue;
		json_array_append_new(f->hint ? hints : findings, f->hint ? hint_object(f) : finding_object(r->findings, f));
	}
	o = json_pack("{s:s, s:b, s:o, s:o, s:o*, s:o*, s:o}", "schema", "rocescope.findings/1", "complete",
		      r->complete, "findings", findings, "hints", hints, "losses_by", losses_array(r), "pauses",
		      pauses_object(&r->pauses), "checked", checked_object(&r->checked));
	return json_line(out, o, JSON_COMPACT) ? 0 : -1;
}
