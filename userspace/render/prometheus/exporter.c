// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/address.h"
#include "lib/cause.h"
#include "lib/clock.h"
#include "lib/number.h"
#include "roce/packet/base.h"
#include "userspace/render/prometheus/exporter.h"

#define CLIENTS 32		       /* most connections at a time; a further one ends an older one */
#define CLIENTS_OF_ADDRESS 8	       /* most of one address, so that it does not take those of the others */
#define ENDING 32		       /* most that were ended, and that libmicrohttpd has not closed yet */
#define CLIENT_MEMORY 16384	       /* bytes for a request's line and headers */
#define IDLE_SECONDS 10		       /* most silence of a connection */
#define LIFE (20 * NSEC_PER_SEC)       /* longest life of a connection, however slowly it sends */
#define FRESH NSEC_PER_SEC	       /* how long the text is served again */
#define TURN (20 * NSEC_PER_MSEC)      /* longest turn: the caller has other work */
#define CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define URL 96

struct client {
	int fd; /* -1: none */
	uint64_t since;
	__u8 address[16];
	bool asked; /* its request has come */
	bool ended; /* it was shut down, and is not closed yet */
};

struct exporter {
	exporter_fill *fill;
	void *context;
	struct MHD_Daemon *daemon;
	int wait; /* epoll: the daemon's epoll, and `more` */
	int more; /* eventfd: work was left when the turn ended */
	struct MHD_Response *metrics; /* of the time `made`; NULL: none */
	uint64_t made;
	struct client clients[CLIENTS + ENDING];
	char url[URL];
};

/* ---- the address ---- */

/* Splits "HOST:PORT". HOST loses its brackets and may be empty. false: malformed. */
static bool split(const char *text, char host[URL], const char **port)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? colon - text : 0;
	bool brackets = length >= 2 && text[0] == '[' && colon[-1] == ']';
	uint64_t number;

	*port = colon ? colon + 1 : text;
	if (length >= URL || !parse_number(*port, UINT16_MAX, &number))
		return false;
	snprintf(host, URL, "%.*s", (int)length - 2 * brackets, text + brackets);
	if (!colon || !strcmp(host, "localhost"))
		strcpy(host, "127.0.0.1");
	return brackets == !!strchr(host, ':');
}

/* NULL: no address. */
static struct addrinfo *parse_address(const char *text)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	const char *port;
	char host[URL];

	if (!split(text, host, &port) || getaddrinfo(*host ? host : "::", port, &hints, &found))
		return NULL;
	return found;
}

bool exporter_is_address(const char *text)
{
	struct addrinfo *a = parse_address(text);

	if (a)
		freeaddrinfo(a);
	return a;
}

static int listen_on(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1, off = 0, error;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (a->ai_family == AF_INET6) /* :: takes IPv4 too */
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (!bind(fd, a->ai_addr, a->ai_addrlen) && !listen(fd, SOMAXCONN))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* Returns -1 after an error message. Without IPv6 there is no ::, so listen on 0.0.0.0. */
static int open_listener(const char *text)
{
	struct addrinfo *a = parse_address(text);
	int fd = a ? listen_on(a) : -1;

	if (a)
		freeaddrinfo(a);
	if (fd < 0 && *text == ':' && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)) {
		char ipv4[URL];

		snprintf(ipv4, sizeof(ipv4), "0.0.0.0%s", text);
		return open_listener(ipv4);
	}
	if (fd < 0)
		fprintf(stderr, "rocescope: --prometheus %s: cannot listen there: %s\n", text,
			a ? cause(errno).text : "no address");
	return fd;
}

static void name_url(struct exporter *e, int fd)
{
	struct sockaddr_storage address;
	char host[64] = "?", port[8] = "?";
	socklen_t length = sizeof(address);

	if (!getsockname(fd, (struct sockaddr *)&address, &length))
		getnameinfo((struct sockaddr *)&address, length, host, sizeof(host), port, sizeof(port),
			    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(e->url, sizeof(e->url), strchr(host, ':') ? "http://[%s]:%s/metrics" : "http://%s:%s/metrics", host, port);
}

/* ---- connections ---- */

static int socket_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

/* NULL: it has none. */
static struct client *client_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* An unused entry; libmicrohttpd allows no more connections than there are. */
static struct client *unused_client(struct exporter *e)
{
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(e->clients); i++)
		if (e->clients[i].fd < 0)
			return &e->clients[i];
	return NULL;
}

