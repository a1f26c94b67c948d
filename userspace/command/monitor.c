// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/complain.h"
#include "roce/datagram/datagram.h"
#include "userspace/command/commands.h"
#include "userspace/command/monitor.h"
#include "userspace/command/service.h"
#include "userspace/observe/host/host.h"
#include "userspace/observe/live/monitor_programs.h"
#include "userspace/observe/live/focus.h"
#include "userspace/observe/live/kernel.h"
#include "userspace/observe/live/taken.h"
#include "userspace/observe/model/history.h"
#include "userspace/observe/model/limit.h"
#include "userspace/observe/verbs/verbs.h"
#include "userspace/render/output/events.h"
#include "userspace/render/prometheus/exporter.h"
#include "userspace/render/prometheus/memory.h"
#include "userspace/render/prometheus/metrics.h"
#include "userspace/render/screen/screen.h"

#define EVENTS_PAUSE 100000000 /* ns between two reads of events */
#define TICK 1000000000	       /* ns: the longest wait, since others need regular calls */

struct monitor {
	const struct monitor_options *options;
	struct bpf_object *counting; /* if no events are read */
	struct taken taken;	 /* if events are read */
	struct live live;
	const char *names[INTERFACES_MOST]; /* of its interfaces: their present ones */
	FILE *out;
	struct snapshot now, previous;
	bool has_previous;
	__u8 *limits; /* enum limit of each stream of `previous`, for the metrics; NULL: not needed */
	bool takes; /* events are read */
	struct history *history;
	struct events *events;
	struct focus *focus;
	struct host *host;
	struct verbs *verbs; /* NULL: calls are not counted */
	struct screen *screen;
	bool had_screen; /* the final report goes to the terminal and has to fit */
	struct exporter *exporter;
	struct live_meanwhile meanwhile; /* what runs while a reader of standard output has stalled */
	struct metrics_memory metrics; /* what earlier scrapes have got */
	int error; /* errno of printing events; 0: none */
};

/* ---- output ---- */

static struct screen_source source(const struct monitor *m)
{
	return (struct screen_source){
		.now = &m->previous, /* the newest complete snapshot */
		.history = m->history,
		.host = m->host,
		.focus = m->focus,
		.events_lost = m->takes ? taken_lost(&m->taken) : 0,
		.events_suppressed = m->takes ? taken_suppressed(&m->taken) : 0,
	};
}

static bool say_output(int error)
{
	return complain("standard output: %s", strerror(error));
}

/* Returns 0, or -1 with errno. */
static int print_all(const struct monitor *m, bool last)
{
	const struct snapshot *previous = m->has_previous && !m->had_screen ? &m->previous : NULL;
	struct view view = { .streams = m->had_screen ? STREAMS_WORST : m->options->streams, .live = true };
	const struct monitor_added *added = m->options->added;

	if (m->options->json) {
		view.receive = added ? added->json(added->context) : NULL;
		return view_json(m->out, &m->now, previous, &view);
	}
	if (!(added && added->alone) && view_lines(m->out, &m->now, previous, &view))
		return -1;
	return added ? added->lines(added->context, m->out, &m->now, last) : 0;
}

/* Returns 0 or an errno. A signal must end us even if the reader has stopped reading. */
static int print_snapshot(const struct monitor *m, bool last)
{
	int error = 0;

	live_unblock(&m->live);
	if (print_all(m, last) || fflush(m->out))
		error = errno;
	live_block(&m->live);
	return error;
}

/* Applies the filter, and names the groups. */
static bool choose_streams(const struct monitor *m, struct snapshot *s)
{
	s->group = m->options->group.of ? &m->options->group : NULL;
	if (filter_snapshot(m->options->filter, s))
		return true;
	return complain("there is not enough memory");
}

static bool take_snapshot(struct monitor *m)
{
	snapshot_free(&m->now);
	m->now = (struct snapshot){ 0 };
	if (!live_snapshot(&m->live, &m->now) || !choose_streams(m, &m->now))
		return false;
	if (m->takes)
		m->now.events = (struct snapshot_events){ true, taken_lost(&m->taken), taken_suppressed(&m->taken) };
	if (m->host)
		host_update(m->host, &m->live, &m->now);
	if (m->host && m->verbs) {
		verbs_update(m->verbs);
		verbs_add_calls(m->verbs, &m->now);
	}
	return true;
}

