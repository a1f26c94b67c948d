// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope verbs: the QPs of this machine, what programs post and poll, and what became of it. */
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/complain.h"
#include "lib/list.h"
#include "userspace/command/arguments.h"
#include "userspace/command/commands.h"
#include "userspace/command/service.h"
#include "userspace/command/verbs_why.h"
#include "userspace/observe/live/live.h"
#include "userspace/observe/verbs/qp_filter.h"
#include "userspace/render/output/view_verbs.h"
#include "userspace/render/prometheus/exporter.h"
#include "userspace/render/prometheus/verbs_metrics.h"
#include "userspace/render/screen/qp_screen.h"

#define FDS 64 /* that verbs may have, with some to spare */

struct verbs_run_options {
	struct live_options live; /* its interval and duration */
	struct verbs_options verbs;
	const char *prometheus; /* ADDR:PORT; NULL: none */
	size_t prometheus_qps;
	struct filter *filter;	/* of QPs; NULL: all */
	bool json, plain, quiet, list, events, exit_code;
	struct why_options why;
};

static const struct option_entry printed[] = {
	{ "json", NULL, "print one rocescope.verbs/1 object on each line", OPTION_FLAG(struct verbs_run_options, json), .letter = 'j' },
	{ "list", NULL, "print what there is now, and end", OPTION_FLAG(struct verbs_run_options, list) },
	{ "plain", NULL, "print lines instead of the table, even on a terminal", OPTION_FLAG(struct verbs_run_options, plain) },
	{ "quiet", NULL, "print nothing (for --prometheus)", OPTION_FLAG(struct verbs_run_options, quiet) },
	{ "events", NULL, "print a line for each change of a QP (with -j an object), and the final report",
	  OPTION_FLAG(struct verbs_run_options, events) },
	{ 0 },
};

static void take_filter(struct option_parser *p, const struct option_entry *e, const char *text)
{
	arguments_take_filter(p, e, text, qp_filter_parse);
}

static const struct option_entry failed[] = {
	{ "filter", "EXPR", "show only these QPs: a peer's IP, a QPN, a program, error, stalled, ... ('verbs --help qps' has all terms)",
	  .take = take_filter, OPTION_AT(struct verbs_run_options, filter), .topic = "qps" },
	{ "exit-code", NULL, "exit status 3 if a QP was seen in error or stalled", OPTION_FLAG(struct verbs_run_options, exit_code) },
	{ 0 },
};

static const struct option_entry calls[] = {
	{ "calls", NULL, "also count what programs post and poll, by probes in their RDMA provider, as long as this runs",
	  OPTION_FLAG(struct verbs_options, calls) },
	{ "expensive", NULL, "also probe functions where each call costs some 10 us, since the processor has to be stepped",
	  OPTION_FLAG(struct verbs_options, expensive) },
	{ 0 },
};

static const struct option_entry exported[] = {
	{ "prometheus-qps", "N", "export N QPs as series of their own: the worst and the busiest",
	  OPTION_NUMBER(struct verbs_run_options, prometheus_qps, 0, VERBS_METRICS_QPS), .usual = "0" },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "What is printed", printed, 0 },
	{ NULL, arguments_interval, offsetof(struct verbs_run_options, live) },
	{ NULL, failed, 0 },
	{ "Calls", calls, offsetof(struct verbs_run_options, verbs) },
	{ NULL, arguments_most, offsetof(struct verbs_run_options, verbs.most) },
	{ "Why a QP died", verbs_why_entries, offsetof(struct verbs_run_options, why) },
	{ "As a service", arguments_prometheus, offsetof(struct verbs_run_options, prometheus) },
	{ NULL, exported, 0 },
	{ 0 },
};

static void explain_qps(void)
{
	list_words("--filter of `rocescope verbs` selects QPs. Terms that stand side by side must all hold.");
	printf("\n");
	list_entry("10.9.0.1, peer=10.9.0.1", "the peer's address; also a prefix, 10.9.0.0/24, and IPv6");
	list_entry("17, qpn=17, qpn=0x11", "the QPN, or that of the peer");
	list_entry("pid=4711", "its process");
	list_entry("device=rxe0", "its device, program=ib_* and container=*ab12* likewise: names, with patterns of the shell");
	list_entry("rc, type=rc", "the type: rc, uc, ud, xrc_ini, xrc_tgt, gsi, smi, raw_packet");
	list_entry("rts, state=rts", "the state: reset, init, rtr, rts, sqd, sqe, err, gone");
	list_entry("error, stalled", "how it is; also busy, idle, ended");
	list_entry("faulty", "error or stalled");
	list_entry("unseen", "its calls should be counted (--calls), and are not");
	list_entry("outstanding", "requests wait for their completion; also compared with how many");
	list_entry("NAME, NAME<N, ...", "one of the counters below, above 0 or compared with a number");
	list_entry("not TERM, !TERM", "the term does not hold");
	list_entry("TERM or TERM, (...)", "alternatives; parentheses keep terms together");
	printf("\nWhat --calls counts of each QP:\n\n");
	for (int i = 0; i < VERBS_COUNTERS; i++)
		list_entry(verbs_counter_names[i], verbs_counter_words[i]);
	printf("\nFor example:\n\n"
	       "  program=ib_* not idle\n"
	       "  10.9.0.0/24 (error or outstanding>=128)\n");
}

