// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "roce/packet/parse.h"
#include "userspace/observe/live/overhear.h"

#define ROOM 16384 /* bytes of a frame */

void overhear_begin(struct overhear *o, const struct live_options *options)
{
	o->count = 0;
	o->narrow = false;
	for (size_t i = 0; i < options->interface_count; i++) {
		const struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
						.sll_ifindex = if_nametoindex(options->interface[i]) };
		int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

		if (fd < 0)
			continue;
		if (!at.sll_ifindex || bind(fd, (const struct sockaddr *)&at, sizeof(at)))
			close(fd);
		else
			o->fd[o->count++] = fd;
	}
}

void overhear_narrow(struct overhear *o)
{
	/* a packet socket's frames have no VLAN tag (packet(7)); IPv4 with its options, IPv6 without extension headers */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, WIRE_ETH_LEN - 2),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, WIRE_ETHERTYPE_IPV4, 0, 6),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, WIRE_ETH_LEN + 9),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 10),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, WIRE_ETH_LEN + 6),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x1fff, 8, 0), /* fragments but the first */
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, WIRE_ETH_LEN),
		BPF_JUMP(BPF_JMP | BPF_JA, 4, 0, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, WIRE_ETHERTYPE_IPV6, 0, 5),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, WIRE_ETH_LEN + 6),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 3),
		BPF_STMT(BPF_LDX | BPF_IMM, WIRE_IPV6_LEN),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, WIRE_ETH_LEN + 2), /* UDP's destination port */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, WIRE_ROCEV2_PORT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, ~0u),
	};
	const struct sock_fprog program = { .len = ROCE_ARRAY_SIZE(code), .filter = code };

	for (size_t i = 0; !o->narrow && i < o->count; i++)
		if (setsockopt(o->fd[i], SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program))) {
			overhear_end(o); /* copies of every packet would cost too much */
			break;
		}
	o->narrow = true;
}

static void read_some(int fd, void (*see)(void *context, const __u8 *bytes, __u32 captured, __u32 length), void *context)
{
	__u8 bytes[ROOM + ROCE_WINDOW_BYTES];

	for (int i = 0; i < OVERHEAR_TURN; i++) {
		struct sockaddr_ll from;
		socklen_t size = sizeof(from);
		ssize_t length = recvfrom(fd, bytes, ROOM, MSG_TRUNC, (struct sockaddr *)&from, &size);

		if (length <= 0)
			return;
		if (from.sll_pkttype != PACKET_OUTGOING)
			see(context, bytes, length < ROOM ? length : ROOM, length);
	}
}

void overhear_read(struct overhear *o, void (*see)(void *context, const __u8 *bytes, __u32 captured, __u32 length), void *context)
{
	for (size_t i = 0; i < o->count; i++)
		read_some(o->fd[i], see, context);
}

void overhear_end(struct overhear *o)
{
	for (size_t i = 0; i < o->count; i++)
		close(o->fd[i]);
	o->count = 0;
}
