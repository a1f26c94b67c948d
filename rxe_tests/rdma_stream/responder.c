// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "rxe_tests/rdma_stream/rdma_stream.h"
#include "userspace/traffic/streams/filler.h"
#include "userspace/traffic/streams/receiver.h"

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

/* wr_id: the number of the buffer. An RDMA WRITE with immediate consumes a receive but does not use its buffer. */
static void post_receive(struct rdma_responder *p, unsigned int flow, uint64_t wr_id)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id }, *bad;
	struct ibv_srq *srq = rdma_srq_of(p->d, flow);
	struct ibv_sge sge;
	int failed;

	if (!is_write(p)) {
		sge = (struct ibv_sge){ (uintptr_t)rdma_buffer(&p->buffers, wr_id), p->buffers.bytes,
					rdma_region(&p->buffers, wr_id)->lkey };
		wr.sg_list = &sge;
		wr.num_sge = 1;
	}
	failed = srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(p->d->qp[flow], &wr, &bad);
	if (failed)
		p->error = srq ? "the shared queue takes no more receives" : "the QP takes no more receives";
}

static void post_receives(struct rdma_responder *p)
{
	unsigned int queues = p->d->srqs ? p->d->srqs : p->self->flows;

	for (unsigned int i = 0; i < queues; i++)
		for (uint64_t k = 0; k < p->depth; k++)
			post_receive(p, i, i * (uint64_t)p->depth + k);
}

/*
 * A message that the receiver verifies must not be overwritten before. WRITEs with immediate cannot be ahead of the receiver by
 * more than its receives, and the one whose last packet waits for a receive. Fewer are verified where they would take much
 * memory.
 */
static void choose_samples(struct rdma_responder *p)
{
	uint64_t ahead = p->depth + 2, every = p->o->common.verify, room = rdma_affordable(p->self->size, p->self->flows, ahead);

	if (!every || !p->peer->filler)
		return;
	if (every < (ahead + room - 1) / room)
		every = (ahead + room - 1) / room;
	p->self->sample_every = every;
	p->self->sample_slots = (ahead + every - 1) / every;
}

/* Tells the sender where each QP's messages go. */
static void tell_places(struct rdma_responder *p)
{
	const struct rdma_buffers *b = &p->buffers;
	struct rdma_end *self = p->self;

	self->regions = is_write(p) ? b->regions : 0;
	self->rkeys = calloc(self->flows, (self->regions ? self->regions : 1) * sizeof(*self->rkeys));
	if (!self->rkeys)
		err(1, "no memory");
	for (unsigned int i = 0; i < self->flows; i++) {
		self->qp[i].address = (uintptr_t)rdma_buffer(b, i * b->each);
		self->qp[i].rkey = rdma_region(b, i * b->each)->rkey;
		for (unsigned int r = 0; r < self->regions && r * b->per_region < b->each; r++)
			self->rkeys[(size_t)i * self->regions + r] = b->mr[i * self->regions + r]->rkey;
	}
}

/* Memory that the sender accesses: slots for WRITEs, or a counter. */
static void make_places(struct rdma_responder *p)
{
	bool atomic = rdma_is_atomic(p->self->operation);
	int access = IBV_ACCESS_LOCAL_WRITE | (atomic ? IBV_ACCESS_REMOTE_ATOMIC : IBV_ACCESS_REMOTE_WRITE);

	if (!atomic)
		p->self->slots = rdma_write_slots(p->self->size, p->self->flows);
	if (is(p, RDMA_WRITE_IMM))
		choose_samples(p);
	p->buffers = rdma_make_buffers(p->d, p->o, p->self->flows, atomic ? 1 : rdma_slots(p->self), p->self->size, access);
	tell_places(p);
}

/* SENDs need a buffer each, so large ones are fewer. */
void responder_make(struct rdma_responder *p, unsigned int sends)
{
	uint64_t room = is_ud(p) ? RDMA_GRH + p->self->path_mtu : p->self->size;
	bool silent = rdma_is_silent(p->self->operation);
	unsigned int wanted = p->o->srq ? p->o->srq : p->o->depth, queues = p->self->service == RDMA_XRC ? 1 : p->self->flows;

	p->depth = silent ? 0 : is_ud(p) || is_write(p) || p->o->srq ? wanted : rdma_affordable(room, queues, wanted);
	rdma_create_qps(p->d, p->o, sends, p->depth, p->self);
	if (is_write(p) || silent)
		make_places(p);
	else
		p->buffers = rdma_make_buffers(p->d, p->o, p->d->srqs ? p->d->srqs : p->self->flows, p->depth, room,
					       IBV_ACCESS_LOCAL_WRITE);
	post_receives(p);
}

