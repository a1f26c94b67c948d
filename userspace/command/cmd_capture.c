// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope capture: writes the faulty packets of interfaces, with their context, to pcapng files. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cause.h"
#include "lib/clock.h"
#include "lib/complain.h"
#include "lib/json.h"
#include "lib/shown.h"
#include "pcap/ng_writer.h"
#include "userspace/command/arguments.h"
#include "userspace/command/commands.h"
#include "userspace/observe/live/live.h"
#include "userspace/observe/live/taken.h"
#include "userspace/observe/model/advice.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/faults.h"
#include "userspace/render/output/view_json.h"

#define CONTEXT_MOST 1000000

struct capture_options {
	struct live_options live;
	struct taken_options taken;
	const char *path;
	const char *reasons;
	struct ng_rotation rotation;
	struct fault_exit fail;
	bool json;
};

struct command_capture {
	const struct capture_options *options;
	struct live live;
	struct taken taken;
	struct ng_writer *writer;
	bool failed;	/* a packet could not be written */
	__u64 seen[CAPTURE_SAMPLE + 1]; /* packets from the kernel, by enum capture_what */
	__u64 kinds[ROCE_EVENTS];	/* faulty packets with this event */
	__u64 lost_before;		/* capture_record.lost of the last packet */
	__u64 taken_of[INTERFACES_MOST];
	__u64 written_of[INTERFACES_MOST];
	__u64 start; /* ns since 1970 */
	__u64 lost, suppressed; /* set at the end */
	__u64 written;
	__u32 files;
	char *last_path;
	struct snapshot final;
};

/* ---- the command line ---- */

static void take_reasons(struct option_parser *p, const struct option_entry *e, const char *list)
{
	struct capture_options *o = p->options;
	const char *bad;

	if (!event_parse_reasons(list, &o->taken.capture.kinds, &bad))
		option_wrong(p, e, list, "neither reason nor event is called '%.*s' ('--help events' lists them)",
			     (int)strcspn(bad, ","), bad);
	o->reasons = list;
}

static void take_context(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct capture_options *o = p->options;

	option_number(p, e, text);
	o->taken.capture.before = o->taken.capture.after;
}

#define NUMBER(member, low, high) OPTION_NUMBER(struct capture_options, member, low, high)
#define SIZE(member, low, high) OPTION_SIZE(struct capture_options, member, low, high)

static const struct option_entry packets[] = {
	{ "reason", "LIST",
	  "which packets are faulty: psn, message, icrc, lint, malformed, nak, cnp, or events by name (psn-gap)",
	  .take = take_reasons, .topic = "events", .usual = "psn,message,icrc,lint,malformed,nak" },
	{ "context", "N", "write up to 4 headers before a faulty packet and N packets after it", .take = take_context,
	  OPTION_AT(struct capture_options, taken.capture.after), .least = 0, .most = CONTEXT_MOST, .usual = "4" },
	{ "snaplen", "BYTES", "write this many bytes of each packet; without it, all",
	  NUMBER(taken.capture.snaplen, 14, 262144) },
	{ "limit", "N", "at most N faulty packets of each stream in a second; 0: no limit",
	  NUMBER(taken.capture.limit, 0, UINT32_MAX), .usual = "1000" },
	{ "buffer", "SIZE", "memory between kernel and file", SIZE(taken.buffer, TAKEN_BUFFER_LEAST, TAKEN_BUFFER_MOST),
	  .usual = "64M" },
	{ 0 },
};

