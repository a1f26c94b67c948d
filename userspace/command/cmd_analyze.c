// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope analyze: the same verdicts as live, from capture files. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/options.h"
#include "lib/stop.h"
#include "userspace/command/arguments.h"
#include "userspace/command/commands.h"
#include "userspace/model/expect.h"
#include "userspace/offline/analysis.h"
#include "userspace/offline/fault_list.h"
#include "userspace/output/plot.h"
#include "userspace/output/view.h"

#define MAX_STREAMS 1000000

struct options {
	char **files;
	size_t file_count;
	struct analysis_settings analysis;
	const char *expect;
	struct view view;
	struct filter *filter; /* may be NULL */
	struct faults faults;
	size_t listed; /* packets with faults, at most */
	const char *plot; /* may be NULL */
	bool json, exit_code;
};

/* Who looks at each frame as well. */
struct watchers {
	struct fault_list faults;
	struct plot *plot; /* may be NULL */
};

static const char usage[] =
	"usage: rocescope analyze FILE... [OPTIONS]\n\n"
	"Several files are one capture, in this order; - is standard input.\n\n"
	"  -j, --json               print one rocescope.snapshot/1 object\n"
	"  --streams all|none       which streams are shown  (20, the worst; with -j all)\n"
	"  --filter EXPR            only these streams, in the table and the list of faults: an IP, a QPN, faulty, ...\n"
	"  --faults N               list the first N packets with faults              (100)\n"
	"  --plot FILE.svg|FILE.png  draw rates and PSNs over time, by gnuplot\n"
	"  --expect FILE            connections, one a line: which streams answer which\n"
	"  --link file|ethernet|ip|bth\n"
	"                           what frames begin with: as the file says, or that  (file)\n"
	"  --decap                  look through GRE, ERSPAN and VXLAN, in which switches mirror\n"
	"  --threads N              the report is the same for any number   (the CPUs it may use)\n"
	"  --udp PORT,...           also count UDP flows to these ports, up to 4\n"
	"  --exit-code              exit status 3 if a fault was seen\n"
	"  --fail-on COUNTER,...    what is a fault, instead of the usual set; implies --exit-code\n"
	"  -h, --help, --version\n";

static const char examples[] =
	"  # what a capture shows\n"
	"  rocescope analyze run.pcap\n"
	"  # as JSON, all streams, exit status 3 if anything was lost or broken\n"
	"  rocescope analyze -j --exit-code run.pcap\n"
	"  # what another program captures, compressed or not\n"
	"  gzip -c run.pcap | rocescope analyze -\n"
	"  # only streams that lost more than ten packets\n"
	"  rocescope analyze run.pcap --filter 'lost>10'\n"
	"  # rates and PSNs over time as a picture\n"
	"  rocescope analyze run.pcap --plot run.svg\n";

enum { OPT_STREAMS = OPTION_OWN, OPT_FAULTS, OPT_PLOT, OPT_EXPECT, OPT_LINK, OPT_THREADS, OPT_UDP, OPT_EXIT_CODE, OPT_FAIL_ON, OPT_FILTER, OPT_DECAP };

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "streams", required_argument, NULL, OPT_STREAMS },
	{ "faults", required_argument, NULL, OPT_FAULTS },
	{ "plot", required_argument, NULL, OPT_PLOT },
	{ "expect", required_argument, NULL, OPT_EXPECT },
	{ "link", required_argument, NULL, OPT_LINK },
	{ "decap", no_argument, NULL, OPT_DECAP },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "udp", required_argument, NULL, OPT_UDP },
	{ "exit-code", no_argument, NULL, OPT_EXIT_CODE },
	{ "fail-on", required_argument, NULL, OPT_FAIL_ON },
	{ "filter", required_argument, NULL, OPT_FILTER },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* ---- the command line ---- */