const struct option_topic topic_qps = { "qps", "the terms of verbs --filter, and what verbs --calls counts", explain_qps };

static const struct option_topic *const topics[] = { &topic_qps, NULL };

const struct command verbs_command = {
	.name = "verbs",
	.words = "show the QPs of this machine: whose, to whom, how they are, what is posted",
	.arguments = "[DEVICE... | why [QPN|PID]] [OPTIONS]",
	.prose =
		"Shows each QP of the RDMA devices of this machine, or of the named ones, also where an RDMA NIC carries the packets "
		"past XDP: its process, peer, state and settings. It follows the kernel, and no program is touched.\n\n"
		"--calls adds what programs do: requests by opcode, completions by status, latency, what is outstanding. "
		"It puts probes into the RDMA provider's functions, which cost about two microseconds a call; that is shown. "
		"--duration says for how long.\n\n"
		"On a terminal it shows a table; ? is help. Elsewhere, and with --plain, it prints all QPs each interval.\n\n"
		"`verbs why` says why a QP is in error or stalls, with its evidence and what else it may be: of all, or of the QP or process "
		"of that number. The more it is told, the surer it is: --peer, --wire, --path.",
	.tables = tables,
	.topics = topics,
	.examples =
		"  # each QP, the worst first\n"
		"  rocescope verbs\n"
		"  # those of one program that are in error or stalled\n"
		"  rocescope verbs --filter 'program=ib_* faulty'\n"
		"  # one list for a script\n"
		"  rocescope verbs --list -j\n"
		"  # what programs post and complete, for ten seconds\n"
		"  rocescope verbs --calls --duration 10\n"
		"  # a line each time that a QP is made, changes its state, or goes\n"
		"  rocescope verbs rxe0 --events\n"
		"  # why QP 17 died, by what both hosts and a capture say\n"
		"  rocescope verbs why 17 --peer PEER.json --wire WIRE.pcap\n",
};

struct verbs_run {
	const struct verbs_run_options *options;
	struct live live; /* signals and standard output */
	struct live_meanwhile meanwhile;
	FILE *out;
	struct verbs *verbs;
	struct qp_rows rows;
	struct exporter *exporter;
	struct qp_screen *screen;
	bool stale; /* the rows are of QPs that may have changed */
	struct verbs_metrics_memory metrics;
	__u64 start; /* ns, monotonic */
	__u64 realtime_offset; /* ns; constant, so that what has happened once has one time in all that is printed */
	FILE *told; /* NULL: no events are printed */
	char *told_text; /* of events that are not printed yet */
	size_t told_length;
	bool faulty; /* a QP was in error, or stalled */
	struct why_watch why;
	struct verbs_resources resources;
	__u64 asked_at; /* of the reading for which say_why() has asked for the resources */
};

/* ---- output ---- */

static bool say_output(int error)
{
	return complain("standard output: %s", strerror(error));
}

/* For the page of a QP, which is drawn more often than the devices need to be asked. */
static void say_why(void *context, const struct verbs_qp *q, struct why_verdict *verdict)
{
	struct verbs_run *r = context;

	why_now(verdict, r->verbs, &r->resources, r->asked_at != r->rows.now.time, q);
	r->asked_at = r->rows.now.time;
}

static struct verbs_shown shown_now(struct verbs_run *r)
{
	const char *filter = !r->screen && r->options->filter ? filter_text(r->options->filter) : NULL;
	struct verbs_shown s = verbs_shown(r->verbs, &r->rows, filter, (r->rows.now.time - r->start) / 1e9);

	s.realtime_offset = r->realtime_offset;
	if (r->screen) {
		s.why = say_why;
		s.context = r;
	}
	return s;
}

/* Returns 0 or an errno. A signal must end us even if the reader has stopped reading. */
static int print(struct verbs_run *r)
{
	struct verbs_shown s = shown_now(r);
	int error = 0;

	if (r->options->json) {
		verbs_resources_read(&r->resources);
		s.resources = &r->resources;
	}
	live_unblock(&r->live);
	if ((r->options->json ? verbs_json(r->out, &s) : verbs_lines(r->out, &s)) || fflush(r->out))
		error = errno;
	live_block(&r->live);
	return error;
}

