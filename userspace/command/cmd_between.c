// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope between: what entered at one point of a path and did not leave at another one. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/complain.h"
#include "lib/interfaces.h"
#include "lib/stop.h"
#include "userspace/command/commands.h"
#include "userspace/diagnose/between/source.h"
#include "userspace/render/output/view_between.h"

#define LAST_WORD 60 /* s in which the monitors print their final snapshots */

struct between_options {
	double interval, duration; /* s; duration 0: until a signal, or the end of both points */
	__u64 most;		   /* streams */
	bool json, exit_code, quiet;
	char text[32];		   /* --interval, for the monitors */
	struct source_how how;	   /* of the monitors */
};

static const struct option_entry printed[] = {
	{ "json", NULL, "print one rocescope.between/1 object on each line", OPTION_FLAG(struct between_options, json),
	  .letter = 'j' },
	{ "quiet", NULL, "print only the final report", OPTION_FLAG(struct between_options, quiet) },
	{ "interval", "SECONDS", "time between two reports", OPTION_SECONDS(struct between_options, interval, 1),
	  .usual = "1" },
	{ "duration", "SECONDS", "end after this time; without it, end on Ctrl-C",
	  OPTION_SECONDS(struct between_options, duration, 1) },
	{ "exit-code", NULL, "exit status 3 if packets were lost or damaged between the points",
	  OPTION_FLAG(struct between_options, exit_code) },
	{ "max-streams", "N", "compare at most N streams", OPTION_NUMBER(struct between_options, most, 1, 1 << 24),
	  .usual = "65536" },
	{ 0 },
};

static const struct option_entry reached[] = {
	{ "remote", "PROGRAM", "the rocescope of hosts by ssh, if it is not in their PATH",
	  OPTION_TEXT(struct between_options, how.remote), .usual = "rocescope" },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "What is printed", printed, 0 },
	{ "Other hosts", reached, 0 },
	{ 0 },
};

const struct command between_command = {
	.name = "between",
	.words = "say what entered at one point of a path and did not leave at another",
	.arguments = "IFACE|FILE IFACE|FILE [OPTIONS] [-- MONITOR-OPTIONS]",
	.prose =
		"The first is point A, which packets pass first, and the second point B behind it. Each is an interface of this "
		"host; ssh:HOST:IFACE, one of a host that ssh reaches without a password; or a file or pipe with the lines of "
		"`rocescope monitor -j` (- is standard input). Streams are compared by their packets and PSNs; clocks are not "
		"needed. Packets on their way are left out, so the figures are exact when a stream pauses, and while it moves as "
		"far as the points' snapshots tell.\n\n"
		"A monitor is started at each interface, for both directions. What follows -- goes to these monitors.",
	.tables = tables,
	.examples =
		"  # a switch or a forwarding host between two ports\n"
		"  rocescope between roce0 roce1\n"
		"  # from another host to this one\n"
		"  rocescope between ssh:root@sender:roce0 roce0\n"
		"  # another point's lines come through a named pipe; exit status 3 if something was lost on the way there\n"
		"  rocescope between roce0 lines-of-b --exit-code --duration 60\n"
		"  # with options for the monitors\n"
		"  rocescope between roce0 roce1 -- --direction in --icrc 1/16\n",
};

struct between_run {
	const struct between_options *options;
	struct between between;
	struct between_source source[BETWEEN_POINTS];
	const char *name[BETWEEN_POINTS];
	__u64 start; /* ns, monotonic: when both watched */
};

/* ---- the run ---- */

static bool report(struct between_run *r)
{
	const struct between_options *o = r->options;
	double seconds = (now_ns() - r->start) / 1e9;
	int failed;

	if (!o->json && isatty(STDOUT_FILENO))
		fputs("\033[H\033[2J", stdout); /* ECMA-48: home, and erase the page */
	failed = o->json ? between_json(stdout, &r->between, r->name, clock_ns(CLOCK_REALTIME), seconds) :
			   between_lines(stdout, &r->between, r->name, seconds);
	if (!failed && !fflush(stdout))
		return true;
	return complain("standard output: %s", strerror(errno));
}

static __u64 time_of_next(const struct between_source *s)
{
	return between_time(json_object_get(s->next, "time"));
}

/* A monitor of this machine has our clock. The lines of a file have come from it at once. */
static __u64 when_taken(const struct between_source *s)
{
	return (s->child && !s->far) || s->is_file ? time_of_next(s) : s->arrived;
}

/* The point whose snapshot comes next. Lines of two files come in the order of their times. */
static struct between_source *choose(struct between_run *r)
{
	struct between_source *a = &r->source[BETWEEN_A], *z = &r->source[BETWEEN_B];

	if (!a->next || !z->next)
		return a->next ? a : z->next ? z : NULL;
	return a->is_file && z->is_file && time_of_next(z) < time_of_next(a) ? z : a;
}

/* Takes what has come. false: something failed. */
static bool take(struct between_run *r)
{
	struct between_source *s;

	for (;;) {
		for (int p = 0; p < BETWEEN_POINTS; p++)
			if (!source_read(&r->source[p]))
				return false;
		s = choose(r);
		if (!s)
			return true;
		if (!between_take(&r->between, s - r->source, s->next, when_taken(s)))
			return complain("between: %s: line %lu is no snapshot of `rocescope monitor -j`", s->name, s->line);
		json_decref(s->next);
		s->next = NULL;
	}
}

/* Waits until something has come, or until `deadline` (ns, monotonic). */
static void wait_for_more(const struct between_run *r, __u64 deadline)
{
	__u64 now = now_ns(), rest = deadline > now ? deadline - now : 0;
	struct pollfd fds[BETWEEN_POINTS];

	for (int p = 0; p < BETWEEN_POINTS; p++)
		fds[p] = (struct pollfd){ .fd = r->source[p].fd, .events = POLLIN };
	/* at most a second: a signal before the call would be missed otherwise */
	poll(fds, BETWEEN_POINTS, rest > NSEC_PER_SEC ? 1000 : rest / NSEC_PER_MSEC + 1);
}

