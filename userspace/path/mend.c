// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * --fix. A guard, a process of its own, knows what to put back before anything is changed. It waits for the end of a pipe,
 * which comes with the death of this process, also by SIGKILL.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/interfaces.h"
#include "lib/stop.h"
#include "userspace/path/path.h"

#define LINK_NS (10 * NSEC_PER_SEC) /* most time that a link needs to come up again */
#define PROBES 3 /* the first packets over it may be lost */

struct path_mend {
	struct path_change changes[PATH_CHECKS];
	size_t count;
	pid_t guard;
	int alive; /* our end of the pipe */
};

/* Puts back what differs, the last change first. Returns false if something cannot be put back, which is reported. */
static bool put_back(const struct path_mend *m)
{
	bool all = true;

	for (size_t i = m->count; i--;) {
		const struct path_change *c = &m->changes[i];
		char now[CHANGE_VALUE], command[200];
		struct path_change back = *c;

		if (change_read(c, now) && (!strcmp(now, c->before) || change_write(c, c->before)))
			continue;
		if (errno == ENODEV)
			continue; /* the interface is gone, and its settings with it */
		memcpy(back.after, c->before, sizeof(back.after));
		change_command(&back, command, sizeof(command));
		fprintf(stderr, "rocescope: path: %s: cannot be put back: %s. By hand: %s\n", c->what, strerror(errno),
			command);
		all = false;
	}
	return all;
}

/* Signals that end the command do not end the guard. */
static void guard(const struct path_mend *m, int alive)
{
	char nothing;

	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	while (read(alive, &nothing, 1) < 0 && errno == EINTR)
		;
	_exit(put_back(m) ? 0 : 1);
}

static bool start_guard(struct path_mend *m)
{
	int ends[2];

	if (pipe(ends))
		return false;
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
	for (int i = 0; i < PROBES && !probe.answered && !stop; i++)
		path_probe(&probe, f->name, peer, atoi(c->after));
	return probe.answered && !probe.fails;
}

static void make(struct path_change *c, const struct path_facts *f, const struct path_peer *peer)
{
	if (!change_write(c, c->after)) {
		snprintf(c->error, sizeof(c->error), "%s", strerror(errno));
	} else if (!passes(c, f, peer)) {
		change_write(c, c->before);
		snprintf(c->error, sizeof(c->error), "packets of %s bytes do not pass to the peer", c->after);
	} else {
		c->made = true;
	}
}

bool path_mend_end(struct path_mend *m)
{
	int status = 0;
	bool all;

	close(m->alive);
	while (waitpid(m->guard, &status, 0) < 0 && errno == EINTR)
		;
	/* somebody has killed the guard */
	all = WIFEXITED(status) ? !WEXITSTATUS(status) : put_back(m);
	free(m);
	return all;
}

struct path_mend *path_mend(struct path_report *r, const struct path_facts *f, const struct path_peer *peer)
{
	struct path_mend *m = calloc(1, sizeof(*m));
	bool any = false;

	for (size_t i = 0; m && i < r->count; i++) {
		struct path_change *c = &r->results[i].change;

		if (c->kind != CHANGE_NOTHING && change_read(c, c->before))
			m->changes[m->count++] = *c;
		else
			c->kind = CHANGE_NOTHING;
	}
	if (!m || !m->count || !start_guard(m)) {
		if (!m || m->count)
			fprintf(stderr, "rocescope: path: --fix changes nothing: %s\n", strerror(errno));
		free(m);
		return NULL;
	}
	for (size_t i = 0; i < r->count; i++)
		if (r->results[i].change.kind != CHANGE_NOTHING) {
			make(&r->results[i].change, f, peer);
			any |= r->results[i].change.made;
		}
	await_link(f);
	if (any)
		return m;
	path_mend_end(m);
	return NULL;
}
