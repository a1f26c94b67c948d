// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "lib/json.h"
#include "lib/option_dump.h"

static json_t *dump_choices(const struct option_entry *e)
{
	json_t *list = e->choices ? json_array() : json_null();

	for (size_t i = 0; e->choices && e->choices[i]; i++)
		json_array_append_new(list, json_string(e->choices[i]));
	return list;
}

static json_t *dump_option(const struct option_entry *e)
{
	bool ranged = e->take == option_number || e->take == option_hex || e->take == option_size;
	char letter[2] = { e->letter };
	struct option_value v;
	bool valued = option_value(e, &v);

	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:o, s:o}", "name", e->name,
			 "letter", json_text_or_null(letter), "argument", json_text_or_null(valued ? v.text : NULL),
			 "choices", dump_choices(e), "default", json_text_or_null(e->usual), "topic", json_text_or_null(e->topic),
			 "words", option_words(e).text, "hidden", e->hidden,
			 /* as strings: most of them exceed JSON's integers */
			 "least", ranged ? json_sprintf("%ju", (uintmax_t)e->least) : json_null(),
			 "most", ranged ? json_sprintf("%ju", (uintmax_t)e->most) : json_null());
}

static json_t *dump_sections(const struct command *c)
{
	json_t *sections = json_array(), *options = NULL;

	for (const struct option_table *t = c->tables; t && t->entries; t++) {
		if (t->heading || !options) {
			options = json_array();
			json_array_append_new(sections, json_pack("{s:s, s:o}", "heading", t->heading ?: "", "options",
								  options));
		}
		for (const struct option_entry *e = t->entries; e->name; e++)
			json_array_append_new(options, dump_option(e));
	}
	return sections;
}

/* Splits a text into lines or paragraphs, trimmed. */
static json_t *dump_lines(const char *lines)
{
	json_t *list = json_array();

	while (lines && *lines) {
		size_t length = strcspn(lines, "\n");

		json_array_append_new(list, json_stringn(lines, length));
		lines += length;
		lines += strspn(lines, "\n");
	}
	return list;
}

static json_t *dump_topics(const struct command *c)
{
	json_t *list = json_array();

	for (size_t i = 0; c->topics && c->topics[i]; i++)
		json_array_append_new(list, json_string(c->topics[i]->name));
	return list;
}

/* Alternately "  # words" and "  command". */
static json_t *dump_examples(const struct command *c)
{
	json_t *lines = dump_lines(c->examples), *pairs = json_array();

	for (size_t i = 0; i + 1 < json_array_size(lines); i += 2) {
		const char *words = json_string_value(json_array_get(lines, i));
		const char *command = json_string_value(json_array_get(lines, i + 1));

		json_array_append_new(pairs, json_pack("[s, s]", words + strspn(words, " #"), command + strspn(command, " ")));
	}
	json_decref(lines);
	return pairs;
}

json_t *command_dump(const struct command *c)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "name", c->name, "words", c->words, "arguments", c->arguments,
			 "prose", dump_lines(c->prose), "examples", dump_examples(c), "topics", dump_topics(c), "sections",
			 dump_sections(c));
}
