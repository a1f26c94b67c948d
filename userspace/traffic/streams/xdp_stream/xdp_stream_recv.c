// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/redirect.skel.h"
#include "lib/clock.h"
#include "lib/ethtool.h"
#include "lib/shell.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/receiver.h"
#include "userspace/traffic/streams/xdp_stream/xdp_stream.h"

#define BATCH		64	/* descriptors */
#define WAKE_MS		20	/* how often to check for the end of the run */
#define LINEAR_MOST	(XDP_CHUNK_BYTES - XDP_CHUNK_HEADROOM)

struct xdp_receiver {
	const struct xdp_stream_options *o;
	struct stream_receiver *r;
	struct redirect_bpf *program;
	int link;		/* takes the program away when it is closed, also by a kill */
	bool native;
	unsigned int queues;
	struct xdp_socket *socket;	/* one a queue */
	struct pollfd *poll;
};

/* The NIC's receive queues in use. A driver that tells none has one. */
static unsigned int count_queues(const char *interface)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
	unsigned int count = 0;

	if (ethtool(interface, &channels))
		count = channels.combined_count + channels.rx_count;
	return count ? count : 1;
}

static void refill(struct xdp_socket *x, __u32 count, const __u64 *chunk)
{
	__u32 at;

	if (!xsk_ring_prod__reserve(&x->fill, count, &at))
		return;		/* never: it has room for all chunks */
	for (__u32 i = 0; i < count; i++)
		*xsk_ring_prod__fill_addr(&x->fill, at + i) = chunk[i];
	xsk_ring_prod__submit(&x->fill, count);
}

/* Twice as many chunks as descriptors: a driver holds some. */
static void open_sockets(struct xdp_receiver *x)
{
	struct xdp_socket_plan plan = { .interface = x->o->interface, .chunks = 2 * x->o->ring, .receive = x->o->ring,
					.several = true };

	x->queues = count_queues(plan.interface);
	x->socket = calloc(x->queues, sizeof(*x->socket));
	x->poll = calloc(x->queues, sizeof(*x->poll));
	if (!x->socket || !x->poll)
		err(1, "no memory for %u queues", x->queues);
	for (plan.queue = 0; plan.queue < x->queues; plan.queue++) {
		struct xdp_socket *socket = &x->socket[plan.queue];

		xdp_stream_open(socket, &plan, x->o, LINEAR_MOST);
		for (__u64 i = 0; i < socket->chunks; i++)
			refill(socket, 1, &(__u64){ i * XDP_CHUNK_BYTES });
		x->poll[plan.queue] = (struct pollfd){ .fd = xsk_socket__fd(socket->socket), .events = POLLIN };
	}
}

static void load_program(struct xdp_receiver *x)
{
	libbpf_set_print(NULL);
	x->program = redirect_bpf__open();
	if (!x->program)
		err(1, "the XDP program");
	x->program->rodata->port = x->o->common.port;
	if (redirect_bpf__load(x->program))
		err(1, "%s: the kernel does not load the XDP program, which takes root and Linux 5.18", x->o->interface);
	for (__u32 queue = 0; queue < x->queues; queue++)
		if (bpf_map_update_elem(bpf_map__fd(x->program->maps.xsks_map), &queue, &x->poll[queue].fd, BPF_ANY))
			err(1, "%s: no place for the socket of queue %u", x->o->interface, queue);
}

static int attach_by(const struct xdp_receiver *x, unsigned int flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = flags);

	return bpf_link_create(bpf_program__fd(x->program->progs.redirect_row), if_nametoindex(x->o->interface), BPF_XDP,
			       &options);
}

/* In the driver, or, where the driver cannot, behind it. */
static void attach(struct xdp_receiver *x)
{
	x->link = attach_by(x, XDP_FLAGS_DRV_MODE);
	x->native = x->link >= 0;
	if (x->link < 0 && errno != EBUSY)
		x->link = attach_by(x, XDP_FLAGS_SKB_MODE);
	if (x->link < 0 && errno == EBUSY)
		errx(1, "%s: held by another XDP program: `ip link show dev %s` names it", x->o->interface,
		     shell_name(x->o->interface).text);
	if (x->link < 0)
		err(1, "%s: the XDP program cannot be attached", x->o->interface);
}

/* Whether the `left` bytes behind the stream header are those of the filler, over all pieces of the frame. */
static bool right_payload(const struct xdp_socket *socket, __u32 at, __u32 pieces, uint32_t before, uint32_t left,
			  unsigned int filler)
{
	uint64_t from = 0;

	for (__u32 i = 0; i < pieces && left; i++) {
		const struct xdp_desc *d = xsk_ring_cons__rx_desc(&socket->rx, at + i);
		uint32_t bytes = d->len - before < left ? d->len - before : left;

		if (!filler_right(socket->area + d->addr + before, bytes, filler, from))
			return false;
		from += bytes;
		left -= bytes;
		before = 0;
	}
	return !left;
}

/* The bytes of UDP payload, which is not longer than the frame says nor than it is; 0: none. */
static uint32_t payload_bytes(const struct xdp_socket *socket, __u32 at, __u32 pieces, const struct xdp_stream_headers *headers)
{
	uint32_t frame = 0, datagram = ntohs(headers->udp.len);

	for (__u32 i = 0; i < pieces; i++)
		frame += xsk_ring_cons__rx_desc(&socket->rx, at + i)->len;
	if (datagram < sizeof(headers->udp) || datagram - sizeof(headers->udp) > frame - sizeof(*headers))
		return 0;
	return datagram - sizeof(headers->udp);
}

