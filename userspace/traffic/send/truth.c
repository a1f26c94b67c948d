// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Implements docs/rules.md, sections "Streams", "Messages" and "ICRC and trust", as far as plans need it: they have no READ
 * requests.
 */
#include <stdlib.h>
#include <string.h>

#include "userspace/traffic/send/truth_stream.h"

#define STRAYS 65536 /* the most streams that faults may add */

static bool is_datagram(uint32_t op, uint8_t opcode)
{
	return op & OP_KNOWN && opcode >> 5 == SERVICE_UD;
}

static uint32_t key_of(const struct truth_packet *p, uint32_t op)
{
	if (is_datagram(op, p->opcode))
		return (p->sqpn & TRUTH_PSN_MASK) | KEY_IS_DATAGRAM;
	return (p->dqpn & TRUTH_PSN_MASK) | (op & OP_RESPONSE ? KEY_IS_RESPONSE : 0);
}

struct truth *truth_new(const struct send_plan *plan)
{
	struct truth *t = calloc(1, sizeof(*t));
	uint64_t places = 1;

	if (!t)
		return NULL;
	t->plan = plan;
	t->most = plan->qps + STRAYS;
	while (places < 2ull * t->most)
		places *= 2;
	t->index_mask = places - 1;
	t->streams = calloc(t->most, sizeof(*t->streams));
	t->index = calloc(places, sizeof(*t->index));
	if (!t->streams || !t->index) {
		truth_free(t);
		return NULL;
	}
	return t;
}

void truth_free(struct truth *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->count; i++) {
		truth_psn_free(&t->streams[i]->psn);
		free(t->streams[i]);
	}
	truth_psn_free(&t->untracked.psn);
	free(t->streams);
	free(t->index);
	free(t);
}

/* A datagram stream's key does not include the destination. */
static bool is_of(const struct truth_stream *s, uint32_t key, const __u8 *src, const __u8 *dst)
{
	return s->key == key && !memcmp(s->src, src, 16) && (key & KEY_IS_DATAGRAM || !memcmp(s->dst, dst, 16));
}

/* Finds or creates the stream of that key. Without room, returns the stream of untracked packets. */
static struct truth_stream *stream_of(struct truth *t, uint32_t key, const __u8 *src, const __u8 *dst)
{
	uint32_t at = key * 0x9e3779b1u >> 8; /* Fibonacci hashing */
	struct truth_stream *s;

	for (at &= t->index_mask; t->index[at]; at = (at + 1) & t->index_mask)
		if (is_of(t->streams[t->index[at] - 1], key, src, dst))
			return t->streams[t->index[at] - 1];
	s = t->count < t->most ? calloc(1, sizeof(*s)) : NULL;
	if (!s)
		return &t->untracked;
	s->key = key;
	memcpy(s->src, src, 16);
	memcpy(s->dst, dst, 16);
	t->streams[t->count++] = s;
	t->index[at] = t->count;
	return s;
}

struct truth_stream *truth_of_qp(struct truth *t, const struct send_qp *qp)
{
	enum send_op op = t->plan->op;
	bool response = op == SEND_READ_RESPONSE || op == SEND_ACK || op == SEND_CNP;

	return stream_of(t, (qp->qpn & TRUTH_PSN_MASK) |
			 (op == SEND_UD_SEND ? KEY_IS_DATAGRAM : response ? KEY_IS_RESPONSE : 0), t->plan->src, t->plan->dst);
}

/* Forgets the stream's PSNs and messages. */
static void start_anew(struct truth_stream *s)
{
	truth_psn_free(&s->psn);
	s->psn = (struct truth_psn){ 0 };
	memset(&s->uc, 0, sizeof(s->uc));
	s->met = false;
}

/* Mixes what distinguishes packets (FNV-1a, by words). */
static uint32_t what_of(const struct truth_packet *p, uint32_t op)
{
	const uint32_t parts[] = {
		p->opcode, p->payload_bytes, op & OP_IMMDT ? p->immediate : 0,
		p->dma_length, p->rkey, p->va, p->va >> 32, /* of the RETH */
	};
	uint32_t what = 2166136261u;

	for (size_t i = 0; i < (op & OP_RETH ? 7 : 3); i++)
		what = (what ^ parts[i]) * 16777619u;
	return what;
}

static void follow(struct truth_stream *s, const struct truth_packet *p, uint32_t op)
{
	enum roce_service service = p->opcode >> 5;
	struct psn_packet packet = {
		.psn = p->psn, .reliable = service != SERVICE_UC && service != SERVICE_UD, .response = op & OP_RESPONSE,
		.begins = op & OP_FIRST, .ends = op & OP_LAST && service != SERVICE_UC,
	};
	struct truth_part part = {
		.op = op, .psn = p->psn, .dma_length = p->dma_length, .payload_bytes = p->payload_bytes,
	};

	if (!s->met) {
		truth_psn_start(&s->psn, p->psn);
		truth_uc_start(&s->uc);
		s->met = true;
	}
	packet.free_jump = packet.response && packet.begins;
	if (packet.reliable && !packet.response)
		packet.what = what_of(p, op);
	part.arrival = truth_psn_take(&s->psn, &packet, &part.position);
	part.newest = s->psn.next - 1;
	if (service != SERVICE_UC)
		return;
	truth_uc_take(&s->uc, &part);
	if (s->psn.restarted && s->psn.by_run)
		truth_uc_restart(&s->uc);
}

/* Judges a packet of a known stream. */
static inline void judge(struct truth_stream *s, const struct truth_packet *p, uint32_t op)
{
	if (!s->packets++)
		s->service = p->opcode >> 5;
	s->bytes += p->frame_bytes;
	if (!p->icrc_good) {
		s->icrc_bad++;
		if (s->trusted)
			return;
	} else {
		s->payload_bytes += p->payload_bytes;
		if (!s->trusted)
			start_anew(s);
		s->trusted = true;
	}
	if (!(op & OP_KNOWN)) {
		if (s->met)
			truth_psn_step(&s->psn, p->psn);
		return;
	}
	if (!(op & OP_CNP)) /* a CNP may come between a connection's acknowledgements */
		s->service = p->opcode >> 5;
	s->dqpn = p->dqpn;
	if (!(op & (OP_ACK | OP_CNP))) /* ACKs and CNPs have no sequence */
		follow(s, p, op);
}

void truth_observe(struct truth *t, struct truth_stream *s, const struct truth_packet *p)
{
	const __u8 *src = p->addressed ? p->src : t->plan->src, *dst = p->addressed ? p->dst : t->plan->dst;
	uint32_t op = roce_opcodes[p->opcode], key = key_of(p, op);

	t->malformed += p->malformed;
	t->fragments += p->fragment;
	t->others += p->other;
	if (p->malformed || p->fragment || p->other)
		return;
	if (s->key != key || (p->addressed && !is_of(s, key, src, dst)))
		s = stream_of(t, key, src, dst);
	judge(s, p, op);
}
