// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parses command lines and files of options. Kinds of values are in option_value.c, --help is in option_help.c. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/nearest.h"
#include "lib/option.h"
#include "version.h"

/* Values that getopt_long() returns for long options. Short options return their letter. */
enum { LONG_HELP = 0x100, LONG_VERSION, LONG_ENTRY /* plus the index of the entry */ };

void usage_error(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (--help tells more)\n");
	exit(2);
}

/* "monitor: ", or "". */
static const char *prefix(const struct command *c, char room[40])
{
	room[0] = 0;
	if (c->name)
		snprintf(room, 40, "%s: ", c->name);
	return room;
}

void option_wrong(const struct option_parser *p, const struct option_entry *e, const char *text, const char *format, ...)
{
	char words[400], room[40];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	if (p->path)
		usage_error("%s%s:%u: %s %.60s: %s", prefix(p->command, room), p->path, p->line, e->name, text, words);
	usage_error("%s--%s %.60s: %s", prefix(p->command, room), e->name, text, words);
}

static bool takes_value(const struct option_entry *e)
{
	return e->argument || e->choices;
}

static void take(struct option_parser *p, const struct option_table *t, const struct option_entry *e, const char *text)
{
	p->to = (char *)p->options + t->at;
	e->take(p, e, text);
	if (e->given)
		*(bool *)((char *)p->to + e->given) = true;
}

/* "; did you mean --port?": the option that a misspelt word may be. dashes: before its name. */
static struct nearest_text nearest_option(const struct command *c, const char *word, const char *dashes)
{
	struct nearest n = nearest_to(word, strcspn(word, "="));

	for_each_option(c, t, e)
		if (!e->hidden)
			nearest_try(&n, e->name);
	return nearest_text(&n, dashes);
}

void option_parse(struct option_parser *p, const char *name, const char *value)
{
	char room[40];

	for_each_option(p->command, t, e) {
		if (strcmp(name, e->name))
			continue;
		if (takes_value(e) != !!value)
			usage_error("%s%s:%u: %s: %s", prefix(p->command, room), p->path, p->line, name,
				    value ? "takes no value" : "needs a value behind it");
		take(p, t, e, value);
		return;
	}
	usage_error("%s%s:%u: %.60s: no such option%s (they are those of the command line, without dashes)",
		    prefix(p->command, room), p->path, p->line, name, nearest_option(p->command, name, "").text);
}

/* ---- the command line ---- */

static void take_defaults(const struct command *c, void *options)
{
	struct option_parser p = { .command = c, .options = options, .path = "defaults" };

	for_each_option(c, t, e) {
		if (!e->usual)
			continue;
		p.to = (char *)options + t->at;
		e->take(&p, e, e->usual);
	}
}

/* found: getopt_long()'s value, an entry's index or its letter. */
static void take_found(struct option_parser *p, int found, const char *text)
{
	int index = LONG_ENTRY;

	for_each_option(p->command, t, e) {
		if (found == index++ || found == e->letter) {
			take(p, t, e, text);
			return;
		}
	}
	abort(); /* getopt_long() returns known entries only */
}

/* Makes getopt_long()'s arguments. The caller frees *all. */
static void list_options(const struct command *c, struct option **all, char letters[64])
{
	int entries = 0, used = 2;

	for_each_option(c, t, e)
		entries++;
	*all = calloc(entries + 3, sizeof(**all));
	if (!*all)
		abort();
	(*all)[0] = (struct option){ "help", optional_argument, NULL, LONG_HELP };
	(*all)[1] = (struct option){ "version", no_argument, NULL, LONG_VERSION };
	letters += sprintf(letters, ":h");
	for_each_option(c, t, e) {
		(*all)[used] = (struct option){ e->name, takes_value(e) ? required_argument : no_argument, NULL,
						LONG_ENTRY + used - 2 };
		used++;
		if (e->letter)
			letters += sprintf(letters, "%c%s", e->letter, takes_value(e) ? ":" : "");
	}
}

static void __attribute__((noreturn)) help(const struct command *c, const char *topic)
{
	char room[40];

	if (!topic || topic[0] == '-')
		command_help(c);
	else if (!option_print_topic(c->topics, topic))
		usage_error("%s--help %.60s: no such topic%s%s", prefix(c, room), topic, c->topics ? "; topics are " : "",
			    option_topics(c->topics).text);
	exit(0);
}

/* Reports what getopt_long() rejects. found: ? or :. word: the argument that contains it. */
static void __attribute__((noreturn)) refuse(const struct command *c, int found, const char *word)
{
	const char *words = found == ':' ? "needs a value" : optopt >= LONG_HELP ? "takes no value" : "no such option";
	char room[40];

	if (optopt && optopt < LONG_HELP)
		usage_error("%s-%c: %s", prefix(c, room), optopt, words);
	usage_error("%s%s: %s%s", prefix(c, room), word, words,
		    found == '?' && !optopt ? nearest_option(c, word + strspn(word, "-"), "--").text : "");
}

int command_parse(const struct command *c, void *options, int argc, char **argv)
{
	struct option_parser p = { .command = c, .options = options };
	struct option *all;
	char letters[64];
	int found;

	take_defaults(c, options);
	list_options(c, &all, letters);
	opterr = 0;
	optind = 0; /* glibc: start over */
	while ((found = getopt_long(argc, argv, letters, all, NULL)) != -1) {
		if (found == '?' || found == ':')
			refuse(c, found, argv[optind - 1]);
		if (found == 'h' || found == LONG_HELP)
			help(c, optarg ?: argv[optind]);
		if (found == LONG_VERSION) {
			printf("%s " VERSION "\n", program_invocation_short_name);
			exit(0);
		}
		take_found(&p, found, optarg);
	}
	free(all);
	return optind;
}
