// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope doctor: what a sender does wrong, in words. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/options.h"
#include "lib/stop.h"
#include "userspace/command/arguments.h"
#include "userspace/command/commands.h"
#include "userspace/doctor/doctor.h"
#include "userspace/doctor/doctor_live.h"
#include "userspace/offline/analysis.h"
#include "userspace/output/findings_view.h"

#define MAX_STREAMS 1000000
#define DURATION 10 /* s, of an interface */

struct options {
	char **files; /* or interfaces */
	size_t file_count;
	struct analysis_settings analysis;
	struct live_options live; /* without interfaces: files */
	const char *expect;
	bool json, exit_code;
};

static const char usage[] =
	"usage: rocescope doctor FILE... | IFACE... [OPTIONS]\n\n"
	"Says what a sender of RoCE packets does wrong: most important first, with the frames that show it, what the\n"
	"specification asks for, and how to fix it. Several files are one capture, in this order; - is standard input.\n"
	"Of an interface the first packets of each stream and the faulty ones are looked at.\n\n"
	"  -j, --json               print one rocescope.findings/1 object\n"
	"  --expect FILE            connections, one a line: which streams answer which, with which PSN they begin\n"
	"  --link file|ethernet|ip|bth\n"
	"                           what frames begin with: as the file says, or that  (file)\n"
	"  --decap                  look through GRE, ERSPAN and VXLAN, in which switches mirror\n"
	"  --duration SECONDS       how long an interface is watched                  (10)\n"
	"  --mode auto|native|generic  how XDP is attached to it                      (auto)\n"
	"  --direction in|both      also what leaves it                               (in)\n"
	"  --share                  beside other XDP programs, by libxdp's dispatcher\n"
	"  -v, --verbose            also what libbpf and the kernel's verifier say\n"
	"  --exit-code              exit status 3 if there is a finding\n"
	"  -h, --help, --version    (--help findings: every finding there is)\n";

static const char examples[] =
	"  # what is wrong with the sender in this capture\n"
	"  rocescope doctor run.pcap\n"
	"  # with the sender in this port, for half a minute\n"
	"  rocescope doctor roce0 --duration 30\n"
	"  # every mistake it knows\n"
	"  rocescope doctor --help findings\n";

enum { OPT_EXPECT = OPTION_OWN, OPT_LINK, OPT_DECAP, OPT_LIVE, OPT_EXIT_CODE };

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "expect", required_argument, NULL, OPT_EXPECT },
	{ "link", required_argument, NULL, OPT_LINK },
	{ "decap", no_argument, NULL, OPT_DECAP },
	{ "duration", required_argument, NULL, OPT_LIVE },
	{ "mode", required_argument, NULL, OPT_LIVE },
	{ "direction", required_argument, NULL, OPT_LIVE },
	{ "share", no_argument, NULL, OPT_LIVE },
	{ "verbose", no_argument, NULL, 'v' },
	{ "exit-code", no_argument, NULL, OPT_EXIT_CODE },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static bool help(const char *topic)
{
	bool known = !strcmp(topic, "findings");

	if (known)
		findings_list_kinds(stdout);
	return known;
}

static void take_option(void *options, int value, char *text, const char *name)
{
	struct options *o = options;

	switch (value) {
	case 'j':
		o->json = true;
		break;
	case 'v':
		live_option(&o->live, "verbose", NULL);
		break;
	case OPT_LIVE:
		live_option(&o->live, name, text);
		break;
	case OPT_EXPECT:
		o->expect = text;
		o->live.expect = text;
		break;
	case OPT_DECAP:
		o->analysis.decap = o->live.decap = true;
		break;
	case OPT_LINK:
		o->analysis.link = argument_link("doctor", text);
		break;
	case OPT_EXIT_CODE:
		o->exit_code = true;
		break;
	}
}

/* An interface's name, where there is no file of it. */
static bool is_interface(const char *name)
{
	return strcmp(name, "-") && access(name, F_OK) && if_nametoindex(name);
}

static bool say_missing(const char *name)
{
	fprintf(stderr, "rocescope: doctor: %s: neither a file nor an interface\n", name);
	return false;
}

/* All of them are files, or all are interfaces. false: there is no such thing. */
static bool take_arguments(struct options *o)
{
	if (!o->file_count)
		usage_error("doctor: which file, or which interface?");
	for (size_t i = 0; i < o->file_count; i++) {
		const char *name = o->files[i];

		if (is_interface(name))
			live_take_interface(&o->live, name);
		else if (strcmp(name, "-") && access(name, F_OK) && errno == ENOENT)
			return say_missing(name);
	}
	if (o->live.interface_count && o->live.interface_count != o->file_count)
		usage_error("doctor: files and interfaces are not looked at together");
	return true;
}

static const struct arguments arguments = {
	.command = "doctor",
	.usage = usage,
	.examples = examples,
	.letters = "jv",
	.options = long_options,
	.take = take_option,
	.help = help,
};

static bool parse_options(struct options *o, int argc, char **argv)
{
	int first;

	*o = (struct options){
		/* one thread: a stream's answers are judged in the order of the file */
		.analysis = { .max_streams = MAX_STREAMS, .threads = 1, .progress = isatty(STDERR_FILENO), .stop = &stop },
		.live = live_options("doctor"),
	};
	o->live.duration = DURATION;
	first = arguments_parse(&arguments, o, argc, argv);
	o->files = argv + first;
	o->file_count = argc - first;
	return take_arguments(o);
}

static void see(void *context, const struct analysis_seen *seen)
{
	const struct doctor_packet p = { seen->number, seen->frame, seen->look, seen->event, seen->stream, false };

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

	if (s->selection)
		doctor_selection(doctor);
	if (!doctor_conclude(doctor, &s->totals, &findings)) {
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

static int read_files(struct options *o, struct doctor *doctor)
{
	struct snapshot s = { 0 };
	int opened, status = EXIT_COULD_NOT;

	stop_on_interrupt();
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

static int watch_interfaces(struct options *o, struct doctor *doctor)
{
	struct snapshot s = { 0 };
	int status = doctor_live(doctor, &o->live, &s);

	if (!status)
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
		status = o->live.interface_count ? watch_interfaces(o, doctor) : read_files(o, doctor);
	doctor_free(doctor);
	return status;
}

int cmd_doctor(int argc, char **argv)
{
	struct expected expected = { 0 };
	struct options o;
	int status = EXIT_RAN;

	if (!parse_options(&o, argc, argv))
		return EXIT_COULD_NOT;
	if (o.expect) {
		status = expect_read(o.expect, &expected);
		o.analysis.expected = &expected;
	}
	if (!status)
		status = run(&o, &expected);
	expect_free(&expected);
	return status;
}
