// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * AF_XDP, sending only (kernel: Documentation/networking/af_xdp.rst). Without zero-copy the kernel copies each frame and
 * reports at once whether the driver took it. Frames are then handed over one by one: after -EBUSY for several it would be
 * unknown which one was dropped (net/xdp/xsk.c, __xsk_generic_xmit()).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <xdp/xsk.h>

#include "lib/clock.h"
#include "lib/pacing.h"
#include "userspace/send/departure.h"

/* include/uapi/linux/if_xdp.h of Linux 6.6, for frames of several buffers. Debian 12's headers do not have it. */
#define USE_SG (1 << 4)	  /* XDP_USE_SG */
#define PKT_CONTD (1 << 0) /* XDP_PKT_CONTD: the frame continues in the next descriptor */

#define CHUNKS 2048
#define CHUNK_BYTES 4096
#define BATCH 64
#define DRAIN_NS NSEC_PER_SEC
#define OPEN_NS NSEC_PER_SEC /* a closed socket holds its queue a little longer (xp_release_deferred()) */

struct xdp {
	__u8 *area; /* CHUNKS of CHUNK_BYTES */
	struct xsk_umem *umem;
	struct xsk_socket *socket;
	struct xsk_ring_prod fill, tx; /* the kernel requires a fill ring; it stays empty */
	struct xsk_ring_cons completion;
	__u64 chunk[CHUNKS]; /* the free chunks, `chunks` of them */
	uint32_t chunks;
	bool zerocopy;
	bool offered; /* without zero-copy: the oldest slot is in the ring, and the kernel has not taken it yet */
	__u8 frame[CELL_BYTES];
};

static bool fail(struct outlet *o, const char *what, int error)
{
	snprintf(o->reason, sizeof(o->reason), "%s: %s: %s", o->plan->interface, what,
		 error == EPERM ? "no permission: run as root, or with CAP_NET_RAW" :
		 error == EAFNOSUPPORT ? "this kernel has none (CONFIG_XDP_SOCKETS)" :
		 error == EBUSY ? "queue 0 is another AF_XDP socket's" :
		 error == ENOBUFS ? "no memory may be locked: `ulimit -l unlimited`" :
		 error == ENXIO || error == ENODEV ? "the interface is gone" :
		 error == ENETDOWN ? "the interface is down" : strerror(error));
	return false;
}

