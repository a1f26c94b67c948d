// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The receiver's answers (ACK, NAK, CNP) are evidence about the sender. */
#include <string.h>

#include "roce/responder/responder.h"
#include "userspace/diagnose/doctor/record.h"

#define NEAR 4096 /* PSNs in flight, at most, by which an answer tells its requests */
#define SOON 64	  /* PSNs that a QP may send before an answer to one beside it comes */
#define FRONT 8	  /* PSNs that may be missing here in front of the first one */
#define VOTES 2	  /* answers in a row that fit only the same stream of requests make it sure */
#define SEARCHED (1ull << 26) /* streams looked at for that, so that many of them cost no time */

/* What an answer answers. */
struct answered {
	struct stream_record *requests; /* NULL: not seen */
	bool sure;		/* it is no guess */
};

/* Whether other responses answer these requests for certain. */
static bool is_of_another(const struct stream_record *c, const struct stream_record *response)
{
	return c->answered_by && c->answered_by != response && c->answered_by->answers_votes == VOTES;
}

static bool is_read_response(const struct roce_packet *p)
{
	return p->op & OP_RESPONSE && p->op & (OP_FIRST | OP_MIDDLE | OP_LAST) && !(p->op & (OP_ACK | OP_ATOMICACKETH));
}

/*
 * Whether the answer may be to this stream of requests between its hosts: its PSN is one of the last that were sent; and a READ
 * asks for a READ response.
 */
static bool fits(const struct stream_record *c, const struct roce_packet *p)
{
	const struct responder_study *r = &c->responder;
	__s32 behind = psn_distance(p->number, responder_newest(r));
	enum reads_match match = is_read_response(p) ? reads_match(c->reads, p) : READS_PERHAPS;

	if (match != READS_PERHAPS)
		return match == READS_RIGHT;
	return r->met && behind >= 0 && behind < NEAR && psn_distance(r->start, p->number) >= 0 && c->service == p->service;
}

/* Whether it is an ACK or NAK of a packet in front of the first one that came here. */
static bool is_before_first(const struct stream_record *c, const struct roce_packet *p)
{
	__s32 before = psn_distance(p->number, c->responder.start);

	return p->op & OP_ACK && c->responder.met && before > 0 && before <= FRONT && c->service == p->service;
}

/* Whether it may be to requests beside those that came here: where two QPs count alike, an ACK or NAK may be to either. */
static bool nears(const struct stream_record *c, const struct roce_packet *p)
{
	const struct responder_study *r = &c->responder;
	__s32 ahead = psn_distance(responder_newest(r), p->number);

	if (is_read_response(p) && reads_match(c->reads, p) == READS_NONE)
		return false;
	return (r->met && ahead > 0 && ahead < SOON && c->service == p->service) || is_before_first(c, p);
}

/* Of several streams of requests in the direction that is answered the only one that this answer fits. NULL: none, or several. */
static struct stream_record *only_fit(struct doctor *d, const struct path *path, const struct stream_record *response,
				      const struct roce_packet *p)
{
	struct stream_record *found = NULL;

	if (d->searched > SEARCHED)
		return NULL;
	for (struct stream_record *c = path->streams; c; c = c->beside) {
		d->searched++;
		if ((!fits(c, p) && !nears(c, p)) || is_of_another(c, response))
			continue;
		if (found || nears(c, p))
			return NULL;
		found = c;
	}
	return found;
}

/* The answer fits these requests (NULL: none, or several). */
static void vote(struct stream_record *response, struct stream_record *requests)
{
	if (!requests || response->answers_votes == VOTES)
		return;
	response->answers_votes = requests == response->answers ? response->answers_votes + 1 : 1;
	response->answers = requests;
}

static bool between(__u32 psn, __u32 from, __u32 end)
{
	return ((psn - from) & PSN_MASK) < ((end - from) & PSN_MASK);
}

/* Whether the capture has a gap at this PSN too. */
static bool is_missing(const struct stream_record *c, __u32 psn)
{
	const struct doctor_step *w = &c->waiting;

	if (between(psn, c->loss.missing_from, c->loss.missing_end))
		return true;
	/* before the first packet nothing was seen to be missing */
	return c->waits && c->psn.met && w->event.kinds & ROCE_EVENT(psn_gap) && between(psn, w->event.expected, w->psn);
}

/* Whether it is a NAK, PSN sequence error. */
static bool asks_again(const struct roce_packet *p)
{
	return p->op & OP_ACK && (p->syndrome & 0x7f) == AETH_NAK_SEQUENCE;
}

/*
 * Of several streams of requests the likeliest that a NAK asks for a PSN: what is missing here before what came, of those the latest, and
 * these before one whose first packet is just behind that PSN.
 */
