// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * DPDK's drivers over the kernel's sockets do not report all that these dropped: net_af_packet nothing of it, net_af_xdp
 * (22.11) not the packets that found the receive ring full. The sockets are in this process, and say it themselves.
 */
#include <dirent.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "dpdk_udp/dpdk_stream.h"

/* Calls `see` with each socket of this process that has this family. Returns how many there are. */
static int each_socket(int family, void (*see)(int fd, void *context), void *context)
{
	DIR *all = opendir("/proc/self/fd");
	struct dirent *entry;
	int count = 0;

	while (all && (entry = readdir(all))) {
		int fd = atoi(entry->d_name), domain;
		socklen_t size = sizeof(domain);

		if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) || domain != family)
			continue;
		see(fd, context);
		count++;
	}
	if (all)
		closedir(all);
	return count;
}

/* Reading begins the kernel's count anew. */
static void add_packet_drops(int fd, void *sum)
{
	struct tpacket_stats s;
	socklen_t size = sizeof(s);

	if (!getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &s, &size))
		*(uint64_t *)sum += s.tp_drops;
}

static void add_ring_full(int fd, void *sum)
{
	struct xdp_statistics s = {};
	socklen_t size = sizeof(s);

	if (!getsockopt(fd, SOL_XDP, XDP_STATISTICS, &s, &size))
		*(uint64_t *)sum += s.rx_ring_full;
}

static void attach_filter(int fd, void *filter)
{
	setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, filter, sizeof(struct sock_fprog));
}

/* IPv4 without fragments, UDP, this destination port. Offsets are those of an Ethernet frame. */
static void filter_port(uint16_t port)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 8),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, ETH_HLEN + 6),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x3fff, 6, 0),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ETH_HLEN + 9),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 4),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, ETH_HLEN),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, ETH_HLEN + 2),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, port, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog filter = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	each_socket(AF_PACKET, attach_filter, &filter);
}

void dpdk_sockets_begin(struct dpdk_sockets *s, uint16_t port)
{
	filter_port(port);
	*s = (struct dpdk_sockets){};
	each_socket(AF_PACKET, add_packet_drops, &s->packet_drops);
	s->packet_drops = 0;
	each_socket(AF_XDP, add_ring_full, &s->ring_full);
}

void dpdk_sockets_report(const struct dpdk_sockets *before, struct stream_report *report)
{
	struct dpdk_sockets now = {};

	if (each_socket(AF_PACKET, add_packet_drops, &now.packet_drops))
		report_drop(report, "packet_ring", now.packet_drops);
	if (each_socket(AF_XDP, add_ring_full, &now.ring_full))
		report_drop(report, "rx_ring_full", now.ring_full - before->ring_full);
}
