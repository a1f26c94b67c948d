// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints docs/counters.md: what each counter, event, lint, finding and mistake means, and what to do about it, from the .def
 * files. tests/docs.test --write replaces the page.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "roce/stream/counters.h"
#include "userspace/diagnose/finding/symptom.h"
#include "userspace/diagnose/solver/icrc_recipe.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/refusal.h"

#define TRAFFIC "nothing: it is a figure of the traffic"
#define DOCTOR(finding, words) "`doctor` says [`" finding "`](#what-doctor-finds): " words

static const struct {
	const char *name, *words, *advice;
} counters[] = {
#define COUNTER(name, unit, kind, scope, of, severity, words, advice) { #name, words, advice },
#include "roce/stream/counters.def"
#undef COUNTER
};

/* A cell: a bar would end it. */
static void cell(const char *words)
{
	printf(" ");
	for (; *words; words++)
		printf(*words == '|' ? "\\%c" : "%c", *words);
	printf(" |");
}

/* In JSON and in commands these names have - for _. */
static void name_cell(const char *prefix, const char *name)
{
	printf("| `%s", prefix);
	for (; *name; name++)
		putchar(*name == '_' ? '-' : *name);
	printf("` |");
}

static void head(const char *title, const char *prose, const char *columns, int count)
{
	printf("\n## %s\n\n%s\n\n%s\n|", title, prose, columns);
	while (count--)
		printf("---|");
	printf("\n");
}

static void print_counters(void)
{
	head("Counters",
	     "In the order of JSON and `--help counters`. `--filter`, `--fail-on` and Prometheus have the same names.",
	     "| counter | what it counts | what to do |", 3);
	for (size_t i = 0; i < ROCE_COUNTERS; i++) {
		printf("| `%s` |", counters[i].name);
		cell(counters[i].words);
		cell(counters[i].advice);
		printf("\n");
	}
}

static void print_events(void)
{
	head("Events",
	     "An event is what one packet shows. The counters have the sums, `analyze` lists the packets, `capture` keeps "
	     "them.",
	     "| event | what the packet shows | `capture --reason` |", 3);
	for (int i = 0; i < ROCE_EVENTS; i++) {
		name_cell("", event_names[i]);
		cell(event_words[i]);
		cell(event_reasons[i]);
		printf("\n");
	}
}

/* What the doctor says of a lint: a finding with lint_ in front or of the same name, or a mistake in the ICRC. */
static const char *lint_fix(const char *lint)
{
	char longer[64];

	snprintf(longer, sizeof(longer), "lint_%s", lint);
	for (int i = 0; i < FINDING_KINDS; i++)
		if (!strcmp(finding_rules[i].name, longer) || !strcmp(finding_rules[i].name, lint))
			return finding_rules[i].fix;
	return "`doctor` [names the mistake](#mistakes-in-an-icrc)";
}

static void print_lints(void)
{
	head("Lints", "A lint is a check of a header that no receiver need make ([rules](rules.md#lints)).",
	     "| lint | what is wrong | what to do |", 3);
	for (int i = 0; i < ROCE_LINTS; i++) {
		printf("| `%s` |", lint_names[i]);
		cell(lint_words[i]);
		cell(lint_fix(lint_names[i]));
		printf("\n");
	}
}

static void print_refusals(void)
{
	head("What a receiver refuses",
	     "[`receive`](receive.md) counts why it did not take a packet. [Bring-up](bring-up.md) says which step that is, "
	     "and what to do.",
	     "| reason | what is wrong with the packet |", 2);
	for (int i = REFUSAL_NONE + 1; i < ROCE_REFUSALS; i++) {
		printf("| `%s` |", refusal_names[i]);
		cell(refusal_words[i]);
		printf("\n");
	}
}

static void print_findings(bool hints)
{
	for (int i = 0; i < FINDING_KINDS; i++) {
		const struct finding_rule *f = &finding_rules[i];

		/* a lint's is said above */
		if ((f->class == CLASS_HINT) != hints || !strncmp(f->name, "lint_", 5))
			continue;
		name_cell("", f->name);
		cell(f->words);
		cell(*f->fix ? f->fix : "[which these are](host.md#hints)");
		printf("\n");
	}
}

static void print_mistakes(void)
{
	head("Mistakes in an ICRC",
	     "In the order in which `doctor` tries them: where several explain the same value, it names the first.",
	     "| mistake | what is wrong | what to do |", 3);
	for (int i = 0; i < MISTAKES; i++) {
		const struct mistake_words *m = mistake_words(i);

		name_cell("icrc-", m->name);
		cell(m->words);
		cell(m->fix);
		printf("\n");
	}
}

int main(void)
{
	printf("# What does this counter mean, and what do I do about it?\n\n"
	       "This page is made from the `.def` files of the code (`docs/counters.c`), so it has all names that the\n"
	       "programs know. [How packets are judged](rules.md) says exactly when each counts.\n\n"
	       "Where `doctor` is named: `rocescope doctor eth0`, or `rocescope doctor file.pcap`. It prints the text of\n"
	       "these tables with its evidence.\n");
	print_counters();
	print_events();
	print_lints();
	head("What doctor finds",
	     "Each comes with its evidence and with what the specification asks for ([doctor](doctor.md)). Lints are above.",
	     "| finding | what is wrong | what to do |", 3);
	print_findings(false);
	print_mistakes();
	print_refusals();
	head("Hints of doctor", "What it could not judge, and why.", "| hint | what | what to do |", 3);
	print_findings(true);
	printf("\nThe steps of a new sender are in [bring-up](bring-up.md#the-steps), what would make a path lossy in\n"
	       "[path](path.md#what-it-looks-at), what this machine itself knows in [host](host.md#hints).\n");
	return fflush(stdout) ? 1 : 0;
}
