// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "lib/clock.h"
#include "lib/stream_socket.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/ping_pong.h"
#include "userspace/traffic/streams/sender.h"
#include "userspace/traffic/streams/udp_stream/udp_stream.h"
#include "userspace/traffic/streams/udp_stream/udp_stream_uring.h"

#define GSO_PACKETS	64	/* UDP_MAX_SEGMENTS of older kernels */
#define GSO_BYTES	65000	/* below the 65535 of an IP packet with its headers */
#define WAKE_US		20000	/* how often a wait for an answer looks whether it has to end */
#define IPV4_OVERHEAD	(20 + 8)
#define IPV6_OVERHEAD	(40 + 8)

/* The entries of one sendmmsg(): one packet each, or several with UDP_SEGMENT. */
struct send_batch {
	unsigned int entries, packets;
	uint64_t packets_in[UDP_BATCH];
	struct mmsghdr message[UDP_BATCH];
	struct stream_header header[UDP_BATCH * GSO_PACKETS];
	struct iovec iov[UDP_BATCH * GSO_PACKETS][2];
};

struct udp_sender {
	const struct udp_options *o;
	struct stream_sender *s;
	struct send_batch *b;
	int *fd;		/* one a flow */
	struct uring *uring;	/* NULL: sendmmsg() */
	bool ipv6;
	uint64_t mtu;
	uint64_t send_errors;	/* packets */
	int last_error;
	char *pattern;		/* of all fillers */
	struct ping_pong ping_pong;
	char answer[65536];	/* the largest UDP datagram */
};

static void setup_socket(struct udp_sender *u, int fd)
{
	int discover = IP_PMTUDISC_DO, discover6 = IPV6_PMTUDISC_DO;
	struct timeval wake = { .tv_usec = WAKE_US };

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wake, sizeof(wake)))
		err(1, "SO_RCVTIMEO");
	if (u->ipv6 ? setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &discover6, sizeof(discover6))
		    : setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof(discover)))
		err(1, "IP_MTU_DISCOVER");
	udp_set_buffer(fd, SO_SNDBUF, SO_SNDBUFFORCE, u->o->sndbuf);
}

static void open_sockets(struct udp_sender *u)
{
	const struct stream_options *o = &u->o->common;
	struct addrinfo *found = stream_address("dst", u->o->dst, o->port, SOCK_DGRAM);

	u->ipv6 = found->ai_family == AF_INET6;
	u->fd = calloc(o->flows, sizeof(*u->fd));
	if (!u->fd)
		err(1, "no memory for %u flows", o->flows);
	for (unsigned int i = 0; i < o->flows; i++) {
		u->fd[i] = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (u->fd[i] < 0)
			err(1, "socket of flow %u", i);
		setup_socket(u, u->fd[i]);
		if (connect(u->fd[i], found->ai_addr, found->ai_addrlen))
			err(1, "--dst %s", u->o->dst);
	}
	freeaddrinfo(found);
}

static uint64_t route_mtu(const struct udp_sender *u)
{
	socklen_t length = sizeof(int);
	int mtu;

	if (u->ipv6 ? getsockopt(u->fd[0], IPPROTO_IPV6, IPV6_MTU, &mtu, &length)
		    : getsockopt(u->fd[0], IPPROTO_IP, IP_MTU, &mtu, &length))
		err(1, "the route's MTU");
	return mtu;
}

/* The MTU to split by. It is at most the route's, so that IP never fragments. */
static uint32_t max_payload(struct udp_sender *u)
{
	uint64_t overhead = u->ipv6 ? IPV6_OVERHEAD : IPV4_OVERHEAD, route = route_mtu(u), payload;

	u->mtu = u->o->mtu ? u->o->mtu : route;
	if (u->mtu > route)
		usage_error("--mtu %llu: the route's is %llu", (unsigned long long)u->mtu, (unsigned long long)route);
	if (u->mtu < overhead + sizeof(struct stream_header))
		usage_error("--mtu %llu: too small for the headers", (unsigned long long)u->mtu);
	payload = u->mtu - overhead;
	return payload < 65507 ? payload : 65507;
}

static void enable_gso(struct udp_sender *u)
{
	int size = u->s->packet_bytes;

	for (unsigned int i = 0; u->o->gso && i < u->o->common.flows; i++)
		if (setsockopt(u->fd[i], SOL_UDP, UDP_SEGMENT, &size, sizeof(size)))
			err(1, "--gso: UDP_SEGMENT (Linux 4.18)");
}

/* Whether the next packet fits into the last entry: all its packets must have full size. */
static bool fits_entry(const struct udp_sender *u, uint32_t entry_bytes, uint32_t last_length)
{
	const struct send_batch *b = u->b;

	return u->o->gso && b->entries && last_length == u->s->packet_bytes &&
	       b->packets_in[b->entries - 1] < GSO_PACKETS && entry_bytes + u->s->packet_bytes <= GSO_BYTES;
}

static void add_packet(struct udp_sender *u, bool join, uint32_t length)
{
	struct send_batch *b = u->b;
	struct stream_header *header = &b->header[b->packets];
	char *filler = u->pattern + (header->flags >> STREAM_FILLER_SHIFT) * FILLER_STEP;
	struct iovec *iov = b->iov[b->packets];
	struct msghdr *m;

	iov[0] = (struct iovec){ header, sizeof(*header) };
	iov[1] = (struct iovec){ filler, length - sizeof(*header) };
	b->packets++;
	if (!join) {
		b->message[b->entries].msg_hdr = (struct msghdr){ .msg_iov = iov };
		b->packets_in[b->entries++] = 0;
	}
	m = &b->message[b->entries - 1].msg_hdr;
	m->msg_iovlen += 2;
	b->packets_in[b->entries - 1]++;
}

