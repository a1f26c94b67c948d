// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "lib/clock.h"
#include "lib/stream_socket.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/ping_pong.h"
#include "userspace/traffic/streams/receiver.h"
#include "userspace/traffic/streams/udp_stream/udp_stream.h"
#include "userspace/traffic/streams/udp_stream/udp_stream_uring.h"

#define BUFFER_BYTES	65536	/* the largest UDP datagram, and the largest run of UDP_GRO */
#define WAKE_US		20000	/* how often to check for the end of the run */

#define CONTROL_BYTES	CMSG_SPACE(sizeof(int))

struct recv_batch {
	struct mmsghdr message[UDP_BATCH];
	struct iovec iov[UDP_BATCH];
	struct sockaddr_storage from[UDP_BATCH];
	char control[UDP_BATCH][CONTROL_BYTES];
	char buffer[UDP_BATCH][BUFFER_BYTES];
};

/*
 * Packets that busy polling has taken in this network namespace: BusyPollRxPackets of /proc/net/netstat, which has pairs of
 * lines, names and values. 0 if it is not there.
 */
static uint64_t busy_polled(void)
{
	FILE *file = fopen("/proc/net/netstat", "r");
	char names[8192], values[8192];
	uint64_t count = 0;

	while (file && fgets(names, sizeof(names), file) && fgets(values, sizeof(values), file)) {
		char *name_at, *value_at, *name = strtok_r(names, " \n", &name_at), *value = strtok_r(values, " \n", &value_at);

		for (; name && value; name = strtok_r(NULL, " \n", &name_at), value = strtok_r(NULL, " \n", &value_at))
			if (!strcmp(name, "BusyPollRxPackets"))
				count = strtoull(value, NULL, 10);
	}
	if (file)
		fclose(file);
	return count;
}

static void busy_poll(int fd, int us)
{
	int on = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &us, sizeof(us)))
		err(1, "--busy-poll: SO_BUSY_POLL (CONFIG_NET_RX_BUSY_POLL and CAP_NET_ADMIN)");
	if (setsockopt(fd, SOL_SOCKET, SO_PREFER_BUSY_POLL, &on, sizeof(on)))
		err(1, "--busy-poll: SO_PREFER_BUSY_POLL (Linux 5.11)");
}

static int open_socket(const struct udp_options *o)
{
	struct timeval wake = { .tv_usec = WAKE_US };
	int discover = IP_PMTUDISC_DO, discover6 = IPV6_PMTUDISC_DO, on = 1;
	int fd = stream_bound_socket(o->bind, o->common.port, SOCK_DGRAM);

	/* answers are never split by IP */
	setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof(discover));
	setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &discover6, sizeof(discover6));
	udp_set_buffer(fd, SO_RCVBUF, SO_RCVBUFFORCE, o->rcvbuf);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wake, sizeof(wake)))
		err(1, "SO_RCVTIMEO");
	if (o->gro && setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof(on)))
		err(1, "--gro: UDP_GRO (Linux 5.0)");
	if (o->busy_poll)
		busy_poll(fd, o->busy_poll);
	return fd;
}

/*
 * What the socket knows of its losses. SO_RXQ_OVFL reports the same drop counter; read directly, it includes drops after the last
 * packet received. unread_ns: the longest time between two reads, from the first packet on.
 */
static void report_socket(struct stream_report *report, const struct udp_options *o, int fd, uint64_t unread_ns)
{
	uint32_t info[SK_MEMINFO_VARS] = {};
	socklen_t length = sizeof(info);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &length))
		return;
	/* with UDP_GRO the kernel counts a dropped run of packets as one, so the counter cannot be compared with packets */
	if (o->gro)
		report_extra(report, "socket_receive_buffer_runs", info[SK_MEMINFO_DROPS]);
	else
		report_drop(report, "socket_receive_buffer", info[SK_MEMINFO_DROPS]);
	report_extra(report, "receive_buffer_bytes", info[SK_MEMINFO_RCVBUF]);
	report_extra(report, "longest_unread_us", unread_ns / NSEC_PER_USEC);
}

/* Only a NAPI can be polled. The packets of lo come from none, nor do those of a veth unless it receives by GRO. */
static void report_busy_poll(struct stream_report *report, int fd, uint64_t polled_before)
{
	unsigned int napi = 0;
	socklen_t length = sizeof(napi);

	if (getsockopt(fd, SOL_SOCKET, SO_INCOMING_NAPI_ID, &napi, &length))
		napi = 0;
	report_extra(report, "napi_id", napi);
	report_extra(report, "busy_polled", busy_polled() - polled_before);
	if (!napi && report->messages)
		warnx("--busy-poll had no effect: the packets came from no NAPI");
}

