// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope doctor: says in words what a sender does wrong. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/complain.h"
#include "lib/interfaces.h"
#include "lib/stop.h"
#include "userspace/command/arguments.h"
#include "userspace/command/commands.h"
#include "userspace/diagnose/bring_up/bring_up.h"
#include "userspace/diagnose/doctor/doctor.h"
#include "userspace/diagnose/doctor/doctor_live.h"
#include "userspace/observe/offline/analysis.h"
#include "userspace/render/output/findings_view.h"

#define MAX_STREAMS 1000000
#define LIVE_STREAMS 65536 /* where interfaces are watched */
#define LIVE_SECONDS 10

struct doctor_options {
	char **files; /* or interfaces */
	size_t file_count;
	struct analysis_settings analysis;
	struct live_options live; /* no interfaces: the command reads files */
	const char *expect, *receiver;
	bool json, exit_code, bring_up, has_peer;
	__u8 peer[16];
	struct filter *filter; /* may be NULL */
	const char *svg;
	bool responder, all_steps, has_rate;
	struct rate rate; /* of requests to the responder */
};

static const struct option_entry printed[] = {
	{ "json", NULL, "print one rocescope.findings/1 object", OPTION_FLAG(struct doctor_options, json), .letter = 'j' },
	{ "exit-code", NULL, "exit status 3 if there is a finding", OPTION_FLAG(struct doctor_options, exit_code) },
	{ 0 },
};

static const struct option_entry known[] = {
	{ "receiver", "FILE", "what the receiver wrote by --tell: judge packets to it as it would",
	  OPTION_TEXT(struct doctor_options, receiver) },
	{ 0 },
};

static const struct option_entry watched[] = {
	{ "duration", "SECONDS", "how long an interface is watched (10); without it, --bring-up ends on Ctrl-C",
	  OPTION_SECONDS(struct doctor_options, live.duration, 1) },
	{ 0 },
};

static const struct option_entry brought_up[] = {
	{ "bring-up", NULL, "say, as packets come, how far a sender gets, and what is wrong first",
	  OPTION_FLAG(struct doctor_options, bring_up) },
	{ "svg", "FILE", "with --bring-up: draw what was sent and what was answered, with gnuplot",
	  OPTION_TEXT(struct doctor_options, svg) },
	{ "peer", "IP", "with --bring-up: only what this address sends; --filter: only these pairs",
	  OPTION_ADDRESS(struct doctor_options, peer), OPTION_GIVEN(struct doctor_options, has_peer) },
	{ "responder", NULL, "with --bring-up and --receiver FILE: ask the responder that FILE describes, step by step, and say what is "
			     "wrong first in its answers; without it, once nobody else asks it", OPTION_FLAG(struct doctor_options, responder) },
	{ "rate", "RATE", "packets that are sent to a responder, at most", OPTION_RATE(struct doctor_options, rate),
	  .usual = "4pps", OPTION_GIVEN(struct doctor_options, has_rate) },
	{ "all-steps", NULL, "of a responder: go on behind a step that is wrong",
	  OPTION_FLAG(struct doctor_options, all_steps) },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "What is printed", printed, 0 },
	{ "What is read", arguments_link, offsetof(struct doctor_options, analysis.link) },
	{ NULL, arguments_decap, offsetof(struct doctor_options, analysis.decap) },
	{ NULL, arguments_selection, offsetof(struct doctor_options, analysis.selection) },
	{ NULL, arguments_udp, offsetof(struct doctor_options, analysis.ports) },
	{ NULL, arguments_expect, offsetof(struct doctor_options, expect) },
	{ NULL, known, 0 },
	{ "Interfaces", watched, 0 },
	{ NULL, brought_up, 0 },
	{ NULL, arguments_filter, offsetof(struct doctor_options, filter) },
	{ NULL, arguments_mode, offsetof(struct doctor_options, live) },
	{ NULL, arguments_attach, offsetof(struct doctor_options, live) },
	{ NULL, arguments_ready, offsetof(struct doctor_options, live) },
	{ NULL, arguments_verbose, offsetof(struct doctor_options, live.verbose) },
	{ 0 },
};

static void list_findings(void)
{
	findings_list_kinds(stdout);
}

const struct option_topic topic_findings = { "findings", "what doctor can find", list_findings };

const struct option_topic topic_steps = { "steps", "how far a sender or a responder gets, step by step: --bring-up", bring_up_list_steps };

static const struct option_topic *const topics[] = { &topic_findings, &topic_steps, &topic_filter, &topic_expect, &topic_udp, NULL };

