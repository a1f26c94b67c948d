// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "lib/clock.h"
#include "lib/stream_socket.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/ping_pong.h"
#include "userspace/traffic/streams/sender.h"
#include "userspace/traffic/streams/tcp_stream/tcp_stream.h"

#define BUFFER_BYTES	(256 << 10)	/* of answers, taken at once */
#define DRAIN_NS	(10 * NSEC_PER_SEC)	/* how long the receiver has to take what is on its way at the end */

/* How much of an answer has come. It is as long as a message. */
struct tcp_answer {
	uint64_t got;
	struct stream_header header;
};

struct tcp_sender {
	const struct tcp_options *o;
	struct stream_sender *s;
	int *fd;		/* one a flow */
	char *pattern;		/* of all fillers of a whole message */
	struct ping_pong ping_pong;
	struct tcp_answer *answer;	/* one a flow */
	char buffer[BUFFER_BYTES];
};

static int connect_flow(const struct tcp_options *o, const struct addrinfo *to)
{
	struct timeval wake = { .tv_usec = TCP_WAKE_US };
	int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket");
	tcp_set_mss(fd, o->mss);
	if (connect(fd, to->ai_addr, to->ai_addrlen))
		err(1, "--dst %s, TCP port %u", o->dst, o->common.port);
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wake, sizeof(wake)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wake, sizeof(wake)))
		err(1, "SO_SNDTIMEO");
	if (o->common.ping_pong)
		tcp_answers(fd);
	return fd;
}

static void open_flows(struct tcp_sender *u)
{
	const struct stream_options *o = &u->o->common;
	struct addrinfo *found = stream_address("dst", u->o->dst, o->port, SOCK_STREAM);

	u->fd = calloc(o->flows, sizeof(*u->fd));
	if (!u->fd)
		err(1, "no memory for %u flows", o->flows);
	for (unsigned int i = 0; i < o->flows; i++)
		u->fd[i] = connect_flow(u->o, found);
	freeaddrinfo(found);
}

static const char *send_whole(struct tcp_sender *u, int fd, const struct stream_header *header, size_t length)
{
	return tcp_send_whole(fd, u->pattern, header, length) ? NULL : strerror(errno);
}

static const char *send_message(void *context, struct sender_flow *flow)
{
	struct tcp_sender *u = context;
	struct stream_header header;

	sender_packet(u->s, flow, &header, u->s->now_ns, clock_ns(CLOCK_REALTIME));
	return send_whole(u, u->fd[flow->number], &header, u->o->common.size);
}

/* Takes what came of a flow's answers, now (ns). */
static void take_answers(struct tcp_sender *u, struct tcp_answer *a, const char *at, size_t left, uint64_t now)
{
	uint64_t size = u->o->common.size;

	while (left) {
		size_t part = left < size - a->got ? left : size - a->got, head = 0;

		if (a->got < sizeof(a->header)) {
			head = sizeof(a->header) - a->got;
			memcpy((char *)&a->header + a->got, at, head < part ? head : part);
		}
		a->got += part;
		at += part;
		left -= part;
		if (a->got < size)
			continue;
		ping_pong_take(&u->ping_pong, &a->header, size, now);
		a->got = 0;
	}
}

static const char *await_answer(void *context, uint16_t flow, uint64_t timeout_ns)
{
	struct tcp_sender *u = context;
	ssize_t n = recv(u->fd[flow], u->buffer, BUFFER_BYTES, 0);

	(void)timeout_ns;
	if (n > 0)
		take_answers(u, &u->answer[flow], u->buffer, n, now_ns());
	else if (!n)
		return "the receiver has closed the connection";
	else if (errno != EAGAIN && errno != EINTR)
		return strerror(errno);
	return NULL;
}

static const char *ping_pong(struct tcp_sender *u)
{
	u->answer = calloc(u->o->common.flows, sizeof(*u->answer));
	if (!u->answer)
		err(1, "no memory");
	u->ping_pong = (struct ping_pong){ .s = u->s, .reliable = true, .context = u, .send = send_message, .await = await_answer };
	return ping_pong_run(&u->ping_pong);
}

/* Waits until the receiver has closed the connection, so that nothing will be sent again after TCP_INFO is read. */
static void await_close(int fd, uint64_t deadline)
{
	char rest[64];
	ssize_t n;

	do
		n = recv(fd, rest, sizeof(rest), 0);
	while ((n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) && now_ns() < deadline);
}

static const char *send_end_markers(struct tcp_sender *u)
{
	struct stream_header header;
	const char *error;

	for (unsigned int i = 0; i < u->o->common.flows; i++) {
		sender_end_marker(u->s, &u->s->flows[i], &header);
		error = send_whole(u, u->fd[i], &header, sizeof(header));
		if (error)
			return error;
		shutdown(u->fd[i], SHUT_WR);
	}
	for (unsigned int i = 0; i < u->o->common.flows; i++)
		await_close(u->fd[i], u->s->last_ns + DRAIN_NS);
	return NULL;
}

/* Segments sent again, over all flows, and the payload of a full one. */
static void report_tcp(const struct tcp_sender *u, struct stream_report *report)
{
	uint64_t again = 0, mss = 0;

	for (unsigned int i = 0; i < u->o->common.flows; i++) {
		struct tcp_info info = {};
		socklen_t length = sizeof(info);

		if (getsockopt(u->fd[i], IPPROTO_TCP, TCP_INFO, &info, &length))
			err(1, "TCP_INFO");
		again += info.tcpi_total_retrans;
		mss = info.tcpi_snd_mss;
	}
	report_extra(report, "retransmitted", again);
	report_extra(report, "mss", mss);
}

int tcp_send(const struct tcp_options *o)
{
	struct stream_report report = { .transport = "tcp", .send = true };
	struct tcp_sender u = { .o = o, .pattern = malloc(filler_room(o->common.size)) };

	if (!u.pattern)
		err(1, "no memory for a message");
	filler_make(u.pattern, filler_room(o->common.size));
	open_flows(&u);
	u.s = sender_new_unsplit(&o->common, 0);
	report.error = o->common.ping_pong ? ping_pong(&u) : sender_run(u.s, false, send_message, &u);
	sender_finish(u.s);
	if (!report.error)
		report.error = send_end_markers(&u);
	sender_report(u.s, &report);
	report_tcp(&u, &report);
	if (o->common.ping_pong)
		ping_pong_report(&u.ping_pong, &report);
	report_print(&report, o->common.json);
	if (report.error)
		warnx("the messages did not leave: %s", report.error);
	return report.error ? 1 : 0;
}