static void reset(struct recv_batch *b)
{
	for (int i = 0; i < UDP_BATCH; i++) {
		b->iov[i] = (struct iovec){ b->buffer[i], BUFFER_BYTES };
		b->message[i].msg_hdr = (struct msghdr){
			.msg_name = &b->from[i], .msg_namelen = sizeof(b->from[i]), .msg_iov = &b->iov[i], .msg_iovlen = 1,
			.msg_control = b->control[i], .msg_controllen = sizeof(b->control[i]),
		};
	}
}

/* The size of the packets that UDP_GRO merged (the last may be smaller); 0: one packet. */
static size_t segment_size(struct msghdr *message)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		int size;

		if (c->cmsg_level != SOL_UDP || c->cmsg_type != UDP_GRO)
			continue;
		memcpy(&size, CMSG_DATA(c), sizeof(size));
		return size;
	}
	return 0;
}

/* Sends the answer to the message that a packet has completed to its sender. What the socket does not take is lost. */
static void answer(int fd, const struct msghdr *from, const void *payload, size_t length)
{
	static char pattern[BUFFER_BYTES + STREAM_FILLERS * FILLER_STEP];
	static bool made;
	struct stream_header h, header;

	memcpy(&h, payload, sizeof(h));
	if (!ping_pong_sound(&h, length))
		return;
	if (!made)
		filler_make(pattern, sizeof(pattern));
	made = true;
	for (uint32_t i = 0; i < ntohl(h.packets_in_message); i++) {
		uint32_t bytes = ping_pong_answer(&h, i, &header);
		struct iovec iov[] = {
			{ &header, sizeof(header) },
			{ pattern + (header.flags >> STREAM_FILLER_SHIFT) * FILLER_STEP, bytes - sizeof(header) },
		};
		struct msghdr to = {
			.msg_name = from->msg_name, .msg_namelen = from->msg_namelen, .msg_iov = iov, .msg_iovlen = 2,
		};

		sendmsg(fd, &to, 0);
	}
}

static void take_buffer(struct stream_receiver *r, int fd, struct mmsghdr *m, uint64_t now, uint64_t realtime)
{
	const char *at = m->msg_hdr.msg_iov->iov_base;
	size_t left = m->msg_len, segment = segment_size(&m->msg_hdr);

	do {
		size_t length = segment && segment < left ? segment : left;

		receiver_take(r, at, length, now, realtime);
		if (r->asked)
			answer(fd, &m->msg_hdr, at, length);
		at += length;
		left -= length;
	} while (left);
}

static int take_batch(struct uring *uring, int fd, struct recv_batch *b)
{
	if (uring)
		return uring_recvmmsg(uring, b->message, WAKE_US);
	reset(b);
	return recvmmsg(fd, b->message, UDP_BATCH, MSG_WAITFORONE, NULL);
}

int udp_receive(const struct udp_options *o)
{
	struct stream_report report = { .transport = "udp" };
	struct stream_receiver *r = receiver_new(&o->common);
	struct recv_batch *b = malloc(sizeof(*b));
	int fd = open_socket(o);
	struct uring *uring = o->io_uring ? uring_receiver(fd, BUFFER_BYTES, o->gro ? CONTROL_BYTES : 0) : NULL;
	uint64_t now, read_ns = 0, unread_ns = 0, polled = busy_polled();

	if (!b)
		err(1, "no memory");
	receiver_ready(r);
	for (now = now_ns(); !receiver_over(r, now); now = now_ns()) {
		int n;

		if (r->packets && now - read_ns > unread_ns)
			unread_ns = now - read_ns;
		n = take_batch(uring, fd, b);
		if (n < 0 && errno != EAGAIN && errno != EINTR) {
			report.error = strerror(errno);
			break;
		}
		now = now_ns();
		for (int i = 0; i < n; i++)
			take_buffer(r, fd, &b->message[i], now, o->common.latency ? clock_ns(CLOCK_REALTIME) : 0);
		report_progress(now, r->packets, r->bytes);
		read_ns = now;
		receiver_pause(r);
	}
	uring_free(uring);
	receiver_report(r, &report);
	report_socket(&report, o, fd, unread_ns);
	if (o->busy_poll)
		report_busy_poll(&report, fd, polled);
	report_print(&report, o->common.json);
	return receiver_status(r, &report);
}
