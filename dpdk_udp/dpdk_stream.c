// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dpdk_stream: sends and receives udp_stream's messages and packets by DPDK instead of the kernel. */
#include <err.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <stdio.h>
#include <unistd.h>

#include "dpdk_udp/dpdk_stream.h"
#include "lib/stop.h"

#define MIN_MTU		576	/* RFC 791 */
#define MAX_MTU		9600

static const struct option_entry entries[] = {
	{ "mtu", "BYTES", "size of the IP packets, and MTU of the port; larger messages are split",
	  OPTION_SIZE(struct dpdk_options, mtu, MIN_MTU, MAX_MTU), .usual = "1500" },
	{ 0 },
};

static const struct option_entry send_entries[] = {
	{ "src", "IPV4", "the sender", OPTION_ADDRESS(struct dpdk_options, src) },
	{ "dst", "IPV4", "the receiver", OPTION_ADDRESS(struct dpdk_options, dst) },
	{ "dst-mac", "MAC", "Ethernet address of the receiver, or of the router to it",
	  OPTION_MAC(struct dpdk_options, dst_mac) },
	{ "src-ip", "IPV4", "as --src", OPTION_ADDRESS(struct dpdk_options, src), .hidden = true },
	{ "dst-ip", "IPV4", "as --dst", OPTION_ADDRESS(struct dpdk_options, dst), .hidden = true },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "Both", stream_entries, offsetof(struct dpdk_options, common) },
	{ NULL, entries, 0 },
	{ "send", send_entries, 0 },
	{ 0 },
};

static const struct command command = {
	.arguments = STREAM_ARGUMENTS " [-- EAL-ARGUMENTS]",
	.prose = "Arguments for DPDK's EAL come last, behind --.",
	.tables = tables,
	.examples =
		"  # a NIC that was taken from the kernel\n"
		"  dpdk_stream recv -- -l 0 --in-memory -m 128 -a 0000:00:03.0\n"
		"  # a NIC that the kernel keeps\n"
		"  dpdk_stream recv -- -l 0 --no-huge -m 256 --no-shconf --no-pci --vdev=net_af_packet0,iface=eth0\n",
};

static struct dpdk_options options;

static void require_addresses(void)
{
	if (!options.src || !options.dst)
		usage_error("send: --src and --dst are missing");
	if (rte_is_zero_ether_addr(&options.dst_mac))
		usage_error("send: --dst-mac is missing: DPDK has no ARP");
}

/*
 * EAL expects a program name before its arguments. Ours follow `--`, so that word serves as the name. EAL's output goes to
 * stderr: stdout is for the report.
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
	int first = stream_parse(&command, &options, &options.common, argc, argv), status;
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
