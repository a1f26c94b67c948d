// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "lib/ethtool.h"
#include "lib/machine.h"
#include "lib/netdev.h"
#include "lib/shell.h"
#include "userspace/traffic/receive/transmit.h"

#define FRAMES 16
#define FRAME_BYTES 60
#define EXPERIMENTAL 0x88b5 /* EtherType for local experiments (IEEE 802) */

/* A program that sends each frame back. */
static int load(void)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options);
	const struct bpf_insn back[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_TX },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_XDP, "probe", "GPL", back, sizeof(back) / sizeof(*back), &options);
}

/* Live frames: the kernel takes XDP_TX of them as a redirection to the same device (net/bpf/test_run.c). */
static bool send_frames(int program, unsigned int ifindex, const char *interface)
{
	__u8 frame[FRAME_BYTES] = { [12] = EXPERIMENTAL >> 8, [13] = EXPERIMENTAL & 0xff };
	struct xdp_md context = { .data_end = sizeof(frame), .ingress_ifindex = ifindex };
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = sizeof(frame), .ctx_in = &context,
		    .ctx_size_in = sizeof(context), .repeat = FRAMES, .flags = BPF_F_TEST_XDP_LIVE_FRAMES);

	if (!machine_mac(interface, frame))
		return false;
	memcpy(frame + 6, frame, 6);
	return !bpf_prog_test_run_opts(program, &run);
}

static bool are_lost(const char *interface, unsigned int ifindex)
{
	struct netdev_counters before, after;
	int program = load();
	bool sent;

	sent = program >= 0 && netdev_counters(ifindex, &before) && send_frames(program, ifindex, interface) &&
	       netdev_counters(ifindex, &after);
	if (program >= 0)
		close(program);
	return sent && after.dropped + after.errors - before.dropped - before.errors >= FRAMES;
}

bool transmit_probe(const char *interface, char why[TRANSMIT_TEXT])
{
	unsigned int ifindex = if_nametoindex(interface);
	bool veth = netdev_is_veth(ifindex);
	uint64_t features;

	/* from 6.3 on the kernel says what a veth's other end takes, and drops the frames before any counter sees them */
	if (!(veth && netdev_features(ifindex, &features) && !(features & NETDEV_NDO_XMIT)) && !are_lost(interface, ifindex))
		return true;
	if (veth)
		snprintf(why, TRANSMIT_TEXT, "answers are lost on the way out of %s: on veth the peer needs NAPI: `ethtool -K PEER "
			 "gro on`", interface);
	else
		snprintf(why, TRANSMIT_TEXT, "answers are lost on the way out of %s: its driver sends nothing by XDP (`ethtool -S "
			 "%s`); --mode generic may do", interface, shell_name(interface).text);
	return false;
}

/* rx_queue_0_drops: also the frames that veth could not redirect (veth_xdp_rcv_skb(), drivers/net/veth.c). */
static void add_veth_drop(void *context, const char *name, uint64_t value)
{
	__u64 *sum = context;

	if (!strncmp(name, "rx_queue_", strlen("rx_queue_")) && strstr(name, "_drops") && !strstr(name, "_xdp_"))
		*sum += value;
}

__u64 transmit_errors(const char *interface)
{
	unsigned int ifindex = if_nametoindex(interface);
	struct netdev_counters c = { 0 };
	__u64 lost;

	netdev_counters(ifindex, &c);
	lost = c.dropped; /* in generic mode that of the stack: the device's queue was full (generic_xdp_tx(), net/core/dev.c) */
	if (netdev_is_veth(ifindex))
		ethtool_statistics(interface, add_veth_drop, &lost);
	return lost;
}
