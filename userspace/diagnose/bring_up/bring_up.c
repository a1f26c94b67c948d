// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Stands at the interface: reads frames, shows how far the sender is, and reports at the end. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/address.h"
#include "lib/cause.h"
#include "lib/clock.h"
#include "lib/exit.h"
#include "lib/stop.h"
#include "lib/terminal/draw.h"
#include "lib/terminal/terminal.h"
#include "userspace/diagnose/bring_up/bring_up.h"
#include "userspace/diagnose/doctor/doctor.h"

#define TURN_MS 50
#define LAST_TURNS 6 /* an RDMA device has worked on its packets then */
#define DRAWN 4 /* times a second, on a terminal */
#define CHANGES 200 /* lines of them, at most: a pipe takes so many, though nobody reads */
#define LONG_LINE 2000 /* columns, where there is no terminal, so that no line is broken */
#define SECONDS 10 /* columns */

/* What is shown while packets come. */
struct meanwhile {
	bool screen; /* the terminal is taken */
	__u64 next; /* ns, monotonic */
	struct lines lines;
	size_t scroll;
	enum bring_up_state states[STEPS]; /* without a terminal, those that were said */
	unsigned int said;
};

/* Frames, and after them what the machine says, so that it is not older. */
static void take_turn(struct bring_up *b)
{
	end_read(&b->end);
	for (size_t i = 0; i < b->sniffer.read; i++)
		bring_up_take(b, b->sniffer.order[i]);
	bring_up_settle(b);
}

/* ---- what is shown meanwhile ---- */

static void draw(struct bring_up *b, struct meanwhile *m)
{
	struct bring_up_report r;

	if (!terminal_takes())
		return; /* draw later: the terminal must not block us */
	bring_up_conclude(b, &r);
	lines_clear(&m->lines);
	m->lines.width = page_width();
	bring_up_page(&m->lines, b, &r, b->full ? 0 : page_room());
	page_show(&m->lines, &m->scroll, b->full ? "e only what fits  q quit  arrows scroll" : "e everything  q quit");
}

struct keyed {
	struct bring_up *b;
	struct meanwhile *m;
};

static bool take_key(void *context, int key)
{
	const struct keyed *k = context;

	if (key == 'e')
		k->b->full = !k->b->full;
	page_scroll(&k->m->lines, &k->m->scroll, key);
	return key != 'q';
}

/* Whether the page has changed. */
static bool take_keys(struct bring_up *b, struct meanwhile *m)
{
	bool any;

	if (!terminal_keys(take_key, &(struct keyed){ b, m }, &any))
		stop = 1;
	return any;
}

/* Without a screen: a line for each step that has changed, with the seconds since the start. */
static void say_changes(struct bring_up *b, struct meanwhile *m)
{
	struct bring_up_report r;
	size_t width = LONG_LINE, height;

	terminal_size(STDOUT_FILENO, &width, &height);
	bring_up_conclude(b, &r);
	m->lines.width = width > SECONDS ? width - SECONDS : 1;
	for (enum bring_up_step s = steps_begin(b); s < steps_end(b) && m->said < CHANGES; s++) {
		if (r.step[s].state == m->states[s])
			continue;
		m->states[s] = r.step[s].state;
		m->said++;
		lines_clear(&m->lines);
		bring_up_step_line(&m->lines, &r, s);
		lines_cut(&m->lines, 1);
		printf("%*.1f  ", SECONDS - 2, (now_ns() - b->begun) / 1e9);
		lines_print(stdout, &m->lines, false);
	}
	fflush(stdout);
}

static void show(struct bring_up *b, struct meanwhile *m)
{
	__u64 now = now_ns();
	bool keys = m->screen && take_keys(b, m);

	if (b->options->json || (now < m->next && !keys))
		return;
	m->next = now + (m->screen ? NSEC_PER_SEC / DRAWN : NSEC_PER_SEC);
	(m->screen ? draw : say_changes)(b, m);
}

static void begin_show(struct bring_up *b, struct meanwhile *m)
{
	bool utf8, colour;

	m->screen = !b->options->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && terminal_begin(&utf8, &colour);
	if (m->screen)
		draw_begin(colour);
}

static void end_show(struct meanwhile *m)
{
	terminal_end();
	lines_clear(&m->lines);
}

/* ---- the run ---- */

/* Until its time is over, a signal comes, or a responder can be asked: then it returns true. */
static bool watch(struct bring_up *b)
{
	__u64 end = b->options->duration ? b->begun + seconds_to_ns(b->options->duration) : UINT64_MAX, next = b->begun;
	struct meanwhile m = { 0 };
	bool found = false;

	begin_show(b, &m);
	while (!stop && !found && now_ns() < end) {
		if (now_ns() >= next) {
			next += NSEC_PER_SEC;
			sniffer_check(&b->sniffer);
		}
		sniffer_read(&b->sniffer, TURN_MS);
		take_turn(b);
		show(b, &m);
		found = answering_can_be_asked(b, clock_ns(CLOCK_REALTIME));
	}
	end_show(&m);
	if (found && !stop)
		return true;
	/* what came before the signal, and what the QPs say of it */
	for (int i = 0; i < (b->end.device_count ? LAST_TURNS : 2); i++) {
		sniffer_read(&b->sniffer, TURN_MS);
		take_turn(b);
	}
	return false;
}

