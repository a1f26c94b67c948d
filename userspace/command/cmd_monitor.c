// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope monitor: watches interfaces live. Its command line; the run is monitor.c. */
#include <stdio.h>
#include <string.h>

#include "lib/options.h"
#include "userspace/command/arguments.h"
#include "userspace/command/commands.h"
#include "userspace/command/monitor.h"
#include "userspace/output/events.h"
#include "userspace/prometheus/exporter.h"
#include "userspace/prometheus/metrics.h"

static const char usage[] =
	"usage: rocescope monitor IFACE... [OPTIONS]\n\n"
	"On a terminal a table, in which ? is help; elsewhere and with --plain a line a stream, each interval.\n\n"
	"  -j, --json                print a rocescope.snapshot/1 object a line\n"
	"  --interval SECONDS        between two snapshots                            (1)\n"
	"  --duration SECONDS        end by itself; the last snapshot is the final one\n"
	LIVE_USAGE
	"  --plain                   lines on a terminal as well, instead of the table\n"
	"  --quiet                   print nothing (for --prometheus and --on-fault)\n"
	"  --streams all|changed|none  which streams are shown                        (all)\n"
	"  --filter EXPR             only these streams: an IP, a QPN, a service, faulty, ...\n"
	"  --events                  a line (-j: an object) a fault, and the final snapshot, instead of snapshots\n"
	"  --on-fault COMMAND        the shell runs it for each fault, with the event as JSON on its standard input\n"
	"  --event-limit N           events a stream and second; 0: no limit          (10)\n"
	"  --prometheus ADDR:PORT    answers GET /metrics there; 9795 alone: 127.0.0.1:9795, :9795: all addresses\n"
	"  --prometheus-streams N    series of their own for so many streams, the worst and busiest  (0)\n"
	"  --wait                    for interfaces that are not there, and for those that went to come back\n"
	"  --pin NAME                counting goes on without us, and with the next --pin NAME from where we were\n"
	"  --unpin NAME              end that, and nothing else\n"
	"  --detach                  take away what a killed --share, or a filter, has left there, and nothing else\n"
	"  --exit-code               exit status 3 if a fault was seen\n"
	"  --fail-on COUNTER,...     what is a fault, instead of the usual set; implies --exit-code\n"
	"  -v, --verbose             also what libbpf and the kernel's verifier say\n"
	"  -h, --help, --version\n";

static const char examples[] =
	"  # what passes an interface, per queue pair\n"
	"  rocescope monitor roce0\n"
	"  # a host that is an end itself: what leaves it as well, and only the streams with faults\n"
	"  rocescope monitor roce0 --direction both --filter faulty\n"
	"  # for a script: JSON for ten seconds, exit status 3 if anything was lost or broken\n"
	"  rocescope monitor roce0 -j --duration 10 --exit-code\n"
	"  # two ports a switch mirrors to, which only listen\n"
	"  rocescope monitor mirror0 mirror1 --drop\n"
	"  # an interface that another XDP program has as well, both under libxdp's dispatcher\n"
	"  rocescope monitor roce0 --share\n"
	"  # what a --share that was killed has left behind\n"
	"  rocescope monitor --detach roce0\n"
	"  # for Prometheus, nothing on the terminal\n"
	"  rocescope monitor roce0 --quiet --prometheus 127.0.0.1:9795\n"
	"  # a line each time something goes wrong\n"
	"  rocescope monitor roce0 --events\n"
	"  # a port to which a switch mirrors through a tunnel\n"
	"  rocescope monitor mirror0 --decap --drop\n"
	"  # for weeks: counting goes on when the command ends, until --unpin roce0\n"
	"  rocescope monitor roce0 --pin roce0\n";

