// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope send: a software FPGA. One thread makes packets, and the main thread sends them. */
#include <errno.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/cause.h"
#include "lib/clock.h"
#include "lib/complain.h"
#include "lib/netdev.h"
#include "lib/stop.h"
#include "userspace/command/commands.h"
#include "userspace/traffic/send/lateness.h"
#include "userspace/traffic/send/outlet.h"
#include "userspace/traffic/send/planner.h"
#include "userspace/traffic/send/send_report.h"
#include "userspace/traffic/streams/report.h"

#define NAP_NS (20 * NSEC_PER_USEC) /* the pause when there is nothing to send yet */
#define LEAD_NS NSEC_PER_MSEC	    /* from when the first packet is ready to its departure */

struct command_sender {
	struct send_options *options;
	struct outlet outlet;
	struct planner *planner;
	unsigned int ifindex;
	struct netdev_counters before;
	struct send_report report;
};

/* ---- the run ---- */

static void *make_packets(void *planner)
{
	planner_run(planner);
	return NULL;
}

/* Blocks the signals that end a run. Returns the mask from before. */
static sigset_t block_signals(void)
{
	sigset_t signals, old;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, &old);
	return old;
}

/* Starts the other thread with signals blocked, so that they interrupt the waits of this one. */
static bool start_planner(struct command_sender *s, pthread_t *thread)
{
	sigset_t old = block_signals();
	int error;

	error = pthread_create(thread, NULL, make_packets, s->planner);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error)
		complain("send: %s", cause(error).text);
	return !error;
}

static uint64_t waiting(const struct send_memory *m)
{
	return __atomic_load_n(&m->produced, __ATOMIC_ACQUIRE) - m->consumed;
}

static bool all_left(const struct send_memory *m)
{
	return __atomic_load_n(&m->ended, __ATOMIC_ACQUIRE) && !waiting(m);
}

/* Sends until the plan ends or a signal comes. The rest of the ring is always sent. false: the output failed. */
static bool let_leave(struct command_sender *s)
{
	struct send_memory *m = s->outlet.memory;
	uint64_t begun = now_ns();

	while (!all_left(m)) {
		uint64_t now = now_ns();

		if (!waiting(m)) {
			sleep_until_ns(now + NAP_NS);
			continue;
		}
		if (s->report.paced && !m->start)
			__atomic_store_n(&m->start, now + LEAD_NS, __ATOMIC_RELAXED); /* the planner reads it */
		if (!s->outlet.kind->run(&s->outlet)) {
			planner_abandon(s->planner);
			complain("send: %s", s->outlet.reason);
			return false;
		}
		if (now - begun > NSEC_PER_SEC)
			report_progress(now, m->consumed, m->bytes);
	}
	return true;
}

/* ---- the summary ---- */

static double seconds_of(const struct command_sender *s, uint64_t begun)
{
	const struct send_memory *m = s->outlet.memory;

	if (!m->consumed)
		return 0;
	if (s->options->plan.file)
		return m->ring[(m->consumed - 1) & (RING_SLOTS - 1)].departure / 1e9;
	if (s->report.paced)
		return (m->last - m->start) / 1e9;
	return (now_ns() - begun) / 1e9;
}

/* ns from one burst to the next. 0: packets do not leave in bursts. */
static uint64_t between_bursts(const struct send_plan *plan, const struct send_memory *m)
{
	double units = plan->rate.unit == RATE_PACKETS ? 1 : 8.0 * m->bytes / m->consumed;

	return plan->burst > 1 ? plan->burst * units * 1e9 / plan->rate.per_second : 0;
}

/* Call it before the outlet is closed, which frees the memory. */
static void measure(struct command_sender *s, uint64_t begun)
{
	const struct send_memory *m = s->outlet.memory;
	struct send_report *r = &s->report;

	r->out = s->outlet.kind->name;
	r->out_words = s->outlet.kind->words;
	r->seconds = seconds_of(s, begun);
	r->packets = m->consumed;
	r->bytes = m->bytes;
	r->paced &= m->consumed > 0;
	if (r->paced) {
		r->late_p50 = lateness_quantile(m, .5);
		r->late_p99 = lateness_quantile(m, .99);
		r->late_max = m->late_max;
		r->kept_rate = lateness_kept_rate(m, between_bursts(&s->options->plan, m));
	}
}

