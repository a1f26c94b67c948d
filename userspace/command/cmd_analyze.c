// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope analyze: gives the verdicts of `monitor` for capture files. */
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/shell.h"
#include "lib/stop.h"
#include "userspace/command/arguments.h"
#include "userspace/command/commands.h"
#include "userspace/observe/model/advice.h"
#include "userspace/observe/model/expect.h"
#include "userspace/observe/model/group.h"
#include "userspace/observe/offline/analysis.h"
#include "userspace/observe/offline/fault_list.h"
#include "userspace/render/output/plot.h"
#include "userspace/render/output/view.h"

struct analyze_options {
	char **files;
	size_t file_count;
	struct analysis_settings analysis;
	const char *expect;
	struct view view;
	struct filter *filter; /* may be NULL */
	struct group_rule group;
	struct fault_exit fail;
	size_t listed; /* packets with faults that are listed, at most */
	const char *plot; /* may be NULL */
	bool json;
};

/* What else looks at each frame. */
struct watchers {
	struct fault_list faults;
	struct plot *plot; /* may be NULL */
};

/* ---- the command line ---- */

/* The CPUs this process may use. */
static unsigned int usual_threads(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

static void take_streams(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct analyze_options *o = p->options;

	option_choice(p, e, text);
	o->view.streams = o->view.streams ? STREAMS_NONE : STREAMS_ALL;
}

static void take_plot(struct option_parser *p, const struct option_entry *e, const char *text)
{
	if (!plot_is_name(text))
		option_wrong(p, e, text, "the name of a picture ends with .svg or .png");
	option_text(p, e, text);
}

static const char *const streams[] = { "all", "none", NULL };

static const struct option_entry printed[] = {
	{ "json", NULL, "print one rocescope.snapshot/1 object", OPTION_FLAG(struct analyze_options, json), .letter = 'j' },
	{ "streams", NULL, "streams that are shown; without it the worst 20, with -j all", .take = take_streams,
	  OPTION_AT(struct analyze_options, view.streams), .choices = streams },
	{ "faults", "N", "list the first N packets with faults",
	  OPTION_NUMBER(struct analyze_options, listed, 0, FAULT_LIST_MOST), .usual = "100" },
	{ "plot", "FILE.svg|FILE.png", "draw rates and PSNs over time, with gnuplot", .take = take_plot,
	  OPTION_AT(struct analyze_options, plot) },
	{ 0 },
};

static const struct option_entry most[] = {
	{ "max-streams", "N", "follow at most N streams, N / 64 of each 64th part; each takes 2 KiB of memory",
	  OPTION_NUMBER(struct analyze_options, analysis.max_streams, ANALYSIS_SHARDS, 1000000000), .usual = "1000000" },
	{ 0 },
};

static const struct option_entry threads[] = {
	{ "threads", "N", "number of threads; the report is the same for any number (default: the CPUs it may use)",
	  OPTION_NUMBER(struct analyze_options, analysis.threads, 1, ANALYSIS_THREADS) },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "What is printed", printed, 0 },
	{ NULL, arguments_filter, offsetof(struct analyze_options, filter) },
	{ NULL, arguments_group, offsetof(struct analyze_options, group) },
	{ NULL, arguments_fail, offsetof(struct analyze_options, fail) },
	{ "What is read", arguments_link, offsetof(struct analyze_options, analysis.link) },
	{ NULL, arguments_decap, offsetof(struct analyze_options, analysis.decap) },
	{ NULL, arguments_once, offsetof(struct analyze_options, analysis.once) },
	{ NULL, arguments_selection, offsetof(struct analyze_options, analysis.selection) },
	{ NULL, arguments_udp, offsetof(struct analyze_options, analysis.ports) },
	{ NULL, arguments_imm, offsetof(struct analyze_options, analysis.blocks) },
	{ NULL, arguments_expect, offsetof(struct analyze_options, expect) },
	{ NULL, most, 0 },
	{ NULL, threads, 0 },
	{ 0 },
};

static const struct option_topic *const topics[] = {
	&topic_counters, &topic_events, &topic_lints, &topic_filter, &topic_expect, &topic_udp, NULL
};

const struct command analyze_command = {
	.name = "analyze",
	.words = "the same verdicts from capture files",
	.arguments = "FILE... [OPTIONS]",
	.prose = "Several files are read as one capture, in this order. - is standard input.",
	.tables = tables,
	.topics = topics,
	.examples =
		"  # what a capture shows\n"
		"  rocescope analyze run.pcap\n"
		"  # as JSON, all streams, exit status 3 if anything was lost or broken\n"
		"  rocescope analyze -j --exit-code run.pcap\n"
		"  # what another program captures, compressed or not\n"
		"  gzip -c run.pcap | rocescope analyze -\n"
		"  # only streams that lost more than ten packets\n"
		"  rocescope analyze run.pcap --filter 'lost>10'\n"
		"  # rates and PSNs over time as a picture\n"
		"  rocescope analyze run.pcap --plot run.svg\n",
};

