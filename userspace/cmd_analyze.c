// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope analyze: the same verdicts as live, from capture files. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/options.h"
#include "pcap/reader.h"
#include "userspace/arguments.h"
#include "userspace/commands.h"
#include "userspace/expect.h"
#include "userspace/observer.h"
#include "userspace/view.h"

#define MAX_STREAMS 1000000

struct options {
	char **files;
	size_t file_count;
	struct roce_ports ports;
	const char *expect;
	enum view_streams streams;
	struct faults faults;
	bool json, exit_code;
};

struct analysis {
	const struct options *options;
	struct observer observer;
	size_t files_opened;
	bool complete;
	__u64 first; /* time of the first frame, ns */
	bool progress;	   /* wanted, and whether a line of it stands on the terminal */
	bool progress_shown;
	__u64 progress_next; /* ns, monotonic */
};

static const char usage[] =
	"usage: rocescope analyze FILE... [OPTIONS]\n\n"
	"Several files are one capture, in this order; - is standard input.\n\n"
	"  -j, --json               print one rocescope.snapshot/1 object\n"
	"  --streams all|none       which streams are shown                           (all)\n"
	"  --expect FILE            connections, one a line: which streams answer which\n"
	"  --udp PORT,...           also count UDP flows to these ports, up to 4\n"
	"  --exit-code              exit status 3 if a fault was seen\n"
	"  --fail-on COUNTER,...    what is a fault, instead of the usual set; implies --exit-code\n"
	"  -h, --help, --version\n";

enum { OPT_STREAMS = OPTION_OWN, OPT_EXPECT, OPT_UDP, OPT_EXIT_CODE, OPT_FAIL_ON, OPT_LATER };

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "streams", required_argument, NULL, OPT_STREAMS },
	{ "expect", required_argument, NULL, OPT_EXPECT },
	{ "udp", required_argument, NULL, OPT_UDP },
	{ "exit-code", no_argument, NULL, OPT_EXIT_CODE },
	{ "fail-on", required_argument, NULL, OPT_FAIL_ON },
	{ "help", no_argument, NULL, 'h' },
	{ "filter", required_argument, NULL, OPT_LATER },
	{ 0 },
};

/* ---- the command line ---- */

static void take_option(struct options *o, int value, const char *text, const char *name)
{
	static const char *const streams[] = { "all", "none", NULL };

	switch (value) {
	case 'j':
		o->json = true;
		break;
	case OPT_STREAMS:
		o->streams = argument_choice("analyze", name, text, streams) ? STREAMS_NONE : STREAMS_ALL;
		break;
	case OPT_EXPECT:
		o->expect = text;
		break;
	case OPT_UDP:
		argument_ports("analyze", text, &o->ports);
		break;
	case OPT_EXIT_CODE:
		o->exit_code = true;
		break;
	case OPT_FAIL_ON:
		argument_faults("analyze", text, &o->faults);
		o->exit_code = true;
		break;
	case OPT_LATER:
		usage_error("analyze: --%s: not built yet", name);
	}
}

static void parse_options(struct options *o, int argc, char **argv)
{
	int value, index;

	*o = (struct options){ .faults = faults_default() };
	opterr = 0;
	while (index = -1, (value = getopt_long(argc, argv, ":jh", long_options, &index)) != -1) {
		if (value == '?' || value == ':')
			usage_error("analyze: %s: %s", argv[optind - 1],
				    value == '?' ? "no such option" : "needs a value");
		if (value == 'h') {
			fputs(usage, stdout);
			exit(EXIT_RAN);
		}
		take_option(o, value, optarg, index < 0 ? "" : long_options[index].name);
	}
	o->files = argv + optind;
	o->file_count = argc - optind;
	if (!o->file_count)
		usage_error("analyze: which file?");
}

/* ---- progress ---- */

static void progress_show(struct analysis *a, const struct capture *c)
{
	__u64 now = now_ns();

	if (now < a->progress_next)
		return;
	fprintf(stderr, "\r\033[Kreading %s: %.1f million frames", capture_name(c),
		a->observer.totals.value[COUNTER_frames] / 1e6);
	if (capture_size(c))
		fprintf(stderr, ", %.0f %% of the file", 100.0 * capture_position(c) / capture_size(c));
	a->progress_shown = true;
	a->progress_next = now + NSEC_PER_SEC / 2;
}

static void progress_clear(struct analysis *a)
{
	if (a->progress_shown)
		fputs("\r\033[K", stderr);
	a->progress_shown = false;
}

/* ---- frames ---- */

_Static_assert(CAPTURE_SLACK >= OBSERVER_READABLE, "frames are looked at where they are");

