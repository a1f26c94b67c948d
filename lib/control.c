// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/address.h"
#include "lib/clock.h"
#include "lib/control.h"
#include "lib/number.h"
#include "lib/stop.h"

#define BACKLOG		16		/* peers that have connected and wait for control_accept() */
#define PIECE		(64u << 10)	/* bytes read at once */
#define FOR_EVER	1e6		/* s, and more */

/* A control character could command the terminal. A character that does not fit is left out whole, so that it stays UTF-8. */
static void tell(char *why, const char *text)
{
	size_t length = strnlen(text, CONTROL_WHY - 1);

	while (length && text[length] && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	for (size_t i = 0; i < length; i++) {
		unsigned char c = text[i], next = text[i + 1];
		bool control = c < 0x20 || c == 0x7f || (c == 0xc2 && next < 0xa0);	/* C0, DEL, C1 (ISO 6429) */

		*why++ = control ? '?' : c;
		if (control && c == 0xc2)
			i++;
	}
	*why = 0;
}

bool control_fail(char *why, const char *format, ...)
{
	char text[2 * CONTROL_WHY];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	tell(why, text);
	return false;
}

/* ---- places ---- */

/* Splits "[HOST][:PORT]" in place. *port stays where there is none. */
static bool split(char *text, char **host, uint16_t *port)
{
	char *colon = strrchr(text, ':'), *bracket = strchr(text, ']');
	uint64_t number;

	*host = text;
	if (*text == '[') {
		if (!bracket || (bracket[1] && bracket + 1 != colon))
			return false;
		colon = bracket[1] ? colon : NULL;
		*bracket = 0;
		++*host;
	} else if (colon && strchr(text, ':') != colon) {
		colon = NULL;		/* IPv6 without a port */
	}
	if (!colon)
		return true;
	*colon = 0;
	if (!parse_number(colon + 1, UINT16_MAX, &number))
		return false;
	*port = number;
	return true;
}

bool control_find(struct control_place *place, const char *where, uint16_t port, bool listen, char *why)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | (listen ? AI_PASSIVE : 0) }, *found;
	char text[NI_MAXHOST + 16], service[8], *host;
	int error;

	if (snprintf(text, sizeof(text), "%s", where ? where : "") >= (int)sizeof(text) || !split(text, &host, &port))
		return control_fail(why, "not [HOST][:PORT]");
	snprintf(service, sizeof(service), "%u", port);
	error = getaddrinfo(*host ? host : NULL, service, &hints, &found);
	if (error)
		return control_fail(why, "%s", error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
	memcpy(&place->address, found->ai_addr, found->ai_addrlen);
	place->length = found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

int control_listen(const struct control_place *place, char *why)
{
	int fd = socket(place->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;

	if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) &&
	    !bind(fd, (const struct sockaddr *)&place->address, place->length) && !listen(fd, BACKLOG))
		return fd;
	control_fail(why, "cannot listen: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* ---- connections ---- */

static uint64_t limit_ns(const struct control *c)
{
	return seconds_to_ns(c->seconds);
}

/* Detects a peer that vanished without closing the connection; by the last option also while it owes us an acknowledgement. */
static void keep_alive(int fd)
{
	int on = 1, idle = 5, interval = 2, probes = 5, most_ms = 15000;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &most_ms, sizeof(most_ms));
}

/* Takes the descriptor. */
static struct control *make(int fd, const struct sockaddr_storage *peer, char *why)
{
	struct control *c = calloc(1, sizeof(*c));

	if (!c) {
		close(fd);
		control_fail(why, "no memory");
		return NULL;
	}
	c->fd = fd;
	c->seconds = CONTROL_SECONDS;
	c->line_max = CONTROL_LINE_MAX;
	address_from_socket(c->peer, (const struct sockaddr *)peer);
	keep_alive(fd);
	return c;
}

/* poll() until that time, ns; 0: for ever. */
static int await(int fd, short events, uint64_t until)
{
	struct pollfd p = { .fd = fd, .events = events };
	uint64_t now = now_ns();
	int left_ms = -1;

	if (until)
		left_ms = until < now ? 0 : (until - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	return poll(&p, 1, left_ms);
}

static int accept_now(int listener, struct sockaddr_storage *peer)
{
	socklen_t length = sizeof(*peer);

	return accept4(listener, (struct sockaddr *)peer, &length, SOCK_CLOEXEC);
}

struct control *control_accept(int listener, double seconds, char *why)
{
	uint64_t until = seconds < FOR_EVER ? now_ns() + seconds_to_ns(seconds) : 0;
	struct sockaddr_storage peer;
	struct control *c;
	int fd;

	*why = 0;
	while ((fd = accept_now(listener, &peer)) < 0) {
		int ready = errno == EAGAIN ? await(listener, POLLIN, until) : -1;

		if (!ready || (errno == EINTR && stop))
			return NULL;
		if (ready < 0 && errno != EINTR && errno != ECONNABORTED) {
			control_fail(why, "cannot accept: %s", strerror(errno));
			return NULL;
		}
	}
	c = make(fd, &peer, why);
	if (c)
		c->begin_ns = now_ns();
	return c;
}

struct control *control_connect(const struct control_place *place, char *why)
{
	int fd = socket(place->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && !connect(fd, (const struct sockaddr *)&place->address, place->length))
		return make(fd, &place->address, why);
	control_fail(why, "%s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return NULL;
}

void control_close(struct control *c)
{
	if (!c)
		return;
	close(c->fd);
	free(c->line);
	free(c);
}

/* ---- messages ---- */

static bool send_all(struct control *c, const char *text, size_t length)
{
	uint64_t until = now_ns() + limit_ns(c);

	while (length) {
		ssize_t n = send(c->fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return control_fail(c->why, "%s", strerror(errno));
		if (n < 0 && errno == EAGAIN && !await(c->fd, POLLOUT, until))
			return control_fail(c->why, "not all was taken within %g s", c->seconds);
		if (n > 0) {
			text += n;
			length -= n;
		}
	}
	return true;
}

bool control_send(struct control *c, json_t *message)
{
	char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	size_t length = text ? strlen(text) : 0;
	bool sent;

	json_decref(message);
	if (!text)
		return control_fail(c->why, "no memory");
	text[length] = '\n';
	sent = send_all(c, text, length + 1);
	free(text);
	return sent;
}

bool control_refuse(struct control *c, const char *why)
{
	return control_send(c, json_pack("{s:s}", "error", why));
}

bool control_refused(const json_t *message, char *why)
{
	const char *words = json_string_value(json_object_get(message, "error"));

	if (words)
		tell(why, words);
	return words;
}

static bool make_room(struct control *c)
{
	size_t room = c->room ? 2 * c->room : PIECE;
	char *line;

	if (c->room - c->length >= PIECE)
		return true;
	line = realloc(c->line, room);
	if (!line)
		return control_fail(c->why, "no memory");
	c->line = line;
	c->room = room;
	return true;
}

/*
 * Reads up to the end of the line and no further, so that poll() sees the next one. 1: the line is there. 0: nothing more has
 * come. -1: the connection is broken.
 */
static int read_line(struct control *c)
{
	while (make_room(c)) {
		char *at = c->line + c->length, *end;
		ssize_t n = recv(c->fd, at, PIECE, MSG_PEEK | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		end = n > 0 ? memchr(at, '\n', n) : NULL;
		if (n > 0)
			n = recv(c->fd, at, end ? end - at + 1 : n, MSG_DONTWAIT);
		if (n <= 0) {
			control_fail(c->why, "%s", n ? strerror(errno) : c->length ? "closed in the middle of a line" : "closed");
			return -1;
		}
		c->length += n;
		if (end)
			return 1;
		if (c->length > c->line_max) {
			control_fail(c->why, "a line of more than %zu bytes", c->line_max);
			return -1;
		}
	}
	return -1;
}

/* Counts before they are parsed: a value of a byte would take a hundred bytes of memory. */
static bool is_modest(const char *line, size_t length)
{
	size_t values = 1;

	for (size_t i = 0; i < length; i++)
		values += line[i] == '{' || line[i] == '[' || line[i] == ',';
	return values <= CONTROL_VALUES_MAX;
}

json_t *control_parse(const char *line, size_t length, char *why)
{
	json_error_t error;
	json_t *message;

	if (!is_modest(line, length)) {
		control_fail(why, "a line of more than %d values", CONTROL_VALUES_MAX);
		return NULL;
	}
	message = json_loadb(line, length, 0, &error);
	if (!message)
		control_fail(why, "no JSON: %s", error.text);
	if (!message || json_is_object(message))
		return message;
	control_fail(why, "no JSON object");
	json_decref(message);
	return NULL;
}

/* Memory of a long line is not kept. */
static void drop_line(struct control *c)
{
	free(c->line);
	c->line = NULL;
	c->begin_ns = c->length = c->room = 0;
}

int control_take(struct control *c, json_t **message)
{
	int got = read_line(c);

	*message = NULL;
	if (got > 0) {
		*message = control_parse(c->line, c->length, c->why);
		drop_line(c);
		return *message ? 1 : -1;
	}
	if (got < 0)
		return -1;
	if (!c->begin_ns && c->length)
		c->begin_ns = now_ns();
	if (!c->begin_ns || now_ns() - c->begin_ns <= limit_ns(c))
		return 0;
	control_fail(c->why, "no whole line within %g s", c->seconds);
	return -1;
}

json_t *control_receive(struct control *c)
{
	json_t *message;

	if (!c->length)
		c->begin_ns = now_ns();
	while (!control_take(c, &message)) {
		if (await(c->fd, POLLIN, c->begin_ns + limit_ns(c)) < 0 && (errno != EINTR || stop)) {
			control_fail(c->why, "%s", errno == EINTR ? "stopped" : strerror(errno));
			return NULL;
		}
	}
	return message;
}

bool control_readable(const struct control *c, int timeout_ms)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	return poll(&p, 1, timeout_ms) > 0;
}
