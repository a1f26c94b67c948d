// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "roce/packet/cm.h"
#include "roce/responder/respond.h"
#include "userspace/diagnose/flow/receiver.h"
#include "userspace/observe/model/qpn.h"
#include "userspace/observe/model/refusal.h"

static const __u8 services[] = { [RDMA_RC] = SERVICE_RC, [RDMA_UC] = SERVICE_UC, [RDMA_UD] = SERVICE_UD };

/* ---- the verdict on a packet ---- */

/* The QP to which the packet goes, as it is if all before was right. */
static struct roce_responder responder_of(const struct endpoint *t, const struct roce_packet *p)
{
	struct roce_responder q = {
		.receive_bytes = t->receive_bytes == ENDPOINT_UNKNOWN ? RESPONDER_DMA_MAX : t->receive_bytes, .qpn = p->dqpn,
		.path_mtu = t->end.path_mtu, .expected = p->number, .pkey = t->pkey, .service = services[t->end.service],
		.state = RESPONDER_READY, .endless = 1,
	};

	/* a QP of UD has no peer */
	memcpy(q.peer, t->has_peer && t->end.service != RDMA_UD ? t->peer : p->src, sizeof(q.peer));
	q.receive_slots = !!q.receive_bytes;
	if (p->op & OP_FIRST)
		return q;
	q.open = responder_is_write(p) ? OPEN_WRITE : OPEN_SEND;
	/* of a message whose length is not known, any Middle fits, and any Last of a WRITE ends it */
	q.length = responder_is_write(p) && p->op & OP_LAST ? p->payload_bytes : RESPONDER_DMA_MAX;
	return q;
}

static struct receive_example example_of(const struct roce_responder *q, const struct roce_packet *p)
{
	struct receive_example e = {
		.va = p->va, .qpn = p->dqpn, .psn = p->number, .expected = q->expected, .rkey = p->rkey,
		.dma_length = p->dma_length, .payload_bytes = p->payload_bytes, .pkey = p->pkey, .opcode = p->opcode,
		.length = p->op & OP_FIRST ? q->receive_bytes : q->length, .open = q->open, .tver = p->tver, .service = q->service,
		.pad = p->pad,
	};

	memcpy(e.src, p->src, sizeof(e.src));
	return e;
}

enum roce_refusal receiver_judge(const struct endpoint *t, const struct roce_packet *p, struct receive_example *e)
{
	const struct roce_region *region = endpoint_region(t, p->rkey);
	struct roce_responder q = responder_of(t, p);
	struct responder_step step;

	*e = example_of(&q, p);
	if (!endpoint_qp(t, p->dqpn))
		return REFUSAL_qpn;
	responder_judge(&q, p, ICRC_GOOD, region, 0, &step);
	return step.refusal;
}

/* FINDING_KINDS: a finding of other rules says the same (lint_tver), or one packet does not show it. */
static enum finding_kind kind_of(enum roce_refusal refusal)
{
	switch (refusal) {
	case REFUSAL_qpn: return KIND_refused_qpn;
	case REFUSAL_source: return KIND_refused_source;
	case REFUSAL_pkey: return KIND_refused_pkey;
	case REFUSAL_service: return KIND_refused_service;
	case REFUSAL_operation: return KIND_refused_operation;
	case REFUSAL_length: return KIND_refused_length;
	case REFUSAL_rkey: return KIND_refused_rkey;
	case REFUSAL_bounds: return KIND_refused_bounds;
	default: return FINDING_KINDS;
	}
}

/* ---- what was expected, and what was found ---- */

static void show_qpn(struct evidence *e, const struct endpoint *t, const struct roce_packet *p)
{
	const struct receive_settings *s = &t->settings;

	if (!s->qps)
		SAY(e->expected, "one of its %u QPNs", t->end.flows);
	else if (s->qps == 1)
		SAY(e->expected, "QPN %s", qpn_text(s->first_qpn).text);
	else
		SAY(e->expected, "QPN %s to %s", qpn_text(s->first_qpn).text, qpn_text(s->first_qpn + s->qps - 1).text);
	SAY(e->found, "QPN %s", qpn_text(p->dqpn).text);
}