struct showing {
	struct bring_up *b;
	struct meanwhile m;
};

static void show_asked(void *context)
{
	struct showing *s = context;
	double duration = s->b->options->duration;

	if (duration && now_ns() >= s->b->begun + seconds_to_ns(duration))
		stop = 1;
	show(s->b, &s->m);
}

/* It ends when everything is asked, or something is wrong. */
static bool ask(struct bring_up *b)
{
	struct showing s = { .b = b };
	bool asked;

	begin_show(b, &s.m);
	asked = bring_up_ask(b, show_asked, &s);
	end_show(&s.m);
	return asked;
}

/* Asks the responder that was found. What was seen of its dialogue with another requester goes. */
static bool ask_found(struct bring_up *b, struct bring_up_asked *asked)
{
	fprintf(stderr, "rocescope: %s answers and asks nothing: it is asked now, as by --responder\n",
		address_text(b->answering.address).text);
	b->asked = asked;
	b->shown = NULL;
	b->stream_count = b->bad_count = b->named = b->frames = b->others = 0;
	b->mistake.kind[0] = 0;
	b->other_frames = (struct other_frames){ 0 };
	bring_up_exchange(b, NULL)->count = 0;
	return ask(b);
}

/* As --ready of the monitor: a file or a named pipe, which gets a line. -1: it failed, which was reported. */
static int say_ready(const struct bring_up_options *o)
{
	int fd = o->ready ? open(o->ready, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666) : STDERR_FILENO;

	fprintf(stderr, "rocescope: watching %s\n", o->interface);
	if (o->ready && (fd < 0 || dprintf(fd, "watching %s\n", o->interface) < 0)) {
		fprintf(stderr, "rocescope: --ready %s: %s\n", o->ready, cause(errno).text);
		return -1;
	}
	return fd;
}

/* Whether a step is wrong: of the shown pair, or of another one of which so many packets have come that they are no strays. */
static bool is_wrong(const struct bring_up *b, const struct bring_up_report *r)
{
	bool wrong = r->wrong < STEPS;

	for (size_t i = 0; i < b->stream_count; i++)
		wrong |= b->streams[i].failed < STEPS && b->streams[i].packets >= DOCTOR_STRAYS;
	return wrong;
}

static int report(struct bring_up *b)
{
	const struct bring_up_options *o = b->options;
	struct bring_up_report r;
	bool good = true;

	bring_up_conclude(b, &r);
	if ((o->json ? bring_up_json : bring_up_lines)(stdout, b, &r) || fflush(stdout)) {
		fprintf(stderr, "rocescope: the report cannot be written: %s\n", cause(errno).text);
		good = false;
	}
	if (o->svg)
		good &= bring_up_picture(o->svg, b, &r);
	if (!good)
		return EXIT_COULD_NOT;
	return o->exit_code && is_wrong(b, &r) ? EXIT_FAULTS : EXIT_RAN;
}

/* false: the interface cannot be listened to at all, which was reported. */
static bool open_sniffer(struct bring_up *b)
{
	struct sniffer *s = &b->sniffer;

	s->interfaces = &b->options->interface;
	s->count = 1;
	s->all = true;
	if (!sniffer_open(s))
		fputs("rocescope: there is not enough memory\n", stderr);
	else if (s->socket[0] || s->down)
		return true;
	else
		fprintf(stderr, "rocescope: doctor: %s cannot be listened to: %s\n", b->options->interface, s->why);
	return false;
}

int bring_up(const struct bring_up_options *o)
{
	unsigned int ifindex = if_nametoindex(o->interface);
	struct bring_up *b = calloc(1, sizeof(*b));
	struct bring_up_asked asked = { .report = { .wrong = STEPS } };
	int status = EXIT_COULD_NOT, ready = -1;

	if (!b) {
		fputs("rocescope: there is not enough memory\n", stderr);
		return status;
	}
	b->options = o;
	b->asked = o->responder ? &asked : NULL;
	stop_on_signals();
	if (open_sniffer(b)) {
		end_open(&b->end, o, ifindex, &b->sniffer.receiver);
		b->begun = now_ns();
		b->start = clock_ns(CLOCK_REALTIME);
		ready = say_ready(o);
		if (ready >= 0 && !bring_up_begin(b)) {
			fputs("rocescope: there is not enough memory\n", stderr);
		} else if (ready >= 0 && o->responder) {
			status = ask(b) ? report(b) : EXIT_COULD_NOT;
		} else if (ready >= 0) {
			status = !watch(b) || ask_found(b, &asked) ? report(b) : EXIT_COULD_NOT;
		}
		if (o->ready && ready >= 0)
			close(ready);
		bring_up_free(b);
		end_close(&b->end);
	}
	sniffer_close(&b->sniffer);
	free(b);
	return status;
}