static void parse_options(struct analyze_options *o, int argc, char **argv)
{
	int first;

	*o = (struct analyze_options){
		.view = { .streams = STREAMS_WORST },
		.fail.faults = faults_default(),
		.analysis = { .threads = usual_threads(), .progress = isatty(STDERR_FILENO),
			      .stop = &stop },
	};
	first = command_parse(&analyze_command, o, argc, argv);
	o->files = argv + first;
	o->file_count = argc - first;
	if (!o->file_count)
		usage_error("analyze: which file?");
	for (size_t i = 0; i < o->file_count; i++)
		if (access(o->files[i], F_OK) && if_nametoindex(o->files[i]))
			usage_error("analyze: %s is an interface: `rocescope monitor %s` watches it", o->files[i],
				    shell_word(o->files[i]).text);
}

/* ---- the report ---- */

static bool fill_interfaces(const struct analyze_options *o, struct snapshot *s)
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

/* false: it failed, see errno. */
static bool print(const struct analyze_options *o, struct snapshot *s)
{
	errno = ENOMEM;
	if (!fill_interfaces(o, s))
		return false;
	if (o->json)
		advice_warn(s);
	return !(o->json ? view_json : view_lines)(stdout, s, NULL, &o->view) && !fflush(stdout);
}

/* The title: "run.pcap and 2 more: 12 s, 30000 RoCE packets, 2000 streams". */
static bool draw(const struct analyze_options *o, struct plot *plot, const struct snapshot *s)
{
	const char *name = strrchr(o->files[0], '/') ? strrchr(o->files[0], '/') + 1 : o->files[0];
	__u64 packets = s->totals.value[COUNTER_roce_packets] + s->totals.value[COUNTER_rocev1_packets];
	__u64 datagrams = s->totals.value[COUNTER_udp_packets];
	char more[40] = "", udp[40] = "", of[30] = "", title[240];

	if (datagrams)
		snprintf(udp, sizeof(udp), ", %llu of --udp", datagrams);
	if (o->file_count > 1)
		snprintf(more, sizeof(more), " and %zu more", o->file_count - 1);
	if (s->filter)
		snprintf(of, sizeof(of), "%zu of ", snapshot_shown_count(s));
	snprintf(title, sizeof(title), "%.60s%s: %.3g s, %llu RoCE packet%s%s, %s%zu stream%s", name, more, s->seconds, packets,
		 packets == 1 ? "" : "s", udp, of, s->stream_count, s->stream_count == 1 ? "" : "s");
	return plot_write(plot, s, title, o->plot);
}

static int report(const struct analyze_options *o, struct watchers *w, struct snapshot *s)
{
	bool printed = print(o, s);

	if (!printed)
		fprintf(stderr, "rocescope: the report cannot be written: %s\n", strerror(errno));
	if (w->plot && !draw(o, w->plot, s))
		return EXIT_COULD_NOT;
	if (!printed || !s->complete)
		return EXIT_COULD_NOT;
	return o->fail.wanted && faults_seen(&o->fail.faults, s) ? EXIT_FAULTS : EXIT_RAN;
}

static void see(void *context, const struct analysis_seen *seen)
{
	struct watchers *w = context;

	fault_list_see(&w->faults, seen);
	if (w->plot)
		plot_see(w->plot, seen);
}

static int run(const struct analyze_options *o, struct watchers *w)
{
	struct analysis_settings settings = o->analysis;
	struct snapshot s = { 0 };
	int opened = -1, status = EXIT_COULD_NOT;

	settings.see = see;
	settings.context = w;
	stop_on_interrupt();
	w->plot = o->plot ? plot_new(o->filter) : NULL;
	if (fault_list_init(&w->faults, o->listed, o->filter) && (w->plot || !o->plot))
		opened = analysis_run(&settings, o->files, o->file_count, &s);
	if (opened > 0 && !filter_snapshot(o->filter, &s))
		opened = -1;
	fault_list_finish(&w->faults);
	s.faults = &w->faults;
	s.group = o->group.of ? &o->group : NULL;
	if (opened < 0)
		fputs("rocescope: there is not enough memory\n", stderr);
	else if (opened)
		status = report(o, w, &s);
	snapshot_free(&s);
	fault_list_free(&w->faults);
	plot_free(w->plot);
	return status;
}

int cmd_analyze(int argc, char **argv)
{
	static struct watchers watchers; /* large */
	struct expected expected = { 0 };
	struct analyze_options o;
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
