// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* udp_stream: sends and receives messages over kernel UDP, with packets and messages numbered. */
#include <err.h>
#include <limits.h>
#include <sys/socket.h>

#include "lib/stop.h"
#include "userspace/traffic/streams/udp_stream/udp_stream.h"

static const struct option_entry entries[] = {
	{ "io-uring", NULL, "system calls by io_uring, in place of sendmmsg and recvmmsg (Linux 6.1)",
	  OPTION_FLAG(struct udp_options, io_uring) },
	{ 0 },
};

static const struct option_entry send_entries[] = {
	{ "dst", "HOST", "the receiver: name, IPv4 or IPv6 address", OPTION_TEXT(struct udp_options, dst) },
	{ "mtu", "BYTES", "size of the IP packets; larger messages are split (default: the MTU of the route)",
	  OPTION_SIZE(struct udp_options, mtu, 1, INT_MAX / 2) },
	{ "sndbuf", "BYTES", "SO_SNDBUF", OPTION_SIZE(struct udp_options, sndbuf, 1, INT_MAX / 2) },
	{ "gso", NULL, "hand up to 64 packets at once to the kernel (UDP_SEGMENT)", OPTION_FLAG(struct udp_options, gso) },
	{ 0 },
};

static const struct option_entry recv_entries[] = {
	{ "bind", "ADDRESS", "listen on this address only", OPTION_TEXT(struct udp_options, bind) },
	{ "rcvbuf", "BYTES", "SO_RCVBUF", OPTION_SIZE(struct udp_options, rcvbuf, 1, INT_MAX / 2) },
	{ "gro", NULL, "take several packets at once from the kernel (UDP_GRO)", OPTION_FLAG(struct udp_options, gro) },
	{ "busy-poll", "US", "poll the NIC's queue for so many us before sleeping (SO_BUSY_POLL, SO_PREFER_BUSY_POLL)",
	  OPTION_NUMBER(struct udp_options, busy_poll, 1, 1000000) },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "Both", stream_entries, offsetof(struct udp_options, common) },
	{ NULL, entries, 0 },
	{ "send", send_entries, 0 },
	{ "recv", recv_entries, 0 },
	{ 0 },
};
static const struct command command = { .arguments = STREAM_ARGUMENTS, .tables = tables };

void udp_set_buffer(int fd, int option, int forced_option, uint64_t bytes)
{
	int value = bytes;

	if (!bytes)
		return;
	if (setsockopt(fd, SOL_SOCKET, forced_option, &value, sizeof(value)) &&
	    setsockopt(fd, SOL_SOCKET, option, &value, sizeof(value)))
		err(1, "socket buffer of %d bytes", value);
}

int main(int argc, char **argv)
{
	struct udp_options options = { 0 };

	if (stream_parse(&command, &options, &options.common, argc, argv) < argc)
		usage_error("nothing may follow --");
	if (options.common.send && !options.dst)
		usage_error("send: --dst is missing");
	if (options.io_uring && options.busy_poll)
		usage_error("--busy-poll does not go with --io-uring: the kernel polls while recvmmsg waits");
	stop_on_signals();
	return options.common.send ? udp_send(&options) : udp_receive(&options);
}