static void take_frame(struct analysis *a, const struct capture_frame *frame)
{
	struct observer_frame f = { .bytes = frame->bytes, .captured = frame->captured, .wire = frame->wire,
				    .no_icrc = frame->no_icrc };
	struct observer_look look;
	struct roce_event event;

	observer_look(&f, &a->options->ports, &look);
	observer_follow(&a->observer, &f, &look, frame->time, &event);
}

static void take_piece(struct analysis *a, const struct capture_piece *piece)
{
	if (!a->observer.totals.value[COUNTER_frames])
		a->first = a->observer.now = piece->frames[0].time;
	for (size_t i = 0; i < piece->count; i++)
		take_frame(a, &piece->frames[i]);
}

/* ---- files ---- */

static void complain(struct analysis *a, const char *name, const char *error)
{
	progress_clear(a);
	fprintf(stderr, "rocescope: %s: %s\n", name, error);
	a->complete = false;
}

static void read_file(struct analysis *a, const char *path)
{
	struct capture_piece piece = { 0 };
	char error[CAPTURE_ERROR];
	struct capture *c = capture_open(path, CAPTURE_LINK_FILE, error);
	int more;

	if (!c) {
		complain(a, strcmp(path, "-") ? path : "standard input", error);
		return;
	}
	a->files_opened++;
	while ((more = capture_read(c, &piece)) == 1) {
		take_piece(a, &piece);
		if (a->progress)
			progress_show(a, c);
	}
	if (more < 0)
		complain(a, capture_name(c), capture_error(c));
	capture_piece_free(&piece);
	capture_close(c);
}

/* ---- the report ---- */

static bool fill_interfaces(const struct options *o, struct snapshot *s)
{
	s->interfaces = calloc(o->file_count, sizeof(*s->interfaces));
	if (!s->interfaces)
		return false;
	for (; s->interface_count < o->file_count; s->interface_count++) {
		struct snapshot_interface *i = &s->interfaces[s->interface_count];

		snprintf(i->name, sizeof(i->name), "%s", o->files[s->interface_count]);
		i->mode = "file";
		i->direction = "both";
	}
	return true;
}

static bool report(struct analysis *a, struct snapshot *s)
{
	const struct options *o = a->options;
	int failed;

	*s = (struct snapshot){
		.time = { a->observer.now / NSEC_PER_SEC, a->observer.now % NSEC_PER_SEC },
		.seconds = (a->observer.now - a->first) / 1e9,
		.complete = a->complete,
		.totals = a->observer.totals,
	};
	if (!a->observer.totals.value[COUNTER_frames])
		clock_gettime(CLOCK_REALTIME, &s->time);
	s->streams = table_take(&a->observer.table, &s->stream_count);
	errno = ENOMEM;
	failed = !fill_interfaces(o, s);
	if (!failed) {
		snapshot_finish(s);
		failed = (o->json ? view_json : view_lines)(stdout, s, NULL, o->streams) || fflush(stdout);
	}
	if (failed)
		fprintf(stderr, "rocescope: the report cannot be written: %s\n", strerror(errno));
	return !failed;
}

/* --expect; returns an exit status. */
static int take_expected(struct analysis *a)
{
	struct expected e;
	int status = expect_read(a->options->expect, &e);

	for (size_t i = 0; !status && i < e.count; i++) {
		if (pairs_put(&a->observer.pairs, &e.entries[i].key, &e.entries[i].pair))
			continue;
		fprintf(stderr, "rocescope: %s: too many connections\n", a->options->expect);
		status = EXIT_COULD_NOT;
	}
	expect_free(&e);
	return status;
}

static int run(struct analysis *a)
{
	struct snapshot s = { 0 };
	bool written;
	int status;

	for (size_t i = 0; i < a->options->file_count; i++)
		read_file(a, a->options->files[i]);
	progress_clear(a);
	if (!a->files_opened)
		return EXIT_COULD_NOT;
	written = report(a, &s);
	if (!written || !s.complete)
		status = EXIT_COULD_NOT;
	else if (a->options->exit_code && faults_seen(&a->options->faults, &s.totals))
		status = EXIT_FAULTS;
	else
		status = EXIT_RAN;
	snapshot_free(&s);
	return status;
}

int cmd_analyze(int argc, char **argv)
{
	struct options o;
	struct analysis a = {
		.options = &o,
		.observer.table.max = MAX_STREAMS,
		.complete = true,
		.progress = isatty(STDERR_FILENO),
		.progress_next = now_ns() + 2 * NSEC_PER_SEC,
	};
	int status;

	parse_options(&o, argc, argv);
	status = o.expect ? take_expected(&a) : EXIT_RAN;
	if (!status)
		status = run(&a);
	observer_free(&a.observer);
	return status;
}
