// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cause.h"
#include "lib/clock.h"
#include "userspace/render/output/hook.h"

#define PATIENCE 1000000000 /* ns that hook_end() waits */
#define LOOK 10000000	    /* ns between two checks whether the command has ended */

struct hook {
	const char *command;
	bool quiet;
	char *lines; /* lines that wait for the command */
	size_t length, most;
	pid_t running; /* process of the command; 0: none is running */
	unsigned long runs, failed, left_out; /* left_out: lines */
	int status; /* wait status of the last command that failed */
	int error;  /* errno of the last command if it could not be run; 0: it could */
};

struct hook *hook_new(const char *command, size_t most, bool quiet)
{
	struct hook *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	*h = (struct hook){ .command = command, .quiet = quiet, .most = most, .lines = malloc(most) };
	if (h->lines)
		return h;
	free(h);
	return NULL;
}

/* ---- failures ---- */

static void say_failed(const struct hook *h)
{
	if (h->error)
		fprintf(stderr, "rocescope: --on-fault: the command cannot be run: %s\n", cause(h->error).text);
	else if (WIFSIGNALED(h->status))
		fprintf(stderr, "rocescope: --on-fault: the command was ended by signal %d\n", WTERMSIG(h->status));
	else
		fprintf(stderr, "rocescope: --on-fault: the command ended with exit status %d\n", WEXITSTATUS(h->status));
}

/* Reports the first failure. hook_end() reports the number of the others. */
static void count_failure(struct hook *h)
{
	if (!h->failed++ && !h->quiet)
		say_failed(h);
}

static void reap(struct hook *h)
{
	int status;

	if (!h->running || waitpid(h->running, &status, WNOHANG) != h->running)
		return;
	h->running = 0;
	if (status) {
		h->status = status;
		h->error = 0;
		count_failure(h);
	}
}

/* ---- the command ---- */

void hook_add(struct hook *h, const char *line)
{
	size_t length = strlen(line);

	if (h->length + length + 1 > h->most) {
		if (!h->left_out++ && !h->quiet)
			fprintf(stderr, "rocescope: --on-fault: the command is too slow: some faults are dropped\n");
		return;
	}
	memcpy(h->lines + h->length, line, length);
	h->lines[h->length + length] = '\n';
	h->length += length + 1;
}

/* A file in memory that holds the lines. Unlike a pipe it never blocks, even if the command does not read. -1: see errno. */
static int open_lines(const struct hook *h)
{
	int fd = memfd_create("faults", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, h->lines, h->length) == (ssize_t)h->length && !lseek(fd, 0, SEEK_SET))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Runs the command with default signals, in its own process group, so that Ctrl-C does not end it. 0 or an errno. */
static int spawn(struct hook *h, int lines)
{
	char *argv[] = { "sh", "-c", (char *)h->command, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int error;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, lines, STDIN_FILENO);
	if (h->quiet)
		posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
	error = posix_spawn(&h->running, "/bin/sh", &files, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return error;
}

void hook_run(struct hook *h)
{
	int lines;

	reap(h);
	if (h->running || !h->length)
		return;
	h->runs++;
	lines = open_lines(h);
	h->error = lines < 0 ? errno : spawn(h, lines);
	if (lines >= 0)
		close(lines);
	h->length = 0;
	if (!h->error)
		return;
	h->running = 0;
	count_failure(h);
}

/* ---- the end ---- */

static void wait_until(struct hook *h, uint64_t deadline)
{
	reap(h);
	while (h->running && now_ns() < deadline) {
		sleep_until_ns(now_ns() + LOOK);
		reap(h);
	}
}

static unsigned long lines_waiting(const struct hook *h)
{
	unsigned long count = 0;

	for (size_t i = 0; i < h->length; i++)
		count += h->lines[i] == '\n';
	return count;
}

void hook_end(struct hook *h)
{
	uint64_t deadline = now_ns() + PATIENCE;

	if (!h)
		return;
	wait_until(h, deadline);
	hook_run(h);
	wait_until(h, deadline);
	h->left_out += lines_waiting(h);
	if (h->failed && (h->quiet || h->failed > 1))
		fprintf(stderr, "rocescope: --on-fault: the command failed %lu of %lu times\n", h->failed, h->runs);
	if (h->failed && h->quiet)
		say_failed(h);
	if (h->left_out)
		fprintf(stderr, "rocescope: --on-fault: %lu faults were dropped, because the command is too slow\n",
			h->left_out);
	if (h->running)
		fprintf(stderr, "rocescope: --on-fault: the command is still running (process %d)\n", (int)h->running);
	free(h->lines);
	free(h);
}