/* The CPUs this process may use. */
static unsigned int usual_threads(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

static void take_option(void *options, int value, char *text, const char *name)
{
	struct options *o = options;
	static const char *const streams[] = { "all", "none", NULL };

	switch (value) {
	case 'j':
		o->json = true;
		break;
	case OPT_STREAMS:
		o->view.streams = argument_choice("analyze", name, text, streams) ? STREAMS_NONE : STREAMS_ALL;
		break;
	case OPT_FAULTS:
		o->listed = argument_number("analyze", name, text, 0, FAULT_LIST_MOST);
		break;
	case OPT_PLOT:
		if (!plot_is_name(text))
			usage_error("analyze: --plot %s: a picture's name ends with .svg or .png", text);
		o->plot = text;
		break;
	case OPT_EXPECT:
		o->expect = text;
		break;
	case OPT_LINK:
		o->analysis.link = argument_link("analyze", text);
		break;
	case OPT_DECAP:
		o->analysis.decap = true;
		break;
	case OPT_THREADS:
		o->analysis.threads = argument_number("analyze", name, text, 1, ANALYSIS_THREADS);
		break;
	case OPT_UDP:
		argument_ports("analyze", text, &o->analysis.ports);
		break;
	case OPT_EXIT_CODE:
		o->exit_code = true;
		break;
	case OPT_FAIL_ON:
		argument_faults("analyze", text, &o->faults);
		o->exit_code = true;
		break;
	case OPT_FILTER:
		filter_free(o->filter);
		o->view.filter = o->filter = argument_filter("analyze", text);
	}
}

static const struct arguments arguments = {
	.command = "analyze",
	.usage = usage,
	.examples = examples,
	.letters = "j",
	.options = long_options,
	.take = take_option,
};

static void parse_options(struct options *o, int argc, char **argv)
{
	int first;

	*o = (struct options){
		.view = { .streams = STREAMS_WORST },
		.faults = faults_default(),
		.listed = 100,
		.analysis = { .max_streams = MAX_STREAMS, .threads = usual_threads(), .progress = isatty(STDERR_FILENO),
			      .stop = &stop },
	};
	first = arguments_parse(&arguments, o, argc, argv);
	o->files = argv + first;
	o->file_count = argc - first;
	if (!o->file_count)
		usage_error("analyze: which file?");
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

/* false, with errno. */
static bool print(const struct options *o, struct snapshot *s)
{
	errno = ENOMEM;
	if (!fill_interfaces(o, s))
		return false;
	return !(o->json ? view_json : view_lines)(stdout, s, NULL, &o->view) && !fflush(stdout);
}

/* The title: "run.pcap and 2 more: 12 s, 30000 RoCE packets, 2000 streams". */
static bool draw(const struct options *o, struct plot *plot, const struct snapshot *s)
{
	const char *name = strrchr(o->files[0], '/') ? strrchr(o->files[0], '/') + 1 : o->files[0];
	__u64 packets = s->totals.value[COUNTER_roce_packets] + s->totals.value[COUNTER_rocev1_packets];
	char more[40] = "", title[200];

	if (o->file_count > 1)
		snprintf(more, sizeof(more), " and %zu more", o->file_count - 1);
	snprintf(title, sizeof(title), "%.60s%s: %.3g s, %llu RoCE packet%s, %zu stream%s", name, more, s->seconds, packets,
		 packets == 1 ? "" : "s", s->stream_count, s->stream_count == 1 ? "" : "s");
	return plot_write(plot, s, title, o->plot);
}

static int report(const struct options *o, struct watchers *w, struct snapshot *s)
{
	bool printed = print(o, s);

	if (!printed)
		fprintf(stderr, "rocescope: the report cannot be written: %s\n", strerror(errno));
	if (w->plot && !draw(o, w->plot, s))
		return EXIT_COULD_NOT;
	if (!printed || !s->complete)
		return EXIT_COULD_NOT;
	return o->exit_code && faults_seen(&o->faults, &s->totals) ? EXIT_FAULTS : EXIT_RAN;
}

static void see(void *context, const struct analysis_seen *seen)
{
	struct watchers *w = context;

	fault_list_see(&w->faults, seen);
	if (w->plot)
		plot_see(w->plot, seen);
}

static int run(const struct options *o, struct watchers *w)
{
	struct analysis_settings settings = o->analysis;
	struct snapshot s = { 0 };
	int opened = -1, status = EXIT_COULD_NOT;

	settings.see = see;
	settings.context = w;
	stop_on_interrupt();
	w->plot = o->plot ? calloc(1, sizeof(*w->plot)) : NULL;
	if (fault_list_init(&w->faults, o->listed, o->filter) && (w->plot || !o->plot))
		opened = analysis_run(&settings, o->files, o->file_count, &s);
	fault_list_finish(&w->faults);
	s.faults = &w->faults;
	if (opened < 0)
		fputs("rocescope: there is not enough memory\n", stderr);
	else if (opened)
		status = report(o, w, &s);
	snapshot_free(&s);
	fault_list_free(&w->faults);
	if (w->plot)
		plot_free(w->plot);
	free(w->plot);
	return status;
}

int cmd_analyze(int argc, char **argv)
{
	static struct watchers watchers; /* large */
	struct expected expected = { 0 };
	struct options o;
	int status = EXIT_RAN;

	parse_options(&o, argc, argv);
	if (o.expect) {
		status = expect_read(o.expect, &expected);
		o.analysis.expected = &expected;
	}
	if (!status)
		status = run(&o, &watchers);
	expect_free(&expected);
	filter_free(o.filter);
	return status;
}
