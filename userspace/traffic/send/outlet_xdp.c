// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * AF_XDP, sending only (kernel: Documentation/networking/af_xdp.rst). Without zero-copy the kernel copies each frame and
 * reports at once whether the driver took it. Frames are then handed over one by one: after -EBUSY for several it would be
 * unknown which one was dropped (net/xdp/xsk.c, __xsk_generic_xmit()).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "userspace/traffic/send/departure.h"
#include "userspace/traffic/streams/pacing.h"
#include "userspace/traffic/streams/xdp_socket.h"

#define CHUNKS 2048
#define BATCH 64
#define DRAIN_NS NSEC_PER_SEC

struct outlet_xdp {
	struct xdp_socket socket;
	__u64 chunk[CHUNKS]; /* the free chunks, `chunks` of them */
	uint32_t chunks;
	bool offered; /* without zero-copy: the oldest slot is in the ring, and the kernel has not taken it yet */
	__u8 frame[CELL_BYTES];
};

static bool fail(struct outlet *o, const char *what, int error)
{
	return outlet_refuse(o, "%s: %s: %s", o->plan->interface, what, xdp_socket_error(error));
}

static void release(struct outlet *o)
{
	struct outlet_xdp *x = o->own;

	if (x)
		xdp_socket_close(&x->socket);
	departure_memory_free(o->memory);
	o->memory = NULL;
	free(x);
}

static bool prepare(struct outlet *o, struct outlet_xdp *x)
{
	const struct xdp_socket_plan plan = { .interface = o->plan->interface, .chunks = CHUNKS, .transmit = CHUNKS,
					      .several = o->frame_most > XDP_CHUNK_BYTES };
	int error;

	if (!x || !o->memory)
		return fail(o, "AF_XDP", ENOMEM);
	error = xdp_socket_open(&x->socket, &plan);
	if (error == EINVAL && plan.several)
		return outlet_refuse(o, "%s: AF_XDP takes frames of more than %d bytes from Linux 6.6 on, and the longest has %u",
				     o->plan->interface, XDP_CHUNK_BYTES, o->frame_most);
	if (error)
		return fail(o, "AF_XDP", error);
	for (x->chunks = 0; x->chunks < CHUNKS; x->chunks++)
		x->chunk[x->chunks] = x->chunks * XDP_CHUNK_BYTES;
	if (x->socket.zerocopy || o->plan->out != OUT_AUTO)
		return true;
	return outlet_refuse(o, "%s: its driver has no zero-copy", o->plan->interface);
}

static bool open_xdp(struct outlet *o)
{
	o->own = calloc(1, sizeof(struct outlet_xdp));
	o->memory = departure_memory();
	if (prepare(o, o->own)) {
		pacer_precise_sleep();
		return true;
	}
	release(o);
	return false;
}

/* Frees the chunks of frames that have left. */
static void collect(struct outlet_xdp *x)
{
	__u32 at, count = xsk_ring_cons__peek(&x->socket.completion, CHUNKS, &at);

	for (__u32 i = 0; i < count; i++)
		x->chunk[x->chunks++] = *xsk_ring_cons__comp_addr(&x->socket.completion, at + i);
	xsk_ring_cons__release(&x->socket.completion, count);
}

/* Puts the frame into as many chunks as it needs. false: not enough free chunks. */
static bool put(struct outlet_xdp *x, const struct send_memory *m, const struct slot *s)
{
	__u32 pieces = (s->frame_bytes + XDP_CHUNK_BYTES - 1) / XDP_CHUNK_BYTES, at, done = 0;

	/* without zero-copy the chunks are free at once, and still in the cache */
	if (x->chunks < pieces || !x->socket.zerocopy)
		collect(x);
	if (x->chunks < pieces || !xsk_ring_prod__reserve(&x->socket.tx, pieces, &at))
		return false;
	if (pieces > 1)
		departure_frame(m, s, x->frame);
	for (__u32 i = 0; i < pieces; i++) {
		struct xdp_desc *d = xsk_ring_prod__tx_desc(&x->socket.tx, at + i);

		d->addr = x->chunk[--x->chunks];
		d->len = s->frame_bytes - done < XDP_CHUNK_BYTES ? s->frame_bytes - done : XDP_CHUNK_BYTES;
		d->options = i + 1 < pieces ? XDP_CONTINUES : 0;
		if (pieces > 1)
			memcpy(x->socket.area + d->addr, x->frame + done, d->len);
		else
			departure_frame(m, s, x->socket.area + d->addr);
		done += d->len;
	}
	xsk_ring_prod__submit(&x->socket.tx, pieces);
	return true;
}

/* The kernel's answer says whether it has taken the frame. */
static int send_copied(struct outlet *o)
{
	struct outlet_xdp *x = o->own;
	int error;

	if (!x->offered && !put(x, o->memory, departure_slot(o->memory, 0)))
		return 0;
	error = xdp_socket_kick(&x->socket);
	/* EAGAIN, ENOBUFS: still in the ring; EBUSY: the driver dropped it (veth_xmit(): the peer's queue is full) */
	x->offered = error == EAGAIN || error == ENOBUFS || error == EINTR;
	o->retried += error == EBUSY;
	if (!error)
		return 1;
	if (x->offered || error == EBUSY)
		return 0;
	o->refused++;
	fail(o, "cannot send", error);
	return -1;
}

/* The driver fetches the frames without help. close_xdp() waits until they have left. */
static int send_zerocopy(struct outlet *o, uint32_t count)
{
	struct outlet_xdp *x = o->own;
	uint32_t n = 0;
	int error;

	while (n < count && put(x, o->memory, departure_slot(o->memory, n)))
		n++;
	error = !n || xsk_ring_prod__needs_wakeup(&x->socket.tx) ? xdp_socket_kick(&x->socket) : 0;
	if (!error || error == EAGAIN || error == ENOBUFS || error == EBUSY || error == EINTR)
		return n;
	departure_left(o->memory, n);
	fail(o, "cannot send", error);
	return -1;
}

static int send_xdp(struct outlet *o, uint32_t count)
{
	const struct outlet_xdp *x = o->own;

	return x->socket.zerocopy ? send_zerocopy(o, count) : send_copied(o);
}

static bool run(struct outlet *o)
{
	return departure_run(o, BATCH, send_xdp);
}

/* Waits a limited time for the device. Returns how many chunks it still holds. */
static uint32_t drain(struct outlet_xdp *x)
{
	uint64_t end = now_ns() + DRAIN_NS;

	for (collect(x); x->chunks < CHUNKS && now_ns() < end; collect(x)) {
		if (xdp_socket_kick(&x->socket))
			sleep_until_ns(now_ns() + NSEC_PER_MSEC);
	}
	return CHUNKS - x->chunks;
}

static bool close_xdp(struct outlet *o)
{
	struct outlet_xdp *x = o->own;
	uint64_t held = drain(x), invalid = xdp_socket_statistics(&x->socket).tx_invalid_descs;

	if (held)
		snprintf(o->reason, sizeof(o->reason), "%s: %llu buffers are still in the device's queue: is its link up?",
			 o->plan->interface, (unsigned long long)held);
	else if (invalid)
		snprintf(o->reason, sizeof(o->reason), "%s: the kernel refused %llu descriptors of AF_XDP", o->plan->interface,
			 (unsigned long long)invalid);
	o->refused += held + invalid;
	release(o);
	return !held && !invalid;
}

const struct outlet_kind outlet_xdp = {
	.name = "xdp", .words = "AF_XDP", .open = open_xdp, .run = run, .close = close_xdp,
};