static const struct option_entry files[] = {
	{ "write", "FILE", "the file for the packets; - is standard output", OPTION_TEXT(struct capture_options, path),
	  .letter = 'w' },
	{ "file-size", "SIZE", "begin the next file after this size: FILE-00001.pcapng, FILE-00002.pcapng, ...",
	  SIZE(rotation.file_bytes, 4096, INT64_MAX) },
	{ "file-seconds", "SECONDS", "begin the next file after this time",
	  OPTION_SECONDS(struct capture_options, rotation.file_seconds, 0) },
	{ "files", "N", "keep only the newest N files", NUMBER(rotation.files, 1, 1000000) },
	{ "json", NULL, "print a rocescope.capture/1 object at the end", OPTION_FLAG(struct capture_options, json),
	  .letter = 'j' },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "Files", files, 0 },
	{ NULL, arguments_fail, offsetof(struct capture_options, fail) },
	{ "Packets", packets, 0 },
	{ NULL, arguments_count, offsetof(struct capture_options, live) },
	{ NULL, arguments_streams, offsetof(struct capture_options, live) },
	{ NULL, arguments_udp, offsetof(struct capture_options, live.settings.ports) },
	{ NULL, arguments_decap, offsetof(struct capture_options, live.decap) },
	{ NULL, arguments_once, offsetof(struct capture_options, live.once) },
	{ NULL, arguments_imm, offsetof(struct capture_options, live.settings.blocks) },
	{ NULL, arguments_expect, offsetof(struct capture_options, live.expect) },
	{ "Interfaces", arguments_mode, offsetof(struct capture_options, live) },
	{ NULL, arguments_attach, offsetof(struct capture_options, live) },
	{ NULL, arguments_ready, offsetof(struct capture_options, live) },
	{ NULL, arguments_interval, offsetof(struct capture_options, live) },
	{ NULL, arguments_verbose, offsetof(struct capture_options, live.verbose) },
	{ 0 },
};

static const struct option_topic *const topics[] = { &topic_events, &topic_counters, &topic_lints, &topic_expect, &topic_udp, NULL };

const struct command capture_command = {
	.name = "capture",
	.words = "write only the faulty packets to a file, with context",
	.arguments = "IFACE... -w FILE.pcapng [OPTIONS]",
	.tables = tables,
	.topics = topics,
	.examples =
		"  # the faulty packets of an interface, each with its context\n"
		"  rocescope capture roce0 -w faults.pcapng\n"
		"  # for weeks: the newest 24 files of an hour each\n"
		"  rocescope capture roce0 -w faults.pcapng --file-seconds 3600 --files 24\n"
		"  # only lost packets and wrong ICRCs, straight into Wireshark's command line\n"
		"  rocescope capture roce0 -w - --reason psn,icrc | tshark -r -\n",
};

static void check_options(const struct capture_options *o)
{
	bool rotates = o->rotation.file_bytes || o->rotation.file_seconds;

	if (!o->live.interface_count)
		usage_error("capture: which interface?");
	if (!o->path)
		usage_error("capture: which file? -w FILE.pcapng");
	if (!strcmp(o->path, "-") && o->json)
		usage_error("capture: packets and JSON cannot both go to standard output");
	if (!strcmp(o->path, "-") && isatty(STDOUT_FILENO))
		usage_error("capture: -w -: standard output is a terminal");
	if (!strcmp(o->path, "-") && rotates)
		usage_error("capture: standard output cannot be rotated");
	if (o->rotation.files && !rotates)
		usage_error("capture: --files needs --file-size or --file-seconds");
}

static void parse_options(struct capture_options *o, int argc, char **argv)
{
	int first;

	*o = (struct capture_options){ .fail.faults = faults_default(), .live.kind = &monitor_kind };
	first = command_parse(&capture_command, o, argc, argv);
	arguments_interfaces(&capture_command, &o->live, argv + first, argc - first);
	check_options(o);
}

/* ---- packets ---- */

static void comment_on(const struct taken_packet *p, char text[EVENT_TEXT])
{
	const struct capture_record *r = p->record;

	if (r->what == CAPTURE_BEFORE)
		snprintf(text, EVENT_TEXT, "reason=before fault=%llu: its stream's last packets before that one, "
			 "headers only", r->fault);
	else if (r->what == CAPTURE_AFTER)
		snprintf(text, EVENT_TEXT, "reason=after fault=%llu: its stream's next packets after that one", r->fault);
	else
		event_text(&r->event, text);
}