static void show_bounds(struct evidence *e, const struct roce_region *region, const struct roce_packet *p)
{
	SAY(e->expected, "0x%llx to 0x%llx", region->va, region->va + (region->bytes - 1));
	SAY(e->found, "%u bytes at 0x%llx", p->dma_length, p->va);
}

static void show_length(struct evidence *e, const struct endpoint *t, const struct roce_packet *p)
{
	__u32 path_mtu = t->end.path_mtu;

	if (p->op & OP_FIRST && !responder_is_write(p) && p->payload_bytes > t->receive_bytes)
		SAY(e->expected, "payload %u at most", t->receive_bytes);
	else if (!(p->op & OP_LAST))
		SAY(e->expected, "payload %u", path_mtu);
	else if (p->payload_bytes > path_mtu)
		SAY(e->expected, "payload %u at most", path_mtu);
	else if (!(p->op & OP_FIRST))
		SAY(e->expected, "payload 1 at least");
	else
		SAY(e->expected, "payload %u", p->dma_length);
	SAY(e->found, "payload %u", p->payload_bytes);
}

static void show(struct evidence *e, enum finding_kind kind, const struct endpoint *t, const struct roce_region *region,
		 const struct roce_packet *p)
{
	const struct rdma_qp_address *qp = endpoint_qp(t, p->dqpn);

	switch (kind) {
	case KIND_refused_qpn:
		show_qpn(e, t, p);
		break;
	case KIND_refused_source:
		SAY(e->expected, "%s", address_text(t->peer).text);
		SAY(e->found, "%s", address_text(p->src).text);
		break;
	case KIND_refused_pkey:
		SAY(e->expected, "P_Key 0x%04x", t->pkey);
		SAY(e->found, "P_Key 0x%04x", p->pkey);
		break;
	case KIND_refused_service:
		SAY(e->expected, "%s", roce_service_name(services[t->end.service]));
		SAY(e->found, "%s, opcode 0x%02x", roce_service_name(p->service), p->opcode);
		break;
	case KIND_refused_operation:
		SAY(e->expected, "RDMA WRITE or SEND");
		SAY(e->found, "opcode 0x%02x", p->opcode);
		break;
	case KIND_refused_length:
		show_length(e, t, p);
		break;
	case KIND_refused_rkey:
		SAY(e->expected, "rkey 0x%x", qp->rkey);
		SAY(e->found, "rkey 0x%x", p->rkey);
		break;
	case KIND_refused_bounds:
		show_bounds(e, region, p);
		break;
	default:
		break;
	}
}

static void refuse(const struct endpoint *t, struct symptoms *symptoms, enum roce_refusal refusal,
		   const struct receive_example *example,
		   const struct roce_region *region, const struct doctor_packet *taken)
{
	const struct refusal_receiver receiver = { &t->settings, t->region, t->regions, t->end.path_mtu };
	enum finding_kind kind = kind_of(refusal);
	struct evidence *e = kind == FINDING_KINDS ? NULL : symptoms_add(symptoms, kind, taken->number);
	struct symptom *symptom = e ? symptoms_find(symptoms, kind) : NULL;
	char text[REFUSAL_TEXT];

	if (!symptom)
		return;
	show(e, kind, t, region, &taken->parsed->packet);
	if (symptom->packets > 1)
		return;
	refusal_text(text, refusal, example, &receiver);
	SAY(symptom->figures, "It would say of the first: %s.", text);
}

/* ---- what the receiver answers ---- */

/* NAK codes (IBTA 9.7.5.2) */
#define INVALID_REQUEST 1
#define ACCESS_ERROR 2

/* What it is that the receiver takes such a packet. FINDING_KINDS: no mistake, others know more operations. */
static enum finding_kind takes_kind(enum finding_kind refused)
{
	switch (refused) {
	case KIND_refused_qpn: return KIND_takes_qpn;
	case KIND_refused_source: return KIND_takes_source;
	case KIND_refused_pkey: return KIND_takes_pkey;
	case KIND_refused_service: return KIND_takes_service;
	case KIND_refused_length: return KIND_takes_length;
	case KIND_refused_rkey: return KIND_takes_rkey;
	case KIND_refused_bounds: return KIND_takes_bounds;
	default: return FINDING_KINDS;
	}
}

