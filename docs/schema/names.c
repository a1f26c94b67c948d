// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints names.schema.json: the part of the JSON schemas that comes from .def files. A new counter, lint, event, finding, fault,
 * check of a path or step of bring-up is in the schemas as soon as it is in its .def file.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "roce/stream/counters.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define NAME 64
#define HINT "hint_"

static const struct {
	const char *name, *words, *unit;
	enum roce_scope scope;
} counters[] = {
#define COUNTER(name, unit, kind, scope, of, severity, words, advice) { #name, words, #unit, SCOPE_##scope },
#include "roce/stream/counters.def"
#undef COUNTER
};

static const struct {
	const char *name, *words;
} lints[] = {
#define LINT(name, class, test, words) { #name, words },
#include "roce/stream/lint.def"
#undef LINT
};

static const char *const events[] = {
#define EVENT(name, ...) #name,
#include "roce/event/event.def"
#undef EVENT
};

static const char *const refusals[] = {
#define REFUSAL(name, about, words) #name,
#include "roce/responder/refusal.def"
#undef REFUSAL
};

static const char *const qp_causes[] = {
#define CAUSE(name, statuses, words, fix) #name,
#define PROVIDER(driver, status, vendor_err, cause, words)
#define COUNTER(name, means)
#include "userspace/diagnose/qp_error/cause.def"
	"none",
};

static const char *const findings[] = {
#define FINDING(name, ...) #name,
#include "userspace/diagnose/finding/finding.def"
#undef FINDING
};

static const char *const mistakes[] = {
#define MISTAKE(name, ...) #name,
#include "roce/icrc/icrc_mistake.def"
};

static const char *const faults[] = {
#define FAULT(name, unit, stage, needs, keys, words) #name,
#include "userspace/traffic/send/fault.def"
#undef FAULT
};

static const char *const path_checks[] = {
#define PATH_CHECK(name, severity, why) #name,
#include "userspace/diagnose/path/check.def"
#undef PATH_CHECK
};

static const char *const steps[] = {
#define STEP(id, words, asks, fix) #id,
#include "userspace/diagnose/bring_up/step.def"
#include "userspace/diagnose/bring_up/responder.def"
#undef STEP
};

static const struct {
	const char *name, *unit, *words;
} verbs_counters[] = {
#define VERBS_COUNTER(name, unit, words) { #name, unit, words },
#include "bpf/verbs_counter.def"
#undef VERBS_COUNTER
};

/* In JSON these names have - for _. */
static json_t *spelled(const char *name)
{
	char text[NAME];
	size_t i = 0;

	for (; i < NAME - 1 && name[i]; i++)
		text[i] = name[i] == '_' ? '-' : name[i];
	text[i] = 0;
	return json_string(text);
}

static json_t *enumeration(const char *const *names, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, spelled(names[i]));
	return json_pack("{s:o}", "enum", list);
}

/* The doctor's hints, or what it finds. */
static json_t *kinds(bool hints)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(findings); i++)
		if (!strncmp(findings[i], HINT, strlen(HINT)) == hints)
			json_array_append_new(list, spelled(findings[i]));
	return json_pack("{s:o}", "enum", list);
}

/* icrc-MISTAKE, or icrc-MISTAKE+MISTAKE for two at once */
static json_t *mistake_kinds(void)
{
	char names[ARRAY_SIZE(mistakes) * NAME], *at = names;

	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		json_t *name = spelled(mistakes[i]);

		at += sprintf(at, "%s%s", i ? "|" : "", json_string_value(name));
		json_decref(name);
	}
	return json_pack("{s:s, s:o}", "type", "string", "pattern", json_sprintf("^icrc-(%s)(\\+(%s))?$", names, names));
}

static json_t *lint_names(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(lints); i++)
		json_array_append_new(list, json_string(lints[i].name));
	return json_pack("{s:o}", "enum", list);
}

static json_t *refusal_names(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++)
		json_array_append_new(list, json_string(refusals[i]));
	return json_pack("{s:o}", "enum", list);
}

static json_t *lint_counts(void)
{
	json_t *counts = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(lints); i++)
		json_object_set_new(counts, lints[i].name, json_pack("{s:s, s:i, s:s}", "type", "integer", "minimum", 1,
								     "description", lints[i].words));
	return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", counts, "additionalProperties", false);
}

static json_t *counter(size_t i)
{
	return json_pack("{s:s, s:i, s:o}", "type", "integer", "minimum", 0, "description",
			 json_sprintf("%s (%s)", counters[i].words, counters[i].unit));
}

/* The totals have every counter. */
static json_t *totals(void)
{
	json_t *counts = json_object(), *required = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		json_object_set_new(counts, counters[i].name, counter(i));
		json_array_append_new(required, json_string(counters[i].name));
	}
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", counts, "required", required,
			 "additionalProperties", false);
}

/* A stream has those that say something of it. */
static json_t *stream_counters(void)
{
	json_t *counts = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		if (counters[i].scope != SCOPE_FRAME)
			json_object_set_new(counts, counters[i].name, counter(i));
	return json_pack("{s:s, s:o}", "type", "object", "properties", counts);
}

/* What is counted of a QP's calls: all of them. */
static json_t *calls(void)
{
	json_t *counts = json_object(), *required = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(verbs_counters); i++) {
		json_object_set_new(counts, verbs_counters[i].name,
				    json_pack("{s:s, s:i, s:o}", "type", "integer", "minimum", 0, "description",
					      json_sprintf("%s (%s)", verbs_counters[i].words, verbs_counters[i].unit)));
		json_array_append_new(required, json_string(verbs_counters[i].name));
	}
	return json_pack("{s:s, s:o, s:o}", "type", "object", "properties", counts, "required", required);
}

int main(void)
{
	json_t *o = json_pack("{s:s, s:s, s:{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}}",
			      "$schema", "https://json-schema.org/draft/2020-12/schema",
			      "$comment", "Made from the .def files by docs/schema/names.c.", "$defs",
			      "totals", totals(), "stream_counters", stream_counters(), "lint_counts", lint_counts(),
			      "lint", lint_names(), "refusal", refusal_names(), "event", enumeration(events, ARRAY_SIZE(events)),
			      "finding", kinds(false), "hint", kinds(true), "icrc_mistake", mistake_kinds(),
			      "fault", enumeration(faults, ARRAY_SIZE(faults)),
			      "path_check", enumeration(path_checks, ARRAY_SIZE(path_checks)),
			      "step", enumeration(steps, ARRAY_SIZE(steps)), "verbs_counters", calls(),
			      "qp_cause", enumeration(qp_causes, ARRAY_SIZE(qp_causes)));
	bool failed = !o || json_dumpf(o, stdout, JSON_INDENT(1)) || putchar('\n') == EOF || fflush(stdout);

	json_decref(o);
	return failed;
}
