// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cause.h"
#include "lib/clock.h"
#include "lib/complain.h"
#include "lib/shell.h"
#include "roce/packet/base.h"
#include "userspace/diagnose/between/source.h"
#include "userspace/observe/live/attach.h"

#define NOT_FOUND 127 /* exit status of shells */
#define PIECE 65536 /* bytes that are read at once, at least */

/* ---- opening ---- */

/* As lab/machine.py reaches hosts: it asks for no password, and a host that is gone ends it. */
static const char *const ssh[] = { "ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5",
				   "-o", "ServerAliveCountMax=6", "--" };

/* The command of a monitor, for the shell of the other host. NULL: there is no memory. */
static char *command_line(char *const *words)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return NULL;
	fputs("exec", out);
	for (; *words; words++) {
		fputc(' ', out);
		shell_write(out, *words);
	}
	return fclose(out) ? NULL : line;
}

/* s->name is ssh:HOST:INTERFACE. */
static void run_far(const struct between_source *s, char **words)
{
	const char *argv[ROCE_ARRAY_SIZE(ssh) + 3] = { NULL };
	char *host = strdup(s->name + strlen(SOURCE_FAR));

	if (!host)
		return;
	words[2] = strrchr(host, ':');
	*words[2]++ = 0;
	memcpy(argv, ssh, sizeof(ssh));
	argv[ROCE_ARRAY_SIZE(ssh)] = host;
	argv[ROCE_ARRAY_SIZE(ssh) + 1] = command_line(words);
	if (argv[ROCE_ARRAY_SIZE(ssh) + 1] && dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO) >= 0)
		execvp(argv[0], (char *const *)argv);
}

static void run_monitor(const struct between_source *s, const struct source_how *how, int out)
{
	/* streams that have not moved say nothing new */
	char *argv[SOURCE_WORDS + 7] = { (char *)how->remote, "monitor", (char *)s->name, "-j", "--streams=changed", "--direction=both" };
	bool good;

	for (int i = 0; how->words[i]; i++)
		argv[i + 6] = how->words[i];
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setpgid(0, 0); /* Ctrl-C is passed on by source_stop(), when the traffic's end is known */
	good = dup2(out, STDOUT_FILENO) >= 0;
	if (good && s->far)
		run_far(s, argv);
	else if (good)
		execv("/proc/self/exe", argv);
	complain("between: %s: the monitor cannot be started: %s", s->name, cause(errno).text);
	_exit(1);
}

static bool start_monitor(struct between_source *s, const struct source_how *how)
{
	int ends[2];

	if (!s->far && !cause_files("between", CAUSE_FILES + ATTACH_FILES)) /* the monitor needs them */
		return false;
	if (pipe2(ends, O_CLOEXEC))
		return complain("between: %s: %s", s->name, cause(errno).text);
	s->child = fork();
	if (!s->child)
		run_monitor(s, how, ends[1]);
	close(ends[1]);
	s->fd = ends[0];
	if (s->child > 0)
		return !fcntl(s->fd, F_SETFL, O_NONBLOCK);
	s->child = 0;
	return complain("between: %s: %s", s->name, cause(errno).text);
}

bool source_is_far(const char *name)
{
	return !strncmp(name, SOURCE_FAR, strlen(SOURCE_FAR));
}

bool source_open(struct between_source *s, const char *name, const struct source_how *how)
{
	struct stat about;

	*s = (struct between_source){ .name = name, .fd = -1, .far = source_is_far(name) };
	if (s->far || if_nametoindex(name))
		return start_monitor(s, how);
	s->fd = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
	if (s->fd < 0)
		return complain("between: %s: %s", s->name,
				errno == ENOENT ? "there is no such interface, and no such file" : cause(errno).text);
	if (fstat(s->fd, &about) || S_ISDIR(about.st_mode))
		return complain("between: %s: not a file of snapshots", s->name);
	s->is_file = S_ISREG(about.st_mode);
	return !fcntl(s->fd, F_SETFL, O_NONBLOCK);
}

/* ---- reading ---- */

static bool make_room(struct between_source *s)
{
	size_t room = s->room ? s->room * 2 : PIECE * 4;
	char *moved;

	if (s->room - s->length >= PIECE)
		return true;
	if (room > SOURCE_LINE_MOST)
		return complain("between: %s: a line is too long for a snapshot", s->name);
	moved = realloc(s->bytes, room);
	if (!moved)
		return complain("between: %s: there is not enough memory", s->name);
	s->bytes = moved;
	s->room = room;
	return true;
}

/* Takes the first line of `bytes`, if it is whole. */
static bool take_line(struct between_source *s)
{
	char *end = s->length > s->searched ? memchr(s->bytes + s->searched, '\n', s->length - s->searched) : NULL;
	size_t length = end ? end - s->bytes + 1 : 0;

	s->searched = s->length;
	if (!end)
		return true;
	s->line++;
	s->next = json_loadb(s->bytes, length, 0, NULL);
	memmove(s->bytes, s->bytes + length, s->length - length);
	s->length -= length;
	s->searched = 0;
	s->arrived = clock_ns(CLOCK_REALTIME);
	if (s->next)
		return true;
	return complain("between: %s: line %lu is no JSON object: `rocescope monitor -j` prints them", s->name, s->line);
}

bool source_read(struct between_source *s)
{
	ssize_t got;

	for (;;) {
		if (s->next || !take_line(s) || s->next)
			return s->next;
		if (s->fd < 0)
			return true;
		if (!make_room(s))
			return false;
		got = read(s->fd, s->bytes + s->length, s->room - s->length);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (got < 0)
			return complain("between: %s: %s", s->name, cause(errno).text);
		s->length += got;
		if (!got) {
			close(s->fd);
			s->fd = -1;
		}
	}
}

/* ---- ending ---- */

void source_stop(struct between_source *s)
{
	s->stopped = s->fd >= 0;
	if (s->child && s->stopped)
		kill(s->child, s->far ? SIGTERM : SIGINT);
	if (s->child || s->is_file || s->fd < 0)
		return;
	close(s->fd);
	s->fd = -1;
}

bool source_close(struct between_source *s)
{
	bool here = s->stopped || s->fd >= 0; /* it is ended by us: then the status of an ssh says nothing */
	int status = 0;

	if (s->fd >= 0)
		close(s->fd);
	if (s->child) {
		if (here)
			kill(s->child, SIGTERM);
		while (waitpid(s->child, &status, 0) < 0 && errno == EINTR)
			;
	}
	json_decref(s->next);
	free(s->bytes);
	s->child = 0;
	if ((here && s->far) || !WIFEXITED(status) || !WEXITSTATUS(status))
		return true;
	return complain("between: %s: %s", s->name, s->far && WEXITSTATUS(status) == NOT_FOUND ?
			"there is no rocescope in the PATH there: --remote PROGRAM says where it is" : "its monitor has failed");
}