static const char *name_of(const char *path)
{
	return strcmp(path, "-") ? path : "standard output";
}

/* Reports the first failure. On a full disk the command goes on counting; without a reader of the pipe watch() ends. */
static void say_failed(struct command_capture *c)
{
	bool broken = ng_broken(c->writer);

	if (!c->failed)
		complain("%s: %s%s", name_of(ng_path(c->writer)), broken ? cause(EPIPE).text : ng_error(c->writer),
			 broken ? "" : ": writing has ended, counting goes on");
	c->failed = true;
}

static void count(struct command_capture *c, const struct taken_packet *p)
{
	const struct capture_record *r = p->record;

	c->seen[r->what]++;
	c->taken_of[p->interface]++;
	if (r->what == CAPTURE_FAULT)
		for (__u32 kind = 0; kind < ROCE_EVENTS; kind++)
			c->kinds[kind] += r->event.kinds >> kind & 1;
}

static void on_packet(void *context, const struct taken_packet *p)
{
	const struct capture_origin *o = &p->record->origin;
	struct command_capture *c = context;
	char comment[EVENT_TEXT];
	struct ng_packet packet = {
		.interface = p->interface,
		.time = p->time,
		.bytes = p->bytes,
		.captured = p->captured,
		.wire = p->length,
		.comment = comment,
		.direction = o->outward ? NG_OUTWARD : NG_INWARD,
		.queue = o->outward ? -1 : (__s64)o->queue,
		.verdict = o->outward ? -1 : o->verdict,
		.id = o->id,
	};

	count(c, p);
	if (p->record->lost > c->lost_before) { /* records of two CPUs may come in the wrong order */
		packet.dropped = p->record->lost - c->lost_before;
		c->lost_before = p->record->lost;
	}
	comment_on(p, comment);
	if (ng_put(c->writer, &packet))
		c->written_of[p->interface]++;
	else
		say_failed(c);
}

static void set_statistics(struct command_capture *c)
{
	struct ng_statistics all[INTERFACES_MOST];

	for (__u32 i = 0; i < c->live.interface_count; i++) {
		struct capture_interface seen = taken_interface(&c->taken, i);

		all[i] = (struct ng_statistics){
			.start = c->start,
			.end = clock_ns(CLOCK_REALTIME),
			.received = seen.frames,
			.dropped = c->live.interface[i].missed,
			.accepted = c->taken_of[i] + seen.lost,
			.os_dropped = seen.lost,
			.delivered = c->written_of[i],
			.left_out = i ? 0 : taken_suppressed(&c->taken) + taken_lost(&c->taken),
		};
	}
	ng_set_statistics(c->writer, all);
}

/* ---- the run ---- */

static bool open_file(struct command_capture *c)
{
	struct ng_interface interfaces[INTERFACES_MOST];
	const struct capture_options *o = c->options;
	char error[NG_ERROR], filter[256];

	snprintf(filter, sizeof(filter), "rocescope capture --reason %s --context %u", o->reasons, o->taken.capture.after);
	for (size_t i = 0; i < o->live.interface_count; i++)
		interfaces[i] = (struct ng_interface){ .name = o->live.interface[i], .filter = filter,
						       .snaplen = o->taken.capture.snaplen };
	live_unblock(&c->live); /* opening a named pipe waits for its reader */
	c->writer = ng_open(o->path, interfaces, o->live.interface_count, &o->rotation, error);
	live_block(&c->live);
	if (!c->writer)
		complain("%s: %s", name_of(o->path), error);
	return c->writer;
}

/*
 * Checks the path before anything is attached. The file itself is opened after that: opening truncates it, and an attach that
 * fails must not cost its content.
 */
static bool can_write(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX] = ".";

	if (!strcmp(path, "-") || !access(path, W_OK))
		return true;
	if (errno == ENOENT) {
		if (slash)
			snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path) + 1, path);
		if (!access(folder, W_OK | X_OK))
			return true;
	}
	return complain("%s: %s", path, cause(errno).text);
}

