// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope: watches RoCEv2 on the wire. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/list.h"
#include "userspace/command/commands.h"
#include "userspace/model/event_text.h"
#include "version.h"

/* A command without a function is one of the plan that is not built yet. */
static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *words;
} commands[] = {
	{ "monitor", cmd_monitor, "count what passes interfaces: per queue pair PSNs, messages, ICRCs" },
	{ "analyze", cmd_analyze, "the same verdicts from capture files" },
	{ "capture", cmd_capture, "write only the faulty packets to a file, with context" },
	{ "doctor", cmd_doctor, "say in words what a sender does wrong" },
	{ "send", cmd_send, "send RoCE packets by plan, and faults by plan" },
	{ "path", NULL, "look at the path to another machine" },
	{ "compare", cmd_compare, "compare RoCE, UDP and SoftRoCE on one path (make compare)" },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* ---- lists of what the .def files have ---- */

static void list_counters(void)
{
#define COUNTER(name, unit, kind, scope, words) list_entry(#name, words);
#include "roce/counters.def"
#undef COUNTER
}

static void list_events(void)
{
	for (int i = 0; i < ROCE_EVENTS; i++) {
		char words[200];

		snprintf(words, sizeof(words), "(%s) %s", event_reasons[i], event_words[i]);
		list_entry(event_names[i], words);
	}
}

static void list_lints(void)
{
	for (int i = 0; i < ROCE_LINTS; i++)
		list_entry(lint_names[i], lint_words[i]);
}

static const struct topic {
	const char *name;
	void (*list)(void);
	const char *words;
} topics[] = {
	{ "counters", list_counters, "every counter, as --fail-on, JSON and Prometheus call it" },
	{ "events", list_events, "what a packet can show, and the word of capture --reason that stands for it" },
	{ "lints", list_lints, "mistakes in headers" },
};

#define TOPICS (sizeof(topics) / sizeof(topics[0]))

static int help(const char *topic)
{
	for (size_t i = 0; topic && i < TOPICS; i++)
		if (!strcmp(topic, topics[i].name)) {
			topics[i].list();
			return EXIT_RAN;
		}
	printf("usage: rocescope COMMAND [ARGUMENTS]      (rocescope COMMAND --help tells more)\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		if (commands[i].run)
			printf("  %-9s %s\n", commands[i].name, commands[i].words);
	printf("\nrocescope --help TOPIC lists\n\n");
	for (size_t i = 0; i < TOPICS; i++)
		printf("  %-9s %s\n", topics[i].name, topics[i].words);
	printf("\n  -h, --help, --version\n");
	return EXIT_RAN;
}

static int run(const struct command *c, int argc, char **argv)
{
	if (c->run)
		return c->run(argc, argv);
	fprintf(stderr, "rocescope: %s: not built yet\n", c->name);
	return EXIT_USAGE;
}

/* Where one is closed, what we open next would be taken for it, and what we print would go there: a device the wrong way round. */
static void occupy_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
	occupy_standard_files();
	for (int i = 1; i < argc && i < 3; i++)
		if (!strcmp(argv[i], "--version"))
			return printf("rocescope " VERSION "\n") < 0 ? EXIT_COULD_NOT : EXIT_RAN;
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return help(argc > 2 ? argv[2] : NULL);
	for (size_t i = 0; argc > 1 && i < COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return run(&commands[i], argc - 1, argv + 1);
	fprintf(stderr, "rocescope: %s (rocescope --help lists the commands)\n",
		argc > 1 ? "no such command" : "no command given");
	return EXIT_USAGE;
}
