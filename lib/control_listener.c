// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "lib/address.h"
#include "lib/clock.h"
#include "lib/control_listener.h"
#include "lib/stop.h"

#define REFUSAL_SECONDS	0.1	/* the longest time in which a peer that is not served takes the line that says why */
#define POLL_MS		100	/* how often control_meet_within() looks for late lines */
#define FOR_EVER	1e6	/* s, and more */

/* ---- standard error ---- */

static void say_unsaid(struct control_listener *l)
{
	if (l->unsaid)
		fprintf(stderr, "%s: refused %u more connections\n", l->who, l->unsaid);
	l->unsaid = 0;
}

static void begin_log(struct control_listener *l)
{
	if (l->log_ns && now_ns() - l->log_ns < CONTROL_LOG_SECONDS * NSEC_PER_SEC)
		return;
	say_unsaid(l);
	l->log_ns = now_ns();
	l->log_lines = 0;
}

static void log_refusal(struct control_listener *l, const uint8_t peer[16], const char *why)
{
	begin_log(l);
	if (l->log_lines++ < CONTROL_LOG_LINES)
		fprintf(stderr, "%s: refused %s: %s\n", l->who, address_text(peer).text, why);
	else
		l->unsaid++;
}

/* ---- who is not served ---- */

void control_turn_away(struct control_listener *l, struct control *c, const char *format, ...)
{
	char why[2 * CONTROL_WHY];
	va_list values;

	va_start(values, format);
	vsnprintf(why, sizeof(why), format, values);
	va_end(values);
	c->seconds = REFUSAL_SECONDS;
	log_refusal(l, c->peer, why);
	control_refuse(c, why);
	control_close(c);
}

void control_turn_away_stranger(struct control_listener *l, struct control *c, const char *why)
{
	control_turn_away(l, c, "%s; a sender of this version says first what it will send (docs/json.md, Control connection)",
			  why);
}

/* Takes it from those that are waited for. */
static struct control *pick(struct control_listener *l, unsigned int i)
{
	struct control *c = l->pending[i];

	l->count--;
	memmove(&l->pending[i], &l->pending[i + 1], (l->count - i) * sizeof(*l->pending));
	epoll_ctl(l->poll, EPOLL_CTL_DEL, c->fd, NULL);
	return c;
}

/* Of those that have said nothing yet, the one that has been waited for longest; else of all. */
static unsigned int choose_victim(const struct control_listener *l)
{
	for (unsigned int i = 0; i < l->count; i++)
		if (!l->pending[i]->length)
			return i;
	return 0;
}

/* ---- who connects ---- */

static void add(struct control_listener *l, struct control *c)
{
	struct epoll_event event = { .events = EPOLLIN };

	c->seconds = l->seconds;
	c->line_max = l->line_max;
	if (l->only && memcmp(c->peer, l->only, sizeof(c->peer))) {
		control_turn_away(l, c, "the receiver has another peer, %s", address_text(l->only).text);
		return;
	}
	if (l->count == CONTROL_PENDING)
		control_turn_away_stranger(l, pick(l, choose_victim(l)), "it said nothing, and others have connected");
	l->pending[l->count++] = c;
	epoll_ctl(l->poll, EPOLL_CTL_ADD, c->fd, &event);
}

static void accept_all(struct control_listener *l)
{
	struct control *c;
	char why[CONTROL_WHY];

	for (int i = 0; i < CONTROL_PENDING && (c = control_accept(l->listening, 0, why)); i++)
		add(l, c);
}

struct control *control_meet(struct control_listener *l, json_t **message)
{
	begin_log(l);
	if (l->listening >= 0)
		accept_all(l);
	for (unsigned int i = 0; i < l->count;) {
		struct control *c = l->pending[i];
		int took = control_take(c, message);

		if (took > 0)
			return pick(l, i);
		if (took < 0)
			control_turn_away_stranger(l, pick(l, i), c->why);
		else
			i++;
	}
	return NULL;
}

struct control *control_meet_within(struct control_listener *l, double seconds, json_t **message)
{
	uint64_t until = seconds < FOR_EVER ? now_ns() + seconds_to_ns(seconds) : UINT64_MAX;
	struct pollfd p = { .fd = l->poll, .events = POLLIN };
	struct control *c;

	while (!(c = control_meet(l, message)) && !stop && now_ns() < until) {
		uint64_t left_ms = (until - now_ns()) / NSEC_PER_MSEC + 1;

		poll(&p, 1, left_ms < POLL_MS ? left_ms : POLL_MS);
	}
	return c;
}

/* ---- the beginning and the end ---- */

bool control_listener_open(struct control_listener *l, const char *who, const struct control_place *place, char *why)
{
	struct epoll_event event = { .events = EPOLLIN };

	*l = (struct control_listener){ .seconds = CONTROL_SECONDS, .line_max = CONTROL_LINE_MAX, .who = who, .poll = -1 };
	l->listening = control_listen(place, why);
	if (l->listening < 0)
		return false;
	l->poll = epoll_create1(EPOLL_CLOEXEC);
	if (l->poll >= 0 && !epoll_ctl(l->poll, EPOLL_CTL_ADD, l->listening, &event))
		return true;
	snprintf(why, CONTROL_WHY, "cannot listen: %s", strerror(errno));
	control_listener_close(l);
	return false;
}

void control_listener_close(struct control_listener *l)
{
	while (l->count)
		control_close(pick(l, 0));
	say_unsaid(l);
	if (l->poll >= 0)
		close(l->poll);
	if (l->listening >= 0)
		close(l->listening);
	l->poll = l->listening = -1;
}