/* The frame in these descriptors. bpf/redirect.bpf.c has seen the headers, and a driver's buffers are larger than them. */
static void take_frame(struct xdp_receiver *x, const struct xdp_socket *socket, __u32 at, __u32 pieces, uint64_t now)
{
	const struct xdp_desc *first = xsk_ring_cons__rx_desc(&socket->rx, at);
	const uint8_t *frame = socket->area + first->addr;
	struct xdp_stream_headers headers;
	struct stream_header stream = { 0 };
	uint32_t before = sizeof(headers) + sizeof(stream), bytes;
	unsigned int filler;

	memcpy(&headers, frame, sizeof(headers));
	if (first->len >= before)
		memcpy(&stream, frame + sizeof(headers), sizeof(stream));
	bytes = payload_bytes(socket, at, pieces, &headers);
	if (!receiver_take_header(x->r, &stream, bytes, now, x->o->common.latency ? clock_ns(CLOCK_REALTIME) : 0))
		return;
	filler = receiver_filler(x->r, &stream);
	if (filler)
		receiver_verified(x->r, right_payload(socket, at, pieces, before, bytes - sizeof(stream), filler));
}

/* The number of descriptors of the frame that begins there. 0: the rest of it has not come yet. */
static __u32 frame_pieces(const struct xdp_socket *socket, __u32 at, __u32 count)
{
	for (__u32 i = 0; i < count; i++)
		if (!(xsk_ring_cons__rx_desc(&socket->rx, at + i)->options & XDP_CONTINUES))
			return i + 1;
	return 0;
}

/* Takes what has come by a queue. Returns the number of descriptors. */
static __u32 take_queue(struct xdp_receiver *x, struct xdp_socket *socket, uint64_t now)
{
	__u32 at, count = xsk_ring_cons__peek(&socket->rx, BATCH, &at), done = 0, pieces;
	__u64 chunk[BATCH];

	while ((pieces = frame_pieces(socket, at + done, count - done))) {
		take_frame(x, socket, at + done, pieces, now);
		for (; pieces; pieces--, done++)
			chunk[done] = xsk_ring_cons__rx_desc(&socket->rx, at + done)->addr / XDP_CHUNK_BYTES * XDP_CHUNK_BYTES;
	}
	xsk_ring_cons__cancel(&socket->rx, count - done);
	xsk_ring_cons__release(&socket->rx, done);
	refill(socket, done, chunk);
	if (xsk_ring_prod__needs_wakeup(&socket->fill))
		recvfrom(xsk_socket__fd(socket->socket), NULL, 0, MSG_DONTWAIT, NULL, NULL);
	return done;
}

static void take_all(struct xdp_receiver *x)
{
	uint64_t now;

	receiver_ready(x->r);
	for (now = now_ns(); !receiver_over(x->r, now); now = now_ns()) {
		__u32 taken = 0;

		for (unsigned int i = 0; i < x->queues; i++)
			taken += take_queue(x, &x->socket[i], now);
		if (!taken)
			poll(x->poll, x->queues, WAKE_MS);
		report_progress(now, x->r->packets, x->r->bytes);
		receiver_pause(x->r);
	}
}

/*
 * A packet is dropped either for want of a free chunk (rx_dropped; the kernel counts the failed look into the fill ring, too)
 * or of a free descriptor (rx_ring_full): net/xdp/xsk.c, __xsk_rcv(). With zero-copy the driver looks for chunks before packets
 * come: what it lacks then is no packet, and the NIC counts what it drops.
 */
static void report_all(struct xdp_receiver *x, struct stream_report *report)
{
	struct xdp_statistics all = { 0 };
	bool zerocopy = true;

	for (unsigned int i = 0; i < x->queues; i++) {
		struct xdp_statistics s = xdp_socket_statistics(&x->socket[i]);

		all.rx_dropped += s.rx_dropped;
		all.rx_ring_full += s.rx_ring_full;
		all.rx_invalid_descs += s.rx_invalid_descs;
		all.rx_fill_ring_empty_descs += s.rx_fill_ring_empty_descs;
		zerocopy = zerocopy && x->socket[i].zerocopy;
	}
	receiver_report(x->r, report);
	report_extra(report, "queues", x->queues);
	report_extra(report, "zero_copy", zerocopy);
	report_extra(report, "native_xdp", x->native);
	report_extra(report, "rx_fill_ring_empty_descs", all.rx_fill_ring_empty_descs);
	report_drop(report, "rx_dropped", all.rx_dropped);
	report_drop(report, "rx_ring_full", all.rx_ring_full);
	report_drop(report, "rx_invalid_descs", all.rx_invalid_descs);
}

int xdp_stream_receive(const struct xdp_stream_options *o)
{
	struct stream_report report = { .transport = "af-xdp" };
	struct xdp_receiver x = { .o = o };

	open_sockets(&x);
	load_program(&x);
	attach(&x);
	if (o->check)
		return 0;
	x.r = receiver_new(&o->common);
	take_all(&x);
	close(x.link);
	report_all(&x, &report);
	report_print(&report, o->common.json);
	return receiver_status(x.r, &report);
}
