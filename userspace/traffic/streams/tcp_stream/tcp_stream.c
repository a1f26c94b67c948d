// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* tcp_stream: sends and receives messages over kernel TCP, with messages numbered. */
#include <err.h>
#include <errno.h>
#include <sys/socket.h>

#include "lib/stop.h"
#include "roce/datagram/stream_header.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/ping_pong.h"
#include "userspace/traffic/streams/tcp_stream/tcp_stream.h"

static const struct option_entry send_entries[] = {
	{ "dst", "HOST", "the receiver: name, IPv4 or IPv6 address", OPTION_TEXT(struct tcp_options, dst) },
	{ "mss", "BYTES", "the largest segment (TCP_MAXSEG): its payload and 12 bytes of time stamps",
	  OPTION_SIZE(struct tcp_options, mss, 88, 32767) },
	{ 0 },
};

static const struct option_entry recv_entries[] = {
	{ "bind", "ADDRESS", "listen on this address only", OPTION_TEXT(struct tcp_options, bind) },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "Both", stream_entries, offsetof(struct tcp_options, common) },
	{ "send", send_entries, 0 },
	{ "recv", recv_entries, 0 },
	{ 0 },
};
static const struct command command = { .arguments = STREAM_ARGUMENTS, .tables = tables };

void tcp_set_mss(int fd, uint64_t mss)
{
	int value = mss;

	if (mss && setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &value, sizeof(value)))
		err(1, "--mss %d", value);
}

void tcp_answers(int fd)
{
	int on = 1, limit_ms = PING_PONG_DEAD_NS / NSEC_PER_MSEC;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof(limit_ms)))
		err(1, "TCP_NODELAY, TCP_USER_TIMEOUT");
}

bool tcp_send_whole(int fd, const char *pattern, const struct stream_header *header, size_t length)
{
	const char *filler = pattern + (header->flags >> STREAM_FILLER_SHIFT) * FILLER_STEP;
	size_t done = 0;

	while (done < length) {
		size_t headed = done < sizeof(*header) ? done : sizeof(*header);
		struct iovec iov[2] = {
			{ (char *)header + headed, sizeof(*header) - headed },
			{ (char *)filler + done - headed, length - sizeof(*header) - (done - headed) },
		};
		struct msghdr message = { .msg_iov = iov, .msg_iovlen = 2 };
		ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL);

		if (n > 0)
			done += n;
		else if (errno != EINTR && (errno != EAGAIN || stop))
			return false;
	}
	return true;
}

static void check_send(const struct tcp_options *o)
{
	if (!o->dst)
		usage_error("send: --dst is missing");
	if (o->common.rate.per_second && o->common.rate.unit == RATE_PACKETS)
		usage_error("--rate: the kernel makes TCP's packets, so it cannot be a rate of packets");
	if (o->common.size < sizeof(struct stream_header))
		usage_error("--size %llu: the stream header alone has %zu bytes", (unsigned long long)o->common.size,
			    sizeof(struct stream_header));
}

int main(int argc, char **argv)
{
	struct tcp_options options = { 0 };

	if (stream_parse(&command, &options, &options.common, argc, argv) < argc)
		usage_error("nothing may follow --");
	if (options.common.send)
		check_send(&options);
	stop_on_signals();
	return options.common.send ? tcp_send(&options) : tcp_receive(&options);
}