const struct command doctor_command = {
	.name = "doctor",
	.words = "say in words what a sender does wrong",
	.arguments = "FILE... | IFACE... [OPTIONS]",
	.prose =
		"Says what a sender of RoCE packets, or of UDP with a number (--udp), does wrong: the most important first, with "
		"the frames that show it, what the specification asks for, and how to fix it. Several files are read as one "
		"capture, in this order. - is standard input. An interface is watched for a while: the first packets "
		"of each stream, and the faulty ones.",
	.tables = tables,
	.topics = topics,
	.examples =
		"  # what is wrong with the sender in this capture\n"
		"  rocescope doctor run.pcap\n"
		"  # what of it the receiver would refuse, which has written tell.json by --tell\n"
		"  rocescope doctor run.pcap --receiver tell.json\n"
		"  # what is wrong with UDP that carries a number, or with what is told of it\n"
		"  rocescope doctor run.pcap --udp 5000,seq=64:32:le\n"
		"  # with the sender in this port, for half a minute\n"
		"  rocescope doctor roce0 --duration 30\n"
		"  # a sender of which nothing arrives: which side is wrong?\n"
		"  rocescope doctor roce0 --bring-up\n"
		"  # a responder that is new: does it answer as it ought to?\n"
		"  rocescope doctor roce0 --bring-up --responder --receiver tell.json\n"
		"  # every finding there is\n"
		"  rocescope doctor --help findings\n",
};

/* Whether it is the name of an interface. A file of that name comes first. */
static bool is_interface(const char *name)
{
	return strcmp(name, "-") && access(name, F_OK) && if_nametoindex(name);
}

static bool say_missing(const char *name)
{
	return complain("doctor: %s: %s", name, name_is_capture(name) ?
			"no such file" : "neither a file nor an interface (`ip link` lists interfaces)");
}

/* --responder has all that it needs. */
static void check_responder(const struct doctor_options *o)
{
	if (!o->responder && !(o->bring_up && o->receiver) && (o->has_rate || o->all_steps))
		usage_error("doctor: %s needs --responder, or --bring-up with --receiver", o->has_rate ? "--rate" : "--all-steps");
	if (o->rate.unit != RATE_PACKETS)
		usage_error("doctor: --rate: how many packets a second? 4pps");
	if (!o->responder)
		return;
	if (!o->bring_up || !o->receiver)
		usage_error("doctor: --responder needs --bring-up and --receiver FILE, which describes the responder");
	if (o->has_peer || o->filter)
		usage_error("doctor: %s is for senders, without --responder", o->has_peer ? "--peer" : "--filter");
}

/* Arguments are all files, or all interfaces. false: one of them does not exist. */
static bool take_arguments(struct doctor_options *o)
{
	size_t interfaces = 0;

	if (!o->file_count)
		usage_error("doctor: which file, or which interface?");
	for (size_t i = 0; i < o->file_count; i++) {
		const char *name = o->files[i];

		if (is_interface(name))
			interfaces++;
		else if (strcmp(name, "-") && access(name, F_OK) && errno == ENOENT)
			return say_missing(name);
	}
	if (interfaces && interfaces != o->file_count)
		usage_error("doctor: files and interfaces are not looked at together");
	arguments_interfaces(&doctor_command, &o->live, o->files, interfaces);
	if (o->bring_up && o->file_count == 1 && !interfaces)
		usage_error("doctor: --bring-up: %s is a file, not an interface: `rocescope doctor %s` reads it", o->files[0],
			    o->files[0]);
	if (o->bring_up && interfaces != 1)
		usage_error("doctor: --bring-up: at one interface, please");
	if (o->bring_up && o->analysis.ports.port[0])
		usage_error("doctor: --bring-up is for RoCE, without --udp");
	if (o->svg && !o->bring_up)
		usage_error("doctor: --svg needs --bring-up");
	if ((o->has_peer || o->filter) && !o->bring_up)
		usage_error("doctor: %s needs --bring-up", o->has_peer ? "--peer" : "--filter");
	check_responder(o);
	return true;
}

static bool parse_options(struct doctor_options *o, int argc, char **argv)
{
	int first;

	*o = (struct doctor_options){
		/* one thread: the answers of a stream are judged in the order of the file */
		.analysis = { .max_streams = MAX_STREAMS, .threads = 1, .progress = isatty(STDERR_FILENO), .stop = &stop },
		.live = { .settings = { .icrc_every = 1, .max_streams = LIVE_STREAMS }, .interval = 1, .kind = &monitor_kind },
	};
	first = command_parse(&doctor_command, o, argc, argv);
	if (!o->live.duration && !o->bring_up)
		o->live.duration = LIVE_SECONDS;
	o->live.expect = o->expect;
	o->live.decap = o->analysis.decap;
	o->live.settings.ports = o->analysis.ports;
	o->files = argv + first;
	o->file_count = argc - first;
	return take_arguments(o);
}

