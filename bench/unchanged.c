// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * unchanged packet|xdp IFACE PAYLOAD SECONDS CPU
 *
 * Sends one packet again and again, by AF_PACKET or AF_XDP. Uses the options and steps of the sender's outlets of those names
 * (userspace/traffic/send/outlet_packet.c, userspace/traffic/send/outlet_xdp.c), but writes the packet only once. Prints { "packets", "seconds"
 * } of what the kernel took. It trusts its arguments, because only the bench calls it.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <xdp/xsk.h>

#include "bench/frame.h"
#include "bench/pin.h"
#include "lib/clock.h"

#define BATCH 64
#define PLACES 512
#define PLACE_DATA (TPACKET2_HDRLEN - sizeof(struct sockaddr_ll))
#define BLOCK_BYTES (1 << 16)
#define QUEUE_BYTES (32 << 20)

#define CHUNKS 2048
#define CHUNK_BYTES 4096
#define USE_SG (1 << 4)	   /* XDP_USE_SG of Linux 6.6 */
#define PKT_CONTD (1 << 0) /* XDP_PKT_CONTD */

static struct bench_frame frame;

static void die(const char *what, int error)
{
	fprintf(stderr, "bench: %s: %s\n", what, error == EPERM ? "no permission: run as root" : strerror(error));
	exit(1);
}

static void report(__u64 packets, __u64 start)
{
	printf("{\"packets\": %llu, \"seconds\": %.6f}\n", packets, (now_ns() - start) / 1e9);
}

/* ---- AF_PACKET ---- */

struct unchanged_packets {
	int fd;
	__u8 *ring;
	__u32 bytes; /* of one slot */
	__u32 next;
};

static struct tpacket2_hdr *place(const struct unchanged_packets *p, __u32 behind)
{
	return (void *)(p->ring + (size_t)((p->next + behind) % PLACES) * p->bytes);
}

static __u32 status(const struct unchanged_packets *p, __u32 behind)
{
	return __atomic_load_n(&place(p, behind)->tp_status, __ATOMIC_ACQUIRE) &
	       (TP_STATUS_SEND_REQUEST | TP_STATUS_SENDING | TP_STATUS_WRONG_FORMAT);
}

static void set_status(struct unchanged_packets *p, __u32 behind, __u32 value)
{
	__atomic_store_n(&place(p, behind)->tp_status, value, __ATOMIC_RELEASE);
}

static void open_packets(struct unchanged_packets *p, const char *interface)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(interface) };
	struct tpacket_req ring = { .tp_block_size = BLOCK_BYTES, .tp_frame_nr = PLACES };
	int version = TPACKET_V2, one = 1, room = QUEUE_BYTES;

	for (p->bytes = 256; p->bytes < PLACE_DATA + frame.length; p->bytes *= 2)
		;
	ring.tp_frame_size = p->bytes;
	ring.tp_block_nr = PLACES * p->bytes / BLOCK_BYTES;
	p->fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (p->fd < 0 || setsockopt(p->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)) ||
	    bind(p->fd, (struct sockaddr *)&to, sizeof(to)) ||
	    setsockopt(p->fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)) ||
	    setsockopt(p->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(p->fd, SOL_PACKET, PACKET_TX_RING, &ring, sizeof(ring)))
		die("AF_PACKET", errno);
	p->ring = mmap(NULL, (size_t)PLACES * p->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (p->ring == MAP_FAILED)
		die("AF_PACKET", errno);
	for (__u32 i = 0; i < PLACES; i++) {
		memcpy((__u8 *)place(p, i) + PLACE_DATA, frame.bytes, frame.length);
		place(p, i)->tp_len = frame.length;
	}
}

/* Returns how many of a batch the kernel took. Takes the others back. */
static __u32 send_batch(struct unchanged_packets *p)
{
	__u32 filled = 0, taken = 0;

	while (filled < BATCH && !status(p, filled))
		set_status(p, filled++, TP_STATUS_SEND_REQUEST);
	if (!filled)
		poll(&(struct pollfd){ .fd = p->fd, .events = POLLOUT }, 1, 1);
	else if (send(p->fd, NULL, 0, MSG_DONTWAIT) < 0 && errno != ENOBUFS && errno != EAGAIN)
		die("AF_PACKET", errno);
	while (taken < filled && !(status(p, taken) & (TP_STATUS_SEND_REQUEST | TP_STATUS_WRONG_FORMAT)))
		taken++;
	for (__u32 i = taken; i < filled; i++)
		set_status(p, i, TP_STATUS_AVAILABLE);
	p->next = (p->next + taken) % PLACES;
	return taken;
}

