// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp_stream: sends and receives udp_stream's messages and packets by AF_XDP sockets, past the kernel's UDP and IP. */
#include <err.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stop.h"
#include "userspace/traffic/streams/xdp_stream/xdp_stream.h"

#define MIN_MTU		576	/* RFC 791 */
#define MAX_MTU		9600

static void take_ring(struct option_parser *p, const struct option_entry *e, const char *text)
{
	uint64_t *ring = option_member(p, e);
	char *end;

	*ring = strtoull(text, &end, 10);
	if (*end || *ring < 64 || *ring > 16384 || *ring & (*ring - 1))
		option_wrong(p, e, text, "not a power of two, 64 to 16384");
}

static const struct option_entry entries[] = {
	{ "interface", "NAME", "of the NIC", OPTION_TEXT(struct xdp_stream_options, interface) },
	{ "mtu", "BYTES", "size of the IP packets; larger messages are split",
	  OPTION_SIZE(struct xdp_stream_options, mtu, MIN_MTU, MAX_MTU), .usual = "1500" },
	{ "ring", "N", "descriptors of each ring; a large frame takes several",
	  .take = take_ring, OPTION_AT(struct xdp_stream_options, ring), .usual = "2048" },
	{ "check", NULL, "only say whether it would start, by exit status", OPTION_FLAG(struct xdp_stream_options, check) },
	{ 0 },
};

static const struct option_entry send_entries[] = {
	{ "src", "IPV4", "the sender", OPTION_ADDRESS(struct xdp_stream_options, src) },
	{ "dst", "IPV4", "the receiver", OPTION_ADDRESS(struct xdp_stream_options, dst) },
	{ "dst-mac", "MAC", "Ethernet address of the receiver, or of the router to it",
	  OPTION_MAC(struct xdp_stream_options, dst_mac) },
	{ "queue", "N", "of the NIC", OPTION_NUMBER(struct xdp_stream_options, queue, 0, 255) },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "Both", stream_entries, offsetof(struct xdp_stream_options, common) },
	{ NULL, entries, 0 },
	{ "send", send_entries, 0 },
	{ 0 },
};

static const struct command command = {
	.arguments = STREAM_ARGUMENTS,
	.prose = "The receiver has a socket on each receive queue of the NIC, and takes the datagrams to its port only. "
		 "Everything else goes on to the kernel.",
	.tables = tables,
	.examples =
		"  xdp_stream recv --interface eth0\n"
		"  xdp_stream send --interface eth0 --src 10.0.0.1 --dst 10.0.0.2 --dst-mac 52:54:00:00:00:02\n",
};

void xdp_stream_open(struct xdp_socket *socket, struct xdp_socket_plan *plan, const struct xdp_stream_options *o,
		     uint32_t most)
{
	int error = xdp_socket_open(socket, plan);

	if (error == EINVAL && plan->several) {
		plan->several = false;
		error = xdp_socket_open(socket, plan);
		if (!error && FRAME_BYTES(o->mtu) > most)
			errx(1, "%s: before Linux 6.6 AF_XDP has frames of one buffer only: --mtu %zu at most", o->interface,
			     most - sizeof(struct ether_header));
	}
	if (error)
		errx(1, "%s, queue %u: AF_XDP: %s", o->interface, plan->queue,
		     error == EINVAL ? "there is no such queue" : xdp_socket_error(error));
}

static void require_addresses(const struct xdp_stream_options *o)
{
	static const struct ether_addr none;

	if (!o->src || !o->dst)
		usage_error("send: --src and --dst are missing");
	if (!memcmp(&o->dst_mac, &none, sizeof(none)))
		usage_error("send: --dst-mac is missing: AF_XDP has no ARP");
}

int main(int argc, char **argv)
{
	struct xdp_stream_options options = { 0 };

	if (stream_parse(&command, &options, &options.common, argc, argv) < argc)
		usage_error("nothing may follow --");
	if (!options.interface)
		usage_error("--interface is missing");
	if (options.common.ping_pong)
		usage_error("--ping-pong: xdp_stream neither answers messages nor waits for answers");
	if (options.common.send && !options.check)
		require_addresses(&options);
	if (!if_nametoindex(options.interface))
		errx(1, "%s: no such interface", options.interface);
	stop_on_signals();
	return options.common.send ? xdp_stream_send(&options) : xdp_stream_receive(&options);
}