static struct stream_record *likeliest(struct doctor *d, const struct stream_record *response, const struct path *path,
				       const struct roce_packet *p)
{
	struct stream_record *found = NULL, *behind = NULL;

	for (struct stream_record *c = d->searched <= SEARCHED ? path->streams : NULL; c; c = c->beside) {
		d->searched++;
		if (is_of_another(c, response))
			continue;
		if (fits(c, p) && is_missing(c, p->number))
			return c;
		if (fits(c, p) && (!found || c == path->requests))
			found = c;
		if (is_before_first(c, p))
			behind = c;
	}
	return found ?: behind ?: path->requests;
}

/* Of several streams of requests those that the PSNs of the answers tell; else the latest ones. */
static struct answered one_of_several(struct doctor *d, struct stream_record *response, const struct path *path,
				      const struct roce_packet *p)
{
	struct stream_record *fit = response->answers_votes < VOTES ? only_fit(d, path, response, p) : NULL;
	struct answered to;

	vote(response, fit);
	to = (struct answered){ response->answers ?: path->requests, response->answers_votes == VOTES };
	if (!to.sure && asks_again(p) && !(response->answers && fits(response->answers, p)))
		to.requests = likeliest(d, response, path, p);
	return to;
}

/*
 * The only stream of requests that is seen. Other answers may be to requests that are not seen. If those of two streams fit in turn,
 * nobody knows which are to this one.
 */
static struct answered the_only_one(struct stream_record *response, struct stream_record *only, const struct roce_packet *p)
{
	bool other = only->answered_by && only->answered_by != response, fit = fits(only, p);

	only->contended += other && fit;
	if (fit)
		vote(response, only);
	return (struct answered){ .requests = only, .sure = !record_is_contended(only) && (!other || fit) };
}

/* The requests that this packet answers: those of the pair if it is known; else by addresses and PSNs. */
static struct answered answered(struct doctor *d, struct stream_record *response, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	struct roce_key key;
	struct stream_record *found;
	struct path *path;

	if (taken->stream->pair.from) {
		roce_peer_key(taken->stream, p, &key);
		found = index_find(&d->records, &key);
		return (struct answered){ .requests = found, .sure = found };
	}
	path = doctor_path(d, p->dst, p->src);
	if (!path || !path->requests)
		return (struct answered){ 0 };
	return path->several ? one_of_several(d, response, path, p) : the_only_one(response, path->requests, p);
}

enum nak_place {
	NAK_UNKNOWN,
	NAK_MISSING, /* the packet is missing here */
	NAK_LATE,    /* it was overtaken here */
	NAK_PASSED,
};

/* The next packet in front of this PSN (step -1) or behind it (1) that is remembered: a READ takes several PSNs. NULL: none. */
static const struct twice_seen *neighbour(const struct twice *t, __u32 psn, __u32 step)
{
	const struct twice_seen *found = NULL;

	for (__u32 i = 1; !found && i < TWICE_LAST; i++)
		found = twice_at(t, (psn + i * step) & PSN_MASK);
	return found;
}

/* Where the packet is for which a NAK asks: by its latest transmission, and those of the packets beside it. */
static enum nak_place place_of(const struct stream_record *c, __u32 psn)
{
	const struct twice *t = &c->twice;
	const struct twice_seen *it = twice_at(t, psn), *last = &t->last[psn % TWICE_LAST];
	const struct twice_seen *before = neighbour(t, psn, PSN_MASK), *behind = neighbour(t, psn, 1);

	/* a receiver may ask several times, and go on with that while the packet comes */
	if (is_missing(c, psn) || twice_left_out(t, psn) || (c->loss.wanted == psn && (c->loss.wants || c->loss.came)))
		return NAK_MISSING;
	if (!record_is_complete(c) || (last->psn && psn_distance(psn, last->psn - 1) > 0))
		return NAK_UNKNOWN; /* not shown, or forgotten */
	if (!it)
		return c->trusted && c->bad ? NAK_UNKNOWN : NAK_MISSING;
	if (before && before->frame > it->frame)
		return NAK_MISSING; /* it came once; when the sender went back, it did not */
	return behind && behind->frame < it->frame ? NAK_LATE : NAK_PASSED;
}

/* Whether packets of this stream came late or twice. */
static bool is_disordered(const struct stream_record *c)
{
	const __u32 disorder = ROCE_EVENT(psn_recovered) | ROCE_EVENT(psn_duplicate);

	return c->loss.recovered || c->loss.again || (c->waits && c->waiting.event.kinds & disorder);
}

static void show_refused(struct stream_record *requests, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	struct evidence *e;

	if (!requests->behind_naks++ || requests->behind_psn != p->number)
		requests->behind++;
	requests->behind_psn = p->number;
	e = symptoms_add(&requests->symptoms, KIND_psn_refused, taken->number);
	if (!e)
		return;
	SAY(e->expected, "PSN 0x%06llx wanted", p->number);
	SAY(e->found, "PSN 0x%06x sent last", requests->waiting.psn);
}

