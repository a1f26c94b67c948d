// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "lib/address.h"
#include "userspace/diagnose/flow/reply.h"
#include "userspace/observe/model/qpn.h"

/* 0.0.0.0, or ::, of RoCEv1 the GID of no port. */
static bool is_no_address(const struct roce_packet *p)
{
	__u32 from = p->ip_version == 4 ? 12 : 0;

	for (__u32 i = from; i < sizeof(p->dst); i++)
		if (p->dst[i])
			return false;
	return true;
}

void reply_take(struct symptoms *symptoms, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	bool astray = is_no_address(p);
	struct evidence *e;

	if (p->op & OP_CNP || (!astray && p->dqpn))
		return;
	e = symptoms_add(symptoms, KIND_answers_to_nobody, taken->number);
	if (!e)
		return;
	SAY(e->expected, astray ? "the requester's address" : "the requester's QPN");
	if (astray)
		SAY(e->found, "%s", address_text(p->dst).text);
	else
		SAY(e->found, "QPN %s", qpn_text(p->dqpn).text);
}

/* A WRITE without immediate data. Its First and Middle packets need no receive in any case. */
static bool is_write(int opcode)
{
	int o = opcode & 0x1f;

	return opcode >= 0 && (o == 0x06 || o == 0x07 || o == 0x08 || o == 0x0a);
}

enum finding_kind reply_rnr(const struct twice *sent, __u32 psn)
{
	return sent && is_write(twice_opcode(sent, psn)) ? KIND_rnr_without_need : KIND_rnr;
}
