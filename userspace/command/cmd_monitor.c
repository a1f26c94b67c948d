// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope monitor: watches interfaces live. This is its command line; monitor.c runs it. */
#include "userspace/command/arguments.h"
#include "userspace/command/commands.h"
#include "userspace/command/monitor.h"

static const struct option_entry printed[] = {
	{ "json", NULL, "print one rocescope.snapshot/1 object on each line",
	  OPTION_FLAG(struct monitor_options, json), .letter = 'j' },
	{ "plain", NULL, "print lines instead of the table, even on a terminal", OPTION_FLAG(struct monitor_options, plain) },
	{ "quiet", NULL, "print nothing (for --prometheus and --on-fault)", OPTION_FLAG(struct monitor_options, quiet) },
	{ 0 },
};

static const struct option_entry counted[] = {
	{ "calls", NULL, "also count what the programs of this machine's QPs post and complete (as verbs --calls)",
	  OPTION_FLAG(struct monitor_options, calls) },
	{ 0 },
};

static const struct option_entry interfaces[] = {
	{ "wait", NULL, "wait for interfaces that are missing or have gone", OPTION_FLAG(struct monitor_options, live.wait) },
	{ "detach", NULL, "remove what a killed --share, or a filter, has left on the interfaces, and end",
	  OPTION_FLAG(struct monitor_options, detach) },
	{ 0 },
};

static const struct option_entry service[] = {
	{ "pin", "NAME", "keep counting after the command has ended; the next --pin NAME goes on from there",
	  .take = arguments_take_pin, OPTION_AT(struct monitor_options, live.pin) },
	{ "unpin", "NAME", "stop counting for --pin NAME, and end",
	  .take = arguments_take_pin, OPTION_AT(struct monitor_options, unpin) },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "What is printed", printed, 0 },
	{ NULL, arguments_shown, 0 },
	{ NULL, arguments_filter, offsetof(struct monitor_options, filter) },
	{ NULL, arguments_group, offsetof(struct monitor_options, group) },
	{ NULL, arguments_interval, offsetof(struct monitor_options, live) },
	{ "Faults", arguments_events, 0 },
	{ NULL, arguments_fail, offsetof(struct monitor_options, fail) },
	{ "What is counted", arguments_count, offsetof(struct monitor_options, live) },
	{ NULL, arguments_streams, offsetof(struct monitor_options, live) },
	{ NULL, arguments_udp, offsetof(struct monitor_options, live.settings.ports) },
	{ NULL, arguments_decap, offsetof(struct monitor_options, live.decap) },
	{ NULL, arguments_once, offsetof(struct monitor_options, live.once) },
	{ NULL, arguments_imm, offsetof(struct monitor_options, live.settings.blocks) },
	{ NULL, arguments_expect, offsetof(struct monitor_options, live.expect) },
	{ NULL, counted, 0 },
	{ NULL, arguments_most, offsetof(struct monitor_options, calls_most) },
	{ "Interfaces", arguments_mode, offsetof(struct monitor_options, live) },
	{ NULL, arguments_attach, offsetof(struct monitor_options, live) },
	{ NULL, arguments_ready, offsetof(struct monitor_options, live) },
	{ NULL, interfaces, 0 },
	{ NULL, arguments_verbose, offsetof(struct monitor_options, live.verbose) },
	{ "As a service", arguments_prometheus, offsetof(struct monitor_options, prometheus) },
	{ NULL, arguments_prometheus_streams, 0 },
	{ NULL, service, 0 },
	{ 0 },
};

static const struct option_topic *const topics[] = {
	&topic_counters, &topic_events, &topic_lints, &topic_filter, &topic_expect, &topic_udp, NULL
};

const struct command monitor_command = {
	.name = "monitor",
	.words = "count what passes interfaces: per queue pair PSNs, messages, ICRCs",
	.arguments = "IFACE... [OPTIONS]",
	.prose =
		"On a terminal it shows a table; ? is help. Elsewhere, and with --plain, it prints a line for each "
		"stream each interval. Up to 64 interfaces are watched at a time, with one table for all.",
	.tables = tables,
	.topics = topics,
	.examples =
		"  # what passes an interface, per queue pair\n"
		"  rocescope monitor roce0\n"
		"  # on a host that sends and receives: also what leaves it, and only streams with faults\n"
		"  rocescope monitor roce0 --direction both --filter faulty\n"
		"  # for a script: JSON for ten seconds, exit status 3 if anything was lost or broken\n"
		"  rocescope monitor roce0 -j --duration 10 --exit-code\n"
		"  # two ports a switch mirrors to, which only listen\n"
		"  rocescope monitor mirror0 mirror1 --drop\n"
		"  # an interface with another XDP program, both under libxdp's dispatcher\n"
		"  rocescope monitor roce0 --share\n"
		"  # remove what a killed --share left behind\n"
		"  rocescope monitor --detach roce0\n"
		"  # for Prometheus, nothing on the terminal\n"
		"  rocescope monitor roce0 --quiet --prometheus 127.0.0.1:9795\n"
		"  # a line each time something goes wrong\n"
		"  rocescope monitor roce0 --events\n"
		"  # a port to which a switch mirrors through a tunnel\n"
		"  rocescope monitor mirror0 --decap --drop\n"
		"  # for weeks: counting goes on when the command ends, until --unpin roce0\n"
		"  rocescope monitor roce0 --pin roce0\n",
};

static void parse_options(struct monitor_options *o, int argc, char **argv)
{
	int first;

	*o = (struct monitor_options){ .fail.faults = faults_default(), .live.settings.dialogues = 1,
				       .live.kind = &monitor_kind };
	first = command_parse(&monitor_command, o, argc, argv);
	arguments_interfaces(&monitor_command, &o->live, argv + first, argc - first);
	if (!o->live.interface_count && !o->unpin)
		usage_error("monitor: which interface?");
	if (o->live.share && o->live.pin)
		usage_error("monitor: --share and --pin do not go together: either libxdp or rocescope pins the programs");
	if (o->prometheus_streams && !o->prometheus)
		usage_error("monitor: --prometheus-streams needs --prometheus ADDR:PORT");
}

int cmd_monitor(int argc, char **argv)
{
	struct monitor_options o;
	int status;

	parse_options(&o, argc, argv);
	if (o.unpin)
		return pin_remove(&monitor_kind, o.unpin) ? EXIT_RAN : EXIT_COULD_NOT;
	status = o.detach ? live_clear(&o.live) : monitor_run(&o);
	filter_free(o.filter);
	return status;
}
