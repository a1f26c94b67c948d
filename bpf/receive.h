/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes RDMA WRITE and SEND into memory, after the frame was counted (bpf/watch.h): judges the packet
 * (roce/responder/respond.h), copies its payload, records messages that end, and answers.
 *
 * A QP is claimed for the time of one packet. As a rule, all packets of a QP come on one CPU. A packet that finds its QP
 * claimed is dropped and counted: waiting would not help, because it would be out of order then. Each step is a global
 * function, which the verifier checks once.
 */
#ifndef BPF_RECEIVE_H
#define BPF_RECEIVE_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/receive_abi.h"
#include "bpf/watch.h"
#include "roce/responder/answer.h"
#include "roce/responder/respond.h"

/* User space sets the number of entries. */
#define RECEIVE_MAP(map, what) MAP(map, ARRAY, __u32, what, 1, BPF_F_MMAPABLE)

RECEIVE_MAP(memory, struct receive_chunk);
RECEIVE_MAP(qps, struct receive_qp);
RECEIVE_MAP(rings, struct receive_ring);
RECEIVE_MAP(receive_cpus, struct receive_cpu);
RECEIVE_MAP(receive_setup, struct receive_settings); /* `receive` for readers */
RECEIVE_MAP(generations, __u64); /* of each block: how many payloads were copied to it, counted before the copy */

MAP(regions, HASH, __u32, struct roce_region, RECEIVE_REGIONS, 0);

RECEIVE_MAP(receive_showing, struct receive_showing);

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RECEIVE_SHOWN_RING);
} receive_shown SEC(".maps");

/* The copy up to the end of a chunk. In memory: the verifier would follow each set of powers of two. */
struct receive_edge {
	__u32 offset; /* in the chunk */
	__u32 from;   /* in the frame */
	__u32 bytes;
};

/* A packet's way through the steps; not on the stack, where the verifier would follow each possible value. */
struct receive_work {
	struct responder_step step;
	struct roce_answer answer;
	struct receive_edge edge;
	__u32 qp; /* index */
	__u32 action; /* XDP_* */
};

MAP(receive_works, PERCPU_ARRAY, __u32, struct receive_work, 1, 0);

const volatile struct receive_settings receive;

static __always_inline struct receive_work *receive_work(void)
{
	return bpf_map_lookup_elem(&receive_works, &(__u32){ 0 });
}

static __always_inline struct receive_cpu *receive_cpu(const struct scratch *s)
{
	__u32 cpu = s->cpu - 1;

	return bpf_map_lookup_elem(&receive_cpus, &cpu);
}

static __always_inline struct receive_qp *receive_qp(const struct receive_work *w)
{
	__u32 qp = w->qp;

	return bpf_map_lookup_elem(&qps, &qp);
}

/* ---- claims ---- */

static __always_inline bool receive_claim(struct receive_qp *q)
{
	return !*(volatile __u32 *)&q->claim && !__sync_val_compare_and_swap(&q->claim, 0, 1);
}

/* A store that becomes visible after all stores before it. */
#define RECEIVE_RELEASE(to, value) ({				\
	__asm__ volatile("" : : : "memory");			\
	if (settings.plain_release)				\
		*(volatile typeof(*(to)) *)(to) = (value);	\
	else							\
		__sync_lock_test_and_set(to, value); })

/* ---- what is refused ---- */

static __always_inline void receive_refuse(const struct scratch *s, const struct roce_responder *q, __u32 reason)
{
	const struct roce_packet *p = &s->packet;
	struct receive_cpu *cpu = receive_cpu(s);
	struct receive_example *e;

	roce_opaque(reason);
	if (!cpu || reason >= ROCE_REFUSALS)
		return;
	cpu->refused[reason]++;
	e = &cpu->example[reason];
	roce_copy16(e->src, p->src);
	e->va = p->va;
	e->time = bpf_ktime_get_ns();
	e->qpn = p->dqpn;
	e->psn = p->number;
	e->rkey = p->rkey;
	e->dma_length = p->dma_length;
	e->payload_bytes = p->payload_bytes;
	e->pkey = p->pkey;
	e->opcode = p->opcode;
	e->tver = p->tver;
	e->pad = p->pad;
	e->expected = q ? q->expected : 0;
	e->placed = q ? q->placed : 0;
	e->length = q ? q->length : 0;
	e->open = q ? q->open : OPEN_NONE;
	e->service = q ? q->service : 0;
}