/* Keeps the text of an event. Scrapes are answered while it is printed, and then nothing may be half read. */
static void tell(void *context, const struct verbs_event *e)
{
	struct verbs_run *r = context;
	struct qp_row row = qp_row(e->qp, now_ns());

	if (!qp_filter_wants(r->options->filter, &row))
		return;
	if (r->options->json)
		verbs_event_json(r->told, e, r->realtime_offset);
	else
		verbs_event_line(r->told, e, r->realtime_offset);
}

/* Prints what tell() has kept. Returns 0 or an errno. */
static int print_told(struct verbs_run *r)
{
	int error = 0;

	if (!r->told)
		return 0;
	if (fflush(r->told))
		return ENOMEM;
	if (!r->told_length)
		return 0;
	live_unblock(&r->live);
	if (fwrite(r->told_text, 1, r->told_length, r->out) != r->told_length || fflush(r->out))
		error = errno;
	live_block(&r->live);
	rewind(r->told);
	return error;
}

/* The user may type another one. */
static const struct filter *filter_of(const struct verbs_run *r)
{
	return r->screen ? qp_screen_filter(r->screen) : r->options->filter;
}

/* What is in error or stalls since the last reading, and why. Without calls there is little to say of it. */
static void tell_why(struct verbs_run *r)
{
	if (r->told && r->options->verbs.calls)
		why_watch_update(&r->why, r->verbs, r->options->filter, r->told, r->options->json);
}

/* Reads everything, and makes the rows. */
static bool update(struct verbs_run *r)
{
	const struct verbs_qp *const *list;
	size_t count;

	verbs_update(r->verbs);
	count = verbs_qps(r->verbs, &list);
	r->stale = false;
	if (!qp_rows_update(&r->rows, list, count, filter_of(r), now_ns()))
		return complain("there is not enough memory");
	r->faulty |= r->rows.condition[QP_ERROR] || r->rows.condition[QP_STALLED];
	tell_why(r);
	return true;
}

/* What verbs_read() has changed gets into the rows. */
static bool freshen(struct verbs_run *r)
{
	const struct verbs_qp *const *list;
	size_t count = verbs_qps(r->verbs, &list);

	if (!r->stale)
		return true;
	r->stale = false;
	return qp_rows_again(&r->rows, list, count, filter_of(r));
}

/* With --events only the last reading is printed, with --quiet none. */
static bool show(struct verbs_run *r, bool last)
{
	const struct verbs_run_options *o = r->options;
	struct verbs_shown s;
	int error = 0;

	if (!update(r))
		return false;
	s = shown_now(r);
	if (r->screen) {
		qp_screen_show(r->screen, &s);
		return true;
	}
	error = print_told(r);
	if (!error && !o->quiet && (last || !o->events))
		error = print(r);
	return !error || say_output(error);
}

/* ---- the run ---- */

static void serve_meanwhile(void *context)
{
	struct verbs_run *r = context;

	if (r->exporter)
		exporter_run(r->exporter);
	service_alive();
}

/* Handles keys. false: the user wants to quit. */
static bool take_keys(struct verbs_run *r)
{
	struct verbs_shown s;

	if (!r->screen)
		return true;
	if (!freshen(r))
		return false;
	s = shown_now(r);
	return qp_screen_key(r->screen, &s, &r->rows);
}

/* Waits until `deadline` (ns, monotonic), and reads and serves meanwhile. false: the run ends. */
static bool wait_until(struct verbs_run *r, __u64 deadline, bool *good)
{
	struct pollfd fds[FDS + 2];
	int of_verbs[FDS];
	int error;
	size_t count, of = verbs_fds(r->verbs, of_verbs, FDS);

	for (count = 0; count < of; count++)
		fds[count] = (struct pollfd){ .fd = of_verbs[count], .events = POLLIN };
	if (r->exporter)
		fds[count++] = (struct pollfd){ .fd = exporter_fd(r->exporter), .events = POLLIN };
	if (r->screen)
		fds[count++] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	for (;;) {
		__u64 pause = now_ns() + NSEC_PER_SEC; /* others need regular calls */
		enum live_woken woken = live_wait_for(&r->live, pause < deadline ? pause : deadline, fds, count);

		if (woken == LIVE_STOP)
			return false;
		verbs_read(r->verbs);
		r->stale = true;
		error = print_told(r);
		if (error) {
			*good = say_output(error);
			return false;
		}
		if (!take_keys(r))
			return false;
		serve_meanwhile(r);
		if (now_ns() >= deadline)
			return true;
	}
}

