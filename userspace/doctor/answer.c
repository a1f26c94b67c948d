// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The receiver's answers (ACK, NAK, CNP) are evidence about the sender. */
#include <string.h>

#include "userspace/doctor/chart.h"

/*
 * The stream of requests that this packet answers: that of the pair if it is known, else the latest one to this host. NULL: not
 * seen.
 */
static struct chart *answered(struct doctor *d, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->look->packet;
	__u8 key[32];
	struct path *path;

	if (taken->stream && taken->stream->pair.from) {
		struct roce_key requests;

		roce_peer_key(taken->stream, p, &requests);
		return index_find(&d->charts, &requests);
	}
	memcpy(key, p->dst, 16);
	memcpy(key + 16, p->src, 16);
	path = index_find(&d->paths, key);
	return path ? path->requests : NULL;
}

static bool between(__u32 psn, __u32 from, __u32 end)
{
	return ((psn - from) & PSN_MASK) < ((end - from) & PSN_MASK);
}

/* Whether the capture has a gap at this PSN too. */
static bool is_missing(const struct chart *c, __u32 psn)
{
	const struct step *w = &c->waiting;

	if (between(psn, c->loss.missing_from, c->loss.missing_end))
		return true;
	return c->waits && w->event.kinds & ROCE_EVENT(psn_gap) && between(psn, w->event.expected, w->psn);
}

/* Whether packets of this stream came late or twice. */
static bool is_disordered(const struct chart *c)
{
	const __u32 disorder = ROCE_EVENT(psn_recovered) | ROCE_EVENT(psn_duplicate);

	return c->loss.recovered || c->loss.again || (c->waits && c->waiting.event.kinds & disorder);
}

static void refuse_psn(struct chart *requests, const struct doctor_packet *taken)
{
	__u32 first = requests->psn.met ? requests->psn.first : requests->waiting.psn;
	const struct roce_packet *p = &taken->look->packet;
	struct evidence *e;

	if (is_missing(requests, p->number))
		return;
	if (!requests->refused++) {
		requests->wanted = p->number;
		requests->wanted_frame = taken->number;
	}
	/*
	 * A NAK for a PSN before the capture, or in a stream that is already out of order, does not show a loss behind this
	 * point.
	 */
	if (psn_distance(first, p->number) < 0 ||
	    (is_disordered(requests) && !signs_find(&requests->signs, KIND_psn_refused)))
		return;
	e = signs_add(&requests->signs, KIND_psn_refused, taken->number);
	if (!e)
		return;
	SAY(e->expected, "PSN 0x%06llx wanted", p->number);
	SAY(e->found, "PSN 0x%06x sent last", requests->waiting.psn);
}

static void refuse(struct chart *requests, struct chart *response, enum finding_kind kind, const struct doctor_packet *taken)
{
	struct chart *c = requests ?: response;
	struct evidence *e = signs_add(&c->signs, kind, taken->number);
	struct sign *sign = signs_find(&c->signs, kind);

	if (e) {
		SAY(e->expected, "ACK");
		SAY(e->found, "NAK 0x%02x for PSN 0x%06llx", taken->look->packet.syndrome, taken->look->packet.number);
	}
	if (sign && sign->packets == 1 && c->reth.known)
		SAY(sign->figures, "The RETH before it had rkey 0x%08x, address 0x%llx, DMA length %u.", c->reth.rkey,
		    c->reth.va, c->reth.dma_length);
}

void answer_take(struct doctor *d, struct chart *response, const struct doctor_packet *taken)
{
	static const enum finding_kind naks[] = { KIND_psn_refused, KIND_nak_invalid_request, KIND_nak_remote_access,
						  KIND_nak_remote_operational };
	const struct roce_packet *p = &taken->look->packet;
	__u32 code = p->syndrome & 31, type = p->syndrome >> 5 & 3;
	struct chart *requests;

	if (p->op & OP_CNP) {
		signs_add(&response->signs, KIND_congestion, taken->number);
		return;
	}
	requests = answered(d, taken);
	if (requests && taken->event->kinds & ROCE_EVENT(psn_gap)) /* of READ responses: what is missing is asked for again */
		requests->called = true;
	if (!(p->op & OP_AETH))
		return;
	if (type == 0 && requests)
		requests->acked++;
	if (!(p->op & OP_ACK))
		return;
	if (requests && (type == 1 || type == 3))
		requests->called = true;
	if (type == 1)
		refuse(requests, response, KIND_rnr, taken);
	else if (type == 3 && !code && requests)
		refuse_psn(requests, taken);
	else if (type == 3 && code && code < ROCE_ARRAY_SIZE(naks))
		refuse(requests, response, naks[code], taken);
}