/* The packet that was sent before with this PSN is not the one that will be answered. */
static void forget(struct receiver_requests *q, __u32 psn)
{
	for (size_t i = 0; q->open && i < RECEIVER_OPEN; i++) {
		if (q->refused[i].kind == FINDING_KINDS || q->refused[i].psn != psn)
			continue;
		q->refused[i].kind = FINDING_KINDS;
		q->open--;
	}
}

static void expect_answer(struct receiver_requests *q, enum roce_refusal refusal, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	enum finding_kind kind = takes_kind(kind_of(refusal));

	forget(q, p->number);
	if (kind != FINDING_KINDS) {
		q->open += q->refused[q->next].kind == FINDING_KINDS;
		q->refused[q->next].frame = taken->number;
		q->refused[q->next].psn = p->number;
		q->refused[q->next].kind = kind;
		q->next = (q->next + 1) % RECEIVER_OPEN;
	}
	if (refusal != REFUSAL_NONE || !(p->op & OP_FIRST) || !responder_is_write(p))
		return;
	q->first = q->met ? q->first : p->number;
	q->met = true;
	q->fine[p->number % RECEIVER_OPEN].psn = p->number + 1;
	q->fine[p->number % RECEIVER_OPEN].frame = taken->number;
}

static struct receiver_requests *new_requests(void)
{
	struct receiver_requests *q = calloc(1, sizeof(*q));

	for (size_t i = 0; q && i < RECEIVER_OPEN; i++)
		q->refused[i].kind = FINDING_KINDS;
	return q;
}

void receiver_anew(struct receiver_requests *q)
{
	if (!q)
		return;
	for (size_t i = 0; i < RECEIVER_OPEN; i++) {
		q->refused[i].kind = FINDING_KINDS;
		q->fine[i].psn = 0;
	}
	q->open = 0;
	q->met = false;
}

/* What is wrong with the packet of that frame, as its refusal says. */
static const struct evidence *refusal_of(const struct symptoms *symptoms, enum finding_kind takes, __u64 frame)
{
	for (size_t i = 0; i < symptoms->count; i++) {
		const struct symptom *s = &symptoms->list[i];

		for (size_t k = 0; takes_kind(s->kind) == takes && k < s->shown; k++)
			if (s->evidence[k].frame == frame)
				return &s->evidence[k];
	}
	return NULL;
}

static void show_taken(struct symptoms *symptoms, enum finding_kind kind, __u64 frame, __u64 ack)
{
	struct evidence *e = symptoms_add(symptoms, kind, frame);
	const struct evidence *why = refusal_of(symptoms, kind, frame);

	if (!e)
		return;
	SAY(e->expected, "%s", why ? why->expected : "no ACK");
	SAY(e->found, "%s%sACK in frame %llu", why ? why->found : "", why ? ", " : "", ack);
}

static void show_told(struct receiver_requests *q, struct symptoms *symptoms, const struct roce_packet *p, __u64 frame)
{
	__u32 code = p->syndrome & 31;
	__u64 request = q->fine[p->number % RECEIVER_OPEN].frame;
	struct evidence *e;
	struct symptom *symptom;

	if (code != ACCESS_ERROR && code != INVALID_REQUEST)
		return;
	q->invalid |= code == INVALID_REQUEST;
	e = symptoms_add(symptoms, KIND_refuses_told, request);
	symptom = symptoms_find(symptoms, KIND_refuses_told);
	if (symptom)
		symptom->doubted |= !q->accepted; /* perhaps another receiver is described, or the one before its last start */
	if (!e)
		return;
	SAY(e->expected, "an ACK of PSN 0x%06llx", p->number);
	SAY(e->found, "NAK 0x%02x in frame %llu", p->syndrome, frame);
}