/* Whether the NAK was sent before the packet, which has just come again, can have reached the receiver. time: ns. */
static bool is_older(const struct stream_record *c, __u32 psn, __u64 time)
{
	const struct twice_seen *it = twice_at(&c->twice, psn);
	__u64 way = c->goback.fastest ?: c->responder.longest;

	return it && c->loss.again && psn_distance(c->loss.went_back, psn) >= 0 && time - it->time < way;
}

/* Takes a NAK, PSN sequence error. Returns why the sender will go back. */
static enum loss_call refuse_psn(struct stream_record *requests, const struct doctor_packet *taken)
{
	__u32 first = requests->psn.met ? requests->psn.first : requests->waiting.psn, newest = responder_newest(&requests->responder);
	__u32 psn = taken->parsed->packet.number;
	bool came = twice_at(&requests->twice, psn), begun = psn_distance(first, psn) >= 0;
	bool within = requests->responder.met && begun && psn_distance(psn, newest) >= 0;
	enum nak_place place = came || within ? place_of(requests, psn) : is_missing(requests, psn) ? NAK_MISSING : NAK_UNKNOWN;

	if (requests->exchange.rnr.met && requests->exchange.rnr.psn == psn) /* it was not taken while the receiver was not ready */
		return CALL_RNR;
	if (is_older(requests, psn, taken->stream->last_seen))
		return requests->loss.again_by ?: CALL_OTHER;
	/* also where it is known that packets are missing in front of the first one */
	if (!came && (within ? place == NAK_MISSING : between(psn, requests->loss.start.expected, requests->loss.start.seen)))
		loss_want(&requests->loss, psn);
	if (place == NAK_MISSING)
		return CALL_LOSS;
	twice_forget_left_out(&requests->twice);
	if (place == NAK_LATE)
		return CALL_LATE;
	if (place == NAK_UNKNOWN && !requests->refused++) {
		requests->wanted = psn;
		requests->wanted_frame = taken->number;
	}
	/* one for a PSN before the capture does not show a loss behind this place, nor one in disorder of which not all was seen */
	if (place == NAK_UNKNOWN && (!begun || (is_disordered(requests) && !requests->behind)))
		return CALL_OTHER;
	show_refused(requests, taken);
	return CALL_BEHIND;
}

static void refuse(struct stream_record *requests, struct stream_record *response, enum finding_kind kind,
		   const struct doctor_packet *taken)
{
	__u32 type = taken->parsed->packet.syndrome >> 5 & 3;
	struct stream_record *c = requests ?: response;
	struct evidence *e = symptoms_add(&c->symptoms, kind, taken->number);
	struct symptom *symptom = symptoms_find(&c->symptoms, kind);

	if (e) {
		SAY(e->expected, "ACK");
		if (type == 1)
			SAY(e->found, "RNR NAK, %s, for PSN 0x%06llx", rnr_text(taken->parsed->packet.syndrome & 31).text,
			    taken->parsed->packet.number);
		else
			SAY(e->found, "NAK 0x%02x for PSN 0x%06llx", taken->parsed->packet.syndrome,
			    taken->parsed->packet.number);
	}
	if (symptom && symptom->packets == 1 && type != 1 && c->reth.known)
		SAY(symptom->figures, "The RETH before it had rkey 0x%08x, address 0x%llx, DMA length %u.", c->reth.rkey,
		    c->reth.va, c->reth.dma_length);
}

/* A response to what was acknowledged before: its READ was sent again, perhaps from inside of its span on. */
static void take_acked(struct stream_record *response, const struct roce_packet *p)
{
	bool before = response->acks && psn_distance(p->number, response->newest_ack) >= 0;

	if (!(p->op & OP_ACK)) {
		response->waiting.resent |= before;
	} else if (!before && !(p->op & OP_CUT) && !(p->syndrome >> 5 & 3)) {
		response->acks = true;
		response->newest_ack = p->number;
	}
}

/* READ responses, with an AETH or without: what is missing is asked for again. */
static void take_response(struct stream_record *requests, struct stream_record *response, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;

	if (response->unsure)
		reads_left_out(requests->reads);
	if (!requests->apart && !response->apart)
		reads_answer(requests->reads, &requests->twice, &response->symptoms, &response->waiting, taken);
	if (!(p->op & OP_NO_PLACE) && response->waiting.event.kinds & ROCE_EVENT(psn_gap))
		requests->called = CALL_LOSS;
}

