// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Stands at the interface: reads frames, shows how far the sender is, and reports at the end. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cause.h"
#include "lib/clock.h"
#include "lib/exit.h"
#include "lib/stop.h"
#include "userspace/bring_up/bring_up.h"

#define TURN_MS 50
#define LAST_TURNS 6 /* an RDMA device has worked on its packets then */
#define CLEAR "\033[H\033[2J"

/* Frames, and after them what the machine says, so that it is not older. */
static void take_turn(struct bring_up *b)
{
	end_look(&b->end);
	for (size_t i = 0; i < b->listen.count; i++)
		bring_up_take(b, b->listen.order[i]);
	bring_up_settle(b);
}

static void show(struct bring_up *b)
{
	struct bring_up_report r;

	bring_up_conclude(b, &r);
	fputs(CLEAR, stdout);
	bring_up_lines(stdout, b, &r);
	fflush(stdout);
}

static void watch(struct bring_up *b)
{
	__u64 end = b->options->duration ? b->begun + seconds_to_ns(b->options->duration) : UINT64_MAX, next = b->begun;
	bool live = !b->options->json && isatty(STDOUT_FILENO);

	while (!stop && now_ns() < end) {
		if (now_ns() >= next) {
			next += NSEC_PER_SEC;
			listen_look(&b->listen);
			if (live)
				show(b);
		}
		listen_read(&b->listen, TURN_MS);
		take_turn(b);
	}
	/* what came before the signal, and what the QPs say of it */
	for (int i = 0; i < (b->end.device_count ? LAST_TURNS : 2); i++) {
		listen_read(&b->listen, TURN_MS);
		take_turn(b);
	}
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

static bool write_picture(struct bring_up *b, const struct bring_up_report *r)
{
	const char *path = b->options->svg;
	FILE *out = fopen(path, "we");
	bool good = out && !bring_up_svg(out, b, r);

	if (out && fclose(out))
		good = false;
	if (!good)
		fprintf(stderr, "rocescope: --svg %s: %s\n", path, cause(errno).text);
	return good;
}

static int report(struct bring_up *b)
{
	const struct bring_up_options *o = b->options;
	struct bring_up_report r;
	bool good = true;

	bring_up_conclude(b, &r);
	if (!o->json && isatty(STDOUT_FILENO))
		fputs(CLEAR, stdout);
	if ((o->json ? bring_up_json : bring_up_lines)(stdout, b, &r) || fflush(stdout)) {
		fprintf(stderr, "rocescope: the report cannot be written: %s\n", cause(errno).text);
		good = false;
	}
	if (o->svg)
		good &= write_picture(b, &r);
	if (!good)
		return EXIT_COULD_NOT;
	return o->exit_code && r.wrong < STEPS ? EXIT_FAULTS : EXIT_RAN;
}

int bring_up(const struct bring_up_options *o)
{
	unsigned int ifindex = if_nametoindex(o->interface);
	struct bring_up *b = calloc(1, sizeof(*b));
	int status = EXIT_COULD_NOT, ready = -1;

	if (!b) {
		fputs("rocescope: there is not enough memory\n", stderr);
		return status;
	}
	b->options = o;
	stop_on_signals();
	if (listen_begin(&b->listen, o->interface, ifindex)) {
		end_open(&b->end, o, ifindex, &b->listen.receiver);
		b->begun = now_ns();
		b->start = clock_ns(CLOCK_REALTIME);
		ready = say_ready(o);
		if (ready >= 0) {
			watch(b);
			status = report(b);
		}
		if (o->ready && ready >= 0)
			close(ready);
		end_close(&b->end);
	}
	listen_end(&b->listen);
	free(b);
	return status;
}
