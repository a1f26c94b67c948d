// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * AF_PACKET with a ring (kernel: Documentation/networking/packet_mmap.rst), which bypasses the queueing discipline. Works on
 * every interface.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/cause.h"
#include "lib/clock.h"
#include "userspace/traffic/send/departure.h"
#include "userspace/traffic/streams/pacing.h"

#define FRAMES 512
#define BATCH 64
#define BLOCK_BYTES (1 << 16)
#define DATA_OFFSET (TPACKET2_HDRLEN - sizeof(struct sockaddr_ll)) /* tpacket_parse_header() */
#define QUEUE_BYTES (32 << 20) /* more than the ring can hold, so that the ring is the limit */
#define DRAIN_NS NSEC_PER_SEC

struct outlet_packets {
	int fd;
	__u8 *ring;
	uint32_t frame_bytes; /* of one slot of the ring */
	uint32_t next;	      /* index of the next slot, the kernel's next as well */
};

static struct tpacket2_hdr *place(const struct outlet_packets *p, uint32_t behind)
{
	return (void *)(p->ring + (size_t)((p->next + behind) % FRAMES) * p->frame_bytes);
}

static uint32_t status(const struct outlet_packets *p, uint32_t behind)
{
	uint32_t all = __atomic_load_n(&place(p, behind)->tp_status, __ATOMIC_ACQUIRE);

	return all & (TP_STATUS_SEND_REQUEST | TP_STATUS_SENDING | TP_STATUS_WRONG_FORMAT);
}

static void set_status(struct outlet_packets *p, uint32_t behind, uint32_t value)
{
	__atomic_store_n(&place(p, behind)->tp_status, value, __ATOMIC_RELEASE);
}

static bool fail(struct outlet *o, const char *what, int error)
{
	return outlet_refuse(o, "%s: %s: %s", o->plan->interface, what, cause_of_interface(error).text);
}

static bool map_ring(struct outlet *o, struct outlet_packets *p)
{
	struct tpacket_req ring = { .tp_block_size = BLOCK_BYTES, .tp_frame_nr = FRAMES };
	int version = TPACKET_V2;

	for (p->frame_bytes = 256; p->frame_bytes < DATA_OFFSET + o->frame_most; p->frame_bytes *= 2)
		;
	ring.tp_frame_size = p->frame_bytes;
	ring.tp_block_nr = FRAMES * p->frame_bytes / BLOCK_BYTES;
	if (setsockopt(p->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(p->fd, SOL_PACKET, PACKET_TX_RING, &ring, sizeof(ring)))
		return fail(o, "a ring of AF_PACKET", errno);
	p->ring = mmap(NULL, (size_t)FRAMES * p->frame_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	return p->ring != MAP_FAILED || fail(o, "a ring of AF_PACKET", errno);
}

static bool prepare_socket(struct outlet *o, struct outlet_packets *p)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(o->plan->interface) };
	int one = 1, room = QUEUE_BYTES;

	/* protocol 0: receive nothing */
	p->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (p->fd < 0)
		return fail(o, "a socket of AF_PACKET", errno);
	if (setsockopt(p->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)) ||
	    bind(p->fd, (struct sockaddr *)&to, sizeof(to)))
		return fail(o, "a socket of AF_PACKET", errno);
	if (setsockopt(p->fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)))
		setsockopt(p->fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	return map_ring(o, p);
}

static void release(struct outlet *o)
{
	struct outlet_packets *p = o->own;

	if (p && p->fd >= 0)
		close(p->fd);
	if (p && p->ring && p->ring != MAP_FAILED)
		munmap(p->ring, (size_t)FRAMES * p->frame_bytes);
	departure_memory_free(o->memory);
	o->memory = NULL;
	free(p);
}

static bool open_packets(struct outlet *o)
{
	struct outlet_packets *p = calloc(1, sizeof(*p));

	o->own = p;
	o->memory = departure_memory();
	if (p)
		p->fd = -1;
	if (p && o->memory && prepare_socket(o, p)) {
		pacer_precise_sleep();
		return true;
	}
	if (!p || !o->memory)
		fail(o, "AF_PACKET", ENOMEM);
	release(o);
	return false;
}

/* Fills the ring with up to `count` frames. Returns how many fitted. */
static uint32_t fill(struct outlet *o, uint32_t count)
{
	struct outlet_packets *p = o->own;
	uint32_t n;

	for (n = 0; n < count && !status(p, n); n++) {
		const struct slot *s = departure_slot(o->memory, n);

		departure_frame(o->memory, s, (__u8 *)place(p, n) + DATA_OFFSET);
		place(p, n)->tp_len = s->frame_bytes;
		set_status(p, n, TP_STATUS_SEND_REQUEST);
	}
	return n;
}

/* Takes back frames that the kernel has not taken: they are sent again from the same slot. Returns how many it has taken. */
static uint32_t take_back(struct outlet_packets *p, uint32_t count)
{
	uint32_t taken = 0;

	while (taken < count && !(status(p, taken) & (TP_STATUS_SEND_REQUEST | TP_STATUS_WRONG_FORMAT)))
		taken++;
	for (uint32_t i = taken; i < count; i++)
		set_status(p, i, TP_STATUS_AVAILABLE);
	return taken;
}

static int send_packets(struct outlet *o, uint32_t count)
{
	struct outlet_packets *p = o->own;
	uint32_t filled = fill(o, count), taken;
	int error = 0;

	if (!filled)
		poll(&(struct pollfd){ .fd = p->fd, .events = POLLOUT }, 1, 1);
	else if (send(p->fd, NULL, 0, MSG_DONTWAIT) < 0)
		error = errno;
	taken = take_back(p, filled);
	p->next = (p->next + taken) % FRAMES;
	/* ENOBUFS: the driver dropped a frame, or its queue is stopped. EAGAIN: too many frames are under way */
	if (error == ENOBUFS)
		o->retried++;
	else if (error && error != EAGAIN && error != EINTR) {
		departure_left(o->memory, taken);
		o->refused++;
		fail(o, "cannot send", error);
		return -1;
	}
	return taken;
}

static bool run(struct outlet *o)
{
	return departure_run(o, BATCH, send_packets);
}

/* Waits a limited time for the device. Returns how many frames it still holds. */
static uint32_t drain(const struct outlet_packets *p)
{
	uint64_t end = now_ns() + DRAIN_NS;
	uint32_t held;

	do {
		held = 0;
		for (uint32_t i = 0; i < FRAMES; i++)
			held += status(p, i) == TP_STATUS_SENDING;
		if (held)
			sleep_until_ns(now_ns() + NSEC_PER_MSEC);
	} while (held && now_ns() < end);
	return held;
}

static bool close_packets(struct outlet *o)
{
	uint32_t held = drain(o->own);

	if (held) {
		o->refused += held;
		snprintf(o->reason, sizeof(o->reason), "%s: %u frames are still in the device's queue: is its link up?",
			 o->plan->interface, held);
	}
	release(o);
	return !held;
}

const struct outlet_kind outlet_packet = {
	.name = "packet", .words = "AF_PACKET", .open = open_packets, .run = run, .close = close_packets,
};