/* Returns 0 or an errno. */
static int make_umem(struct xdp *x)
{
	const struct xsk_umem_config config = { .fill_size = 64, .comp_size = CHUNKS, .frame_size = CHUNK_BYTES };

	x->area = mmap(NULL, CHUNKS * CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (x->area == MAP_FAILED)
		return errno;
	for (x->chunks = 0; x->chunks < CHUNKS; x->chunks++)
		x->chunk[x->chunks] = x->chunks * CHUNK_BYTES;
	return -xsk_umem__create(&x->umem, x->area, CHUNKS * CHUNK_BYTES, &x->fill, &x->completion, &config);
}

/* Returns 0 or an errno. */
static int make_socket(const struct outlet *o, struct xdp *x)
{
	const struct xsk_socket_config config = {
		.tx_size = CHUNKS, .libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_USE_NEED_WAKEUP | (o->frame_most > CHUNK_BYTES ? USE_SG : 0),
	};

	return -xsk_socket__create(&x->socket, o->plan->interface, 0, x->umem, NULL, &x->tx, &config);
}

static bool is_zerocopy(const struct xdp *x)
{
	struct xdp_options options = { 0 };
	socklen_t size = sizeof(options);

	return !getsockopt(xsk_socket__fd(x->socket), SOL_XDP, XDP_OPTIONS, &options, &size) &&
	       options.flags & XDP_OPTIONS_ZEROCOPY;
}

static void undo_socket(struct xdp *x)
{
	if (x->socket)
		xsk_socket__delete(x->socket);
	if (x->umem)
		xsk_umem__delete(x->umem);
	if (x->area && x->area != MAP_FAILED)
		munmap(x->area, CHUNKS * CHUNK_BYTES);
	*x = (struct xdp){ 0 };
}

static void release(struct outlet *o)
{
	struct xdp *x = o->own;

	if (x)
		undo_socket(x);
	if (o->memory)
		departure_memory_free(o->memory);
	o->memory = NULL;
	free(x);
}

static int try_socket(struct outlet *o, struct xdp *x)
{
	int error = make_umem(x);

	if (!error)
		error = make_socket(o, x);
	if (error)
		undo_socket(x);
	return error;
}

static bool prepare(struct outlet *o, struct xdp *x)
{
	uint64_t end = now_ns() + OPEN_NS;
	int error;

	if (!x || !o->memory)
		return fail(o, "AF_XDP", ENOMEM);
	while ((error = try_socket(o, x)) == EBUSY && now_ns() < end)
		sleep_until_ns(now_ns() + OPEN_NS / 50);
	if (error == EINVAL && o->frame_most > CHUNK_BYTES) {
		snprintf(o->reason, sizeof(o->reason),
			 "%s: AF_XDP takes frames of more than %d bytes from Linux 6.6 on, and the longest "
			 "has %u",
			 o->plan->interface, CHUNK_BYTES, o->frame_most);
		return false;
	}
	if (error)
		return fail(o, "AF_XDP", error);
	x->zerocopy = is_zerocopy(x);
	if (x->zerocopy || o->plan->out != OUT_AUTO)
		return true;
	snprintf(o->reason, sizeof(o->reason), "%s: its driver has no zero-copy", o->plan->interface);
	return false;
}

static bool open_xdp(struct outlet *o)
{
	o->own = calloc(1, sizeof(struct xdp));
	o->memory = departure_memory();
	if (prepare(o, o->own)) {
		pacer_precise_sleep();
		return true;
	}
	release(o);
	return false;
}

/* Frees the chunks of frames that have left. */
static void collect(struct xdp *x)
{
	__u32 at, count = xsk_ring_cons__peek(&x->completion, CHUNKS, &at);

	for (__u32 i = 0; i < count; i++)
		x->chunk[x->chunks++] = *xsk_ring_cons__comp_addr(&x->completion, at + i);
	xsk_ring_cons__release(&x->completion, count);
}

/* Puts the frame into as many chunks as it needs. false: not enough free chunks. */
static bool put(struct xdp *x, const struct send_memory *m, const struct slot *s)
{
	__u32 pieces = (s->frame_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES, at, done = 0;

	if (x->chunks < pieces || !x->zerocopy) /* without zero-copy the chunks are free at once, and still in the cache */
		collect(x);
	if (x->chunks < pieces || !xsk_ring_prod__reserve(&x->tx, pieces, &at))
		return false;
	if (pieces > 1)
		departure_frame(m, s, x->frame);
	for (__u32 i = 0; i < pieces; i++) {
		struct xdp_desc *d = xsk_ring_prod__tx_desc(&x->tx, at + i);

		d->addr = x->chunk[--x->chunks];
		d->len = s->frame_bytes - done < CHUNK_BYTES ? s->frame_bytes - done : CHUNK_BYTES;
		d->options = i + 1 < pieces ? PKT_CONTD : 0;
		if (pieces > 1)
			memcpy(x->area + d->addr, x->frame + done, d->len);
		else
			departure_frame(m, s, x->area + d->addr);
		done += d->len;
	}
	xsk_ring_prod__submit(&x->tx, pieces);
	return true;
}

/* Returns 0 or an errno. */
static int kick(struct xdp *x)
{
	return sendto(xsk_socket__fd(x->socket), NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 ? errno : 0;
}

/* The kernel's answer says whether it has taken the frame. */
static int send_copied(struct outlet *o)
{
	struct xdp *x = o->own;
	int error;

	if (!x->offered && !put(x, o->memory, departure_slot(o->memory, 0)))
		return 0;
	error = kick(x);
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
	struct xdp *x = o->own;
	uint32_t n = 0;
	int error;

	while (n < count && put(x, o->memory, departure_slot(o->memory, n)))
		n++;
	error = !n || xsk_ring_prod__needs_wakeup(&x->tx) ? kick(x) : 0;
	if (!error || error == EAGAIN || error == ENOBUFS || error == EBUSY || error == EINTR)
		return n;
	departure_left(o->memory, n);
	fail(o, "cannot send", error);
	return -1;
}

static int send_xdp(struct outlet *o, uint32_t count)
{
	const struct xdp *x = o->own;

	return x->zerocopy ? send_zerocopy(o, count) : send_copied(o);
}

static bool run(struct outlet *o)
{
	return departure_run(o, BATCH, send_xdp);
}

/* Waits a limited time for the device. Returns how many chunks it still holds. */
static uint32_t drain(struct xdp *x)
{
	uint64_t end = now_ns() + DRAIN_NS;

	for (collect(x); x->chunks < CHUNKS && now_ns() < end; collect(x)) {
		if (kick(x))
			sleep_until_ns(now_ns() + NSEC_PER_MSEC);
	}
	return CHUNKS - x->chunks;
}

static uint64_t invalid_descriptors(const struct xdp *x)
{
	struct xdp_statistics s = { 0 };
	socklen_t size = sizeof(s);

	return getsockopt(xsk_socket__fd(x->socket), SOL_XDP, XDP_STATISTICS, &s, &size) ? 0 : s.tx_invalid_descs;
}

static bool close_xdp(struct outlet *o)
{
	uint64_t held = drain(o->own), invalid = invalid_descriptors(o->own);

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