/* Stores what held each stream back since the previous snapshot, before that one is freed. */
static void keep_limits(struct monitor *m)
{
	free(m->limits);
	m->limits = calloc(m->now.stream_count ?: 1, sizeof(*m->limits));
	for (size_t i = 0; m->limits && i < m->now.stream_count; i++)
		m->limits[i] = limit_of(&m->now.streams[i], &m->now, m->has_previous ? &m->previous : NULL);
}

static void keep_snapshot(struct monitor *m)
{
	if (m->exporter && m->options->live.both)
		keep_limits(m);
	snapshot_free(&m->previous);
	m->previous = m->now;
	m->has_previous = true;
	m->now = (struct snapshot){ 0 };
}

/* Takes a snapshot and shows it. With --events only the last one is printed, with --quiet none. */
static bool show(struct monitor *m, bool last)
{
	struct screen_source s = source(m);
	int error = 0;

	if (!take_snapshot(m))
		return false;
	if (m->screen) {
		s.now = &m->now;
		s.previous = m->has_previous ? &m->previous : NULL;
		screen_show(m->screen, &s);
	} else if (last ? !m->options->quiet : !m->options->quiet && !m->options->events) {
		error = print_snapshot(m, last);
	}
	keep_snapshot(m);
	return !error || say_output(error);
}

/* ---- the run ---- */

/* A scrape takes its own snapshot, without host_update(): the snapshot on the screen points to the owners of the last call. */
static bool fill_metrics(void *context, FILE *out)
{
	struct monitor *m = context;
	struct metrics_options o = {
		.streams = m->options->prometheus_streams,
		.known = m->has_previous ? &m->previous : NULL,
		.limits = m->limits,
		.room = m->options->live.settings.max_streams,
		.events = m->takes,
		.events_suppressed = m->takes ? taken_suppressed(&m->taken) : 0,
		.memory = &m->metrics,
	};
	const struct monitor_added *added = m->options->added;
	struct snapshot now;
	__u64 begin = now_ns();
	bool good = live_snapshot(&m->live, &now) && choose_streams(m, &now);

	o.took = now_ns() - begin;
	good = good && !metrics_write(out, &now, m->host, &o) && (!added || !added->metrics(added->context, out));
	snapshot_free(&now);
	return good;
}

static void on_taken(void *context, const struct taken_packet *p)
{
	struct monitor *m = context;
	const struct roce_ports *ports = &m->options->live.settings.ports;
	const struct snapshot_stream *known = NULL;
	struct roce_event event = p->record->event;
	struct roce_packet packet;
	struct roce_key key;
	bool stream;

	roce_parse(p->bytes, p->captured, p->length, ports, &packet);
	stream = packet.kind == ROCE_PACKET || packet.kind == ROCE_UDP;
	if (stream) {
		roce_stream_key(&packet, &key);
		known = snapshot_find(m->has_previous ? &m->previous : NULL, &key);
	}
	event.kinds = events_faults(p, &packet);
	if (stream && m->history)
		history_add(m->history, &key, &event, p->time, p->interface, p->record->left_out);
	if (m->events && !m->error)
		m->error = events_see(m->events, p, &packet, known);
}

/* Reads and prints events. Signals are unblocked as in print_snapshot(). */
static bool take_events(struct monitor *m, bool (*take)(struct taken *t), bool last)
{
	bool read;

	live_unblock(&m->live);
	read = take(&m->taken);
	if (m->events && !m->error)
		m->error = events_tick(m->events, taken_suppressed(&m->taken), taken_lost(&m->taken), last);
	live_block(&m->live);
	return read;
}

static bool read_events(struct monitor *m)
{
	if (!m->takes)
		return true;
	if (!take_events(m, taken_read, false))
		return false;
	return !m->error || say_output(m->error);
}

/* Handles keys and scrapes. false: the user wants to quit. */
static bool serve(struct monitor *m)
{
	struct screen_source s = source(m);

	if (m->exporter)
		exporter_run(m->exporter);
	return !m->screen || screen_key(m->screen, &s);
}

