// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds by itself that the other end is a responder: it answers what this machine asks, and nobody asks this machine. */
#include <string.h>

#include "lib/address.h"
#include "lib/clock.h"
#include "roce/packet/cm.h"
#include "userspace/diagnose/bring_up/bring_up.h"

#define ANSWERS 3 /* so many are no accident */

/* The host that --receiver describes, if it is another one. NULL: there is none. */
static const struct endpoint *described(const struct bring_up *b)
{
	const struct endpoint *t = b->end.endpoint;
	__u64 devices;

	return t && !places_has(&b->end.places, t->end.gid, &devices) ? t : NULL;
}

/* The host that --receiver describes takes the place of any other. */
static void take_answer(struct bring_up *b, const struct roce_packet *p)
{
	struct bring_up_answering *a = &b->answering;
	const struct endpoint *t = described(b);
	bool same = a->answers && !memcmp(a->address, p->src, 16);

	if (!same && a->answers && !(t && !memcmp(t->end.gid, p->src, 16)))
		return;
	a->answers = same ? a->answers + 1 : 1;
	memcpy(a->address, p->src, 16);
}

void answering_take(struct bring_up *b, const struct roce_packet *p, bool ours, __u64 time)
{
	struct bring_up_answering *a = &b->answering;
	bool response = p->op & OP_RESPONSE, to_us = places_has_mac(&b->end.places, p->dst_mac);

	if (p->kind != ROCE_PACKET || roce_is_management(p) || !(p->op & OP_KNOWN) || p->op & OP_CNP || b->options->filter)
		return;
	if (!ours && b->options->peer && memcmp(p->src, b->options->peer, 16))
		return;
	if (!ours && !response)
		a->others_ask |= to_us || (a->answers && !memcmp(p->src, a->address, 16));
	else if (!ours && to_us && p->service == SERVICE_RC)
		take_answer(b, p);
	if (a->answers && (!memcmp(p->dst, a->address, 16) || !memcmp(p->src, a->address, 16)))
		a->last = time;
}

bool answering_found(const struct bring_up *b)
{
	return b->answering.answers >= ANSWERS && !b->answering.others_ask;
}

/* Whether --receiver has what it takes to ask the responder that was found. */
static bool is_described(const struct bring_up *b)
{
	const struct endpoint *t = described(b);

	return t && t->end.service == RDMA_RC && !memcmp(t->end.gid, b->answering.address, 16);
}

bool answering_is_awaited(const struct bring_up *b)
{
	const struct endpoint *t = described(b);

	return t && t->end.service == RDMA_RC && !b->answering.answers && !b->answering.others_ask;
}

bool answering_can_be_asked(const struct bring_up *b, __u64 now)
{
	return answering_found(b) && is_described(b) && now > b->answering.last + BRING_UP_QUIET;
}

struct bring_up_text answering_words(const struct bring_up *b)
{
	const struct endpoint *t = b->end.endpoint;
	struct bring_up_text found = bring_up_text("%s has answered %llu times and asks nothing: it is a responder",
						   address_text(b->answering.address).text, b->answering.answers);

	if (is_described(b))
		return bring_up_text("%s. It is asked step by step when nobody has asked it for %llu s", found.text,
				     BRING_UP_QUIET / NSEC_PER_SEC);
	if (!t)
		return bring_up_text("%s. With --receiver FILE, which describes it, it is asked step by step", found.text);
	if (memcmp(t->end.gid, b->answering.address, 16))
		return bring_up_text("%s. --receiver describes %s, and not it", found.text, address_text(t->end.gid).text);
	return bring_up_text("%s. --receiver describes QPs of %s, which are not asked", found.text, rdma_service_name(t->end.service));
}