static void find_address(struct client *c)
{
	struct sockaddr_storage peer = { 0 };
	socklen_t length = sizeof(peer);

	getpeername(c->fd, (struct sockaddr *)&peer, &length);
	address_from_socket(c->address, (const struct sockaddr *)&peer);
}

/* libmicrohttpd closes a socket that is shut down. What its reader has not taken would stay in the kernel otherwise. */
static void end_client(struct client *c)
{
	struct linger at_once = { .l_onoff = 1 };

	setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	shutdown(c->fd, SHUT_RDWR);
	c->ended = true;
}

/* Whether nothing has come that could be a request. */
static bool is_silent(const struct client *c)
{
	int waiting = 0;

	return !c->asked && (ioctl(c->fd, FIONREAD, &waiting) || !waiting);
}

/* How dispensable a client is: those that say nothing go first, then the longest one. */
static bool goes_before(const struct client *a, const struct client *b)
{
	bool silent = is_silent(a);

	return silent != is_silent(b) ? silent : a->since < b->since;
}

/*
 * Ends one of the others if there are too many, of `added`'s address or in all. The new one is not refused: it may be a Prometheus
 * behind the same proxy as those that hold their connections.
 */
static void make_room(struct exporter *e, const struct client *added)
{
	struct client *all = NULL, *same = NULL;
	size_t of_all = 0, of_address = 0;

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(e->clients); i++) {
		struct client *c = &e->clients[i];
		bool is_same = !memcmp(c->address, added->address, sizeof(c->address));

		if (c->fd < 0 || c->ended)
			continue;
		of_all++;
		of_address += is_same;
		if (c != added && (!all || goes_before(c, all)))
			all = c;
		if (c != added && is_same && (!same || goes_before(c, same)))
			same = c;
	}
	if (of_address > CLIENTS_OF_ADDRESS)
		end_client(same);
	else if (of_all > CLIENTS)
		end_client(all);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **own,
			  enum MHD_ConnectionNotificationCode what)
{
	struct exporter *e = context;
	struct client *c = *own;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (c)
			c->fd = -1;
		return;
	}
	*own = c = unused_client(e);
	if (!c)
		return;
	*c = (struct client){ .fd = socket_of(connection), .since = now_ns() };
	find_address(c);
	make_room(e, c);
}

/* Ends connections that live too long: libmicrohttpd limits only their silence. */
static void hang_up(struct exporter *e)
{
	uint64_t now = now_ns();

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(e->clients); i++)
		if (e->clients[i].fd >= 0 && !e->clients[i].ended && now - e->clients[i].since > LIFE)
			end_client(&e->clients[i]);
}

/* ---- answers ---- */

static const char welcome[] =
	"<!DOCTYPE html><html><head><title>rocescope</title></head><body><h1>rocescope</h1>"
	"<p><a href=\"/metrics\">Metrics</a></p></body></html>\n";

/* text: static or malloc()ed, as `memory` says. NULL: no memory. */
static struct MHD_Response *response(const char *text, size_t length, enum MHD_ResponseMemoryMode memory, const char *type)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(length, (void *)text, memory);

	if (!r)
		return NULL;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	return r;
}

static enum MHD_Result answer_words(struct MHD_Connection *connection, unsigned int status, const char *words)
{
	struct MHD_Response *r = response(words, strlen(words), MHD_RESPMEM_PERSISTENT,
					  status == MHD_HTTP_OK ? "text/html; charset=utf-8" : "text/plain; charset=utf-8");
	enum MHD_Result result;

	if (!r)
		return MHD_NO;
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, status, r);
	MHD_destroy_response(r);
	return result;
}

static void forget_metrics(struct exporter *e)
{
	if (e->metrics)
		MHD_destroy_response(e->metrics); /* it lives until its last reader has it */
	e->metrics = NULL;
}

/* NULL: the counters cannot be read, or no memory. */
static struct MHD_Response *make_metrics(struct exporter *e)
{
	struct MHD_Response *r = NULL;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	bool good = out && e->fill(e->context, out);