static bool has_ended(const struct between_source *s)
{
	return s->fd < 0;
}

/* Both points have ended; or one that was live, and without it there is nothing to compare. */
static bool is_over(const struct between_run *r)
{
	const struct between_source *a = &r->source[BETWEEN_A], *z = &r->source[BETWEEN_B];

	return (has_ended(a) && (!a->is_file || has_ended(z))) || (has_ended(z) && !z->is_file);
}

/* The monitors have printed something. */
static bool has_begun(const struct between_run *r)
{
	for (int p = 0; p < BETWEEN_POINTS; p++)
		if (r->source[p].child && !r->between.place[p].seen)
			return false;
	return true;
}

static bool begin(struct between_run *r)
{
	bool good = true;

	while (good && !stop && !is_over(r) && !has_begun(r)) {
		wait_for_more(r, now_ns() + NSEC_PER_SEC);
		good = take(r);
	}
	r->start = now_ns();
	return good;
}

static bool watch(struct between_run *r)
{
	const struct between_options *o = r->options;
	__u64 interval = seconds_to_ns(o->interval), next = r->start + interval;
	__u64 end = o->duration ? r->start + seconds_to_ns(o->duration) : UINT64_MAX;
	bool quiet = o->quiet || (r->source[BETWEEN_A].is_file && r->source[BETWEEN_B].is_file);

	while (!stop && now_ns() < end && !is_over(r)) {
		wait_for_more(r, next < end ? next : end);
		if (!take(r))
			return false;
		if (now_ns() < next || quiet)
			continue;
		if (!report(r))
			return false;
		while (next < now_ns())
			next += interval;
	}
	return true;
}

/* Takes the final snapshots. */
static bool finish(struct between_run *r)
{
	__u64 end = now_ns() + LAST_WORD * NSEC_PER_SEC;
	bool good = take(r);

	for (int p = 0; p < BETWEEN_POINTS; p++)
		source_stop(&r->source[p]);
	while (good && now_ns() < end && !(has_ended(&r->source[BETWEEN_A]) && has_ended(&r->source[BETWEEN_B]))) {
		wait_for_more(r, end);
		good = take(r);
	}
	return good;
}

static bool have_ended_well(struct between_run *r)
{
	bool good = true;

	for (int p = 0; p < BETWEEN_POINTS; p++)
		good &= source_close(&r->source[p]);
	return good;
}

static int run(struct between_run *r)
{
	struct between_totals t;
	bool good = true;

	for (int p = 0; p < BETWEEN_POINTS; p++)
		r->source[p].fd = -1;
	for (int p = 0; p < BETWEEN_POINTS; p++)
		good = good && source_open(&r->source[p], r->name[p], &r->options->how);
	good = good && begin(r) && watch(r) && finish(r);
	if (!have_ended_well(r) || !good)
		return EXIT_COULD_NOT;
	if (!report(r))
		return EXIT_COULD_NOT;
	for (int p = 0; p < BETWEEN_POINTS; p++)
		if (!r->between.place[p].seen) {
			complain("between: %s: no snapshot has come", r->name[p]);
			return EXIT_COULD_NOT;
		}
	t = between_totals(&r->between);
	return r->options->exit_code && (t.figures.least > 0 || t.figures.damaged > 0) ? EXIT_FAULTS : EXIT_RAN;
}

/* ---- the command line ---- */

/* What is behind --, for the monitors. Returns the number of words before it. */
static int split(struct between_options *o, int argc, char **argv)
{
	int count = 0, words = 1;

	while (count < argc && strcmp(argv[count], "--"))
		count++;
	for (int i = count + 1; i < argc; i++) {
		if (words == SOURCE_WORDS - 1)
			usage_error("between: at most %d words for the monitors", SOURCE_WORDS - 2);
		o->how.words[words++] = argv[i];
	}
	return count;
}

/* ssh:HOST:IFACE needs both. */
static void check_far(const char *name)
{
	const char *host = name + strlen(SOURCE_FAR), *colon;

	if (!source_is_far(name))
		return;
	colon = strrchr(host, ':');
	if (!colon || colon == host || !colon[1])
		usage_error("between: %s: it is ssh:HOST:IFACE, as in ssh:root@b:eth0", name);
}

int cmd_between(int argc, char **argv)
{
	struct between_options o = { 0 };
	struct between_run r = { .options = &o };
	int first, status, count = split(&o, argc, argv);

	first = command_parse(&between_command, &o, count, argv);
	if (count - first != BETWEEN_POINTS)
		usage_error("between: which two points? `rocescope between A B`");
	for (int p = 0; p < BETWEEN_POINTS; p++) {
		r.name[p] = argv[first + p];
		check_far(r.name[p]);
		if (name_is_capture(r.name[p]) && name_is_file(r.name[p]))
			usage_error("between: %s is a capture file: `rocescope analyze %s` reads it; files here have the lines of `rocescope "
				    "monitor -j`", r.name[p], r.name[p]);
	}
	if (!strcmp(r.name[0], r.name[1]))
		usage_error("between: %s: named twice", r.name[0]);
	/* a stream is at rest when it is at rest in a snapshot, so there is one a second */
	snprintf(o.text, sizeof(o.text), "--interval=%g", o.interval < 1 ? o.interval : 1);
	o.how.words[0] = o.text;
	r.between.most = o.most;
	stop_on_signals();
	status = run(&r);
	between_free(&r.between);
	return status;
}
