// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "lib/bytes.h"
#include "lib/clock.h"
#include "lib/interfaces.h"
#include "lib/stop.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/sender.h"
#include "userspace/traffic/streams/xdp_stream/xdp_stream.h"

#define BURST			32	/* frames; the kernel takes as many in a call (TX_BUDGET_SIZE in net/xdp/xsk.c) */
#define STUCK_NS		(2 * NSEC_PER_SEC)

/* A frame has a slot: as many chunks, one behind the other, as the largest frame needs. */
struct xdp_sender {
	const struct xdp_stream_options *o;
	struct xdp_socket socket;
	struct stream_sender *s;
	struct xdp_stream_headers template;
	uint32_t slot_chunks, slots;
	uint32_t *idle, idle_slots;	/* slots that the kernel does not hold */
	uint8_t *held;			/* by slot: chunks that the kernel holds */
	uint64_t ring_full;		/* how often no slot was left */
	uint64_t refused;		/* frames that the device dropped at once */
	uint64_t abandoned;		/* frames that the device had not sent at the end */
	int error;			/* why it cannot go on; 0: it can */
};

static uint8_t *slot_at(const struct xdp_sender *x, uint32_t slot)
{
	return x->socket.area + (size_t)slot * x->slot_chunks * XDP_CHUNK_BYTES;
}

static unsigned int filler_of_slot(uint32_t slot)
{
	return slot % STREAM_FILLERS + 1;
}

/* Writes the payload of each slot once. Payloads never change, so only headers are written for each packet. */
static void fill_slots(struct xdp_sender *x)
{
	size_t before = sizeof(x->template) + sizeof(struct stream_header), bytes = x->slot_chunks * XDP_CHUNK_BYTES - before;
	char *pattern = malloc(filler_room(bytes));

	if (!pattern)
		err(1, "no memory");
	filler_make(pattern, filler_room(bytes));
	for (uint32_t slot = 0; slot < x->slots; slot++)
		memcpy(slot_at(x, slot) + before, pattern + filler_of_slot(slot) * FILLER_STEP, bytes);
	free(pattern);
}

static void open_socket(struct xdp_sender *x)
{
	uint32_t frame = FRAME_BYTES(x->o->mtu);
	struct xdp_socket_plan plan = { .interface = x->o->interface, .queue = x->o->queue, .chunks = x->o->ring,
					.transmit = x->o->ring, .several = frame > XDP_CHUNK_BYTES };

	xdp_stream_open(&x->socket, &plan, x->o, XDP_CHUNK_BYTES);
	x->slot_chunks = (frame + XDP_CHUNK_BYTES - 1) / XDP_CHUNK_BYTES;
	x->slots = plan.chunks / x->slot_chunks;
	x->idle = calloc(x->slots, sizeof(*x->idle));
	x->held = calloc(x->slots, sizeof(*x->held));
	if (!x->idle || !x->held)
		err(1, "no memory");
	while (x->idle_slots < x->slots) {
		x->idle[x->idle_slots] = x->idle_slots;
		x->idle_slots++;
	}
}

static void make_template(struct xdp_sender *x)
{
	struct xdp_stream_headers *h = &x->template;
	struct ifreq mac = { 0 };

	if (!interface_ask(x->o->interface, SIOCGIFHWADDR, &mac))
		err(1, "%s", x->o->interface);
	*h = (struct xdp_stream_headers){
		.eth = { .ether_type = htons(ETHERTYPE_IP) },
		.ip = { .version = 4, .ihl = 5, .frag_off = htons(IP_DF), .ttl = 64, .protocol = IPPROTO_UDP,
			.saddr = x->o->src, .daddr = x->o->dst },
		.udp = { .dest = htons(x->o->common.port) },	/* checksum 0: none (RFC 768) */
	};
	memcpy(h->eth.ether_shost, mac.ifr_hwaddr.sa_data, ETH_ALEN);
	memcpy(h->eth.ether_dhost, &x->o->dst_mac, ETH_ALEN);
}

/* Writes the frame's headers. `payload` bytes follow them, including the stream header. Returns the frame's length. */
static uint32_t write_headers(const struct xdp_sender *x, uint8_t *frame, const struct stream_header *stream, uint32_t payload)
{
	struct xdp_stream_headers h = x->template;

	h.ip.tot_len = htons(IP_OVERHEAD + payload);
	h.ip.check = htons(~sum_fold(sum_add(0, (const uint8_t *)&h.ip, sizeof(h.ip))));
	h.udp.source = htons(sender_source_port(ntohs(stream->flow)));
	h.udp.len = htons(sizeof(h.udp) + payload);
	memcpy(frame, &h, sizeof(h));
	memcpy(frame + sizeof(h), stream, sizeof(*stream));
	return sizeof(h) + payload;
}

/* Takes back the slots of frames that have left. */
static void collect(struct xdp_sender *x)
{
	__u32 at, count = xsk_ring_cons__peek(&x->socket.completion, x->socket.chunks, &at);

	for (__u32 i = 0; i < count; i++) {
		uint32_t slot = *xsk_ring_cons__comp_addr(&x->socket.completion, at + i) / XDP_CHUNK_BYTES / x->slot_chunks;

		if (!--x->held[slot])
			x->idle[x->idle_slots++] = slot;
	}
	xsk_ring_cons__release(&x->socket.completion, count);
}