/* Takes a positive answer, a NAK or an RNR NAK that is surely to these requests. false: a NAK of what cannot be missing. */
static bool take_sure(struct stream_record *requests, struct stream_record *response, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	const struct responder_answer a = {
		.packet = p, .frame = taken->number, .time = taken->stream->last_seen, .apart = taken->apart,
		.paired = taken->stream->pair.from,
	};
	bool nak = asks_again(p), right;

	requests->answered_by = response;
	if (!(p->op & OP_CUT) && !requests->apart && !response->apart)
		duplicates_answer(&requests->duplicates, &requests->symptoms, taken, requests->silence.longest);
	silence_answer(&requests->silence, &requests->responder, p, a.time);
	right = responder_study_answer(&requests->responder, &requests->symptoms, &a);
	if (nak && right)
		exchange_nak(&requests->exchange, &requests->responder, p, taken->number, false);
	exchange_ack(&requests->exchange, &requests->responder);
	if (nak)
		goback_nak(&requests->goback, taken);
	else if (p->op & OP_ACK && !(p->op & OP_CUT) && !(p->syndrome >> 5 & 3))
		goback_ack(&requests->goback, &requests->twice, taken);
	return right;
}

/* A NAK of which nobody knows whom it asks: each that may be meant takes it. */
static void share_nak(struct doctor *d, const struct stream_record *response, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	const struct path *path = doctor_path(d, p->dst, p->src);

	for (const struct stream_record *c = path && d->searched <= SEARCHED ? path->streams : NULL; c; c = c->beside) {
		d->searched++;
		/* it may have sent that PSN, and this place has not seen it; or it is known by mistake whose answers these are */
		if (nears(c, p) || (fits(c, p) && is_of_another(c, response)))
			return;
	}
	for (struct stream_record *c = path && d->searched <= SEARCHED ? path->streams : NULL; c; c = c->beside) {
		d->searched++;
		if (fits(c, p) && !reads_inside(c->reads, p->number))
			exchange_nak(&c->exchange, &c->responder, p, taken->number, true);
	}
}

/* An answer of which it is not known yet what it answers: whatever it says, each that may be meant is not left without one. */
static void share_answer(struct doctor *d, struct stream_record *response, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	const struct path *path = doctor_path(d, p->dst, p->src);

	for (struct stream_record *c = path && d->searched <= SEARCHED ? path->streams : NULL; c; c = c->beside) {
		d->searched++;
		if (!fits(c, p) || is_of_another(c, response))
			continue;
		response->waiting.resent |= !(p->op & OP_NO_PLACE) && reads_again(c->reads, p->number);
		silence_answer(&c->silence, &c->responder, p, taken->stream->last_seen);
		if (asks_again(p))
			goback_shared_nak(&c->goback, p->number);
	}
}

void answer_take(struct doctor *d, struct stream_record *response, const struct doctor_packet *taken)
{
	static const enum finding_kind naks[] = { KIND_psn_refused, KIND_nak_invalid_request, KIND_nak_remote_access,
						  KIND_nak_remote_operational };
	const struct roce_packet *p = &taken->parsed->packet;
	__u32 code = p->syndrome & 31, type = p->syndrome >> 5 & 3;
	bool cut = p->op & OP_CUT; /* an answer, though nobody knows whether it is a NAK */
	struct stream_record *requests;
	struct answered to;
	bool right = true;

	if (p->op & OP_CNP) {
		symptoms_add(&response->symptoms, KIND_congestion, taken->number);
		return;
	}
	reply_take(&response->symptoms, taken);
	to = answered(d, response, taken);
	requests = to.requests;
	if (to.sure)
		take_response(requests, response, taken);
	response->unsure = !to.sure;
	take_acked(response, p);
	if (requests && taken->event->kinds & ROCE_EVENT(psn_gap)) /* of READ responses: what is missing is asked for again */
		requests->called = CALL_LOSS;
	if (!(p->op & OP_AETH) && !cut)
		return;
	d->answers++;
	if (to.sure)
		right = take_sure(requests, response, taken);
	else if (!taken->stream->pair.from)
		share_answer(d, response, taken);
	if ((type == 0 || cut) && requests)
		requests->acked++;
	else if (requests)
		requests->twice.refused = taken->number;
	if (!(p->op & OP_ACK) || cut)
		return;
	if (requests && (type == 1 || type == 3))
		requests->called = type == 1 ? CALL_RNR : CALL_OTHER;
	if (to.sure)
		receiver_answer(requests->to_receiver, &requests->symptoms, p, taken->number);
	if (type == 1) {
		exchange_rnr(&(requests ?: response)->exchange, p, taken->time);
		refuse(requests, response, reply_rnr(to.sure ? &requests->twice : NULL, p->number), taken);
	} else if (type == 3 && !code && requests && right) {
		requests->called = refuse_psn(requests, taken);
	} else if (type == 3 && code && code < ROCE_ARRAY_SIZE(naks)) {
		refuse(requests, response, naks[code], taken);
	}
	if (type == 3 && !code && !to.sure)
		share_nak(d, response, taken);
}
