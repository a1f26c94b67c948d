// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The receiver's answers (ACK, NAK, CNP) are evidence about the sender. */
#include <string.h>

#include "userspace/doctor/chart.h"

#define NEAR 4096 /* PSNs in flight, at most, by which an answer tells its requests */
#define SEARCHED (1ull << 26) /* streams looked at for that, so that many of them cost no time */

/* Whether the answer may be to this stream of requests between its hosts: its PSN is one of the last that were sent. */
static bool fits(const struct chart *c, const struct roce_packet *p)
{
	const struct exchange *x = &c->exchange;

	return x->met && psn_distance(p->number, x->newest) >= 0 && psn_distance(p->number, x->newest) < NEAR &&
	       c->service == p->service;
}

/* Of several streams of requests in the direction that is answered the only one that this answer fits. NULL: none, or several. */
static struct chart *only_fit(struct doctor *d, const struct path *path, const struct roce_packet *p)
{
	struct chart *found = NULL;

	if (d->searched > SEARCHED)
		return NULL;
	for (struct chart *c = path->streams; c; c = c->beside) {
		d->searched++;
		if (!fits(c, p))
			continue;
		if (found)
			return NULL;
		found = c;
	}
	return found;
}
#define RECENT 4096 /* PSNs that may wait for their acknowledgement */
#define VOTES 2	    /* acknowledgements that must name the same stream of requests */
#define TRIES 64    /* ... of so many */

/*
 * The stream of requests that this packet answers: that of the pair if it is known; or of the only QP, or the only one whose PSNs
 * fit; else the latest one to this host. NULL: not seen. *sure: it is no guess.
 */
static struct chart *answered(struct doctor *d, struct chart *response, const struct doctor_packet *taken, bool *sure)
{
	const struct roce_packet *p = &taken->look->packet;
	struct path *path;

	*sure = true;
	if (taken->stream && taken->stream->pair.from) {
		struct roce_key requests;

		roce_peer_key(taken->stream, p, &requests);
		return index_find(&d->charts, &requests);
	}
	path = doctor_path(d, p->dst, p->src);
	if (!path || !path->several)
		return path ? path->requests : NULL;
	if (!response->requests || !fits(response->requests, p))
		response->requests = only_fit(d, path, p);
	*sure = response->requests;
	return response->requests ?: path->requests;
}

/* Whether the PSN is one of the latest that were sent. */
static bool has_sent(const struct chart *c, __u32 psn)
{
	__u32 behind = (c->waiting.psn - psn) & PSN_MASK;

	return c->waits && behind < c->packets && behind < RECENT;
}

/* Whether other responses answer these requests. */
static bool is_of_another(const struct chart *c, const struct chart *response)
{
	return c->answered_by && c->answered_by != response && c->answered_by->answers_votes == VOTES;
}

/*
 * The same for certain, or NULL. Between two hosts with several QPs each, whose pairs are not known, a stream of acknowledgements
 * answers the one stream of requests that has sent their PSNs, while no other has.
 */
static struct chart *answered_surely(struct doctor *d, struct chart *response, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->look->packet;
	struct path *path = doctor_path(d, p->dst, p->src);
	struct chart *found = NULL;
	size_t count = 0;
	bool sure;

	if (taken->stream->pair.from)
		return answered(d, response, taken, &sure);
	if (!path)
		return NULL;
	if (path_is_single(path))
		return path->streams;
	if (response->answers_votes == VOTES)
		return response->answers;
	if (response->answers_tries == TRIES)
		return NULL;
	response->answers_tries++;
	for (struct chart *c = path->streams; c; c = c->beside) {
		if (!has_sent(c, p->number) || is_of_another(c, response))
			continue;
		found = c;
		count++;
	}
	if (count != 1)
		return NULL;
	response->answers_votes = response->answers == found ? response->answers_votes + 1 : 1;
	response->answers = found;
	return found;
}

