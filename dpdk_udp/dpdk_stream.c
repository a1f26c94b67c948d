// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dpdk_stream: udp_stream's messages and packets, sent and received by DPDK instead of the kernel. */
#include <arpa/inet.h>
#include <err.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dpdk_udp/dpdk_stream.h"
#include "lib/stop.h"
#include "roce/stream_header.h"

enum { OPT_SRC = OPTION_OWN, OPT_DST, OPT_DST_MAC, OPT_MTU };

#define MIN_MTU		576	/* RFC 791 */
#define MAX_MTU		9600

static const struct option own[] = {
	{ "src", required_argument, NULL, OPT_SRC },
	{ "src-ip", required_argument, NULL, OPT_SRC },
	{ "dst", required_argument, NULL, OPT_DST },
	{ "dst-ip", required_argument, NULL, OPT_DST },
	{ "dst-mac", required_argument, NULL, OPT_DST_MAC },
	{ "mtu", required_argument, NULL, OPT_MTU },
	{}
};

static const char usage[] =
	"  --mtu BYTES         of the IP packets and of the port; larger messages are split (1500)\n"
	"send:\n"
	"  --src IPV4  --dst IPV4  --dst-mac MAC    (also --src-ip, --dst-ip)\n"
	"Arguments for EAL come last, behind --. A NIC taken from the kernel, or one the kernel keeps:\n"
	"  dpdk_stream recv -- -l 0 --in-memory -m 128 -a 0000:00:03.0\n"
	"  dpdk_stream recv -- -l 0 --no-huge -m 256 --no-shconf --no-pci --vdev=net_af_packet0,iface=eth0\n";

static struct dpdk_options options = { .mtu = 1500 };

static uint32_t address(const char *name, const char *text)
{
	struct in_addr a;

	if (inet_pton(AF_INET, text, &a) != 1)
		usage_error("--%s %s: not an IPv4 address", name, text);
	return a.s_addr;
}

static void take(int value, const char *text)
{
	switch (value) {
	case OPT_SRC:
		options.src = address("src", text);
		break;
	case OPT_DST:
		options.dst = address("dst", text);
		break;
	case OPT_DST_MAC:
		if (rte_ether_unformat_addr(text, &options.dst_mac))
			usage_error("--dst-mac %s: not a MAC address", text);
		break;
	case OPT_MTU:
		if (!parse_size(text, &options.mtu) || options.mtu < MIN_MTU || options.mtu > MAX_MTU)
			usage_error("--mtu %s: not a number from %d to %d", text, MIN_MTU, MAX_MTU);
		break;
	}
}

static void require_addresses(void)
{
	if (!options.src || !options.dst)
		usage_error("send: --src and --dst are missing");
	if (rte_is_zero_ether_addr(&options.dst_mac))
		usage_error("send: --dst-mac is missing: DPDK has no ARP");
}

/*
 * EAL wants a program name in front of its arguments; ours are behind `--`, whose place is just right. What EAL
 * says goes to stderr: stdout is for the report.
 */
static void start_eal(int first, int argc, char **argv)
{
	char **eal = first < argc ? &argv[first - 1] : (char *[]){ NULL, NULL };
	int count = first < argc ? argc - first + 1 : 1, output;

	eal[0] = argv[0];
	output = dup(STDOUT_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	if (rte_eal_init(count, eal) < 0)
		errx(1, "EAL does not start: %s (hugepages? or behind --: --no-huge -m 256)", rte_strerror(rte_errno));
	fflush(stdout);
	dup2(output, STDOUT_FILENO);
	close(output);
}

int main(int argc, char **argv)
{
	static const struct stream_program program = {
		.usage = usage, .own = own, .take = take, .port = STREAM_UDP_PORT,
	};
	int first = options_parse(&options.common, &program, argc, argv), status;
	struct dpdk_port port;

	if (options.common.send)
		require_addresses();
	start_eal(first, argc, argv);
	stop_on_signals();
	dpdk_port_start(&port, &options);
	status = options.common.send ? dpdk_send(&port, &options) : dpdk_receive(&port, &options);
	dpdk_port_stop(&port);
	rte_eal_cleanup();
	return status;
}