/* Call it after the outlet is closed: by then each of its packets has left or is lost. */
static void count_losses(struct command_sender *s)
{
	struct send_report *r = &s->report;

	r->refused = s->outlet.refused;
	if (s->options->plan.file)
		return;
	if (!netdev_lost(s->ifindex, &s->before, r->packets, s->outlet.retried, &r->lost)) {
		if (r->complete) /* else the reason was already printed */
			complain("send: the interface has gone");
		r->complete = false;
	}
}

static bool cannot_write(const char *path)
{
	return complain("send: %s: %s", path, cause(errno).text);
}

/* Checks the path of the truth before the run, which may take an hour. */
static bool can_write_truth(const struct send_plan *plan)
{
	return !plan->truth || truth_writable(plan->truth) || cannot_write(plan->truth);
}

static bool write_truth(const struct command_sender *s)
{
	const struct send_report *r = &s->report;
	const char *path = s->options->plan.truth;
	bool exact = send_report_exact(r);

	if (!path)
		return true;
	if (!exact)
		complain("send: not all packets got out%s: the truth in %s is not exact", r->lost ? " of the device" : "",
			 path);
	return truth_write(planner_truth(s->planner), path, exact) || cannot_write(path);
}

static bool report(const struct command_sender *s)
{
	const char *file = s->options->plan.file;

	if (send_report_print(&s->report, file && !strcmp(file, "-") ? stderr : stdout))
		return true;
	return complain("send: the summary cannot be written: %s", cause(errno).text);
}

/* Always writes truth and summary. A second Ctrl-C waits until the truth is written. */
static int finish(struct command_sender *s, uint64_t begun)
{
	sigset_t old;
	bool written;

	measure(s, begun);
	if (!s->outlet.kind->close(&s->outlet)) {
		if (s->report.complete) /* else the reason was already printed */
			complain("send: %s", s->outlet.reason);
		s->report.complete = false;
	}
	count_losses(s);
	if (s->report.interrupted)
		complain("send: interrupted: not all of the plan was sent");
	old = block_signals();
	written = write_truth(s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	written &= report(s);
	if (send_report_slow(&s->report) && s->report.complete && !s->report.interrupted) /* else the reason was printed */
		complain("send: the rate was not kept: this machine, or the way out, was too slow for it");
	if (!written || !send_report_exact(&s->report) || s->report.interrupted)
		return EXIT_COULD_NOT;
	return s->options->strict_rate && send_report_slow(&s->report) ? EXIT_COULD_NOT : EXIT_RAN;
}

static int run(struct command_sender *s)
{
	uint64_t begun;
	pthread_t thread;
	int status;

	if (!s->options->plan.file && !cause_files("send", CAUSE_FILES))
		return EXIT_COULD_NOT;
	if (!can_write_truth(&s->options->plan) || !outlet_open(&s->outlet))
		return EXIT_COULD_NOT;
	if (!s->options->plan.file) {
		s->ifindex = if_nametoindex(s->options->plan.interface);
		netdev_counters(s->ifindex, &s->before);
	}
	s->report.paced = !s->options->plan.file && s->options->plan.rate.per_second;
	s->planner = planner_new(&s->options->plan, s->outlet.memory);
	begun = now_ns();
	if (!start_planner(s, &thread)) {
		s->outlet.kind->close(&s->outlet);
		return EXIT_COULD_NOT;
	}
	s->report.complete = let_leave(s);
	pthread_join(thread, NULL);
	s->report.interrupted = stop && !planner_whole(s->planner);
	status = finish(s, begun);
	planner_free(s->planner);
	return status;
}

int cmd_send(int argc, char **argv)
{
	struct send_options o;
	struct command_sender s = { .options = &o, .report.options = &o };
	int status;

	options_parse_send(&o, argc, argv);
	s.outlet.plan = &o.plan;
	s.outlet.frame_most = plan_longest_frame(&o.plan);
	if (s.outlet.frame_most > CELL_BYTES)
		usage_error("send: with its faults a frame may have %u bytes, at most %d are possible: lower --mtu",
			    s.outlet.frame_most, CELL_BYTES);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* then a write fails instead, and the truth is still written */
	stop_on_signals();
	status = run(&s);
	options_free(&o);
	return status;
}