/* Scrapes and the service manager do not wait for a reader of standard output. */
static void serve_meanwhile(void *context)
{
	struct monitor *m = context;

	if (m->exporter)
		exporter_run(m->exporter);
	service_alive();
}

/* Waits until `deadline` (ns, monotonic), and serves meanwhile. false: the run ends. */
static bool wait_until(struct monitor *m, __u64 deadline, bool *good)
{
	const struct monitor_added *added = m->options->added;
	struct pollfd fds[4], *over = NULL;
	size_t count = 0;

	if (m->screen)
		fds[count++] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	if (m->exporter)
		fds[count++] = (struct pollfd){ .fd = exporter_fd(m->exporter), .events = POLLIN };
	if (added) {
		over = &fds[count++];
		*over = (struct pollfd){ .fd = added->over, .events = POLLIN };
	}
	if (live_links(&m->live) >= 0)
		fds[count++] = (struct pollfd){ .fd = live_links(&m->live), .events = POLLIN };
	for (;;) {
		__u64 now = now_ns(), pause = now + (m->takes ? EVENTS_PAUSE : TICK);
		enum live_woken woken = live_wait_for(&m->live, pause < deadline ? pause : deadline, fds, count);

		*good = read_events(m);
		if (!*good || woken == LIVE_STOP || !serve(m) || (over && woken == LIVE_READY && over->revents))
			return false;
		service_alive();
		if (live_links(&m->live) >= 0 && fds[count - 1].revents && woken == LIVE_READY)
			live_poll(&m->live);
		if (now_ns() >= deadline)
			return true;
	}
}

/* Takes all snapshots but the final one. false: something failed. */
static bool watch(struct monitor *m)
{
	const struct live_options *o = &m->options->live;
	__u64 interval = seconds_to_ns(o->interval), next = m->live.start + interval;
	__u64 end = o->duration ? m->live.start + seconds_to_ns(o->duration) : UINT64_MAX;
	bool good = true;

	while (wait_until(m, next < end ? next : end, &good) && next < end) {
		if (!live_poll(&m->live))
			return true;
		if (!show(m, false))
			return false;
		do
			next += interval;
		while (next < now_ns()); /* a slow reader gets fewer snapshots, but no old ones */
	}
	return good;
}

/* Detaches first, so that the final snapshot has everything that was counted. */
static bool finish(struct monitor *m)
{
	const struct monitor_added *added = m->options->added;
	bool read, good;

	service_stopping();
	m->had_screen = m->screen;
	screen_end(m->screen);
	m->screen = NULL;
	live_detach(&m->live);
	good = !added || added->end(added->context);
	read = !m->takes || take_events(m, taken_read_rest, true);
	if (m->error)
		return say_output(m->error);
	return show(m, true) && read && good;
}

/* ---- the beginning ---- */

const struct program_kind monitor_kind = { .command = "monitor" };

static bool open_programs(struct monitor *m, struct live_programs *to)
{
	if (!monitor_programs_open(&m->options->live, to))
		return false;
	m->counting = to->object;
	return true;
}

static int begin_counting(struct monitor *m)
{
	const struct monitor_added *added = m->options->added;
	struct taken_programs programs;

	if (added ? !added->open(added->context, false, &programs) : !open_programs(m, &programs.live))
		return EXIT_COULD_NOT;
	return live_begin(&m->live, &programs.live);
}

/* With events: the programs of bpf/capture.bpf.c count the same, and pass on the headers of faulty packets. */
static int begin_taking(struct monitor *m)
{
	const struct monitor_added *added = m->options->added;
	struct taken_programs programs;
	struct taken_options wanted = {
		.capture = { .kinds = FAULT_EVENTS, .snaplen = ROCE_WINDOW_BYTES,
			     .limit = m->options->event_limit },
		.buffer = 1 << 22,
	};

	if (added && !added->open(added->context, true, &programs))
		return EXIT_COULD_NOT;
	if (added)
		wanted.programs = &programs;
	return taken_begin(&m->taken, &m->live, &wanted, on_taken, m);
}