static void send_by_packet(const char *interface, double seconds)
{
	struct unchanged_packets p = { 0 };
	__u64 packets = 0, start;

	open_packets(&p, interface);
	start = now_ns();
	while (now_ns() < start + seconds_to_ns(seconds))
		packets += send_batch(&p);
	report(packets, start);
}

/* ---- AF_XDP with a copy: all frames are the same one in memory ---- */

struct unchanged_xdp {
	__u8 *area;
	struct xsk_umem *umem;
	struct xsk_socket *socket;
	struct xsk_ring_prod fill, tx;
	struct xsk_ring_cons completion;
};

static void open_xdp(struct unchanged_xdp *x, const char *interface)
{
	const struct xsk_umem_config memory = { .fill_size = 64, .comp_size = CHUNKS, .frame_size = CHUNK_BYTES };
	const struct xsk_socket_config config = {
		.tx_size = CHUNKS, .libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_USE_NEED_WAKEUP | XDP_COPY | (frame.length > CHUNK_BYTES ? USE_SG : 0),
	};
	int error;

	x->area = mmap(NULL, CHUNKS * CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (x->area == MAP_FAILED)
		die("AF_XDP", errno);
	/* a closed socket holds the queue a little longer (xp_release_deferred()) */
	for (int tries = 0; tries < 50; tries++) {
		error = -xsk_umem__create(&x->umem, x->area, CHUNKS * CHUNK_BYTES, &x->fill, &x->completion, &memory);
		if (error)
			break;
		error = -xsk_socket__create(&x->socket, interface, 0, x->umem, NULL, &x->tx, &config);
		if (error != EBUSY)
			break;
		xsk_umem__delete(x->umem);
		sleep_until_ns(now_ns() + NSEC_PER_SEC / 50);
	}
	if (error)
		die("AF_XDP", error);
	memcpy(x->area, frame.bytes, frame.length);
}

static bool put(struct unchanged_xdp *x)
{
	__u32 pieces = (frame.length + CHUNK_BYTES - 1) / CHUNK_BYTES, at, done;

	done = xsk_ring_cons__peek(&x->completion, CHUNKS, &at);
	xsk_ring_cons__release(&x->completion, done);
	if (!xsk_ring_prod__reserve(&x->tx, pieces, &at))
		return false;
	for (__u32 i = 0; i < pieces; i++) {
		__u32 rest = frame.length - i * CHUNK_BYTES;

		*xsk_ring_prod__tx_desc(&x->tx, at + i) = (struct xdp_desc){
			.addr = i * CHUNK_BYTES, .len = rest < CHUNK_BYTES ? rest : CHUNK_BYTES,
			.options = i + 1 < pieces ? PKT_CONTD : 0,
		};
	}
	xsk_ring_prod__submit(&x->tx, pieces);
	return true;
}

static void send_by_xdp(const char *interface, double seconds)
{
	struct unchanged_xdp x = { 0 };
	__u64 packets = 0, start;
	bool offered = false;

	open_xdp(&x, interface);
	start = now_ns();
	while (now_ns() < start + seconds_to_ns(seconds)) {
		int error = 0;

		if (!offered && !put(&x))
			continue;
		if (sendto(xsk_socket__fd(x.socket), NULL, 0, MSG_DONTWAIT, NULL, 0) < 0)
			error = errno;
		offered = error == EAGAIN || error == ENOBUFS;
		if (error && !offered && error != EBUSY) /* EBUSY: the driver dropped it */
			die("AF_XDP", error);
		packets += !error;
	}
	report(packets, start);
	xsk_socket__delete(x.socket);
	xsk_umem__delete(x.umem);
}

int main(int argc, char **argv)
{
	bool packet = argc == 6 && !strcmp(argv[1], "packet"), xdp = argc == 6 && !strcmp(argv[1], "xdp");

	if (!packet && !xdp)
		return fprintf(stderr, "usage: unchanged packet|xdp IFACE PAYLOAD SECONDS CPU\n"), 2;
	frame_make(&frame, FRAME_UC, atoi(argv[3]));
	if (!pin(atoi(argv[5])))
		die("CPU", errno);
	(packet ? send_by_packet : send_by_xdp)(argv[2], atof(argv[4]));
	return 0;
}
