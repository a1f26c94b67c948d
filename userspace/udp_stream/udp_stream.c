// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* udp_stream: a stream of messages over kernel UDP, with packets and messages numbered. */
#include <err.h>
#include <limits.h>
#include <sys/socket.h>

#include "lib/stop.h"
#include "roce/stream_header.h"
#include "userspace/udp_stream/udp_stream.h"

enum { OPT_DST = OPTION_OWN, OPT_BIND, OPT_MTU, OPT_SNDBUF, OPT_RCVBUF, OPT_GSO, OPT_GRO };

static const struct option own[] = {
	{ "dst", required_argument, NULL, OPT_DST },
	{ "bind", required_argument, NULL, OPT_BIND },
	{ "mtu", required_argument, NULL, OPT_MTU },
	{ "sndbuf", required_argument, NULL, OPT_SNDBUF },
	{ "rcvbuf", required_argument, NULL, OPT_RCVBUF },
	{ "gso", no_argument, NULL, OPT_GSO },
	{ "gro", no_argument, NULL, OPT_GRO },
	{}
};

static const char usage[] =
	"send:\n"
	"  --dst HOST          whom to send to: name, IPv4 or IPv6 address\n"
	"  --mtu BYTES         of the IP packets; larger messages are split         (the route's)\n"
	"  --sndbuf BYTES      SO_SNDBUF\n"
	"  --gso               hand up to 64 packets at once to the kernel (UDP_SEGMENT)\n"
	"recv:\n"
	"  --bind ADDRESS      listen there only                                    (everywhere)\n"
	"  --rcvbuf BYTES      SO_RCVBUF\n"
	"  --gro               take several packets at once from the kernel (UDP_GRO)\n";

static struct udp_options options;

static uint64_t size(const char *name, const char *text)
{
	uint64_t bytes;

	if (!parse_size(text, &bytes) || bytes > INT_MAX / 2)
		usage_error("--%s %s: not a size in bytes", name, text);
	return bytes;
}

static void take(int value, const char *text)
{
	switch (value) {
	case OPT_DST:
		options.dst = text;
		break;
	case OPT_BIND:
		options.bind = text;
		break;
	case OPT_MTU:
		options.mtu = size("mtu", text);
		break;
	case OPT_SNDBUF:
		options.sndbuf = size("sndbuf", text);
		break;
	case OPT_RCVBUF:
		options.rcvbuf = size("rcvbuf", text);
		break;
	case OPT_GSO:
		options.gso = true;
		break;
	case OPT_GRO:
		options.gro = true;
		break;
	}
}

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
	static const struct stream_program program = {
		.usage = usage, .own = own, .take = take, .port = STREAM_UDP_PORT,
	};

	if (options_parse(&options.common, &program, argc, argv) < argc)
		usage_error("nothing may follow --");
	if (options.common.send && !options.dst)
		usage_error("send: --dst is missing");
	stop_on_signals();
	return options.common.send ? udp_send(&options) : udp_receive(&options);
}
