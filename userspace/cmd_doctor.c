// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope doctor: what a sender does wrong, in words. */
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "lib/options.h"
#include "userspace/analysis.h"
#include "userspace/arguments.h"
#include "userspace/commands.h"
#include "userspace/findings_view.h"

#define MAX_STREAMS 1000000

struct options {
	char **files;
	size_t file_count;
	struct analysis_settings analysis;
	const char *expect;
	bool json, exit_code;
};

static volatile sig_atomic_t stop;

static const char usage[] =
	"usage: rocescope doctor FILE... [OPTIONS]\n\n"
	"Says what a sender of RoCE packets does wrong: most important first, with the frames that show it, what the\n"
	"specification asks for, and how to fix it. Several files are one capture, in this order; - is standard input.\n\n"
	"  -j, --json               print one rocescope.findings/1 object\n"
	"  --expect FILE            connections, one a line: which streams answer which, with which PSN they begin\n"
	"  --link file|ethernet|ip|bth\n"
	"                           what frames begin with: as the file says, or that  (file)\n"
	"  --exit-code              exit status 3 if there is a finding\n"
	"  -h, --help, --version    (--help findings: every finding there is)\n";

enum { OPT_EXPECT = OPTION_OWN, OPT_LINK, OPT_EXIT_CODE };

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "expect", required_argument, NULL, OPT_EXPECT },
	{ "link", required_argument, NULL, OPT_LINK },
	{ "exit-code", no_argument, NULL, OPT_EXIT_CODE },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void help(const char *topic)
{
	if (topic && !strcmp(topic, "findings"))
		findings_list_kinds(stdout);
	else
		fputs(usage, stdout);
	exit(EXIT_RAN);
}

static void take_option(struct options *o, int value, const char *text)
{
	static const char *const links[] = { "file", "ethernet", "ip", "bth", NULL }; /* enum capture_link */

	switch (value) {
	case 'j':
		o->json = true;
		break;
	case OPT_EXPECT:
		o->expect = text;
		break;
	case OPT_LINK:
		o->analysis.link = argument_choice("doctor", "link", text, links);
		break;
	case OPT_EXIT_CODE:
		o->exit_code = true;
		break;
	}
}

static void parse_options(struct options *o, int argc, char **argv)
{
	int value;

	*o = (struct options){
		/* one thread: a stream's answers are judged in the order of the file */
		.analysis = { .max_streams = MAX_STREAMS, .threads = 1, .progress = isatty(STDERR_FILENO), .stop = &stop },
	};
	opterr = 0;
	while ((value = getopt_long(argc, argv, ":jh", long_options, NULL)) != -1) {
		if (value == '?' || value == ':')
			usage_error("doctor: %s: %s", argv[optind - 1], value == '?' ? "no such option" : "needs a value");
		if (value == 'h')
			help(argv[optind]);
		take_option(o, value, optarg);
	}
	o->files = argv + optind;
	o->file_count = argc - optind;
	if (!o->file_count)
		usage_error("doctor: which file?");
}

/* An interface's name, where there is no file of it. */
static bool is_interface(const char *name)
{
	return strcmp(name, "-") && access(name, F_OK) && if_nametoindex(name);
}

static void see(void *context, const struct analysis_seen *seen)
{
	const struct doctor_packet p = { seen->number, seen->frame, seen->look, seen->event, seen->stream };

	doctor_take(context, &p);
}

/* Whether there is a finding; candidates are none. */
static bool any(const struct findings *f)
{
	return f->count && f->list[0].certain;
}

static int report(const struct options *o, struct doctor *doctor, const struct snapshot *s)
{
	struct findings findings = { 0 };
	struct findings_report r = { .findings = &findings, .totals = s->totals, .complete = s->complete };
	int status = EXIT_RAN;

	if (!doctor_conclude(doctor, &findings)) {
		fputs("rocescope: there is not enough memory: findings are missing\n", stderr);
		status = EXIT_COULD_NOT;
	}
	r.checked = doctor_checked(doctor);
	if ((o->json ? findings_json : findings_lines)(stdout, &r) || fflush(stdout)) {
		fprintf(stderr, "rocescope: the report cannot be written: %s\n", strerror(errno));
		status = EXIT_COULD_NOT;
	}
	if (!s->complete)
		status = EXIT_COULD_NOT;
	if (status == EXIT_RAN && o->exit_code && any(&findings))
		status = EXIT_FAULTS;
	findings_free(&findings);
	return status;
}

static void take_signal(int number)
{
	(void)number;
	stop = 1;
}

static int read_files(struct options *o, struct doctor *doctor)
{
	/* the second one ends the program, should the first one be waited for in vain */
	struct sigaction on_signal = { .sa_handler = take_signal, .sa_flags = SA_RESETHAND };
	struct snapshot s = { 0 };
	int opened, status = EXIT_COULD_NOT;

	sigaction(SIGINT, &on_signal, NULL);
	o->analysis.see = see;
	o->analysis.context = doctor;
	opened = analysis_run(&o->analysis, o->files, o->file_count, &s);
	if (opened < 0)
		fputs("rocescope: there is not enough memory\n", stderr);
	else if (opened)
		status = report(o, doctor, &s);
	snapshot_free(&s);
	return status;
}

static int run(struct options *o, const struct expected *expected)
{
	struct doctor *doctor = doctor_new();
	int status = EXIT_COULD_NOT;

	if (!doctor || !doctor_expect(doctor, expected))
		fputs("rocescope: there is not enough memory\n", stderr);
	else
		status = read_files(o, doctor);
	doctor_free(doctor);
	return status;
}

int cmd_doctor(int argc, char **argv)
{
	struct expected expected = { 0 };
	struct options o;
	int status = EXIT_RAN;

	parse_options(&o, argc, argv);
	for (size_t i = 0; i < o.file_count; i++)
		if (is_interface(o.files[i]))
			usage_error("doctor: %s: of an interface: not built yet", o.files[i]);
	if (o.expect) {
		status = expect_read(o.expect, &expected);
		o.analysis.expected = &expected;
	}
	if (!status)
		status = run(&o, &expected);
	expect_free(&expected);
	return status;
}