static bool wants_screen(const struct monitor_options *o)
{
	return !o->json && !o->plain && !o->quiet && !o->events && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* Begins everything but the counting. */
static void begin_others(struct monitor *m)
{
	const struct monitor_options *o = m->options;
	struct events_options events = { .print = o->events, .json = o->json, .command = o->on_fault,
					 .filter = o->filter, .interfaces = m->names, .quiet = wants_screen(o) };

	for (size_t i = 0; i < m->live.interface_count; i++)
		m->names[i] = m->live.interface[i].name;
	m->host = host_open(&m->live);
	if (m->takes) {
		m->history = history_new();
		m->focus = focus_open(live_map(&m->live, "focus"));
	}
	if (o->events || o->on_fault)
		m->events = events_begin(&events, m->out);
	if (m->exporter)
		complain("metrics at %s", exporter_url(m->exporter));
	if (wants_screen(o))
		m->screen = screen_begin(o->filter ? filter_text(o->filter) : NULL);
}

/* Call it before anything is attached: an address in use is a mistake on the command line. */
static bool begin_exporter(struct monitor *m)
{
	if (m->options->prometheus)
		m->exporter = exporter_start(m->options->prometheus, fill_metrics, m);
	if (m->exporter)
		m->meanwhile.fd = exporter_fd(m->exporter);
	return m->exporter || !m->options->prometheus;
}

/*
 * Before capabilities are given up: the probes of programs that begin later need some that counting does not. And before
 * "watching" is said: a program that begins then is counted from its first call.
 */
static bool begin_calls(struct monitor *m)
{
	const struct verbs_options o = { .calls = true, .most = m->options->calls_most };

	if (m->options->calls)
		m->verbs = verbs_open(&o);
	return m->verbs || !m->options->calls;
}

static void restrict_capabilities(const struct monitor *m)
{
	const struct monitor_options *o = m->options;
	unsigned int later = o->added && o->added->files ? LIVE_FILES : 0;

	live_restrict(&m->live, later | (o->on_fault ? LIVE_STARTS : 0) | (o->calls ? LIVE_PROBES : 0));
}

static bool faulty(const struct monitor *m)
{
	const struct monitor_added *added = m->options->added;
	const struct faults *f = &m->options->fail.faults;

	return faults_seen(f, &m->previous) || (added && added->faulty(added->context, f));
}

static int run(struct monitor *m)
{
	int status;

	if (!begin_exporter(m))
		return EXIT_COULD_NOT;
	/* without events the table lacks only the details of faults */
	m->takes = m->options->events || m->options->on_fault || (wants_screen(m->options) && kernel_has_frags());
	if (!begin_calls(m))
		return EXIT_COULD_NOT;
	status = m->takes ? begin_taking(m) : begin_counting(m);
	if (status)
		return status;
	restrict_capabilities(m);
	if (m->options->added && !m->options->added->begin(m->options->added->context, &m->live)) {
		m->live.pin.keep = m->live.pin.resumed; /* what this command began ends with it */
		return EXIT_COULD_NOT;
	}
	begin_others(m);
	service_ready("watching");
	if (!watch(m) || !finish(m) || (!m->live.left && !m->options->live.wait))
		return EXIT_COULD_NOT;
	return m->options->fail.wanted && faulty(m) ? EXIT_FAULTS : EXIT_RAN;
}

static void end(struct monitor *m)
{
	screen_end(m->screen);
	exporter_stop(m->exporter);
	events_end(m->events);
	__fpurge(m->out); /* drop what could not be written */
	fclose(m->out);
	live_end(&m->live);
	host_close(m->host);
	verbs_close(m->verbs);
	history_free(m->history);
	focus_close(m->focus);
	snapshot_free(&m->now);
	snapshot_free(&m->previous);
	free(m->limits);
	if (m->takes)
		taken_end(&m->taken);
	bpf_object__close(m->counting);
}

int monitor_run(const struct monitor_options *o)
{
	struct monitor m = { .options = o };
	int status;

	live_prepare(&m.live, &o->live);
	m.meanwhile = (struct live_meanwhile){ .fd = -1, .run = serve_meanwhile, .context = &m };
	m.out = live_output(&m.live, &m.meanwhile);
	if (!m.out)
		return EXIT_COULD_NOT;
	status = run(&m);
	end(&m);
	return status;
}
