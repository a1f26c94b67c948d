// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "roce/packet/parse.h"
#include "userspace/traffic/send/compose.h"
#include "userspace/traffic/send/fault.h"
#include "userspace/traffic/send/qp.h"

#define DYNAMIC_PORT 0xc000 /* RoCEv2's source ports: 49152 and up (IBTA A17) */
#define SYNDROME_ACK 0x1f   /* ACK without credits (IBTA 9.7.5.2.1, table 44) */

/* Opcodes of an operation, by the packet's place in its message. `only` is for messages of one packet. */
static const struct operation {
	uint8_t first, middle, last, only;
	bool acknowledged; /* the last packet asks for an acknowledgement */
} operations[] = {
	[SEND_UC_WRITE_IMM] = { 0x26, 0x27, 0x29, 0x2b, false },
	[SEND_UC_WRITE] = { 0x26, 0x27, 0x28, 0x2a, false },
	[SEND_UC_SEND] = { 0x20, 0x21, 0x22, 0x24, false },
	[SEND_RC_WRITE] = { 0x06, 0x07, 0x08, 0x0a, true },
	[SEND_RC_SEND] = { 0x00, 0x01, 0x02, 0x04, true },
	[SEND_UD_SEND] = { .only = 0x64 },
	[SEND_READ_RESPONSE] = { 0x0d, 0x0e, 0x0f, 0x10, false },
	[SEND_ACK] = { .only = 0x11 },
	[SEND_CNP] = { .only = 0x81 },
};

static uint16_t source_port(const struct send_plan *plan, uint32_t index, uint64_t *random)
{
	switch (plan->ports) {
	case PORTS_PER_QP:
		return plan->port + index % (0x10000 - plan->port);
	case PORTS_RANDOM:
		return DYNAMIC_PORT | (fault_random(random) >> 50);
	default:
		return plan->port;
	}
}

struct send_qp *qps_new(const struct send_plan *plan, uint64_t *random)
{
	struct send_qp *qps = calloc(plan->qps, sizeof(*qps));

	for (uint32_t i = 0; qps && i < plan->qps; i++) {
		const struct plan_qp planned = plan_qp(plan, i);

		qps[i] = (struct send_qp){
			.index = i,
			.qpn = planned.qpn,
			.psn = planned.psn,
			.rkey = planned.rkey,
			.va = planned.va,
			.port = source_port(plan, i, random),
			.messages_left = plan->messages ? plan->messages / plan->qps + (i < plan->messages % plan->qps) :
							  UINT64_MAX,
		};
	}
	return qps;
}

static uint8_t opcode(const struct operation *o, uint8_t place)
{
	switch (place) {
	case AT_FIRST | AT_LAST:
		return o->only;
	case AT_FIRST:
		return o->first;
	case AT_LAST:
		return o->last;
	default:
		return o->middle;
	}
}

/* Of the QP's message m; it ends a frame. */
static uint32_t immediate(const struct send_plan *plan, uint64_t m, uint32_t psn)
{
	uint64_t frame = m / plan->frame;

	if (plan->immediate_page)
		return frame % (plan->regions / plan->frame ?: 1) | psn << 12;
	return plan->immediate + frame / plan->immediate_messages * plan->immediate_step;
}

/* Messages inside a frame have no immediate data. */
static const struct operation *operation_of(const struct send_plan *plan, uint64_t m)
{
	bool inside = plan->op == SEND_UC_WRITE_IMM && (m + 1) % plan->frame;

	return &operations[inside ? SEND_UC_WRITE : plan->op];
}

void qp_packet(const struct send_plan *plan, struct send_qp *qp, struct send_packet *p)
{
	uint64_t rest = plan->message - qp->offset;
	uint8_t place = (qp->offset ? 0 : AT_FIRST) | (rest <= plan->mtu ? AT_LAST : 0);

	*p = (struct send_packet){
		.qp = qp,
		.number = ++qp->packets,
		.message = qp->messages,
		.va = qp->va + qp->messages % plan->regions * plan->region_bytes,
		.dqpn = qp->qpn,
		.sqpn = qp->qpn,
		.psn = plan->op == SEND_CNP ? 0 : qp->psn,
		.rkey = qp->rkey,
		.dma_length = plan->message,
		.immediate = immediate(plan, qp->messages, qp->psn),
		.offset = qp->offset,
		.payload = (qp->messages * plan->message + qp->offset) % PAYLOAD_PATTERN,
		.payload_bytes = rest <= plan->mtu ? rest : plan->mtu,
		.port = qp->port,
		.opcode = opcode(operation_of(plan, qp->messages), place),
		.place = place,
		.syndrome = SYNDROME_ACK,
		.msn = (qp->messages + 1) & PSN_MASK,
	};
	p->pad = -p->payload_bytes & 3;
	p->ackreq = place & AT_LAST && operations[plan->op].acknowledged;
	qp->psn = (qp->psn + 1) & PSN_MASK;
	qp->offset += p->payload_bytes;
	if (place & AT_LAST) {
		qp->offset = 0;
		qp->messages++;
		qp->messages_left--;
	}
}

void qp_take_back(struct send_qp *qp, uint32_t psn)
{
	qp->psn = psn;
	qp->packets--;
}

uint32_t qp_extension_bytes(const struct send_plan *plan)
{
	const struct operation *o = &operations[plan->op];
	const uint8_t all[] = { o->first, o->middle, o->last, o->only };
	uint32_t most = plan->op == SEND_CNP ? CNP_RESERVED : 0;

	for (size_t i = 0; i < sizeof(all); i++) {
		uint32_t bytes = parse_extension_bytes(roce_opcodes[all[i]]);

		most = bytes > most ? bytes : most;
	}
	return most;
}
