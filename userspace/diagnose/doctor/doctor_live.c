// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/exit.h"
#include "lib/shown.h"
#include "userspace/diagnose/doctor/doctor_live.h"
#include "userspace/observe/host/host.h"
#include "userspace/observe/live/sniff.h"
#include "userspace/observe/live/taken.h"

#define SAMPLE 64  /* packets taken at the beginning of each stream */
#define CONTEXT 4  /* packets taken before and after a faulty one */
#define LIMIT 200  /* faulty packets taken per stream and second */
#define STREAMS 65536

struct watch {
	struct doctor *doctor;
	struct live live;
	struct taken taken;
	struct observer observer; /* observes the packets that were taken */
	struct host *host; /* NULL: no memory */
	struct sniffer sniffer; /* of every frame while doctor_wants_others() */
	__u64 number;
};

/* Whether packets of this stream passed without being taken: the kernel's engine then expects another PSN than ours. */
static bool is_apart(const struct roce_event *kernels, const struct roce_event *own)
{
	return kernels->expected != own->expected;
}

static void on_packet(void *context, const struct taken_packet *taken)
{
	struct watch *w = context;
	struct observer_frame frame = { .bytes = taken->bytes, .captured = taken->captured, .wire = taken->length };
	struct doctor_packet p = { .frame = &frame, .event = &taken->record->event, .time = taken->time };
	struct observer_parsed parsed;
	struct roce_event own;

	observer_parse(&frame, &w->live.options->settings.ports, &parsed);
	if (taken->record->what == CAPTURE_BEFORE) {
		if (parsed.packet.kind == ROCE_PACKET)
			doctor_remember(w->doctor, &frame, &parsed.packet);
		return;
	}
	p.parsed = &parsed;
	p.number = ++w->number;
	p.stream = observer_follow(&w->observer, &frame, &parsed, taken->time, &own);
	p.apart = is_apart(p.event, &own);
	doctor_take(w->doctor, &p);
	if (!doctor_wants_others(w->doctor))
		sniffer_other_udp(&w->sniffer);
}

/* A frame of any kind. What is RoCE comes from the kernel's program, in order and complete. */
static void take_sniffed(struct watch *w, const struct observer_frame *frame)
{
	struct roce_event none = { 0 };
	struct observer_parsed parsed;

	observer_parse(frame, &w->live.options->settings.ports, &parsed);
	if (parsed.packet.kind == ROCE_OTHER)
		doctor_take(w->doctor, &(struct doctor_packet){ .number = ++w->number, .frame = frame, .parsed = &parsed,
							       .event = &none });
}

static void sniff(struct watch *w)
{
	sniffer_read(&w->sniffer, 0);
	for (size_t i = 0; i < w->sniffer.read; i++)
		take_sniffed(w, &w->sniffer.order[i]->frame);
}

/* Prints the progress once a second. */
static void show_progress(const struct watch *w, const struct live_options *o)
{
	if (!isatty(STDERR_FILENO))
		return;
	shown_erase_line();
	fprintf(stderr, "%.0f of %g s: %llu packets looked at", (now_ns() - w->live.start) / 1e9, o->duration, w->number);
	fflush(stderr);
}

/* Returns false if it failed. */
static bool watch(struct watch *w, const struct live_options *o)
{
	__u64 end = w->live.start + seconds_to_ns(o->duration), next = w->live.start + NSEC_PER_SEC;

	for (;;) {
		__u64 now = now_ns(), pause = now + TAKEN_PAUSE;

		if (now >= end || !live_wait(&w->live, pause < end ? pause : end))
			return true;
		if (!taken_read(&w->taken))
			return false;
		sniff(w);
		if (now < next)
			continue;
		next += NSEC_PER_SEC;
		sniffer_check(&w->sniffer);
		show_progress(w, o);
		if (!live_poll(&w->live))
			return true;
	}
}

static void say_left_out(const struct watch *w)
{
	__u64 beyond = taken_suppressed(&w->taken), lost = taken_lost(&w->taken);

	if (beyond)
		fprintf(stderr,
			"rocescope: %llu faulty packets were counted, but not looked at: more than %d of a stream in a second\n",
			beyond, LIMIT);
	if (lost)
		fprintf(stderr, "rocescope: %llu packets came faster than they could be looked at\n", lost);
}

static int run(struct watch *w, const struct live_options *o, struct snapshot *s)
{
	const struct taken_options wanted = {
		.capture = { .kinds = ~0u, .before = CONTEXT, .after = CONTEXT, .limit = LIMIT, .sample = SAMPLE },
	};
	int status;
	bool good;

	w->sniffer.interfaces = o->interface;
	w->sniffer.count = o->decap ? 0 : o->interface_count; /* a socket does not show what is in a tunnel */
	if (!sniffer_open(&w->sniffer)) {
		fputs("rocescope: there is not enough memory\n", stderr);
		return EXIT_COULD_NOT;
	}
	status = taken_begin(&w->taken, &w->live, &wanted, on_packet, w);
	if (status)
		return status;
	w->host = host_open(&w->live);
	live_restrict(&w->live, LIVE_SNIFFS);
	fprintf(stderr, "rocescope: doctor: watches for %g s (--duration), then says what it has found\n", o->duration);
	good = watch(w, o);
	sniff(w);
	live_detach(&w->live);
	if (isatty(STDERR_FILENO))
		shown_erase_line();
	good &= taken_read_rest(&w->taken);
	say_left_out(w);
	good &= live_snapshot(&w->live, s);
	if (w->host && good) {
		host_update(w->host, &w->live, s);
		doctor_machine(w->doctor, s);
		s->host = NULL; /* it ends with w->host */
	}
	return good ? EXIT_RAN : EXIT_COULD_NOT;
}

int doctor_live(struct doctor *d, const struct live_options *o, struct snapshot *s)
{
	struct watch *w = calloc(1, sizeof(*w));
	int status;

	if (!w) {
		fputs("rocescope: there is not enough memory\n", stderr);
		return EXIT_COULD_NOT;
	}
	w->doctor = d;
	w->observer.table.max = STREAMS;
	live_prepare(&w->live, o);
	status = run(w, o, s);
	sniffer_close(&w->sniffer);
	live_end(&w->live);
	host_close(w->host);
	taken_end(&w->taken);
	observer_free(&w->observer);
	free(w);
	return status;
}