	if (out && !fclose(out) && good)
		r = response(text, length, MHD_RESPMEM_MUST_FREE, CONTENT_TYPE);
	if (!r)
		free(text);
	return r;
}

static enum MHD_Result answer_metrics(struct exporter *e, struct MHD_Connection *connection)
{
	if (!e->metrics || now_ns() - e->made >= FRESH) {
		forget_metrics(e);
		e->metrics = make_metrics(e);
		e->made = now_ns();
	}
	if (!e->metrics)
		return answer_words(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "the counters cannot be read\n");
	return MHD_queue_response(connection, MHD_HTTP_OK, e->metrics);
}

/* Answers before the body of the request is read: no valid request has one. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *path, const char *method,
				  const char *version, const char *body, size_t *body_bytes, void **own)
{
	struct client *c = client_of(connection);

	(void)version, (void)body, (void)body_bytes, (void)own;
	if (c)
		c->asked = true;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return answer_words(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	if (!strcmp(path, "/metrics"))
		return answer_metrics(context, connection);
	if (!strcmp(path, "/"))
		return answer_words(connection, MHD_HTTP_OK, welcome);
	return answer_words(connection, MHD_HTTP_NOT_FOUND, "not here: see /metrics\n");
}

/* ---- the server ---- */

static bool wait_for(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return !epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

/* Owns the listener from here on, even if it fails. */
static bool start_daemon(struct exporter *e, int listener)
{
	const union MHD_DaemonInfo *info;

	e->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, e,
				     MHD_OPTION_LISTEN_SOCKET, listener,
				     MHD_OPTION_CONNECTION_LIMIT, (unsigned int)ROCE_ARRAY_SIZE(e->clients),
				     MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CLIENT_MEMORY,
				     MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_SECONDS,
				     MHD_OPTION_STRICT_FOR_CLIENT, 1,
				     MHD_OPTION_NOTIFY_CONNECTION, on_connection, e,
				     MHD_OPTION_END);
	if (!e->daemon) {
		close(listener);
		return false;
	}
	info = MHD_get_daemon_info(e->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	e->wait = epoll_create1(EPOLL_CLOEXEC);
	e->more = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return info && e->wait >= 0 && e->more >= 0 && wait_for(e->wait, info->epoll_fd) && wait_for(e->wait, e->more);
}

struct exporter *exporter_start(const char *address, exporter_fill *fill, void *context)
{
	int listener = open_listener(address);
	struct exporter *e;

	if (listener < 0)
		return NULL;
	e = malloc(sizeof(*e));
	if (!e) {
		close(listener);
		fprintf(stderr, "rocescope: --prometheus: no memory\n");
		return NULL;
	}
	*e = (struct exporter){ .fill = fill, .context = context, .wait = -1, .more = -1 };
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(e->clients); i++)
		e->clients[i].fd = -1;
	name_url(e, listener);
	if (start_daemon(e, listener))
		return e;
	fprintf(stderr, "rocescope: --prometheus: cannot start the server: %s\n", cause(errno).text);
	exporter_stop(e);
	return NULL;
}

const char *exporter_url(const struct exporter *e)
{
	return e->url;
}

int exporter_fd(const struct exporter *e)
{
	return e->wait;
}

static bool has_more(struct exporter *e)
{
	MHD_UNSIGNED_LONG_LONG timeout;

	return MHD_get_timeout(e->daemon, &timeout) == MHD_YES && !timeout;
}

void exporter_run(struct exporter *e)
{
	uint64_t end = now_ns() + TURN;
	eventfd_t count;
	bool more;

	eventfd_read(e->more, &count);
	hang_up(e);
	do {
		MHD_run(e->daemon);
		more = has_more(e);
	} while (more && now_ns() < end);
	if (more)
		eventfd_write(e->more, 1);
	if (now_ns() - e->made >= FRESH)
		forget_metrics(e);
}

void exporter_stop(struct exporter *e)
{
	if (!e)
		return;
	forget_metrics(e);
	if (e->daemon)
		MHD_stop_daemon(e->daemon);
	if (e->wait >= 0)
		close(e->wait);
	if (e->more >= 0)
		close(e->more);
	free(e);
}
