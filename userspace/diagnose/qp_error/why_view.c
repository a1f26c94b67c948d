// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "lib/json.h"
#include "userspace/diagnose/qp_error/why_view.h"

static json_t *alternatives(const struct why_verdict *v)
{
	json_t *list = json_array();

	for (int c = 0; c < WHY_CAUSES; c++)
		if (v->alternatives >> c & 1)
			json_array_append_new(list, json_string(why_cause_name(c)));
	return list;
}

static json_t *evidence(const struct why_verdict *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->line_count; i++)
		json_array_append_new(list, json_pack("{s:s, s:o}", "source", v->lines[i].source, "text", json_text(v->lines[i].text)));
	return list;
}

static json_t *next(const struct why_verdict *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->next_count; i++)
		json_array_append_new(list, json_text(v->next[i]));
	return list;
}

static bool is_answer(const struct why_verdict *v)
{
	return !v->nothing_wrong && v->cause != WHY_unknown;
}

int why_json(FILE *out, const struct why_verdict *v, const struct verbs_qp *q, const char *time)
{
	json_t *o = json_pack("{s:s, s:o, s:o, s:i, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
			      "rocescope.qpwhy/1", "time", json_text_or_null(time), "device", json_text(q->qp.device), "qpn", q->qp.qpn,
			      "peer_qpn", json_count_or_null(q->qp.peer_qpn, q->qp.peer_qpn), "pid",
			      json_count_or_null(q->qp.pid, q->qp.pid), "program", json_text_or_null(q->qp.program), "cause",
			      v->nothing_wrong ? "none" : why_cause_name(v->cause), "confidence",
			      json_text_or_null(is_answer(v) ? why_confidence_name(v->confidence) : NULL), "in_error",
			      json_boolean(v->in_error), "text", json_text(v->sentence), "evidence", evidence(v), "alternatives",
			      alternatives(v), "fix", json_text_or_null(is_answer(v) ? why_cause_fix(v->cause) : NULL), "next", next(v));

	return json_line(out, o, JSON_COMPACT) ? 0 : -1;
}

int why_sentence(FILE *out, const struct why_verdict *v)
{
	if (is_answer(v))
		fprintf(out, "%s (%s, %s)\n", v->sentence, why_cause_name(v->cause), why_confidence_name(v->confidence));
	else
		fprintf(out, "%s\n", v->sentence);
	return ferror(out) ? -1 : 0;
}

static void print_alternatives(FILE *out, const struct why_verdict *v)
{
	bool first = true;

	for (int c = 0; c < WHY_CAUSES; c++) {
		if (!(v->alternatives >> c & 1))
			continue;
		fprintf(out, "%s%s", first ? "  or        " : ", ", why_cause_name(c));
		first = false;
	}
	if (!first)
		fputc('\n', out);
}

int why_lines(FILE *out, const struct why_verdict *v)
{
	why_sentence(out, v);
	for (size_t i = 0; i < v->line_count; i++)
		fprintf(out, "  %-9s %s\n", v->lines[i].source, v->lines[i].text);
	print_alternatives(out, v);
	if (is_answer(v))
		fprintf(out, "  fix       %s\n", why_cause_fix(v->cause));
	for (size_t i = 0; i < v->next_count; i++)
		fprintf(out, "  next      %s\n", v->next[i]);
	return ferror(out) ? -1 : 0;
}