/* The requests get to know how long acknowledgements take, and when none come any more. */
static void follow_silence(struct doctor *d, struct chart *response, const struct doctor_packet *taken)
{
	struct chart *requests = answered_surely(d, response, taken);

	if (!requests)
		return;
	requests->answered_by = response;
	silence_answer(&requests->silence, &taken->look->packet, taken->stream->last_seen);
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
	/* before the first packet nothing was seen to be missing */
	return c->waits && c->psn.met && w->event.kinds & ROCE_EVENT(psn_gap) && between(psn, w->event.expected, w->psn);
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
	__u32 type = taken->look->packet.syndrome >> 5 & 3;
	struct chart *c = requests ?: response;
	struct evidence *e = signs_add(&c->signs, kind, taken->number);
	struct sign *sign = signs_find(&c->signs, kind);

	if (e) {
		SAY(e->expected, "ACK");
		if (type == 1)
			SAY(e->found, "RNR NAK, %s, for PSN 0x%06llx", rnr_text(taken->look->packet.syndrome & 31).text,
			    taken->look->packet.number);
		else
			SAY(e->found, "NAK 0x%02x for PSN 0x%06llx", taken->look->packet.syndrome, taken->look->packet.number);
	}
	if (sign && sign->packets == 1 && type != 1 && c->reth.known)
		SAY(sign->figures, "The RETH before it had rkey 0x%08x, address 0x%llx, DMA length %u.", c->reth.rkey,
		    c->reth.va, c->reth.dma_length);
}

/* What the answer shows together with the requests that it surely answers. */
static void take_exchange(struct chart *requests, struct chart *response, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->look->packet;
	__u32 code = p->syndrome & 31, type = p->syndrome >> 5 & 3;

	reads_answer(requests->reads, &requests->twice, &response->signs, &response->waiting, taken);
	if (!(p->op & OP_NO_PLACE) && response->waiting.event.kinds & ROCE_EVENT(psn_gap)) /* what is missing is asked for again */
		requests->called = true;
	if (!(p->op & OP_AETH) || p->op & OP_CUT)
		return;
	duplicates_answer(&requests->duplicates, &requests->signs, taken, requests->silence.longest);
	if (!(p->op & OP_ACK))
		return;
	if (!type) {
		exchange_ack(&requests->exchange, p, taken->number);
		goback_ack(&requests->goback, p);
	} else if (type == 3 && !code) {
		exchange_nak(&requests->exchange, p, taken->number);
		goback_nak(&requests->goback, taken);
	}
}

void answer_take(struct doctor *d, struct chart *response, const struct doctor_packet *taken)
{
	static const enum finding_kind naks[] = { KIND_psn_refused, KIND_nak_invalid_request, KIND_nak_remote_access,
						  KIND_nak_remote_operational };
	const struct roce_packet *p = &taken->look->packet;
	__u32 code = p->syndrome & 31, type = p->syndrome >> 5 & 3;
	bool cut = p->op & OP_CUT; /* an answer, though nobody knows whether it is a NAK */
	struct chart *requests;
	bool sure;

	if (p->op & OP_CNP) {
		signs_add(&response->signs, KIND_congestion, taken->number);
		return;
	}
	reply_take(&response->signs, taken);
	requests = answered(d, response, taken, &sure);
	if (requests && sure)
		take_exchange(requests, response, taken);
	if (requests && taken->event->kinds & ROCE_EVENT(psn_gap)) /* of READ responses: what is missing is asked for again */
		requests->called = true;
	if (!(p->op & OP_AETH) && !cut)
		return;
	follow_silence(d, response, taken);
	if ((type == 0 || cut) && requests)
		requests->acked++;
	else if (requests)
		requests->twice.refused = taken->number;
	if (!(p->op & OP_ACK) || cut)
		return;
	if (requests && (type == 1 || type == 3))
		requests->called = true;
	if (type == 1) {
		exchange_rnr(&(requests ?: response)->exchange, p, taken->time);
		refuse(requests, response, reply_rnr(requests && sure ? &requests->twice : NULL, p->number), taken);
	} else if (type == 3 && !code && requests)
		refuse_psn(requests, taken);
	else if (type == 3 && code && code < ROCE_ARRAY_SIZE(naks))
		refuse(requests, response, naks[code], taken);
}
