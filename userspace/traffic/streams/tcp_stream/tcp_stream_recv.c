// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/stream_socket.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/ping_pong.h"
#include "userspace/traffic/streams/receiver.h"
#include "userspace/traffic/streams/tcp_stream/tcp_stream.h"

#define BUFFER_BYTES	(256 << 10)	/* taken at once */
#define WAKE_MS		20		/* how often to check for the end of the run */
#define BACKLOG		4096

/* A connection, how much of its present message has come, and whether some of that is wrong. */
struct connection {
	uint64_t got;
	bool wrong;
	struct stream_header header;
};

struct tcp_receiver {
	const struct tcp_options *o;
	struct stream_receiver *r;
	unsigned int connections, closed;
	struct connection *connection;
	struct pollfd *poll;		/* of the connections; behind them that of the listening socket */
	char *buffer;
	char *pattern;			/* of all fillers, for answers of pattern_size */
	uint64_t pattern_size;
};

static int open_socket(const struct tcp_options *o)
{
	int fd = stream_bound_socket(o->bind, o->common.port, SOCK_STREAM);

	if (listen(fd, BACKLOG))
		err(1, "TCP port %u", o->common.port);
	return fd;
}

static void add_connection(struct tcp_receiver *u)
{
	unsigned int last = u->connections;
	struct timeval wake = { .tv_usec = TCP_WAKE_US };
	int fd = accept4(u->poll[last].fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wake, sizeof(wake)))
		err(1, "SO_SNDTIMEO");
	tcp_answers(fd);
	u->connection = reallocarray(u->connection, last + 1, sizeof(*u->connection));
	u->poll = reallocarray(u->poll, last + 2, sizeof(*u->poll));
	if (!u->connection || !u->poll)
		err(1, "no memory for %u connections", last + 1);
	u->connection[last] = (struct connection){ 0 };
	u->poll[last + 1] = u->poll[last];
	u->poll[last] = (struct pollfd){ .fd = fd, .events = POLLIN };
	u->connections++;
}

/* poll() ignores a negative descriptor. */
static void close_connection(struct tcp_receiver *u, unsigned int i)
{
	close(u->poll[i].fd);
	u->poll[i].fd = -1;
	u->closed++;
}

/* How long the present message is, by its header. 0: it is not one of ours. */
static uint64_t whole_length(const struct stream_header *h)
{
	uint64_t size = ntohl(h->message_size);

	if (h->magic != htonl(STREAM_MAGIC) || h->version != STREAM_VERSION || size < sizeof(*h))
		return 0;
	return h->flags & STREAM_FLAG_END ? sizeof(*h) : size;
}

/* A part of a message behind its header. */
static void verify_part(struct tcp_receiver *u, struct connection *c, const char *at, uint64_t part)
{
	unsigned int filler = receiver_filler(u->r, &c->header);

	if (filler && !filler_right(at, part, filler, c->got - sizeof(c->header)))
		c->wrong = true;
}

/* Answers a message. What the connection does not take any more, its sender misses. */
static void answer(struct tcp_receiver *u, int fd, const struct stream_header *h, uint64_t size)
{
	struct stream_header header;

	if (!ping_pong_sound(h, size))
		return;
	if (size > u->pattern_size) {
		free(u->pattern);
		u->pattern = malloc(filler_room(size));
		if (!u->pattern)
			err(1, "no memory for an answer");
		filler_make(u->pattern, filler_room(size));
		u->pattern_size = size;
	}
	ping_pong_answer(h, 0, &header);
	tcp_send_whole(fd, u->pattern, &header, size);
}

static void take_message(struct tcp_receiver *u, struct connection *c, int fd, uint64_t now)
{
	uint64_t realtime = u->o->common.latency ? clock_ns(CLOCK_REALTIME) : 0;

	if (receiver_take_header(u->r, &c->header, c->got, now, realtime) && receiver_filler(u->r, &c->header))
		receiver_verified(u->r, !c->wrong);
	if (u->r->asked)
		answer(u, fd, &c->header, c->got);
	c->got = 0;
	c->wrong = false;
}

/* Takes what came of a connection, now (ns). A message counts when all of it is there. false: these are no messages of ours. */
static bool take_bytes(struct tcp_receiver *u, struct connection *c, int fd, const char *at, size_t left, uint64_t now)
{
	while (left) {
		uint64_t wanted = sizeof(c->header), part;

		if (c->got >= sizeof(c->header))
			wanted = whole_length(&c->header);
		part = left < wanted - c->got ? left : wanted - c->got;
		if (c->got < sizeof(c->header))
			memcpy((char *)&c->header + c->got, at, part);
		else
			verify_part(u, c, at, part);
		c->got += part;
		at += part;
		left -= part;
		if (c->got < sizeof(c->header))
			return true;
		if (!whole_length(&c->header))
			return false;
		if (c->got < whole_length(&c->header))
			continue;
		take_message(u, c, fd, now);
	}
	return true;
}

static void read_connection(struct tcp_receiver *u, unsigned int i)
{
	ssize_t n = recv(u->poll[i].fd, u->buffer, BUFFER_BYTES, MSG_DONTWAIT);
	uint64_t now = now_ns();

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close_connection(u, i);
	} else if (!take_bytes(u, &u->connection[i], u->poll[i].fd, u->buffer, n, now)) {
		u->r->foreign++;
		close_connection(u, i);
	} else if (u->r->last_any_ns) {
		u->r->last_any_ns = now;	/* of a message that is longer than --idle */
	}
}

/* Once all connections are closed nothing more can come. A run that has ended lets its sender read TCP_INFO until then. */
static bool over(struct tcp_receiver *u)
{
	return receiver_over(u->r, now_ns()) || (u->r->packets && u->closed == u->connections);
}

static void receive_all(struct tcp_receiver *u)
{
	while (!over(u)) {
		unsigned int connections = u->connections;

		if (poll(u->poll, connections + 1, WAKE_MS) <= 0)
			continue;
		for (unsigned int i = 0; i < connections; i++)
			if (u->poll[i].revents)
				read_connection(u, i);
		if (u->poll[connections].revents)
			add_connection(u);
		report_progress(now_ns(), u->r->packets, u->r->bytes);
		receiver_pause(u->r);
	}
}

int tcp_receive(const struct tcp_options *o)
{
	struct stream_report report = { .transport = "tcp" };
	struct tcp_receiver u = {
		.o = o, .r = receiver_new(&o->common), .poll = malloc(sizeof(*u.poll)), .buffer = malloc(BUFFER_BYTES),
	};

	if (!u.poll || !u.buffer)
		err(1, "no memory");
	u.poll[0] = (struct pollfd){ .fd = open_socket(o), .events = POLLIN };
	receiver_ready(u.r);
	receive_all(&u);
	receiver_report(u.r, &report);
	report.packets = report.packets_lost = STREAM_UNKNOWN;
	report_print(&report, o->common.json);
	return receiver_status(u.r, &report);
}