static bool watch(struct verbs_run *r)
{
	const struct live_options *o = &r->options->live;
	__u64 interval = seconds_to_ns(o->interval), next = r->start + interval;
	__u64 end = o->duration ? r->start + seconds_to_ns(o->duration) : UINT64_MAX;
	bool good = true;

	if (!show(r, r->options->list))
		return false;
	if (r->options->list)
		return true;
	while (wait_until(r, next < end ? next : end, &good) && next < end) {
		if (!show(r, false))
			return false;
		do
			next += interval;
		while (next < now_ns()); /* a slow reader gets fewer readings, but no old ones */
	}
	service_stopping();
	qp_screen_end(r->screen);
	r->screen = NULL;
	return good && show(r, true);
}

/* A scrape has the figures of the last reading. */
static bool fill_metrics(void *context, FILE *out)
{
	struct verbs_run *r = context;
	struct verbs_shown s;

	if (!freshen(r))
		return false;
	s = shown_now(r);
	return !verbs_metrics(out, &s, r->options->prometheus_qps, r->options->verbs.calls, &r->metrics);
}

static bool wants_screen(const struct verbs_run_options *o)
{
	return !o->json && !o->plain && !o->quiet && !o->events && !o->list && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static int run(struct verbs_run *r)
{
	struct verbs_options o = r->options->verbs;

	r->realtime_offset = realtime_offset_ns();
	if (r->options->prometheus) {
		r->exporter = exporter_start(r->options->prometheus, fill_metrics, r);
		if (!r->exporter)
			return EXIT_COULD_NOT;
		r->meanwhile.fd = exporter_fd(r->exporter);
	}
	if (r->options->events) {
		r->told = open_memstream(&r->told_text, &r->told_length);
		if (!r->told)
			return EXIT_COULD_NOT;
		o.tell = tell;
		o.context = r;
	}
	r->verbs = verbs_open(&o);
	if (!r->verbs)
		return EXIT_COULD_NOT;
	if (r->exporter)
		complain("metrics at %s", exporter_url(r->exporter));
	if (wants_screen(r->options))
		r->screen = qp_screen_begin(r->options->filter ? filter_text(r->options->filter) : NULL);
	/* why a QP died is asked of the path, too, by ICMP */
	live_restrict(&r->live, LIVE_OWNERS | (o.calls ? LIVE_PROBES | LIVE_SNIFFS : 0));
	r->start = now_ns();
	service_ready("watching");
	if (!watch(r))
		return EXIT_COULD_NOT;
	return r->options->exit_code && r->faulty ? EXIT_FAULTS : EXIT_RAN;
}

static void end(struct verbs_run *r)
{
	qp_screen_end(r->screen);
	exporter_stop(r->exporter);
	why_watch_free(&r->why);
	verbs_resources_close(&r->resources);
	verbs_close(r->verbs);
	qp_rows_free(&r->rows);
	if (r->told)
		fclose(r->told);
	free(r->told_text);
	__fpurge(r->out); /* drop what could not be written */
	fclose(r->out);
}

static int ask_why(const struct verbs_run_options *o, char *const words[], size_t count)
{
	struct why_run r = { .options = &o->why, .verbs = o->verbs, .seconds = o->live.duration, .json = o->json, .exit_code = o->exit_code };

	return verbs_why(&r, words, count);
}

int cmd_verbs(int argc, char **argv)
{
	struct verbs_run_options o = { 0 };
	static struct verbs_run r;
	int first = command_parse(&verbs_command, &o, argc, argv), status;

	r.options = &o;
	o.verbs.device = (const char *const *)argv + first;
	o.verbs.device_count = argc - first;
	if (o.verbs.expensive && !o.verbs.calls)
		usage_error("verbs: --expensive needs --calls");
	if (o.prometheus_qps && !o.prometheus)
		usage_error("verbs: --prometheus-qps needs --prometheus ADDR:PORT");
	if (o.list && o.live.duration)
		usage_error("verbs: --list and --duration do not go together: a list is of one moment");
	if (first < argc && !strcmp(argv[first], "why")) {
		if (o.filter || o.events || o.list || o.quiet || o.prometheus)
			usage_error("verbs: --filter, --events, --list, --quiet and --prometheus are not for `verbs why`");
		o.verbs.device_count = 0;
		return ask_why(&o, argv + first + 1, argc - first - 1);
	}
	if (o.why.peer || o.why.wire || o.why.path || o.why.from)
		usage_error("verbs: --peer, --wire, --path and --from are for `verbs why`");
	live_prepare(&r.live, &o.live);
	r.meanwhile = (struct live_meanwhile){ .fd = -1, .run = serve_meanwhile, .context = &r };
	r.out = live_output(&r.live, &r.meanwhile);
	if (!r.out)
		return EXIT_COULD_NOT;
	status = run(&r);
	end(&r);
	filter_free(o.filter);
	return status;
}