static __u64 file_size(const char *path)
{
	struct stat s;

	return stat(path, &s) ? 0 : s.st_size;
}

/* Prints progress once an interval, on a terminal only. */
static void show_progress(const struct command_capture *c)
{
	const __u64 *seen = c->seen;
	const char *path = ng_path(c->writer);

	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "%.0f s: %llu faulty packets, %llu written, %llu beyond --limit, %llu lost; %s %.1f MB\n",
		(now_ns() - c->live.start) / 1e9, seen[CAPTURE_FAULT],
		seen[CAPTURE_FAULT] + seen[CAPTURE_BEFORE] + seen[CAPTURE_AFTER], taken_suppressed(&c->taken),
		taken_lost(&c->taken), path, file_size(path) / 1e6);
}

/* A signal must end us even if the reader of the file has stopped reading. */
static bool read_packets(struct command_capture *c, bool (*read)(struct taken *t))
{
	bool good;

	live_unblock(&c->live);
	good = read(&c->taken);
	live_block(&c->live);
	return good;
}

static void flush_file(struct command_capture *c)
{
	live_unblock(&c->live);
	if (!c->failed && !ng_flush(c->writer))
		say_failed(c);
	live_block(&c->live);
}

/* false: something failed. */
static bool each_interval(struct command_capture *c)
{
	set_statistics(c);
	flush_file(c);
	show_progress(c);
	return live_poll(&c->live);
}

static bool watch(struct command_capture *c)
{
	const struct live_options *o = &c->options->live;
	__u64 interval = seconds_to_ns(o->interval), next = c->live.start + interval;
	__u64 end = o->duration ? c->live.start + seconds_to_ns(o->duration) : UINT64_MAX;

	for (;;) {
		__u64 now = now_ns(), pause = now + TAKEN_PAUSE;

		if (!live_wait(&c->live, pause < end ? pause : end) || now >= end)
			return true;
		if (ng_broken(c->writer)) {
			say_failed(c);
			return true;
		}
		if (!read_packets(c, taken_read))
			return false;
		if (now < next)
			continue;
		if (!each_interval(c))
			return true;
		next = now + interval;
	}
}

/* Detaches first, so that no more packets come. */
static bool finish(struct command_capture *c)
{
	char error[NG_ERROR];
	bool read, closed;

	live_detach(&c->live);
	read = read_packets(c, taken_read_rest) && live_snapshot(&c->live, &c->final);
	set_statistics(c);
	c->lost = taken_lost(&c->taken);
	c->suppressed = taken_suppressed(&c->taken);
	flush_file(c);
	c->written = ng_written(c->writer);
	c->files = ng_files(c->writer);
	c->last_path = strdup(ng_path(c->writer));
	live_unblock(&c->live);
	closed = ng_close(c->writer, error);
	live_block(&c->live);
	if (!closed && !c->failed) {
		complain("%s: %s", name_of(c->options->path), error);
		c->failed = true;
	}
	c->writer = NULL;
	return read && c->last_path;
}

/* ---- the summary ---- */

static json_t *kinds_as_json(const struct command_capture *c)
{
	json_t *kinds = json_object();

	for (__u32 kind = 0; kind < ROCE_EVENTS; kind++)
		if (c->kinds[kind])
			json_set_count(kinds, event_names[kind], c->kinds[kind]);
	return kinds;
}

static bool print_json(const struct command_capture *c)
{
	json_t *o = view_json_head(&c->final, "rocescope.capture/1");
	json_t *own = json_pack("{s:b, s:{s:s, s:I}, s:{s:I, s:I, s:I, s:I}, s:o, s:I, s:I}",
				"complete", c->final.complete && !c->failed,
				"files", "last", c->last_path, "begun", (json_int_t)c->files,
				"packets", "fault", (json_int_t)c->seen[CAPTURE_FAULT], "before",
				(json_int_t)c->seen[CAPTURE_BEFORE], "after", (json_int_t)c->seen[CAPTURE_AFTER], "written",
				(json_int_t)c->written, "reasons", kinds_as_json(c),
				"suppressed", (json_int_t)c->suppressed, "lost", (json_int_t)c->lost);

	return !json_object_update_new(o, own) && json_line(stdout, o, JSON_LINE) && !fflush(stdout);
}