/* Whether message `number` lies there. Older senders send zeroes: their messages cannot be told. */
static bool right(const struct rdma_responder *p, unsigned int flow, uint64_t number, const char *at)
{
	size_t bytes = rdma_header_bytes(p->self->size);
	struct stream_header h = {};

	at = rdma_readable(p->buffers.memory, at, p->self->size);
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
		receiver_verified(p->r, right(p, flow, number, at));
}

static const char *slot(const struct rdma_responder *p, unsigned int flow, uint64_t number)
{
	return rdma_buffer(&p->buffers, flow * p->buffers.each + rdma_slot(p->self, number));
}

/* A message with an immediate. */
static void take_message(struct rdma_responder *p, const struct ibv_wc *wc, uint64_t now)
{
	unsigned int flow = p->d->flow_of[wc->qp_num];
	struct stream_packet packet = { .flow = flow, .packets_in_message = 1, .bytes = p->self->size };

	packet.packet = packet.message = receiver_widen(p->r, flow, ntohl(wc->imm_data));
	if (receiver_count(p->r, &packet, now))
		verify(p, flow, packet.message, is(p, RDMA_WRITE_IMM) ? slot(p, flow, packet.message)
								      : rdma_buffer(&p->buffers, wc->wr_id));
}

/* A message (UD: packet) with a header. */
static void take_payload(struct rdma_responder *p, const struct ibv_wc *wc, uint64_t now)
{
	size_t before = is_ud(p) ? RDMA_GRH : 0;

	if (wc->byte_len >= before)
		receiver_take(p->r,
			      rdma_readable(p->buffers.memory, rdma_buffer(&p->buffers, wc->wr_id), wc->byte_len) + before,
			      wc->byte_len - before, now, p->o->common.latency ? clock_ns(CLOCK_REALTIME) : 0);
}

/* IBTA 9.9.3, class E of the responder; do_class_d1e_error() in rxe_resp.c. */
bool responder_broken(const struct rdma_responder *p, const struct ibv_wc *wc)
{
	return p->d->srqs && p->self->service == RDMA_UC && wc->status == IBV_WC_REM_INV_REQ_ERR;
}

void responder_take(struct rdma_responder *p, const struct ibv_wc *wc, uint64_t now)
{
	p->r->completed = false;
	if (responder_broken(p, wc)) {
		p->broken++;
		return;
	}
	if (wc->status != IBV_WC_SUCCESS) {
		p->error = ibv_wc_status_str(wc->status);
		return;
	}
	p->receives++;
	if (is(p, RDMA_SEND))
		take_payload(p, wc, now);
	else
		take_message(p, wc, now);
}

void responder_post_again(struct rdma_responder *p, const struct ibv_wc *wc)
{
	post_receive(p, p->d->flow_of[wc->qp_num], wc->wr_id);
}

/* An atomic that has executed may not have completed: its acknowledgement was lost. */
static void verify_counter(struct rdma_responder *p, unsigned int flow, const struct rdma_totals *sent)
{
	uint64_t value;

	memcpy(&value, rdma_readable(p->buffers.memory, rdma_buffer(&p->buffers, flow), sizeof(value)), sizeof(value));
	receiver_verified(p->r, value >= sent->completed && value <= sent->messages);
}

/*
 * At the end each slot has the last message written to it. A message that did not complete may have been written in part; of UC
 * so may any, because a loss ends it. That is no wrong payload.
 */
static void verify_slots(struct rdma_responder *p, unsigned int flow, const struct rdma_totals *sent)
{
	uint64_t slots = rdma_slots(p->self), first = sent->messages > slots ? sent->messages - slots : 0;

	for (uint64_t number = first; number < sent->completed && number < sent->messages; number++) {
		bool same = right(p, flow, number, slot(p, flow, number));

		if (same || rdma_is_reliable(p->self->service))
			receiver_verified(p->r, same);
		else
			p->r->undecided = true;
	}
}

void responder_verify_memory(struct rdma_responder *p, unsigned int flow, const struct rdma_totals *sent)
{
	if (rdma_is_atomic(p->self->operation))
		verify_counter(p, flow, sent);
	else
		verify_slots(p, flow, sent);
}