void receiver_answer(struct receiver_requests *q, struct symptoms *symptoms, const struct roce_packet *p, __u64 frame)
{
	__u32 type = p->syndrome >> 5 & 3;

	if (!q)
		return;
	for (size_t i = 0; q->open && i < RECEIVER_OPEN; i++) {
		__s32 ahead = psn_distance(p->number, q->refused[i].psn);
		enum finding_kind kind = q->refused[i].kind;

		/* an ACK is of this PSN and all before it; another answer of those before it only, and what is behind it is not taken */
		if (kind == FINDING_KINDS || (!type && ahead > 0))
			continue;
		q->refused[i].kind = FINDING_KINDS;
		q->open--;
		if (ahead < 0 || !type)
			show_taken(symptoms, kind, q->refused[i].frame, frame);
	}
	q->accepted |= q->met && psn_distance(q->first, p->number) >= !!type;
	if (type == 3 && q->fine[p->number % RECEIVER_OPEN].psn == p->number + 1)
		show_told(q, symptoms, p, frame);
}

/* ---- packets ---- */

/* A request to another address. It means something only if none goes to the receiver. */
static void take_astray(const struct doctor_receiver *r, struct symptoms *symptoms, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	struct evidence *e;

	if (r->packets || responder_same_address(p->src, r->endpoint->end.gid))
		return;
	e = symptoms_add(symptoms, KIND_refused_address, taken->number);
	if (!e)
		return;
	SAY(e->expected, "%s", address_text(r->endpoint->end.gid).text);
	SAY(e->found, "%s", address_text(p->dst).text);
}

void receiver_take(struct doctor_receiver *r, struct receiver_requests **requests, struct symptoms *symptoms,
		   const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	const struct roce_region *region;
	struct receive_example example;
	enum roce_refusal refusal;

	if (!r->endpoint || p->op & (OP_RESPONSE | OP_CNP | OP_CUT) || roce_is_management(p))
		return;
	/* bare transport headers do not tell where they go */
	if (taken->frame->no_icrc && responder_same_address(p->src, p->dst)) {
		if (!endpoint_qp(r->endpoint, p->dqpn))
			return;
	} else if (!responder_same_address(p->dst, r->endpoint->end.gid)) {
		take_astray(r, symptoms, taken);
		return;
	}
	r->packets++;
	region = endpoint_region(r->endpoint, p->rkey);
	refusal = receiver_judge(r->endpoint, p, &example);
	if (refusal != REFUSAL_NONE)
		refuse(r->endpoint, symptoms, refusal, &example, region, taken);
	if (p->service != SERVICE_RC && p->service != SERVICE_XRC)
		return;
	*requests = *requests ?: new_requests();
	if (*requests)
		expect_answer(*requests, refusal, taken);
}

/* How many of those that the receiver should refuse it has taken. */
static void say_taken(struct symptoms *symptoms, struct symptom *takes)
{
	for (size_t i = 0; i < symptoms->count; i++) {
		const struct symptom *s = &symptoms->list[i];

		if (takes_kind(s->kind) == takes->kind)
			SAY(takes->figures, "%llu of %llu packets are acknowledged.", takes->packets, s->packets);
	}
}

/* Whether these packets have mistakes for which a receiver may refuse them though it knows their keys. */
static bool are_doubtful(const struct symptoms *symptoms)
{
	for (size_t i = 0; i < symptoms->count; i++) {
		enum finding_class class = finding_rules[symptoms->list[i].kind].class;

		if (class == CLASS_COUNT || class == CLASS_PSN || class == CLASS_GRAMMAR || class == CLASS_SIZE || class == CLASS_DMA ||
		    class == CLASS_RECEIVER)
			return true;
	}
	return false;
}

void receiver_conclude(const struct doctor_receiver *r, const struct receiver_requests *requests, struct symptoms *symptoms)
{
	if (r->packets)
		symptoms_drop(symptoms, KIND_refused_address);
	if (!requests)
		return;
	for (size_t i = 0; i < symptoms->count; i++)
		say_taken(symptoms, &symptoms->list[i]);
	if (requests->invalid && are_doubtful(symptoms))
		symptoms_doubt(symptoms, KIND_refuses_told);
}
