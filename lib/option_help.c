// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --help: the table of options as text. As JSON: option_dump.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/list.h"
#include "lib/option.h"

/* Appends to an array. Text that does not fit is cut off. */
#define append(text, ...) snprintf(text + strlen(text), sizeof(text) - strlen(text), __VA_ARGS__)

bool option_value(const struct option_entry *e, struct option_value *v)
{
	v->text[0] = 0;
	if (e->argument)
		append(v->text, "%s", e->argument);
	for (size_t i = 0; !e->argument && e->choices && e->choices[i]; i++)
		append(v->text, "%s%s", i ? "|" : "", e->choices[i]);
	return v->text[0];
}

struct option_words option_words(const struct option_entry *e)
{
	struct option_words w = { "" };

	append(w.text, "%s", e->words);
	for (size_t i = 0; e->argument && e->choices && e->choices[i]; i++)
		append(w.text, "%s%s", i ? ", " : ": ", e->choices[i]);
	if (e->usual)
		append(w.text, " (default: %s)", e->usual);
	return w;
}

static void print_option(const struct option_entry *e)
{
	char name[300] = "";
	struct option_value v;

	if (e->letter)
		append(name, "-%c, ", e->letter);
	append(name, "--%s", e->name);
	if (option_value(e, &v))
		append(name, " %s", v.text);
	list_entry(name, option_words(e).text);
}

/* Prints paragraphs, one per line of the text. */
static void print_prose(const char *prose)
{
	char paragraph[1000];

	while (*prose) {
		size_t length = strcspn(prose, "\n");

		snprintf(paragraph, sizeof(paragraph), "%.*s", (int)length, prose);
		printf("\n");
		list_words(paragraph);
		prose += length;
		prose += strspn(prose, "\n");
	}
}

static void print_general(const struct command *c)
{
	char words[400] = "this text";

	if (c->topics)
		append(words, ", or a list: %s", option_topics(c->topics).text);
	printf("\n");
	list_entry(c->topics ? "-h, --help [TOPIC]" : "-h, --help", words);
	list_entry("--version", "the version of the program");
}

void command_help(const struct command *c)
{
	printf("usage: %s%s%s %s\n", program_invocation_short_name, c->name ? " " : "", c->name ?: "", c->arguments);
	if (c->prose)
		print_prose(c->prose);
	for (const struct option_table *t = c->tables; t && t->entries; t++) {
		if (t->heading || t == c->tables)
			printf("\n%s%s", t->heading ?: "", t->heading ? ":\n" : "");
		for (const struct option_entry *e = t->entries; e->name; e++)
			if (!e->hidden)
				print_option(e);
	}
	print_general(c);
	if (c->examples)
		printf("\nExamples:\n%s", c->examples);
}

bool option_print_topic(const struct option_topic *const *topics, const char *name)
{
	for (size_t i = 0; topics && topics[i]; i++) {
		if (strcmp(topics[i]->name, name))
			continue;
		topics[i]->print();
		return true;
	}
	return false;
}

struct option_topics option_topics(const struct option_topic *const *topics)
{
	struct option_topics t = { "" };

	for (size_t i = 0; topics && topics[i]; i++)
		append(t.text, "%s%s", i ? ", " : "", topics[i]->name);
	return t;
}