/* Puts a slot's frame into the ring, which has room for all slots. The kernel does not see it yet. */
static void offer(struct xdp_sender *x, uint32_t slot, uint32_t bytes)
{
	__u32 pieces = (bytes + XDP_CHUNK_BYTES - 1) / XDP_CHUNK_BYTES, at;

	if (!xsk_ring_prod__reserve(&x->socket.tx, pieces, &at))
		return;
	x->held[slot] = pieces;
	for (__u32 i = 0; i < pieces; i++) {
		*xsk_ring_prod__tx_desc(&x->socket.tx, at + i) = (struct xdp_desc){
			.addr = slot_at(x, slot) - x->socket.area + i * XDP_CHUNK_BYTES,
			.len = i + 1 < pieces ? XDP_CHUNK_BYTES : bytes - i * XDP_CHUNK_BYTES,
			.options = i + 1 < pieces ? XDP_CONTINUES : 0,
		};
	}
	xsk_ring_prod__submit(&x->socket.tx, pieces);
}

static bool ring_empty(const struct xdp_sender *x)
{
	return __atomic_load_n(x->socket.tx.consumer, __ATOMIC_ACQUIRE) == *x->socket.tx.producer;
}

/*
 * Has the kernel take what is in the ring. With zero-copy the driver fetches it. Without, a call ends at the frame that the
 * device dropped: EBUSY is one frame (net/xdp/xsk.c, __xsk_generic_xmit()). false: it cannot go on.
 */
static bool push(struct xdp_sender *x)
{
	uint64_t since = now_ns();

	while (!ring_empty(x)) {
		int error = !x->socket.zerocopy || xsk_ring_prod__needs_wakeup(&x->socket.tx) ? xdp_socket_kick(&x->socket) : 0;

		x->refused += error == EBUSY;
		if (error && error != EBUSY && error != EAGAIN && error != ENOBUFS && error != EINTR)
			x->error = error;
		else if (now_ns() - since > STUCK_NS)
			x->error = ETIMEDOUT;
		if (x->error)
			return false;
		if (x->socket.zerocopy)
			return true;
		if (error == EAGAIN || error == ENOBUFS)	/* also when it has taken as many as it does in a call */
			collect(x);
	}
	return true;
}

/* Sends as many of the flow's packets as are due. A packet takes a number only when it has a slot. */
static bool offer_packets(struct xdp_sender *x, struct sender_flow *flow)
{
	uint64_t realtime = clock_ns(CLOCK_REALTIME);

	collect(x);
	x->ring_full += !x->idle_slots;
	for (int i = 0; i < BURST && x->idle_slots && sender_due(x->s, x->s->now_ns); i++) {
		uint32_t slot = x->idle[x->idle_slots - 1], payload;
		struct stream_header header;

		payload = sender_packet(x->s, flow, &header, x->s->now_ns, realtime);
		if (!payload)
			break;
		x->idle_slots--;
		header.flags = filler_of_slot(slot) << STREAM_FILLER_SHIFT;
		offer(x, slot, write_headers(x, slot_at(x, slot), &header, payload));
	}
	return push(x);
}

/* Waits for room. false: the device has sent nothing for a long time. */
static bool wait_for_slots(struct xdp_sender *x)
{
	uint64_t end = now_ns() + STUCK_NS;

	for (collect(x); !x->idle_slots && !stop; collect(x)) {
		if (now_ns() > end)
			x->error = ETIMEDOUT;
		if (x->error || !push(x))
			return false;
	}
	return true;
}

static const char *send_burst(void *context, struct sender_flow *flow)
{
	struct xdp_sender *x = context;

	return offer_packets(x, flow) && wait_for_slots(x) ? NULL : xdp_socket_error(x->error);
}

static bool send_end_marker(void *context, const struct sender_flow *flow, const struct stream_header *marker)
{
	struct xdp_sender *x = context;
	uint32_t slot;

	(void)flow;
	if (!wait_for_slots(x) || !x->idle_slots)
		return false;
	slot = x->idle[--x->idle_slots];
	offer(x, slot, write_headers(x, slot_at(x, slot), marker, sizeof(*marker)));
	return push(x);
}

/* Waits a limited time until the device has sent everything. */
static void drain(struct xdp_sender *x)
{
	uint64_t end = now_ns() + NSEC_PER_SEC;

	for (collect(x); x->idle_slots < x->slots && now_ns() < end && !x->error; collect(x)) {
		push(x);
		sleep_until_ns(now_ns() + NSEC_PER_MSEC);
	}
	x->abandoned = x->slots - x->idle_slots;
}

static void report_all(struct xdp_sender *x, struct stream_report *report)
{
	sender_report(x->s, report);
	report_extra(report, "mtu", x->o->mtu);
	report_extra(report, "queue", x->o->queue);
	report_extra(report, "zero_copy", x->socket.zerocopy);
	report_extra(report, "ring_full", x->ring_full);
	report_drop(report, "tx_refused", x->refused);
	report_drop(report, "tx_abandoned", x->abandoned);
	report_drop(report, "tx_invalid_descs", xdp_socket_statistics(&x->socket).tx_invalid_descs);
}

int xdp_stream_send(const struct xdp_stream_options *o)
{
	struct stream_report report = { .transport = "af-xdp", .send = true };
	struct xdp_sender x = { .o = o };

	open_socket(&x);
	if (o->check)
		return 0;
	fill_slots(&x);
	make_template(&x);
	x.s = sender_new(&o->common, o->mtu - IP_OVERHEAD);
	report.error = sender_run(x.s, false, send_burst, &x);
	sender_finish(x.s);
	drain(&x);
	if (!x.error)
		sender_end(x.s, &x, send_end_marker);
	report_all(&x, &report);
	report_print(&report, o->common.json);
	if (report.error)
		warnx("%s: the packets do not leave: %s", o->interface, report.error);
	return report.error ? 1 : 0;
}
