// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "roce/parse.h"
#include "userspace/live/overhear.h"

#define ROOM 16384 /* bytes of a frame */

void overhear_begin(struct overhear *o, const struct live_options *options)
{
	o->count = 0;
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