static bool print_lines(const struct command_capture *c)
{
	FILE *out = strcmp(c->options->path, "-") ? stdout : stderr;
	const __u64 *v = c->final.totals.value;
	const char *between = " (";

	fprintf(out, "%.3g s: %llu frames seen, %llu RoCE packets", c->final.seconds, v[COUNTER_frames],
		v[COUNTER_roce_packets] + v[COUNTER_rocev1_packets]);
	if (v[COUNTER_udp_packets])
		fprintf(out, ", %llu of watched UDP", v[COUNTER_udp_packets]);
	fputc('\n', out);
	if (v[COUNTER_headless_frames])
		fprintf(out, "%llu frames end before the BTH does: what is lost cannot be told\n", v[COUNTER_headless_frames]);
	fprintf(out, "%llu faulty packets", c->seen[CAPTURE_FAULT]);
	for (__u32 kind = 0; kind < ROCE_EVENTS; kind++)
		if (c->kinds[kind]) {
			fprintf(out, "%s%s %llu", between, event_names[kind], c->kinds[kind]);
			between = ", ";
		}
	fprintf(out, "%s, %llu headers before and %llu packets after them\n", c->seen[CAPTURE_FAULT] ? ")" : "",
		c->seen[CAPTURE_BEFORE], c->seen[CAPTURE_AFTER]);
	if (c->suppressed)
		fprintf(out, "%llu faulty packets left out by --limit\n", c->suppressed);
	if (c->lost)
		fprintf(out, "%llu packets LOST between kernel and file: a larger --buffer, or a lower --limit\n", c->lost);
	fprintf(out, "%llu packets in ", c->written);
	if (c->files > 1)
		fprintf(out, "%u files, the last one is %s\n", c->files, shown_text(c->last_path).text);
	else
		fprintf(out, "%s\n", shown_text(name_of(c->last_path)).text);
	return !ferror(out) && !fflush(out);
}

static bool report(const struct command_capture *c)
{
	advice_warn(&c->final);
	if (c->options->json ? print_json(c) : print_lines(c))
		return true;
	return complain("capture: the summary cannot be written");
}

static int run(struct command_capture *c)
{
	int status;
	bool good;

	if (!can_write(c->options->path))
		return EXIT_COULD_NOT;
	c->start = clock_ns(CLOCK_REALTIME);
	status = taken_begin(&c->taken, &c->live, &c->options->taken, on_packet, c);
	if (status)
		return status;
	if (!open_file(c))
		return EXIT_COULD_NOT;
	live_restrict(&c->live, c->options->rotation.file_bytes || c->options->rotation.file_seconds ? LIVE_FILES : 0);
	good = watch(c);
	good &= finish(c);
	good &= report(c);
	if (!good || c->failed || !c->live.left)
		return EXIT_COULD_NOT;
	return c->options->fail.wanted && faults_seen(&c->options->fail.faults, &c->final) ? EXIT_FAULTS : EXIT_RAN;
}

int cmd_capture(int argc, char **argv)
{
	struct command_capture *c = calloc(1, sizeof(*c));
	char error[NG_ERROR];
	struct capture_options o;
	int status;

	parse_options(&o, argc, argv);
	if (!c)
		return EXIT_COULD_NOT;
	c->options = &o;
	live_prepare(&c->live, &o.live);
	live_insist(&c->live);
	signal(SIGXFSZ, SIG_IGN); /* then the write fails */
	status = run(c);
	live_end(&c->live);
	taken_end(&c->taken);
	if (c->writer)
		ng_close(c->writer, error);
	snapshot_free(&c->final);
	free(c->last_path);
	free(c);
	return status;
}
