// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * capture_replay [--udp PORTS] FILE...
 *
 * Runs every frame of captures of Ethernet through each of bpf/capture.bpf.c's programs (BPF_PROG_TEST_RUN) and through
 * userspace/observe/model/observer.c, and compares what is told of it: a packet with an event is taken, once, with all its bytes and the
 * very same struct roce_event; of others nothing comes. And, of one stream after the other, what is counted in focus, but for
 * the clock.
 *
 * Prints a line for each difference, and in the end what was compared. Exit status 1 if anything differs, 2 if it could
 * not be run.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "bpf/capture_abi.h"
#include "pcap/reader.h"
#include "roce/datagram/datagram.h"
#include "roce/icrc/fold.h"
#include "userspace/observe/live/focus.h"
#include "userspace/observe/live/maps.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/observer.h"
#include "userspace/observe/model/udp_ports.h"
#include "bpf/capture.skel.h" /* needs struct fold_tables */

/* What test runs put into one buffer: a page without XDP's headroom and struct skb_shared_info (net/bpf/test_run.c). */
#define LINEAR_MAX (4096 - 256 - 320)
#define STREAMS 65536
#define NEVER 3600 /* s after which a stream counts as idle */
#define SHOWN 20   /* differences that are described */
#define FOCUSED 1000 /* frames for which a stream is in focus */

/* The kernel's output for one frame. */
struct replay_taken {
	unsigned int count;
	struct capture_record record;
	__u8 bytes[FRAME_MAX];
};

/* A program, and user space's state for the same frames. */
struct way {
	const char *name;
	bool outward; /* takes frames of one buffer, and does not judge UDP checksums */
	struct capture_bpf *bpf;
	int program;
	struct ring_buffer *ring;
	struct replay_taken taken;
	struct observer observer;
	__u64 untracked; /* packets so far */
	struct focus *focus;
	struct roce_key focused;
	struct roce_focus seen; /* counted by user space */
	unsigned long frames, events, differences, in_focus, messages;
};

static struct way ways[] = { { .name = "capture_frags" }, { .name = "capture_egress", .outward = true } };
static struct roce_ports ports;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "capture_replay: %s: %s\n", what, why);
	exit(2);
}

/* ---- the kernel ---- */

static int on_record(void *context, void *data, size_t size)
{
	struct replay_taken *t = context;

	t->count++;
	memcpy(&t->record, data, sizeof(t->record));
	if (size - sizeof(t->record) >= t->record.captured && t->record.captured <= FRAME_MAX)
		memcpy(t->bytes, (const __u8 *)data + sizeof(t->record), t->record.captured);
	return 0;
}

static void load(struct way *w)
{
	struct bpf_program *program;

	w->bpf = capture_bpf__open();
	if (!w->bpf)
		die("BPF", strerror(errno));
	bpf_object__for_each_program(program, w->bpf->obj)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), w->name));
	bpf_map__set_max_entries(w->bpf->maps.totals, TOTALS_ENTRIES_FOR(libbpf_num_possible_cpus()));
	w->bpf->rodata->settings.icrc_every = 1;
	w->bpf->rodata->settings.ports = ports;
	w->bpf->rodata->settings.max_streams = STREAMS;
	maps_complete_settings((struct monitor_settings *)&w->bpf->rodata->settings, NEVER);
	fold_make_tables((struct fold_tables *)&w->bpf->rodata->fold_tables);
	*(struct capture_settings *)&w->bpf->rodata->capture =
		(struct capture_settings){ .kinds = ~0u, .snaplen = FRAME_MAX, .limit = UINT64_MAX };
	if (capture_bpf__load(w->bpf))
		die(w->name, strerror(errno));
	w->program = bpf_program__fd(bpf_object__find_program_by_name(w->bpf->obj, w->name));
	w->ring = ring_buffer__new(bpf_map__fd(w->bpf->maps.taken), on_record, &w->taken, NULL);
	w->focus = focus_open(bpf_map__fd(w->bpf->maps.focus));
	if (!w->ring || !w->focus)
		die("ring buffer and focus", strerror(errno));
}

/* false: the kernel refused the frame. untracked: it had no room for the stream. */
static bool run_kernel(struct way *w, const struct capture_frame *f, bool *untracked)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = f->bytes, .data_size_in = f->captured, .repeat = 1);
	struct roce_totals totals = { 0 };

	w->taken.count = 0;
	if ((w->outward && f->captured > LINEAR_MAX) || bpf_prog_test_run_opts(w->program, &run))
		return false;
	if (ring_buffer__consume(w->ring) < 0 || maps_read_totals(bpf_map__fd(w->bpf->maps.totals), &totals))
		die("BPF map", strerror(errno));
	*untracked = totals.value[COUNTER_untracked_packets] != w->untracked;
	w->untracked = totals.value[COUNTER_untracked_packets];
	return true;
}

/* ---- user space ---- */

static void run_user(struct way *w, const struct capture_frame *f, bool untracked, struct roce_event *event)
{
	struct observer_frame frame = { .bytes = f->bytes, .captured = f->captured, .wire = f->captured,
					.no_icrc = f->captured > FRAME_MAX };
	struct observer_parsed parsed;

	observer_parse(&frame, &ports, &parsed);
	if (frame.no_icrc) /* and no check that needs the whole frame */
		roce_parse(frame.bytes, frame.captured, frame.wire, &ports, &parsed.packet);
	if (w->outward)
		parsed.packet.udp_checksum_wrong = false;
	w->observer.table.max = untracked ? w->observer.table.count : SIZE_MAX;
	if (observer_follow(&w->observer, &frame, &parsed, 1, event) && !memcmp(&parsed.key, &w->focused, sizeof(parsed.key)))
		roce_focus_on(&w->seen, &parsed.packet, event->kinds, 1);
}

