// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * --fix. A guard, a process of its own, knows what to put back before anything is changed. It hears of each change by a pipe,
 * whose end comes with the death of this process, also by SIGKILL.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cause.h"
#include "lib/clock.h"
#include "lib/complain.h"
#include "lib/interfaces.h"
#include "lib/stop.h"
#include "userspace/diagnose/path/path.h"

#define LINK_NS (10 * NSEC_PER_SEC) /* most time that a link needs to come up again */
#define PROBES 3 /* the first packets over it may be lost */

struct path_mend {
	struct path_change changes[PATH_CHECKS];
	/* what became of each: another one's later change is left as it is */
	struct mark {
		size_t change;
		bool begun;
		char value[CHANGE_VALUE]; /* as read after the change: drivers round. "": not read yet */
	} marks[PATH_CHECKS];
	size_t count;
	pid_t guard;
	int alive; /* our end of the pipe */
};

/* false: it cannot be put back, which is reported. */
static bool put_back_one(const struct path_change *c, const struct mark *m)
{
	char now[CHANGE_VALUE], command[200];
	struct path_change back = *c;
	int error;

	if (change_read(c, now)) {
		if (!strcmp(now, c->before))
			return true;
		if (m->value[0] && strcmp(now, m->value)) {
			complain("path: %s: changed by somebody meanwhile, left at %s (before --fix: %s)", c->what, now,
				 c->before);
			return true;
		}
		if (change_write(c, c->before))
			return true;
	}
	error = errno;
	if (change_is_gone(c))
		return true;
	memcpy(back.after, c->before, sizeof(back.after));
	change_command(&back, command, sizeof(command));
	return complain("path: %s: cannot be put back: %s. By hand: %s", c->what, cause(error).text, command);
}

/* Puts back what was changed, the last change first. false: not all of it. */
static bool put_back(const struct path_mend *m)
{
	bool all = true;

	for (size_t i = m->count; i--;)
		if (m->marks[i].begun && !put_back_one(&m->changes[i], &m->marks[i]))
			all = false;
	return all;
}

/* Signals that end the command do not end the guard. */
static void guard(struct path_mend *m, int alive)
{
	struct mark mark;
	ssize_t length;

	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	while ((length = read(alive, &mark, sizeof(mark))) > 0 || (length < 0 && errno == EINTR))
		if (length == sizeof(mark))
			m->marks[mark.change] = mark;
	_exit(put_back(m) ? 0 : 1);
}

static bool start_guard(struct path_mend *m)
{
	int ends[2];

	if (pipe(ends))
		return false;
	signal(SIGPIPE, SIG_IGN); /* whoever reads what is told may have gone: put back nevertheless */
	m->alive = ends[1];
	m->guard = fork();
	if (!m->guard) {
		close(ends[1]);
		guard(m, ends[0]);
	}
	close(ends[0]);
	if (m->guard < 0)
		close(ends[1]);
	return m->guard > 0;
}

/* Tells the guard. Less than PIPE_BUF is written at once. false with errno: there is none any more. */
static bool mark(struct path_mend *m, size_t change, bool begun, const char *value)
{
	struct mark *to = &m->marks[change];

	*to = (struct mark){ .change = change, .begun = begun };
	snprintf(to->value, sizeof(to->value), "%s", value);
	return write(m->alive, to, sizeof(*to)) == sizeof(*to);
}

static bool has_carrier(const char *interface)
{
	struct ifreq flags = { 0 };

	return interface_ask(interface, SIOCGIFFLAGS, &flags) && flags.ifr_flags & IFF_RUNNING;
}

/* Some drivers take the link down to change a setting. */
static void await_link(const struct path_facts *f)
{
	uint64_t begin = now_ns();
	bool said = false;

	while (f->carrier && !has_carrier(f->name) && !stop && now_ns() - begin < LINK_NS) {
		if (!said && now_ns() - begin > NSEC_PER_SEC)
			said = fprintf(stderr, "rocescope: path: %s: waits for its link\n", f->name);
		sleep_until_ns(now_ns() + 20 * NSEC_PER_MSEC);
	}
}

/* A larger MTU is kept only if packets of its size pass. */
static bool passes(const struct path_change *c, const struct path_facts *f, const struct path_peer *peer)
{
	struct path_probe probe = { 0 };

	if (c->kind != CHANGE_MTU || atoi(c->after) <= atoi(c->before))
		return true;
	await_link(f);
	for (int i = 0; i < PROBES && !probe.known && !stop; i++)
		path_probe(&probe, f->name, peer, atoi(c->after));
	return probe.known && !probe.fails;
}

/* Why the change does not stay; NULL: it does. */
static const char *refused(struct path_mend *m, size_t i, const struct path_facts *f, const struct path_peer *peer)
{
	struct path_change *c = &m->changes[i];
	char now[CHANGE_VALUE] = "";

	if (!change_write(c, c->after))
		return strerror(errno);
	if (!change_read(c, now))
		now[0] = 0;
	mark(m, i, true, now);
	if (!strcmp(now, c->before))
		return "the driver leaves it as it is";
	if (!passes(c, f, peer))
		return stop ? "interrupted" : "packets of this size do not pass to the peer";
	if (now[0])
		memcpy(c->after, now, sizeof(now));
	return NULL;
}

static void make(struct path_mend *m, size_t i, const struct path_facts *f, const struct path_peer *peer)
{
	struct path_change *c = &m->changes[i];
	const char *why;

	if (!stop && !mark(m, i, true, "")) {
		m->marks[i].begun = false;
		snprintf(c->error, sizeof(c->error), "who would put it back has gone");
		return;
	}
	why = stop ? "interrupted" : refused(m, i, f, peer);
	if (why)
		snprintf(c->error, sizeof(c->error), "%s", why);
	c->made = !why;
	if (why && m->marks[i].begun && put_back_one(c, &m->marks[i]))
		mark(m, i, false, "");
}

bool path_mend_end(struct path_mend *m)
{
	int status = 0;
	pid_t ended;
	bool all;

	close(m->alive);
	while ((ended = waitpid(m->guard, &status, 0)) < 0 && errno == EINTR)
		;
	/* somebody has killed the guard; or SIGCHLD is ignored, and nobody tells what became of it */
	all = ended > 0 && WIFEXITED(status) ? !WEXITSTATUS(status) : put_back(m);
	free(m);
	return all;
}

bool path_mend(struct path_mend **to, struct path_report *r, const struct path_facts *f, const struct path_peer *peer)
{
	struct path_mend *m = calloc(1, sizeof(*m));
	struct path_change *from[PATH_CHECKS];
	bool any = false;

	*to = NULL;
	for (size_t i = 0; m && i < r->count; i++) {
		struct path_change *c = &r->results[i].change;

		if (c->kind == CHANGE_NOTHING)
			continue;
		if (!change_read(c, c->before)) {
			c->before[0] = 0;
			snprintf(c->error, sizeof(c->error), "%s", cause(errno).text);
			continue;
		}
		from[m->count] = c;
		m->changes[m->count++] = *c;
	}
	if (m && !m->count) {
		free(m);
		return true;
	}
	if (!m || !start_guard(m)) {
		complain("path: --fix cannot put back later, so it changes nothing: %s", cause(errno).text);
		free(m);
		return false;
	}
	for (size_t i = 0; i < m->count; i++) {
		make(m, i, f, peer);
		*from[i] = m->changes[i];
		any |= from[i]->made;
	}
	await_link(f);
	if (!any)
		return path_mend_end(m);
	*to = m;
	return true;
}