static void see(void *context, const struct analysis_seen *seen)
{
	const struct doctor_packet p = { seen->number, seen->frame, seen->parsed, seen->event, seen->stream,
					seen->parsed->apart, seen->time };

	doctor_take(context, &p);
}

/* Whether there is a finding. Candidates do not count. */
static bool any(const struct findings *f)
{
	return f->count && f->list[0].certain;
}

static int report(const struct doctor_options *o, struct doctor *doctor, const struct snapshot *s)
{
	struct findings findings = { 0 };
	struct findings_report r = { .findings = &findings, .totals = s->totals, .complete = s->complete };
	int status = EXIT_RAN;

	if (s->selection)
		doctor_selection(doctor);
	doctor_flows(doctor, s);
	if (!doctor_conclude(doctor, &s->totals, &findings)) {
		complain("there is not enough memory: findings are missing");
		status = EXIT_COULD_NOT;
	}
	r.checked = doctor_checked(doctor);
	doctor_losses(doctor, r.losses);
	doctor_pauses(doctor, &s->totals, &r.pauses);
	if ((o->json ? findings_json : findings_lines)(stdout, &r) || fflush(stdout)) {
		complain("the report cannot be written: %s", strerror(errno));
		status = EXIT_COULD_NOT;
	}
	if (!s->complete)
		status = EXIT_COULD_NOT;
	if (status == EXIT_RAN && o->exit_code && any(&findings))
		status = EXIT_FAULTS;
	findings_free(&findings);
	return status;
}

static int read_files(struct doctor_options *o, struct doctor *doctor)
{
	struct snapshot s = { 0 };
	int opened, status = EXIT_COULD_NOT;

	stop_on_interrupt();
	o->analysis.see = see;
	o->analysis.context = doctor;
	opened = analysis_run(&o->analysis, o->files, o->file_count, &s);
	if (opened < 0)
		complain("there is not enough memory");
	else if (opened)
		status = report(o, doctor, &s);
	snapshot_free(&s);
	return status;
}

static int watch_interfaces(struct doctor_options *o, struct doctor *doctor)
{
	struct snapshot s = { 0 };
	int status = doctor_live(doctor, &o->live, &s);

	if (!status)
		status = report(o, doctor, &s);
	snapshot_free(&s);
	return status;
}

static int stand(struct doctor_options *o, const struct expected *expected, const struct endpoint *endpoint)
{
	const struct bring_up_options options = {
		.interface = o->live.interface[0], .duration = o->live.duration, .endpoint = endpoint, .expected = expected,
		.peer = o->has_peer ? o->peer : NULL, .filter = o->filter, .ready = o->live.ready, .svg = o->svg, .json = o->json,
		.exit_code = o->exit_code, .responder = o->responder, .all_steps = o->all_steps, .rate = o->rate,
	};

	if (o->responder && endpoint->end.service != RDMA_RC)
		usage_error("doctor: --responder: %s describes QPs of %s, which are not answered", o->receiver,
			    rdma_service_name(endpoint->end.service));
	return bring_up(&options);
}

static int run(struct doctor_options *o, const struct expected *expected, const struct endpoint *endpoint)
{
	struct doctor *doctor = doctor_new();
	int status = EXIT_COULD_NOT;

	if (!doctor || !doctor_expect(doctor, expected)) {
		complain("there is not enough memory");
	} else {
		doctor_receiver(doctor, endpoint);
		doctor_udp(doctor, &o->analysis.ports);
		status = o->live.interface_count ? watch_interfaces(o, doctor) : read_files(o, doctor);
	}
	doctor_free(doctor);
	return status;
}

int cmd_doctor(int argc, char **argv)
{
	struct expected expected = { 0 };
	struct endpoint endpoint = { 0 };
	struct doctor_options o;
	int status = EXIT_RAN;

	if (!parse_options(&o, argc, argv))
		return EXIT_COULD_NOT;
	if (o.expect) {
		status = expect_read(o.expect, &expected);
		o.analysis.expected = &expected;
	}
	if (!status && o.receiver)
		status = endpoint_read(o.receiver, &endpoint);
	if (!status)
		status = (o.bring_up ? stand : run)(&o, &expected, o.receiver ? &endpoint : NULL);
	expect_free(&expected);
	endpoint_free(&endpoint);
	filter_free(o.filter);
	return status;
}