/* Adds as many of the flow's packets as are due. */
static void fill_batch(struct udp_sender *u, struct sender_flow *flow)
{
	uint64_t realtime = clock_ns(CLOCK_REALTIME);
	uint32_t length = 0, entry_bytes = 0;
	struct send_batch *b = u->b;

	b->entries = b->packets = 0;
	while (sender_due(u->s, u->s->now_ns)) {
		bool join = fits_entry(u, entry_bytes, length);

		if (!join && b->entries == UDP_BATCH)
			return;
		length = sender_packet(u->s, flow, &b->header[b->packets], u->s->now_ns, realtime);
		if (!length)
			return;
		add_packet(u, join, length);
		entry_bytes = join ? entry_bytes + length : length;
	}
}

/*
 * ECONNREFUSED belongs to an earlier packet (ICMP: nobody listens): try again. Any other error loses this entry, which counts
 * as sent and as dropped here. A smaller path MTU is permanent: returns false.
 */
static bool after_error(struct udp_sender *u, unsigned int *entry)
{
	if (errno == ECONNREFUSED || errno == EINTR || errno == EAGAIN)
		return true;
	u->last_error = errno;
	u->send_errors += u->b->packets_in[(*entry)++];
	if (errno == EMSGSIZE || errno == EIO || errno == EINVAL)
		return false;
	sleep_until_ns(now_ns() + NSEC_PER_MSEC);
	return true;
}

static int send_entries(struct udp_sender *u, int fd, struct mmsghdr *message, unsigned int n)
{
	return u->uring ? uring_sendmmsg(u->uring, fd, message, n) : sendmmsg(fd, message, n, 0);
}

static const char *send_batch(void *context, struct sender_flow *flow)
{
	struct udp_sender *u = context;
	unsigned int entry = 0;

	fill_batch(u, flow);
	while (entry < u->b->entries) {
		int n = send_entries(u, u->fd[flow->number], &u->b->message[entry], u->b->entries - entry);

		if (n > 0)
			entry += n;
		else if (!after_error(u, &entry))
			break;
	}
	for (; entry < u->b->entries; entry++)
		u->send_errors += u->b->packets_in[entry];
	return u->last_error == EMSGSIZE || u->last_error == EIO || u->last_error == EINVAL ? strerror(u->last_error) : NULL;
}

static const char *send_message(void *context, struct sender_flow *flow)
{
	const char *error;

	do
		error = send_batch(context, flow);
	while (!error && flow->index);
	return error;
}

/* ECONNREFUSED belongs to the message: nobody listens. */
static const char *await_answer(void *context, uint16_t flow, uint64_t timeout_ns)
{
	struct udp_sender *u = context;
	ssize_t n = recv(u->fd[flow], u->answer, sizeof(u->answer), 0);

	(void)timeout_ns;
	if (n >= 0)
		ping_pong_take(&u->ping_pong, u->answer, n, now_ns());
	else if (errno != EAGAIN && errno != EINTR && errno != ECONNREFUSED)
		return strerror(errno);
	return NULL;
}

/*
 * Each round begins with a pause in which the receiver's buffer can empty. ECONNREFUSED belongs to an earlier packet: try
 * again.
 */
static bool send_end_marker(void *context, const struct sender_flow *flow, const struct stream_header *marker)
{
	struct udp_sender *u = context;
	int fd = u->fd[flow->number];

	if (send(fd, marker, sizeof(*marker), 0) < 0 && errno == ECONNREFUSED)
		send(fd, marker, sizeof(*marker), 0);
	return true;
}

int udp_send(const struct udp_options *o)
{
	struct stream_report report = { .transport = "udp", .send = true };
	struct udp_sender u = { .o = o, .b = malloc(sizeof(*u.b)) };
	uint32_t payload;

	open_sockets(&u);
	payload = max_payload(&u);
	u.pattern = malloc(filler_room(payload));
	if (!u.b || !u.pattern)
		err(1, "no memory");
	filler_make(u.pattern, filler_room(payload));
	u.s = sender_new(&o->common, payload);
	enable_gso(&u);
	if (o->io_uring)
		u.uring = uring_sender();
	u.ping_pong = (struct ping_pong){ .s = u.s, .context = &u, .send = send_message, .await = await_answer };
	report.error = o->common.ping_pong ? ping_pong_run(&u.ping_pong) : sender_run(u.s, false, send_batch, &u);
	sender_finish(u.s);
	uring_free(u.uring);
	sender_end(u.s, &u, send_end_marker);
	sender_report(u.s, &report);
	report_extra(&report, "mtu", u.mtu);
	report_drop(&report, "send_errors", u.send_errors);
	if (o->common.ping_pong)
		ping_pong_report(&u.ping_pong, &report);
	report_print(&report, o->common.json);
	if (report.error)
		warnx("the packets did not leave: %s%s", report.error, o->gso && u.last_error == EIO ?
		      " (before Linux 6.11 --gso needs a NIC that computes checksums)" : "");
	return report.error ? 1 : 0;
}