/* ---- the stream in focus ---- */

/* Removes the clock's part, which must be consistent in itself. */
static bool take_clock_away(struct roce_focus *f)
{
	__u64 gaps = 0;
	bool good;

	for (int i = 0; i < FOCUS_GAPS; i++) {
		gaps += f->gap[i];
		f->gap[i] = 0;
	}
	good = gaps == f->gaps && f->gap_sum == f->last - f->begin && f->gap_least <= f->gap_most && f->gap_most <= f->gap_sum;
	f->gap_sum = f->gap_least = f->gap_most = f->begin = f->last = 0;
	return good && f->gaps + !!f->packets == f->packets;
}

/* Compares the counters of the stream in focus, then moves the focus to this frame's stream. */
static void turn_focus(struct way *w, const struct capture_frame *f, unsigned long number)
{
	struct observer_frame frame = { .bytes = f->bytes, .captured = f->captured, .wire = f->captured };
	struct observer_parsed parsed;
	struct roce_focus kernel;
	bool good;

	focus_read(w->focus, &kernel);
	w->in_focus += kernel.packets;
	w->messages += kernel.messages;
	good = take_clock_away(&kernel);
	good &= take_clock_away(&w->seen);
	if ((!good || memcmp(&kernel, &w->seen, sizeof(kernel))) && w->differences++ < SHOWN)
		printf("%s: frame %lu: what was counted in focus differs: %llu packets, %llu messages, %llu bytes, %llu RETHs; "
		       "user space: %llu, %llu, %llu, %llu; the clock is %s\n", w->name, number, kernel.packets,
		       kernel.messages, kernel.size_sum, kernel.reths, w->seen.packets, w->seen.messages, w->seen.size_sum,
		       w->seen.reths, good ? "right" : "wrong");
	observer_parse(&frame, &ports, &parsed);
	w->focused = parsed.has_stream ? parsed.key : (struct roce_key){ 0 };
	w->seen = (struct roce_focus){ 0 };
	focus_set(w->focus, parsed.has_stream ? &w->focused : NULL);
}

/* ---- frame by frame ---- */

static const char *difference(const struct replay_taken *t, const struct capture_frame *f, const struct roce_event *event)
{
	const struct capture_record *r = &t->record;

	if (t->count != !!event->kinds)
		return "how often it was taken";
	if (!t->count)
		return NULL;
	if (memcmp(&r->event, event, sizeof(*event)))
		return "the event";
	if (r->what != CAPTURE_FAULT || r->fault != r->origin.id || r->origin.length != f->captured || r->origin.tag)
		return "what is said of the packet";
	if (f->captured <= FRAME_MAX && (r->captured != f->captured || memcmp(t->bytes, f->bytes, f->captured)))
		return "the bytes";
	return NULL;
}

static void say(const struct way *w, const char *file, unsigned long number, const char *what,
		const struct roce_event *event)
{
	char user[EVENT_TEXT], kernel[EVENT_TEXT];

	event_text(event, user);
	event_text(&w->taken.record.event, kernel);
	printf("%s: %s: frame %lu: %s differs: taken %u times; user space: '%s' kernel: '%s'\n", w->name, file,
	       number, what, w->taken.count, user, w->taken.count ? kernel : "");
}

static void compare(struct way *w, const char *file, unsigned long number, const struct capture_frame *f)
{
	struct roce_event event;
	const char *what;
	bool untracked;

	if (w->frames % FOCUSED == 0)
		turn_focus(w, f, number);
	if (!run_kernel(w, f, &untracked))
		return;
	run_user(w, f, untracked, &event);
	w->frames++;
	w->events += !!event.kinds;
	what = difference(&w->taken, f, &event);
	if (what && w->differences++ < SHOWN)
		say(w, file, number, what, &event);
}

static void replay(const char *file)
{
	struct capture_piece piece = { 0 };
	char error[CAPTURE_ERROR];
	struct capture *c;
	int more;

	c = capture_open(file, CAPTURE_LINK_FILE, error);
	if (!c)
		die(file, error);
	while ((more = capture_read(c, &piece)) > 0)
		for (size_t i = 0; i < piece.count; i++)
			for (size_t way = 0; way < ROCE_ARRAY_SIZE(ways); way++)
				compare(&ways[way], file, piece.first + i, &piece.frames[i]);
	if (more < 0)
		die(file, capture_error(c));
	capture_piece_free(&piece);
	capture_close(c);
}

int main(int argc, char **argv)
{
	unsigned long differences = 0;
	char mistake[UDP_MISTAKE];
	int first = 1;

	if (argc > 2 && !strcmp(argv[1], "--udp")) {
		if (!udp_ports_add(&ports, argv[2], mistake))
			die(argv[2], mistake);
		first = 3;
	}
	if (first >= argc)
		die("usage", "capture_replay [--udp PORTS] FILE...");
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(ways); i++)
		load(&ways[i]);
	for (int i = first; i < argc; i++)
		replay(argv[i]);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(ways); i++) {
		struct way *w = &ways[i];

		turn_focus(w, &(struct capture_frame){ 0 }, w->frames);
		printf("%s: %lu frames, %lu events, %lu differences; in focus %lu packets, %lu messages\n", w->name, w->frames,
		       w->events, w->differences, w->in_focus, w->messages);
		differences += w->differences;
		focus_close(w->focus);
		ring_buffer__free(w->ring);
		capture_bpf__destroy(w->bpf);
		observer_free(&w->observer);
	}
	return differences ? 1 : 0;
}
