// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/filler.h"
#include "lib/receiver.h"
#include "rxe_tests/rdma_stream/rdma_stream.h"

static bool is_ud(const struct rdma_responder *p)
{
	return p->self->service == RDMA_UD;
}

static bool is(const struct rdma_responder *p, enum rdma_operation operation)
{
	return p->self->operation == operation;
}

static bool is_write(const struct rdma_responder *p)
{
	return is(p, RDMA_WRITE) || is(p, RDMA_WRITE_IMM);
}

char *responder_region(const struct rdma_responder *p, unsigned int flow)
{
	return (char *)p->mr->addr + flow * rdma_slots(p->self) * p->self->size;
}

/* wr_id: flow * depth + index of the buffer. An RDMA WRITE with immediate consumes a receive but does not use its buffer. */
static void post_receive(struct rdma_responder *p, uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)p->mr->addr + wr_id * p->room, p->room, p->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = !is_write(p) }, *bad;

	if (ibv_post_recv(p->d->qp[wr_id / p->depth], &wr, &bad))
		p->error = "the QP takes no more receives";
}

/*
 * A message that the receiver verifies must not be overwritten before. WRITEs with immediate cannot be ahead of the receiver by
 * more than its receives, and the one whose last packet waits for a receive. Fewer are verified where they would take much
 * memory.
 */
static void choose_samples(struct rdma_responder *p)
{
	uint64_t ahead = p->depth + 2, every = p->o->common.verify, room = rdma_buffers(p->self->size, ahead);

	if (!every || !p->peer->filler)
		return;
	if (every < (ahead + room - 1) / room)
		every = (ahead + room - 1) / room;
	p->self->sample_every = every;
	p->self->sample_slots = (ahead + every - 1) / every;
}

static void make_buffers(struct rdma_responder *p)
{
	size_t receives = (size_t)p->self->flows * p->depth;

	if (is(p, RDMA_WRITE_IMM))
		choose_samples(p);
	p->room = is_ud(p) ? RDMA_GRH + p->self->path_mtu : p->self->size;
	p->mr = rdma_register(p->d, is_write(p) ? p->self->flows * rdma_slots(p->self) * p->self->size : receives * p->room);
	for (unsigned int i = 0; i < p->self->flows && is_write(p); i++) {
		p->self->qp[i].address = (uintptr_t)responder_region(p, i);
		p->self->qp[i].rkey = p->mr->rkey;
	}
	for (size_t i = 0; i < receives && !is(p, RDMA_WRITE); i++)
		post_receive(p, i);
}

/* SENDs need a buffer each, so large ones are fewer. */
void responder_make(struct rdma_responder *p, unsigned int sends)
{
	p->depth = is_ud(p) || is_write(p) ? p->o->depth : rdma_buffers(p->self->size, p->o->depth);
	rdma_create_qps(p->d, p->o, sends, p->depth, p->self);
	make_buffers(p);
}

bool responder_right(const struct rdma_responder *p, unsigned int flow, uint64_t number, const char *at)
{
	size_t bytes = rdma_header_bytes(p->self->size);
	struct stream_header h = {};

	memcpy(&h, at, bytes);
	if (bytes && (h.magic != htonl(STREAM_MAGIC) || ntohs(h.flow) != flow || be64toh(h.message) != number))
		return false;
	return filler_right(at + bytes, p->self->size - bytes, filler_of(flow, number), 0);
}

/* Verifies a message if it is one of the samples and its sender made it to be verified. */
static void verify(struct rdma_responder *p, unsigned int flow, uint64_t number, const char *at)
{
	bool wanted = is(p, RDMA_WRITE_IMM) ? p->self->sample_every && number % p->self->sample_every == 0
					    : receiver_samples(p->r, number);

	if (wanted && p->peer->filler)
		receiver_verified(p->r, responder_right(p, flow, number, at));
}

/* A message with an immediate. */
static void take_message(struct rdma_responder *p, const struct ibv_wc *wc, uint64_t now)
{
	unsigned int flow = wc->wr_id / p->depth;
	struct stream_packet packet = { .flow = flow, .packets_in_message = 1, .bytes = p->self->size };
	const char *at = (char *)p->mr->addr + wc->wr_id * p->room;

	packet.packet = packet.message = receiver_widen(p->r, flow, ntohl(wc->imm_data));
	if (is(p, RDMA_WRITE_IMM))
		at = responder_region(p, flow) + rdma_slot(p->self, packet.message) * p->self->size;
	if (receiver_count(p->r, &packet, now))
		verify(p, flow, packet.message, at);
}

/* A message (UD: packet) with a header. */
static void take_payload(struct rdma_responder *p, const struct ibv_wc *wc, uint64_t now)
{
	const char *at = (char *)p->mr->addr + wc->wr_id * p->room;
	size_t before = is_ud(p) ? RDMA_GRH : 0;

	if (wc->byte_len >= before)
		receiver_take(p->r, at + before, wc->byte_len - before, now,
			      p->o->common.latency ? clock_ns(CLOCK_REALTIME) : 0);
}

void responder_take(struct rdma_responder *p, const struct ibv_wc *wc, uint64_t now)
{
	p->r->completed = false;
	p->receives++;
	if (is(p, RDMA_SEND))
		take_payload(p, wc, now);
	else
		take_message(p, wc, now);
	post_receive(p, wc->wr_id);
}
