// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Waiting, and the signals that end it. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/clock.h"
#include "userspace/observe/live/live.h"

#define INSIST_SECONDS 1
#define MEANWHILE_MS 1000

/* Signals are delivered only while waiting (live_wait_for()), or while standard output blocks. */
static volatile sig_atomic_t stop_requested;
static bool insists;

static void on_signal(int signal)
{
	(void)signal;
	stop_requested = 1;
	if (insists)
		alarm(INSIST_SECONDS);
}

/* Ignored under nohup. */
static void stop_with_terminal(struct live *l, const struct sigaction *stop)
{
	struct sigaction before;

	if (sigaction(SIGHUP, NULL, &before) || before.sa_handler == SIG_IGN)
		return;
	sigaddset(&l->signals, SIGHUP);
	live_block(l);
	sigaction(SIGHUP, stop, NULL);
}

void live_catch_signals(struct live *l)
{
	struct sigaction stop = { .sa_handler = on_signal }; /* without SA_RESTART */

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&l->signals);
	sigaddset(&l->signals, SIGINT);
	sigaddset(&l->signals, SIGTERM);
	live_block(l);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	stop_with_terminal(l, &stop);
}

void live_unblock(const struct live *l)
{
	sigprocmask(SIG_UNBLOCK, &l->signals, NULL);
}

void live_insist(struct live *l)
{
	insists = true;
	sigaddset(&l->signals, SIGALRM);
	live_block(l);
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_signal }, NULL);
}

/* Waits until the reader of standard output accepts something. false: EINTR. */
static bool await_reader(const struct live_meanwhile *meanwhile)
{
	for (;;) {
		struct pollfd fds[] = { { .fd = STDOUT_FILENO, .events = POLLOUT }, { .fd = meanwhile->fd, .events = POLLIN } };

		if (poll(fds, 2, MEANWHILE_MS) < 0)
			return false;
		if (fds[0].revents)
			return true;
		meanwhile->run(meanwhile->context);
	}
}

/*
 * Like the pcapng writer: a slow reader gets everything, but after a reader has timed out once, it is not waited for again. A
 * pipe that is ready accepts PIPE_BUF bytes without blocking.
 */
static ssize_t write_out(void *cookie, const char *bytes, size_t length)
{
	static bool given_up;
	bool interrupted = false;
	size_t done = 0;

	if (given_up)
		errno = EINTR;
	while (done < length && !given_up) {
		size_t part = length - done < PIPE_BUF ? length - done : PIPE_BUF;
		ssize_t n = await_reader(cookie) ? write(STDOUT_FILENO, bytes + done, part) : -1;

		if (n < 0 && errno != EINTR)
			break;
		given_up = n < 0 && interrupted;
		interrupted = n < 0;
		done += n > 0 ? n : 0;
	}
	return done;
}

FILE *live_output(struct live *l, const struct live_meanwhile *meanwhile)
{
	live_insist(l);
	return fopencookie((void *)meanwhile, "w", (cookie_io_functions_t){ .write = write_out });
}

void live_block(const struct live *l)
{
	sigprocmask(SIG_BLOCK, &l->signals, NULL);
}

/* Signals are unblocked only while waiting, so that none is lost between the check and the wait. */
enum live_woken live_wait_for(const struct live *l, __u64 deadline, struct pollfd *fds, size_t count)
{
	sigset_t open;

	sigprocmask(SIG_BLOCK, NULL, &open);
	for (int signal = 1; signal < SIGRTMAX; signal++)
		if (sigismember(&l->signals, signal) == 1)
			sigdelset(&open, signal);
	for (;;) {
		__u64 now = now_ns(), left = deadline > now ? deadline - now : 0;
		struct timespec timeout = { left / NSEC_PER_SEC, left % NSEC_PER_SEC };
		int ready = stop_requested ? 0 : ppoll(fds, count, &timeout, &open);

		if (stop_requested)
			return LIVE_STOP;
		if (ready > 0)
			return LIVE_READY;
		if (!ready)
			return LIVE_TIME;
		if (errno != EINTR || count) { /* the reader of a terminal must see that its size has changed */
			for (size_t i = 0; i < count; i++)
				fds[i].revents = 0;
			return LIVE_READY;
		}
	}
}

bool live_wait(const struct live *l, __u64 deadline)
{
	return live_wait_for(l, deadline, NULL, 0) != LIVE_STOP;
}