/* ---- what is shown ---- */

static __always_inline struct receive_showing *receive_showing_value(void)
{
	return bpf_map_lookup_elem(&receive_showing, &(__u32){ 0 });
}

static __always_inline bool receive_shows(const struct scratch *s)
{
	const struct receive_showing *g = receive_showing_value();

	return g && (__s64)(*(volatile __u64 *)&g->until - s->now) > 0;
}

/* Shows the packet as it came. Before its answer is made, in the same memory. */
__noinline int receive_show(struct xdp_md *ctx, __u32 refusal)
{
	struct scratch *s = watch_scratch();
	struct receive_work *w = receive_work();
	struct receive_cpu *cpu = s ? receive_cpu(s) : NULL;
	struct receive_qp *q = w ? receive_qp(w) : NULL;
	const struct receive_settings *setup = bpf_map_lookup_elem(&receive_setup, &(__u32){ 0 });
	struct receive_showing *g = receive_showing_value();
	struct receive_shown *r;
	__u32 length;

	if (!cpu || !w || !g || !setup)
		return 0;
	r = bpf_ringbuf_reserve(&receive_shown, sizeof(*r), 0);
	if (!r) {
		__sync_fetch_and_add(&g->lost, 1);
		return 0;
	}
	r->time = bpf_ktime_get_ns();
	if (q)
		r->responder = q->responder;
	else
		__builtin_memset(&r->responder, 0, sizeof(r->responder));
	roce_opaque(refusal);
	if (refusal < ROCE_REFUSALS)
		r->example = cpu->example[refusal];
	r->refusal = refusal;
	r->answers = q && w->step.answers;
	r->syndrome = w->step.syndrome;
	r->answer_psn = w->step.answer_psn;
	r->reserved = 0;
	r->layout = setup->layout; /* so that readers find the map by this program */
	r->length = length = s->length;
	if (length > RECEIVE_SHOWN_BYTES)
		length = RECEIVE_SHOWN_BYTES;
	r->captured = 0;
	roce_opaque(length);
	if (length >= WIRE_ETH_LEN) {
		roce_opaque(length);
		if (length <= RECEIVE_SHOWN_BYTES && !bpf_xdp_load_bytes(ctx, 0, r->byte, length))
			r->captured = length;
	}
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Whether a socket owns the port at this address, which then gets the packet: rxe, a receiver by recv(). */
static __always_inline bool receive_is_anothers(struct xdp_md *ctx, const struct roce_packet *p)
{
	struct bpf_sock_tuple t = { 0 };
	bool four = p->ip_version == 4;
	struct bpf_sock *found;

	if (four) {
		roce_copy4(&t.ipv4.saddr, p->src + 12);
		roce_copy4(&t.ipv4.daddr, p->dst + 12);
		t.ipv4.sport = __builtin_bswap16(p->udp_source_port);
		t.ipv4.dport = __builtin_bswap16(WIRE_ROCEV2_PORT);
	} else {
		roce_copy16(t.ipv6.saddr, p->src);
		roce_copy16(t.ipv6.daddr, p->dst);
		t.ipv6.sport = __builtin_bswap16(p->udp_source_port);
		t.ipv6.dport = __builtin_bswap16(WIRE_ROCEV2_PORT);
	}
	found = bpf_sk_lookup_udp(ctx, &t, four ? sizeof(t.ipv4) : sizeof(t.ipv6), BPF_F_CURRENT_NETNS, 0);
	if (!found)
		return false;
	bpf_sk_release(found);
	return true;
}

/* A packet for a QPN that is not ours. Passed on to a kernel where nobody listens, it would draw an ICMP error. */
__noinline int receive_stranger(struct xdp_md *ctx)
{
	struct scratch *s = watch_scratch();
	struct receive_cpu *cpu = s ? receive_cpu(s) : NULL;

	if (!cpu)
		return XDP_PASS;
	if (receive_is_anothers(ctx, &s->packet)) {
		cpu->passed++;
		return XDP_PASS;
	}
	receive_refuse(s, NULL, REFUSAL_qpn);
	if (receive_shows(s))
		receive_show(ctx, REFUSAL_qpn);
	return XDP_DROP;
}

/* ---- memory ---- */

static __always_inline void receive_count_generation(__u64 at)
{
	__u32 block = at / receive.block;
	__u64 *generation = bpf_map_lookup_elem(&generations, &block), before;

	if (!generation)
		return;
	before = __sync_fetch_and_add(generation, 1);
	roce_opaque(before); /* an atomic operation whose result is used is a barrier: the copy is not seen before the count */
}

/* Copies the next `part` bytes (a power of two, a constant) of those that remain for a chunk, if there are so many. 0: right. */
static __always_inline int receive_copy_part(struct xdp_md *ctx, volatile struct receive_edge *e, struct receive_chunk *c, __u32 part)
{
	__u32 offset = e->offset;

	if (!(e->bytes & part))
		return 0;
	roce_opaque(offset);
	if (offset > RECEIVE_CHUNK - part || bpf_xdp_load_bytes(ctx, e->from, c->byte + offset, part))
		return 1;
	e->offset += part;
	e->from += part;
	return 0;
}

/*
 * Copies payload that may cross from one chunk to the next. The verifier knows no relation between the place and the length, so the
 * end of the first chunk is filled by powers of two. Returns 0 if it was copied.
 */
__noinline int receive_copy_edge(struct xdp_md *ctx)
{
	struct scratch *s = watch_scratch();
	struct receive_work *w = receive_work();
	volatile struct receive_edge *e;
	struct receive_chunk *c;
	__u32 chunk, rest;

	if (!s || !w)
		return 1;
	e = &w->edge;
	chunk = w->step.at / RECEIVE_CHUNK;
	e->offset = w->step.at & (RECEIVE_CHUNK - 1);
	e->from = s->packet.icrc_offset - s->packet.pad - s->packet.payload_bytes;
	rest = RECEIVE_CHUNK - e->offset;
	e->bytes = rest < w->step.bytes ? rest : w->step.bytes;
	c = bpf_map_lookup_elem(&memory, &chunk);
	if (!c)
		return 1;
	for (__u32 part = RECEIVE_PAYLOAD; part; part >>= 1)
		if (receive_copy_part(ctx, e, c, part))
			return 1;
	rest = w->step.bytes - e->bytes;
	if (!rest)
		return 0;
	chunk++;
	c = bpf_map_lookup_elem(&memory, &chunk);
	roce_opaque(rest);
	rest = ((rest - 1) & (RECEIVE_PAYLOAD - 1)) + 1;
	return !c || bpf_xdp_load_bytes(ctx, e->from, c->byte, rest);
}

/* Copies the payload of the frame to its place. Returns 0 if it was copied. */
__noinline int receive_copy(struct xdp_md *ctx)
{
	struct scratch *s = watch_scratch();
	struct receive_work *w = receive_work();
	struct receive_chunk *c;
	__u32 chunk, offset, from, bytes;
	__u64 at;

	if (!s || !w)
		return 1;
	at = w->step.at;
	bytes = w->step.bytes;
	if (!bytes)
		return 0;
	if (bytes > RECEIVE_PAYLOAD || at >= receive.memory || bytes > receive.memory - at)
		return 1;
	receive_count_generation(at);
	if (at / receive.block != (at + bytes - 1) / receive.block)
		receive_count_generation(at + bytes - 1);
	chunk = at / RECEIVE_CHUNK;
	offset = at & (RECEIVE_CHUNK - 1);
	roce_opaque(offset);
	if (offset > RECEIVE_CHUNK - RECEIVE_PAYLOAD)
		return receive_copy_edge(ctx);
	c = bpf_map_lookup_elem(&memory, &chunk);
	from = s->packet.icrc_offset - s->packet.pad - s->packet.payload_bytes;
	/* the verifier of 6.1 does not conclude from `not 0` that the value is at least 1 */
	roce_opaque(bytes);
	bytes = ((bytes - 1) & (RECEIVE_PAYLOAD - 1)) + 1;
	return !c || bpf_xdp_load_bytes(ctx, from, c->byte + offset, bytes);
}

/* ---- records ---- */

static __always_inline void receive_record(const struct scratch *s, const struct receive_work *w, struct receive_qp *q,
					   const struct roce_message_end *m)
{
	__u32 cpu = s->cpu - 1, block;
	struct receive_ring *ring = bpf_map_lookup_elem(&rings, &cpu);
	struct receive_record *r;
	__u64 *generation;
	__u64 head;

	if (m->flags & MESSAGE_INCOMPLETE)
		q->incomplete++;
	else
		q->messages++;
	if (!ring || !(receive.each || m->flags & (MESSAGE_SEND | MESSAGE_IMMEDIATE | MESSAGE_INCOMPLETE)))
		return;
	head = ring->head;
	r = &ring->record[head & (RECEIVE_RECORDS - 1)];
	RECEIVE_RELEASE(&r->number, 0);
	roce_reload(); /* the stores below stay behind it */
	block = m->at / receive.block;
	generation = m->at == RESPONDER_NOWHERE ? NULL : bpf_map_lookup_elem(&generations, &block);
	r->time = s->now;
	r->at = m->at;
	r->receive = m->receive;
	r->length = m->length;
	r->placed = m->placed;
	r->first_psn = m->first_psn;
	r->last_psn = m->last_psn;
	r->immediate = m->immediate;
	r->generation = generation ? *generation : 0;
	r->qp = w->qp;
	r->region = m->region;
	r->flags = m->flags;
	RECEIVE_RELEASE(&r->number, head + 1);
	RECEIVE_RELEASE(&ring->head, head + 1);
}

/*
 * Records a message that has ended: the packet's own, or the one that the packet has shown to be broken. Call while the QP is
 * claimed, so that its records are in order; for the latter before the copy, which may count its block's generation.
 */
__noinline int receive_record_end(bool own)
{
	struct scratch *s = watch_scratch();
	struct receive_work *w = receive_work();
	struct receive_qp *q = w ? receive_qp(w) : NULL;

	if (s && q)
		receive_record(s, w, q, own ? &w->step.ended : &w->step.broken);
	return 0;
}

/* ---- answers ---- */

static __always_inline __u32 receive_answer_kind(__u32 opcode, __u32 syndrome)
{
	if (opcode == ANSWER_OPCODE_CNP)
		return RECEIVE_CNP;
	if (syndrome == AETH_ACK)
		return RECEIVE_ACK;
	if (syndrome == AETH_NAK_SEQUENCE)
		return RECEIVE_NAK_SEQUENCE;
	if (syndrome == AETH_NAK_INVALID)
		return RECEIVE_NAK_INVALID;
	return syndrome == AETH_NAK_ACCESS ? RECEIVE_NAK_ACCESS : RECEIVE_RNR;
}

/* Makes the answer in w->answer; its ICRC is computed there, too. Returns its length, 0: it could not be made. */
__noinline int receive_make(struct xdp_md *ctx, __u32 opcode)
{
	struct scratch *s = watch_scratch();
	struct receive_work *w = receive_work();
	struct receive_qp *q = w ? receive_qp(w) : NULL;

	if (!s || !q || bpf_xdp_load_bytes(ctx, 0, w->answer.frame, ANSWER_HEAD))
		return 0;
	answer_make(&w->answer, &s->packet, &q->responder, opcode, w->step.answer_psn, w->step.syndrome);
	answer_icrc(&w->answer, watch_tables(), &s->work);
	return w->answer.bytes;
}

/* Turns the frame into the answer. Returns the XDP action. */
__noinline int receive_answer(struct xdp_md *ctx, __u32 opcode)
{
	struct scratch *s = watch_scratch();
	struct receive_work *w = receive_work();
	struct receive_cpu *cpu = s ? receive_cpu(s) : NULL;
	__u32 kind, bytes;

	if (!w || !cpu)
		return XDP_DROP;
	bytes = receive_make(ctx, opcode);
	roce_opaque(bytes);
	if (bytes < WIRE_ETH_LEN || bytes > ANSWER_BYTES || bpf_xdp_adjust_tail(ctx, (int)bytes - (int)s->length) ||
	    bpf_xdp_store_bytes(ctx, 0, w->answer.frame, bytes)) {
		cpu->unsent++;
		return XDP_DROP;
	}
	kind = receive_answer_kind(opcode, w->step.syndrome);
	if (kind < RECEIVE_ANSWERS)
		cpu->answers[kind]++;
	return receive.redirect ? bpf_redirect(ctx->ingress_ifindex, 0) : XDP_TX;
}

/* Whether the packet wants a congestion notification (annex A17.9): it is marked CE, and the last one was not just now. */
static __always_inline bool receive_notifies(const struct scratch *s, struct receive_qp *q)
{
	__u64 now;

	if (!receive.notify || (s->packet.tos & 3) != 3)
		return false;
	now = bpf_ktime_get_ns();
	if ((__s64)(now - q->notified_ns) < RECEIVE_NOTIFY_NS)
		return false;
	q->notified_ns = now;
	return true;
}

/* ---- a packet ---- */

/* Judges the packet, under the claim. Returns 0 if its payload is to be copied. */
__noinline int receive_judge(void)
{
	struct scratch *s = watch_scratch();
	struct receive_work *w = receive_work();
	struct receive_qp *q = w ? receive_qp(w) : NULL;
	struct roce_region *region = NULL;
	const struct roce_packet *p;
	__u32 rkey;

	if (!s || !q)
		return 1;
	p = &s->packet;
	rkey = p->rkey;
	if (p->op & OP_RETH && p->dma_length)
		region = bpf_map_lookup_elem(&regions, &rkey);
	responder_judge(&q->responder, p, s->icrc, region, *(volatile __u64 *)&q->posted, &w->step);
	return w->step.refusal;
}

__noinline int receive_commit(void)
{
	struct scratch *s = watch_scratch();
	struct receive_work *w = receive_work();
	struct receive_qp *q = w ? receive_qp(w) : NULL;
	struct receive_cpu *cpu = s ? receive_cpu(s) : NULL;

	if (!q || !cpu)
		return 0;
	responder_commit(&q->responder, &s->packet, &w->step);
	cpu->packets++;
	cpu->bytes += w->step.bytes;
	q->packets++;
	q->bytes += w->step.bytes;
	q->last_ns = s->now;
	if (!q->first_ns)
		q->first_ns = s->now;
	return 0;
}

__noinline int receive_fail(void)
{
	struct scratch *s = watch_scratch();
	struct receive_work *w = receive_work();
	struct receive_qp *q = w ? receive_qp(w) : NULL;

	if (s && q)
		responder_fail(&q->responder, &s->packet, &w->step);
	return 0;
}

/* Takes a packet to one of our QPs. Returns the XDP action. */
static __always_inline int receive_take(struct xdp_md *ctx, struct scratch *s, struct receive_work *w, struct receive_qp *q)
{
	__u32 opcode = 0;
	int refused;

	if (!receive_claim(q)) {
		receive_refuse(s, NULL, REFUSAL_busy);
		return XDP_DROP;
	}
	refused = receive_judge();
	if (w->step.broken.valid)
		receive_record_end(false);
	if (!refused) {
		if (receive_copy(ctx))
			receive_fail();
		else
			receive_commit();
	}
	if (w->step.ended.valid)
		receive_record_end(true);
	if (w->step.refusal) {
		q->refused++;
		receive_refuse(s, &q->responder, w->step.refusal);
	}
	if (receive_shows(s))
		receive_show(ctx, w->step.refusal);
	if (w->step.answers)
		opcode = ANSWER_OPCODE_ACK;
	else if (!w->step.refusal && receive_notifies(s, q))
		opcode = ANSWER_OPCODE_CNP;
	if (opcode)
		w->action = receive_answer(ctx, opcode);
	RECEIVE_RELEASE(&q->claim, 0);
	return opcode ? w->action : XDP_DROP;
}

/* What becomes of a frame that was counted. Returns the XDP action. */
static __always_inline int receive_frame(struct xdp_md *ctx)
{
	struct scratch *s = watch_scratch();
	struct receive_work *w = receive_work();
	const __u8 *own = (const __u8 *)receive.own;
	const struct roce_packet *p;
	struct receive_qp *q;

	roce_opaque(own); /* as for the tables of watch_tables() */
	if (!s || !w)
		return XDP_PASS;
	p = &s->packet;
	if (p->kind != ROCE_PACKET || p->rocev1 || !responder_same_address(p->dst, own))
		return XDP_PASS;
	w->qp = p->dqpn - receive.first_qpn;
	q = w->qp < receive.qps ? receive_qp(w) : NULL;
	return q ? receive_take(ctx, s, w, q) : receive_stranger(ctx);
}

#endif
