// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope monitor: watches interfaces live, by the programs of bpf/monitor.bpf.c. */
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi.h"
#include "bpf/monitor.skel.h"
#include "lib/clock.h"
#include "lib/options.h"
#include "userspace/arguments.h"
#include "userspace/commands.h"
#include "userspace/live.h"
#include "userspace/view.h"

struct options {
	struct live_options live;
	enum view_streams streams;
	struct faults faults;
	bool json, exit_code;
};

struct monitor {
	const struct options *options;
	struct monitor_bpf *bpf;
	struct live live;
	FILE *out;
	struct snapshot now, previous;
	bool has_previous;
};

static const char usage[] =
	"usage: rocescope monitor IFACE... [OPTIONS]\n\n"
	"  -j, --json                print a rocescope.snapshot/1 object a line\n"
	"  --interval SECONDS        between two snapshots                            (1)\n"
	"  --duration SECONDS        end by itself; the last snapshot is the final one\n"
	LIVE_USAGE
	"  --streams all|changed|none  which streams are shown                        (all)\n"
	"  --exit-code               exit status 3 if a fault was seen\n"
	"  --fail-on COUNTER,...     what is a fault, instead of the usual set; implies --exit-code\n"
	"  -v, --verbose             also what libbpf and the kernel's verifier say\n"
	"  -h, --help, --version\n";

enum { OPT_LIVE = OPTION_OWN, OPT_STREAMS, OPT_EXIT_CODE, OPT_FAIL_ON, OPT_LATER };

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	LIVE_OPTIONS(OPT_LIVE),
	{ "streams", required_argument, NULL, OPT_STREAMS },
	{ "exit-code", no_argument, NULL, OPT_EXIT_CODE },
	{ "fail-on", required_argument, NULL, OPT_FAIL_ON },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "filter", required_argument, NULL, OPT_LATER },
	{ "share", no_argument, NULL, OPT_LATER },
	{ "detach", no_argument, NULL, OPT_LATER },
	{ "prometheus", required_argument, NULL, OPT_LATER },
	{ 0 },
};

/* ---- the command line ---- */

static void take_option(void *options, int value, char *text, const char *name)
{
	struct options *o = options;
	static const char *const streams[] = { "all", "changed", "none", NULL };

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
	case OPT_STREAMS:
		o->streams = argument_choice("monitor", name, text, streams);
		break;
	case OPT_EXIT_CODE:
		o->exit_code = true;
		break;
	case OPT_FAIL_ON:
		argument_faults("monitor", text, &o->faults);
		o->exit_code = true;
		break;
	case OPT_LATER:
		usage_error("monitor: --%s: not built yet", name);
	}
}

static const struct arguments arguments = {
	.command = "monitor",
	.usage = usage,
	.letters = "jv",
	.options = long_options,
	.take = take_option,
};

static void parse_options(struct options *o, int argc, char **argv)
{
	int first;

	*o = (struct options){ .live = live_options("monitor"), .faults = faults_default() };
	first = arguments_parse(&arguments, o, argc, argv);
	for (; first < argc; first++)
		live_take_interface(&o->live, argv[first]);
	if (!o->live.interface_count)
		usage_error("monitor: which interface?");
}

/* ---- the run ---- */

/* 0 or an errno. A reader that has stopped reading must not hold us when we are told to stop. */
static int print_snapshot(const struct monitor *m)
{
	const struct snapshot *previous = m->has_previous ? &m->previous : NULL;
	int error = 0;

	live_unblock(&m->live);
	if ((m->options->json ? view_json : view_lines)(m->out, &m->now, previous, m->options->streams) ||
	    fflush(m->out))
		error = errno;
	live_block(&m->live);
	return error;
}

static bool show(struct monitor *m)
{
	int error;

	if (!live_snapshot(&m->live, &m->now))
		return false;
	error = print_snapshot(m);
	if (error) {
		fprintf(stderr, "rocescope: standard output: %s\n", strerror(error));
		return false;
	}
	snapshot_free(&m->previous);
	m->previous = m->now;
	m->has_previous = true;
	m->now = (struct snapshot){ 0 };
	return true;
}

/* Snapshots until the end, but the final one. false: something failed. */
static bool watch(struct monitor *m)
{
	const struct live_options *o = &m->options->live;
	__u64 interval = seconds_to_ns(o->interval), next = m->live.start + interval;
	__u64 end = o->duration ? m->live.start + seconds_to_ns(o->duration) : UINT64_MAX;

	while (live_wait(&m->live, next < end ? next : end) && next < end) {
		if (!live_poll(&m->live))
			return true;
		if (!show(m))
			return false;
		do
			next += interval;
		while (next < now_ns()); /* a slow reader gets fewer snapshots, not late ones */
	}
	return true;
}

/* Off the interfaces first, so that the final snapshot has everything that was counted. */
static bool finish(struct monitor *m)
{
	live_detach(&m->live);
	return show(m);
}

static int run(struct monitor *m)
{
	struct monitor_bpf *bpf = m->bpf = monitor_bpf__open();
	struct live_programs programs = { .frags = "watch_frags", .plain = "watch_plain", .old = "watch_old",
					  .egress = "watch_egress" };
	int status;

	if (!bpf) {
		live_say_refused(errno, "5.10");
		return EXIT_COULD_NOT;
	}
	programs.object = bpf->obj;
	programs.settings = (struct monitor_settings *)&bpf->rodata->settings;
	programs.tables = (struct fold_tables *)&bpf->rodata->fold_tables;
	status = live_begin(&m->live, &programs);
	if (status)
		return status;
	if (!watch(m) || !finish(m) || !m->live.left)
		return EXIT_COULD_NOT;
	if (m->options->exit_code && faults_seen(&m->options->faults, &m->previous.totals))
		return EXIT_FAULTS;
	return EXIT_RAN;
}

int cmd_monitor(int argc, char **argv)
{
	struct options o;
	struct monitor m = { .options = &o };
	int status;

	parse_options(&o, argc, argv);
	live_prepare(&m.live, &o.live);
	m.out = live_output(&m.live);
	status = m.out ? run(&m) : EXIT_COULD_NOT;
	if (m.out) {
		__fpurge(m.out); /* what could not be written */
		fclose(m.out);
	}
	live_end(&m.live);
	snapshot_free(&m.now);
	snapshot_free(&m.previous);
	monitor_bpf__destroy(m.bpf);
	return status;
}
