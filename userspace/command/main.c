// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope: the command line and its subcommands. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/json.h"
#include "lib/nearest.h"
#include "lib/option_dump.h"
#include "lib/shown.h"
#include "userspace/command/arguments.h"
#include "userspace/command/commands.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/traffic/receive/programs.h"
#include "version.h"

static const struct {
	const struct command *command;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ &monitor_command, cmd_monitor },
	{ &analyze_command, cmd_analyze },
	{ &capture_command, cmd_capture },
	{ &doctor_command, cmd_doctor },
	{ &send_command, cmd_send },
	{ &receive_command, cmd_receive },
	{ &path_command, cmd_path },
	{ &between_command, cmd_between },
	{ &verbs_command, cmd_verbs },
	{ &compare_command, cmd_compare },
};

/* Those that need maps come first. */
static const struct program_kind *const kinds[] = { &receive_kind, &monitor_kind, NULL };

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct option_topic *const topics[] = {
	&topic_counters, &topic_events, &topic_lints, &topic_filter, &topic_expect, &topic_findings, &topic_steps, &topic_faults,
	&topic_presets, &topic_refusals, &topic_checks, &topic_udp, &topic_qps, NULL
};

static void help(void)
{
	printf("usage: rocescope COMMAND [ARGUMENTS]      (rocescope COMMAND --help tells more)\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-9s %s\n", commands[i].command->name, commands[i].command->words);
	printf("\nrocescope help TOPIC lists\n\n");
	for (size_t i = 0; topics[i]; i++)
		printf("  %-9s %s\n", topics[i]->name, topics[i]->words);
	printf("\n  help [COMMAND|TOPIC], -h, --help, --version\n");
}

static json_t *dump_counters(void)
{
	json_t *list = json_array();

#define COUNTER(name, unit, kind, scope, of, severity, words, advice) \
	json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name", #name, "unit", #unit, "kind", #kind, \
					      "words", words));
#include "roce/stream/counters.def"
#undef COUNTER
	return list;
}

static json_t *dump_names(const char *const *names, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_pack("{s:s}", "name", names[i]));
	return list;
}

/*
 * Prints every command's options, the topics of --help, and the names of counters, events and lints as one JSON object. The man
 * page, the completion and tests use it.
 */
static void dump(void)
{
	json_t *all = json_pack("{s:s, s:[], s:[], s:o, s:o, s:o}", "version", VERSION, "commands", "topics", "counters",
				dump_counters(), "events", dump_names(event_names, ROCE_EVENTS), "lints",
				dump_names(lint_names, ROCE_LINTS));

	for (size_t i = 0; i < COMMANDS; i++)
		json_array_append_new(json_object_get(all, "commands"), command_dump(commands[i].command));
	for (size_t i = 0; topics[i]; i++)
		json_array_append_new(json_object_get(all, "topics"),
				      json_pack("{s:s, s:s}", "name", topics[i]->name, "words", topics[i]->words));
	json_line(stdout, all, JSON_INDENT(1));
}

/* "; did you mean monitor?": a command or topic (topics: NULL for commands only) that the word may be. */
static struct nearest_text nearest_word(const char *word, const struct option_topic *const *more)
{
	struct nearest n = nearest_to(word, strlen(word));

	for (size_t i = 0; i < COMMANDS; i++)
		nearest_try(&n, commands[i].command->name);
	for (size_t i = 0; more && more[i]; i++)
		nearest_try(&n, more[i]->name);
	return nearest_text(&n, "");
}

/* Runs the command of that name. false: there is none. argv[0]: its name. */
static bool run_command(int argc, char **argv, int *status)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(argv[0], commands[i].command->name))
			continue;
		*status = commands[i].run(argc, argv);
		return true;
	}
	return false;
}

static void __attribute__((noreturn)) refuse_help(const char *word)
{
	struct nearest_text near = nearest_word(word, topics);

	if (near.text[0])
		usage_error("help %.60s: no such command or topic%s", word, near.text);
	usage_error("help %.60s: no such command or topic; topics are %s", word, option_topics(topics).text);
}

/* Explains a command, or one of its topics, or a topic of all. words: what is behind `help`, which ends with NULL. */
static int explain(char **words)
{
	char *asked[] = { words[0], "--help", words[0] ? words[1] : NULL, NULL };
	int status = EXIT_RAN;

	if (!words[0])
		help();
	else if (!run_command(asked[2] ? 3 : 2, asked, &status) && !option_print_topic(topics, words[0]))
		refuse_help(words[0]);
	return fflush(stdout) ? EXIT_COULD_NOT : status;
}

/* Answers --version and the like. false: the word is none of them. */
static bool answer(const char *word)
{
	if (!strcmp(word, "--version"))
		printf("rocescope " VERSION "\n");
	else if (!strcmp(word, "--dump-options"))
		dump();
	else
		return false;
	return true;
}

static bool asks_for_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

/*
 * If a standard file is closed, the next file that we open would take its number and get our output. /dev/null, opened for the
 * other direction, takes it instead, so that reads and writes fail.
 */
static void occupy_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
	int status;

	occupy_standard_files();
	shown_stderr();
	program_kinds = kinds;
	if (argc < 2)
		usage_error("no command given");
	if (asks_for_help(argv[1]))
		return explain(argv + 2);
	if (answer(argv[1]) || (argc > 2 && !strcmp(argv[2], "--version") && answer(argv[2])))
		return fflush(stdout) ? EXIT_COULD_NOT : EXIT_RAN;
	if (run_command(argc - 1, argv + 1, &status))
		return status;
	usage_error("%.60s: no such command%s", argv[1], nearest_word(argv[1], NULL).text);
}