enum {
	OPT_LIVE = OPTION_OWN, OPT_STREAMS, OPT_EXIT_CODE, OPT_FAIL_ON, OPT_PLAIN, OPT_QUIET, OPT_FILTER, OPT_EVENTS,
	OPT_ON_FAULT, OPT_EVENT_LIMIT, OPT_PROMETHEUS, OPT_PROMETHEUS_STREAMS, OPT_WAIT, OPT_PIN,
	OPT_UNPIN, OPT_DETACH
};

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	LIVE_OPTIONS(OPT_LIVE),
	{ "streams", required_argument, NULL, OPT_STREAMS },
	{ "exit-code", no_argument, NULL, OPT_EXIT_CODE },
	{ "fail-on", required_argument, NULL, OPT_FAIL_ON },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "plain", no_argument, NULL, OPT_PLAIN },
	{ "quiet", no_argument, NULL, OPT_QUIET },
	{ "filter", required_argument, NULL, OPT_FILTER },
	{ "events", no_argument, NULL, OPT_EVENTS },
	{ "on-fault", required_argument, NULL, OPT_ON_FAULT },
	{ "event-limit", required_argument, NULL, OPT_EVENT_LIMIT },
	{ "prometheus", required_argument, NULL, OPT_PROMETHEUS },
	{ "prometheus-streams", required_argument, NULL, OPT_PROMETHEUS_STREAMS },
	{ "wait", no_argument, NULL, OPT_WAIT },
	{ "pin", required_argument, NULL, OPT_PIN },
	{ "unpin", required_argument, NULL, OPT_UNPIN },
	{ "detach", no_argument, NULL, OPT_DETACH },
	{ 0 },
};

/* It becomes a file's. */
static const char *pin_name(const char *option, const char *text)
{
	if (!*text || strchr(text, '/') || strlen(text) > PIN_NAME_MAX)
		usage_error("monitor: --%s %s: a name of up to %d characters without slashes", option, text, PIN_NAME_MAX);
	return text;
}

static void take_option(void *options, int value, char *text, const char *name)
{
	struct monitor_options *o = options;
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
	case OPT_PLAIN:
		o->plain = true;
		break;
	case OPT_QUIET:
		o->quiet = true;
		break;
	case OPT_FILTER:
		filter_free(o->filter);
		o->filter = argument_filter("monitor", text);
		o->filter_text = text;
		break;
	case OPT_EVENTS:
		o->events = true;
		break;
	case OPT_ON_FAULT:
		o->on_fault = text;
		break;
	case OPT_EVENT_LIMIT:
		o->event_limit = argument_number("monitor", name, text, 0, UINT32_MAX);
		break;
	case OPT_PROMETHEUS:
		if (!exporter_is_address(text))
			usage_error("monitor: --prometheus %s: neither ADDR:PORT nor PORT, e.g. 127.0.0.1:9795 or [::1]:9795", text);
		o->prometheus = text;
		break;
	case OPT_PROMETHEUS_STREAMS:
		o->prometheus_streams = argument_number("monitor", name, text, 0, METRICS_STREAMS);
		break;
	case OPT_WAIT:
		o->live.wait = true;
		break;
	case OPT_PIN:
		o->live.pin = pin_name(name, text);
		break;
	case OPT_UNPIN:
		o->unpin = pin_name(name, text);
		break;
	case OPT_DETACH:
		o->detach = true;
		break;
	}
}

static const struct arguments arguments = {
	.command = "monitor",
	.usage = usage,
	.examples = examples,
	.letters = "jv",
	.options = long_options,
	.take = take_option,
};

static void parse_options(struct monitor_options *o, int argc, char **argv)
{
	int first;

	*o = (struct monitor_options){ .live = live_options("monitor"), .faults = faults_default(), .event_limit = EVENTS_LIMIT };
	o->live.settings.dialogues = 1;
	first = arguments_parse(&arguments, o, argc, argv);
	for (; first < argc; first++)
		live_take_interface(&o->live, argv[first]);
	if (!o->live.interface_count && !o->unpin)
		usage_error("monitor: which interface?");
	if (o->live.share && o->live.pin)
		usage_error("monitor: --share and --pin do not go together: one interface's programs are pinned by libxdp or by us");
	if (o->prometheus_streams && !o->prometheus)
		usage_error("monitor: --prometheus-streams needs --prometheus ADDR:PORT");
}

int cmd_monitor(int argc, char **argv)
{
	struct monitor_options o;
	int status;

	parse_options(&o, argc, argv);
	if (o.unpin)
		return pin_remove(o.unpin) ? EXIT_RAN : EXIT_COULD_NOT;
	status = o.detach ? live_clear(&o.live) : monitor_run(&o);
	filter_free(o.filter);
	return status;
}
