// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope path: says what would make a path lossy, and how to mend it. */
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>

#include "lib/cause.h"
#include "lib/stop.h"
#include "userspace/command/arguments.h"
#include "userspace/command/commands.h"
#include "userspace/diagnose/path/path.h"

struct path_options {
	const char *interface, *peer; /* peer: NULL if none is given */
	bool json, all, fix, exit_code;
};

static const struct option_entry printed[] = {
	{ "json", NULL, "print one rocescope.path/1 object", OPTION_FLAG(struct path_options, json), .letter = 'j' },
	{ "verbose", NULL, "list what is good and what is not known as well", OPTION_FLAG(struct path_options, all),
	  .letter = 'v' },
	{ "exit-code", NULL, "exit status 3 if packets will be lost", OPTION_FLAG(struct path_options, exit_code) },
	{ 0 },
};

static const struct option_entry mended[] = {
	{ "fix", NULL, "make the safe changes, wait for Ctrl-C, and put everything back",
	  OPTION_FLAG(struct path_options, fix) },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "What is printed", printed, 0 },
	{ "What is changed", mended, 0 },
	{ 0 },
};

const struct option_topic topic_checks = { "checks", "what path looks at, and why", path_list_checks };

static const struct option_topic *const topics[] = { &topic_checks, NULL };

const struct command path_command = {
	.name = "path",
	.words = "say what would make a path lossy, and how to mend it",
	.arguments = "IFACE [PEER] [OPTIONS]",
	.prose =
		"Looks at the interface, at this machine, and with PEER, an address or a name, at the way there, in the order "
		"of a packet's way. Each finding has the command that mends it. What is right is counted.\n\n"
		"--fix makes those changes that leave connections as they are. They last until the command ends, however it ends. "
		"An MTU is raised only if packets of its size then pass to PEER; it is that of all who are on the link.",
	.tables = tables,
	.topics = topics,
	.examples =
		"  # what is wrong on the way from this interface to the other host\n"
		"  rocescope path roce0 10.9.0.1\n"
		"  # with what is right, and what cannot be known here\n"
		"  rocescope path roce0 -v\n"
		"  # better settings while something else runs\n"
		"  rocescope path roce0 10.9.0.1 --fix\n",
};

static void parse_options(struct path_options *o, int argc, char **argv)
{
	int first, count;

	*o = (struct path_options){ 0 };
	first = command_parse(&path_command, o, argc, argv);
	count = argc - first;
	if (!count)
		usage_error("path: of which interface?");
	if (count > 2)
		usage_error("path: one interface and one peer, please");
	o->interface = argv[first];
	o->peer = count > 1 ? argv[first + 1] : NULL;
}

/* Whether packets will be lost. */
static bool will_lose(const struct path_report *r)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct path_result *to = &r->results[i];

		if (to->state == PATH_FINDING && to->severity == PATH_WILL_LOSE && !to->change.made)
			return true;
	}
	return false;
}

static bool print(const struct path_options *o, const struct path_facts *f, const struct path_report *r)
{
	int failed = o->json ? path_json(stdout, f, r) : path_lines(stdout, f, r, o->all);

	if (failed || fflush(stdout))
		fprintf(stderr, "rocescope: path: the report cannot be written: %s\n", cause(errno).text);
	return !failed && !ferror(stdout);
}

/* Whether --fix has tried to change something. */
static bool has_tried(const struct path_report *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->results[i].change.error[0])
			return true;
	return false;
}

/* The changes last until a signal comes. */
static bool keep(struct path_mend *m, const struct path_report *r)
{
	if (!m) {
		fprintf(stderr, "rocescope: path: --fix has changed nothing: %s\n",
			has_tried(r) ? "the report says why" : "nothing that it may change was found");
		return true;
	}
	fputs("rocescope: path: the changes last until this ends (Ctrl-C)\n", stderr);
	while (!stop)
		poll(NULL, 0, 1000); /* a signal before the call would be missed otherwise */
	return path_mend_end(m);
}

static int run(const struct path_options *o, const struct path_peer *peer)
{
	struct path_mend *m = NULL;
	struct path_report report;
	struct path_facts facts;
	bool good, mended = true;

	path_read(&facts, o->interface, peer);
	path_judge(&report, &facts);
	if (o->fix) {
		stop_on_signals();
		mended = path_mend(&m, &report, &facts, peer);
	}
	good = print(o, &facts, &report) && mended;
	if (m && !good)
		path_mend_end(m); /* nobody has read what was changed */
	else if (o->fix && mended)
		good = keep(m, &report) && good;
	if (good && o->exit_code && will_lose(&report))
		return EXIT_FAULTS;
	return good ? EXIT_RAN : EXIT_COULD_NOT;
}

int cmd_path(int argc, char **argv)
{
	struct path_peer peer;
	unsigned int ifindex;
	struct path_options o;

	parse_options(&o, argc, argv);
	arguments_no_file(&path_command, o.interface);
	if (!cause_files("path", CAUSE_FILES))
		return EXIT_COULD_NOT;
	ifindex = if_nametoindex(o.interface);
	if (!ifindex) {
		fprintf(stderr, "rocescope: path: %s: no such interface here (`ip link` lists them)\n", o.interface);
		return EXIT_COULD_NOT;
	}
	if (o.peer && !path_peer_find(&peer, o.peer, ifindex)) {
		fprintf(stderr, "rocescope: path: %s: neither an address nor a known host\n", o.peer);
		return EXIT_COULD_NOT;
	}
	return run(&o, o.peer ? &peer : NULL);
}
