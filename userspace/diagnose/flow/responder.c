// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "roce/packet/pair.h"
#include "userspace/diagnose/flow/responder.h"

#define FAR 65536    /* PSNs: an answer farther away is to no request of this sequence */
#define AHEAD 1024   /* ... or beyond the newest one, where this place may have changed the order */
#define MOVE (1 << 20) /* PSNs after which the first one is forgotten, so that distances keep their sign */
#define LATE 250000000ull /* ns by which a request may come here later than its answer, if nothing tells */
#define USUAL_ASKS 2 /* times as many packets ask in vain as did before an answer came */
#define USUAL_TIME 4 /* times as long */

/* ---- what came ---- */

static bool bit(const __u64 *map, __u32 psn)
{
	return map[psn % RESPONDER_PSNS / 64] >> psn % 64 & 1;
}

static void put(__u64 *map, __u32 psn, bool value)
{
	__u64 *word = &map[psn % RESPONDER_PSNS / 64], one = 1ull << psn % 64;

	*word = value ? *word | one : *word & ~one;
}

/* Whether it is known of this PSN whether it came. */
static bool is_known(const struct responder_study *r, __u32 psn)
{
	__s32 behind = psn_distance(psn, r->end);

	return behind > 0 && behind <= RESPONDER_PSNS && psn_distance(r->known, psn) >= 0;
}

static bool has_come(const struct responder_study *r, __u32 psn)
{
	return is_known(r, psn) && bit(r->came, psn);
}

static bool is_missing(const struct responder_study *r, __u32 psn)
{
	return is_known(r, psn) && !bit(r->came, psn);
}

/* Moves the end up to that PSN. came: what lies between was requested (a READ's response). */
static void extend(struct responder_study *r, __u32 end, bool came)
{
	if (psn_distance(r->end, end) > RESPONDER_PSNS) /* the others would be overwritten */
		r->end = (end - RESPONDER_PSNS) & PSN_MASK;
	for (; r->end != end; r->end = (r->end + 1) & PSN_MASK) {
		put(r->came, r->end, came);
		put(r->ends, r->end, false);
	}
	if (psn_distance(r->start, r->end) > MOVE)
		r->start = (r->end - MOVE / 2) & PSN_MASK;
	if (psn_distance(r->known, r->end) > RESPONDER_PSNS)
		r->known = (r->end - RESPONDER_PSNS) & PSN_MASK;
}

static void forget_answers(struct responder_study *r)
{
	r->gap.open = r->nak.open = r->asked = false;
	r->asks = r->again = r->waiting = 0;
	r->disturbed = true;
	msn_study_forget(&r->msn);
}

/* Packets before this PSN were not seen. */
static void begin_at(struct responder_study *r, __u32 psn)
{
	r->known = r->end = psn;
	r->damaged_count = 0;
	for (size_t i = 0; i < RESPONDER_DAMAGED; i++)
		r->damaged[i].frame = 0;
	forget_answers(r);
}

void responder_study_anew(struct responder_study *r)
{
	r->met = r->acked = false;
	r->msn.based = false;
	r->ahead = (struct responder_ahead){ 0 };
	forget_answers(r);
}

bool responder_is_foreign(const struct responder_study *r, __u32 psn)
{
	__s32 ahead = psn_distance(responder_newest(r), psn);

	return ahead > AHEAD || psn_distance(r->start, psn) < -FAR;
}

/* ---- damaged packets ---- */

void responder_study_damaged(struct responder_study *r, const struct doctor_step *p)
{
	__u64 at = r->damaged_count % RESPONDER_DAMAGED;

	/* its PSN may be what is damaged: then it may be one that came, also where that is not known */
	if (!r->met || psn_distance(r->known, p->psn) < 0 || has_come(r, p->psn) || responder_has_acked(r, p->psn) ||
	    responder_is_foreign(r, p->psn))
		return;
	r->damaged[at].frame = p->frame;
	r->damaged[at].psn = p->psn;
	r->damaged_count++;
}

static bool is_damaged(const struct responder_study *r, __u32 psn)
{
	for (size_t i = 0; i < RESPONDER_DAMAGED; i++)
		if (r->damaged[i].frame && r->damaged[i].psn == psn)
			return true;
	return false;
}

/* Returns how many. */
static __u64 forget_damaged(struct responder_study *r, __u32 from, __u32 to)
{
	__u64 count = 0;

	for (size_t i = 0; i < RESPONDER_DAMAGED; i++) {
		if (psn_distance(from, r->damaged[i].psn) >= 0 && psn_distance(r->damaged[i].psn, to) >= 0) {
			count += !!r->damaged[i].frame;
			r->damaged[i].frame = 0;
		}
	}
	return count;
}

/* An answer says that all up to this PSN was taken. */
static void take_damaged(struct responder_study *r, struct symptoms *symptoms, __u32 psn, const struct responder_answer *a)
{
	for (size_t i = 0; i < RESPONDER_DAMAGED; i++) {
		struct evidence *e;

		if (!r->damaged[i].frame || psn_distance(r->damaged[i].psn, psn) < 0)
			continue;
		e = symptoms_add(symptoms, KIND_ack_bad_icrc, r->damaged[i].frame);
		if (e) {
			SAY(e->expected, "PSN 0x%06x dropped: its ICRC is wrong", r->damaged[i].psn);
			SAY(e->found, "taken: answer 0x%06x in frame %llu", (__u32)a->packet->number, a->frame);
		}
		r->damaged[i].frame = 0;
	}
}

/* ---- gaps ---- */

/* The requester has closed the gap, and nobody knows how long an answer takes. */
static void take_healed(struct responder_study *r)
{
	symptom_keep(r->healed, r->healed_gaps++, (struct symptom_seen){ r->gap.frame, r->gap.psn, 0 });
	r->healed_asks += r->gap.asks;
}

/*
 * The gap is over. Whether more packets asked in vain behind it, and for longer, than is usual; or the requester waited for longer,
 * and then went back. back (ns): when it did; 0: it did not.
 */
static void judge_silence(struct responder_study *r, struct symptoms *symptoms, __u64 back)
{
	struct responder_gap *g = &r->gap;
	__u64 since = g->from > r->answered ? g->from : r->answered, usual = r->longest ?: r->first;
	bool silent, waited, repeats = g->repeats >= FINDING_PACKETS;
	struct evidence *e;

	if (r->naks && r->first > usual) /* it does send NAKs; from a new request to an answer to others the time is short */
		usual = r->first;
	silent = r->acked && g->unanswered >= FINDING_PACKETS && g->unanswered > USUAL_ASKS * r->most &&
		 g->to - g->from > USUAL_TIME * usual;
	waited = r->acked && usual && g->asks && back && back - since > USUAL_TIME * usual;
	g->open = false;
	if (!silent && !waited && !repeats && back && r->acked) /* before the first answer nobody knows whose a NAK is */
		take_healed(r);
	if (!silent && !waited && !repeats)
		return;
	r->silent_gaps += !repeats;
	r->silent_asks += repeats ? 0 : g->asks;
	r->repeated_gaps += repeats;
	r->repeats += repeats ? g->repeats : 0;
	e = symptoms_add(symptoms, KIND_nak_missing, g->frame);
	if (!e)
		return;
	SAY(e->expected, "a NAK of PSN 0x%06x", g->psn);
	if (repeats)
		SAY(e->found, "%llu times the ACK before it", g->repeats);
	else
		SAY(e->found, "nothing, though %llu packets asked", g->asks);
}

static void open_gap(struct responder_study *r, const struct doctor_step *p, __u64 time)
{
	__u32 psn = responder_has_acked(r, p->event.expected) ? (r->acked_psn + 1) & PSN_MASK : p->event.expected;

	/* it waits for an older one, or this one was acknowledged already: its packets came with a wrong ICRC, or only not here */
	if (r->gap.open || r->asked || psn_distance(psn, p->psn) <= 0)
		return;
	r->gap = (struct responder_gap){ .frame = p->frame, .psn = psn, .open = true, .owed = r->asks, .from = time, .to = time };
}

/* The responder says that nothing is missing up to this PSN. */
static void pass_gap(struct responder_study *r, __u32 psn, const struct responder_answer *a)
{
	struct responder_gap *g = &r->gap;
	bool sound = false;

	if (!g->open || psn_distance(g->psn, psn) < 0)
		return;
	g->open = false;
	for (__u32 i = g->psn; psn_distance(i, psn) >= 0 && is_missing(r, i) && !sound; i = (i + 1) & PSN_MASK)
		sound = !is_damaged(r, i);
	if (!sound)
		return;
	symptom_keep(r->passed, r->passed_gaps++, (struct symptom_seen){ a->frame, g->psn, psn });
}

/* ---- requests ---- */

/* A new request asks for an answer. */
static void take_ask(struct responder_study *r, __u64 time)
{
	r->asks++;
	if (!r->waiting++)
		r->waits_from = time;
	r->gapped |= r->gap.open;
	if (r->gap.open) {
		r->gap.asks++;
		r->gap.unanswered++;
		r->gap.to = time;
	}
}

/* A packet with a new PSN. */
static void take_new(struct responder_study *r, const struct doctor_step *p, __u32 next, __u64 time)
{
	bool gap = p->event.kinds & ROCE_EVENT(psn_gap) && psn_distance(r->end, p->event.expected) >= 0 &&
		   psn_distance(p->event.expected, p->psn) > 0;
	struct responder_ahead *h = &r->ahead;
	__s32 span;

	if (gap) {
		extend(r, p->event.expected, true);
		extend(r, p->psn, false);
		open_gap(r, p, time);
	}
	if (h->waits && psn_distance(h->wanted, p->psn) >= 0) {
		h->waits = false;
		h->longest = time - h->since > h->longest ? time - h->since : h->longest;
	}
	extend(r, (p->psn + 1) & PSN_MASK, true);
	put(r->ends, p->psn, p->op & OP_LAST);
	if (p->asks)
		take_ask(r, time);
	span = psn_distance(r->end, next);
	if (p->op & OP_READ_REQUEST && span > 0 && span < FAR) {
		extend(r, next, true);
		forget_damaged(r, p->psn, (next - 1) & PSN_MASK); /* the PSN was what is damaged */
	}
}

/* The PSNs of a READ's response, up to the next one that came. */
static void fill_span(struct responder_study *r, const struct doctor_step *p)
{
	for (__u32 i = 1; i < p->span && is_missing(r, (p->psn + i) & PSN_MASK); i++)
		put(r->came, (p->psn + i) & PSN_MASK, true);
}

/* A packet that came late, or again. */
static void take_old(struct responder_study *r, struct symptoms *symptoms, const struct doctor_step *p, __u64 time)
{
	r->disturbed = true;
	if (has_come(r, p->psn)) {
		r->ahead.returned = r->ahead.count;
		r->again++;
		r->again_end = r->end;
	} else if (is_known(r, p->psn)) {
		put(r->came, p->psn, true);
		put(r->ends, p->psn, p->op & OP_LAST);
		fill_span(r, p);
	}
	r->nak.passed = r->nak.passed ?: time;
	if (r->gap.open && psn_distance(p->psn, r->gap.psn) >= 0)
		judge_silence(r, symptoms, time);
}

void responder_study_request(struct responder_study *r, struct symptoms *symptoms, const struct doctor_step *p, __u32 next,
			     __u64 time)
{
	__s32 ahead = psn_distance(r->end, p->psn);

	if (!r->met) {
		r->start = p->psn;
		r->begun = time;
		begin_at(r, p->psn);
		r->disturbed = false;
	} else if (p->apart || ahead > AHEAD || (ahead > 0 && !(p->event.kinds & ROCE_EVENT(psn_gap)))) {
		begin_at(r, p->psn);
	}
	r->met = true;
	r->damaged_resent += forget_damaged(r, p->psn, p->psn);
	if (p->op & OP_READ_REQUEST) /* completed by its response, at a PSN that may be a guess */
		msn_study_forget(&r->msn);
	if (psn_distance(r->end, p->psn) >= 0)
		take_new(r, p, next, time);
	else
		take_old(r, symptoms, p, time);
}

/* ---- acknowledgements ---- */

/* Whether all came from `from` to `to`. Counts the messages that end there. */
static bool all_came(const struct responder_study *r, __u32 from, __u32 to, __u32 *messages)
{
	*messages = 0;
	for (__u32 psn = from; psn_distance(psn, to) >= 0; psn = (psn + 1) & PSN_MASK) {
		if (!has_come(r, psn))
			return false;
		*messages += bit(r->ends, psn);
	}
	return true;
}

static void take_msn(struct responder_study *r, struct symptoms *symptoms, const struct responder_answer *a)
{
	__u32 psn = a->packet->number, behind = r->msn.known ? r->msn.psn : (r->start - 1) & PSN_MASK;
	struct msn_step s = { .frame = a->frame, .psn = psn, .msn = a->packet->msn };
	__s32 packets = psn_distance(behind, psn);
	bool whole;

	if (packets <= 0)
		return;
	s.packets = packets;
	whole = packets <= RESPONDER_PSNS && all_came(r, (behind + 1) & PSN_MASK, psn, &s.messages);
	if (whole && r->msn.known)
		msn_study_take(&r->msn, symptoms, &s);
	else
		msn_study_begin(&r->msn, &s, whole, r->start);
}

/* "PSN 0x000012, or one before it". */
static void add_odd(struct symptoms *symptoms, enum finding_kind kind, __u64 frame, const char *before, __u32 psn,
		    const char *behind,
		    __u32 found)
{
	struct evidence *e = symptoms_add(symptoms, kind, frame);

	if (!e)
		return;
	SAY(e->expected, "%s 0x%06x%s", before, psn, behind);
	SAY(e->found, "PSN 0x%06x", found);
}

static void take_foreign(struct responder_study *r, struct symptoms *symptoms, __u32 psn, __u64 frame)
{
	__u32 swapped = __builtin_bswap32(psn << 8);

	r->never++;
	r->swapped += psn_distance(r->start, swapped) >= 0 && psn_distance(swapped, responder_newest(r)) >= 0;
	add_odd(symptoms, KIND_ack_psn, frame, "PSN", responder_newest(r), " or one before it", psn);
}

/* It is beyond what came. */
static void take_ahead(struct responder_study *r, __u32 psn, const struct responder_answer *a)
{
	struct responder_ahead *h = &r->ahead;
	__u32 by = psn_distance(responder_newest(r), psn);

	symptom_keep(h->shown, h->count, (struct symptom_seen){ a->frame, responder_newest(r), psn });
	h->differs |= h->count && h->by != by;
	h->by = h->count ? h->by : by;
	if (!h->count++ || psn_distance(h->psn, psn) > 0) {
		h->psn = psn;
		h->time = a->time;
		h->returned = false;
	}
	if (h->waits)
		return;
	h->waits = true;
	h->wanted = psn;
	h->since = a->time;
}

/* Whether the MSN of an answer that goes back is the one which belonged to its PSN. */
static bool is_as_it_was(const struct responder_study *r, const struct roce_packet *p)
{
	__s32 back = psn_distance(p->msn, r->newest_msn);
	__u32 psn = p->number, messages;

	return all_came(r, (psn + 1) & PSN_MASK, r->acked_psn, &messages) ? back == (__s32)messages : back > 0;
}

/* It was acknowledged already. Right where the request came again. */
static void take_back(struct responder_study *r, struct symptoms *symptoms, const struct responder_answer *a)
{
	if (r->again) {
		r->again--;
		return;
	}
	if (is_as_it_was(r, a->packet)) { /* the answer was overtaken on its way to this place, or came twice */
		r->overtaken++;
		return;
	}
	r->back++;
	add_odd(symptoms, KIND_ack_psn, a->frame, "PSN", r->acked_psn, " or a later one", a->packet->number);
}

/* An acknowledgement repeats the one before: of requests that came again, or of several, or instead of a NAK. */
static void take_same(struct responder_study *r)
{
	struct responder_gap *g = &r->gap;

	if (r->again)
		r->again--;
	else if (g->open && g->owed)
		g->owed--;
	else if (g->open && psn_distance(r->acked_psn, g->psn) == 1)
		g->repeats++;
}

/* How long the acknowledgement of this PSN took. What lies in front of a gap is answered as if there were none. */
static void take_time(struct responder_study *r, __u32 psn, __u64 time)
{
	bool front = r->gap.open && psn_distance(psn, r->gap.psn) > 0 && r->waits_from < r->gap.from;

	if (r->disturbed || !r->waiting)
		return;
	if (!r->gapped && r->waiting > r->most)
		r->most = r->waiting;
	if ((!r->gapped || front) && time - r->waits_from > r->longest)
		r->longest = time - r->waits_from;
}

/* A new acknowledgement. */
static void advance(struct responder_study *r, __u32 psn, __u64 time)
{
	__s32 flight = psn_distance(r->acked ? r->acked_psn : (r->start - 1) & PSN_MASK, responder_newest(r));

	if (flight > 0 && (__u32)flight > r->flight)
		r->flight = flight;
	if (r->again && psn_distance(r->again_end, psn) >= 0)
		r->again = 0;
	take_time(r, psn, time);
	if (psn == responder_newest(r))
		r->asks = 0;
	r->waiting = 0;
	r->disturbed = false;
	r->gapped = r->gap.open;
	r->nak.open &= psn_distance(r->nak.psn, psn) < 0;
	r->asked = false;
	r->acked = true;
	r->acked_psn = psn;
	r->taken_end = (psn + 1) & PSN_MASK;
}

static void take_ack(struct responder_study *r, struct symptoms *symptoms, const struct responder_answer *a)
{
	const struct roce_packet *p = a->packet;
	__u32 psn = p->number;
	__s32 on = r->acked ? psn_distance(r->acked_psn, psn) : 1;
	bool judged = p->op & OP_ACK && !(p->op & OP_CUT); /* a response's PSN is that of its request */

	if (responder_is_foreign(r, psn)) {
		if (judged)
			take_foreign(r, symptoms, psn, a->frame);
		return;
	}
	if (judged && psn_distance(responder_newest(r), psn) > 0 && !is_damaged(r, psn))
		take_ahead(r, psn, a);
	if (on > 0) {
		pass_gap(r, psn, a);
		take_damaged(r, symptoms, psn, a);
		if (judged)
			take_msn(r, symptoms, a);
		advance(r, psn, a->time);
		r->newest_msn = p->msn;
	} else if (judged && on < 0) {
		take_back(r, symptoms, a);
	} else if (judged) {
		take_same(r);
	}
}

/* ---- NAKs ---- */

/* The first PSN in front of this one that has not come here, in any way, and that the responder does not say to have taken. */
static bool has_missing_before(const struct responder_study *r, __u32 psn, __u32 *missing)
{
	__u32 from = psn_distance(r->taken_end, r->known) > 0 ? r->known : r->taken_end;

	for (*missing = from; psn_distance(*missing, psn) > 0; *missing = (*missing + 1) & PSN_MASK)
		if (is_missing(r, *missing) && !is_damaged(r, *missing))
			return true;
	return false;
}

/* A NAK asks for the packet in front of the missing one, which came: perhaps it is lost behind this place, but not each time. */
static void take_front(struct responder_study *r, __u32 psn, __u64 frame)
{
	r->naks_passed += has_come(r, psn);
	if (!has_come(r, psn) || !is_missing(r, (psn + 1) & PSN_MASK))
		return;
	symptom_keep(r->front, r->naks_front++, (struct symptom_seen){ frame, (psn + 1) & PSN_MASK, psn });
}

/* Whether a NAK asks for what may be missing. Where nothing was acknowledged yet, the first PSN may be wrong: conclude_start(). */
static bool judge_nak(struct responder_study *r, struct symptoms *symptoms, __u32 psn, __u64 frame)
{
	__u32 missing;

	if (!r->acked)
		return true;
	if (psn_distance(psn, r->acked_psn) >= 0 || responder_is_foreign(r, psn)) {
		add_odd(symptoms, KIND_nak_psn, frame, "a PSN behind", r->acked_psn, ", which it acknowledged", psn);
	} else if (has_missing_before(r, psn, &missing)) {
		add_odd(symptoms, KIND_nak_psn, frame, "PSN", missing, "", psn);
		r->naks_behind++;
	} else {
		take_front(r, psn, frame);
		return true;
	}
	r->naks_odd++;
	return false;
}

/* Whether it is the NAK before once more, not an answer to what came again since: that takes longer. */
static bool is_repeated(const struct responder_study *r, const struct responder_answer *a)
{
	return r->acked && r->nak.open && r->nak.psn == a->packet->number &&
	       (!r->nak.passed || a->time - r->nak.passed < r->longest);
}

static bool take_nak(struct responder_study *r, struct symptoms *symptoms, const struct responder_answer *a)
{
	bool again = is_repeated(r, a), right = true;
	__u32 psn = a->packet->number;

	r->naks++;
	if (again) {
		add_odd(symptoms, KIND_nak_repeated, a->frame, "one NAK until PSN", psn, " comes", psn);
		r->nak.often |= r->nak.again++;
	} else {
		right = judge_nak(r, symptoms, psn, a->frame);
		r->nak.again = 0;
	}
	r->nak.open = r->asked = true;
	r->nak.passed = again ? r->nak.passed : 0;
	r->asked_odd = !right;
	r->nak.psn = psn;
	return right;
}

/* What a NAK says of the packets in front of its PSN, and of that one. */
static void take_refused(struct responder_study *r, struct symptoms *symptoms, const struct responder_answer *a)
{
	__u32 psn = a->packet->number;

	if (responder_is_foreign(r, psn))
		return;
	r->damaged_refused += is_damaged(r, psn);
	forget_damaged(r, psn, (psn + FAR) & PSN_MASK); /* they come again */
	if (r->acked && psn_distance(r->taken_end, psn) > 0)
		r->taken_end = psn;
	take_damaged(r, symptoms, (psn - 1) & PSN_MASK, a);
}

bool responder_study_answer(struct responder_study *r, struct symptoms *symptoms, const struct responder_answer *a)
{
	const struct roce_packet *p = a->packet;
	__u32 type = p->syndrome >> 5 & 3;
	bool right = true;

	if (!r->met || (type && !(p->op & OP_ACK))) /* a response is no NAK: its AETH may be missing, and payload in its place */
		return true;
	if (a->apart)
		forget_answers(r);
	r->paired |= a->paired;
	r->answers += !(p->op & OP_CUT);
	if (!r->answered)
		r->first = a->time - r->begun;
	r->answered = a->time;
	r->gap.unanswered = 0;
	if (type == 0) {
		take_ack(r, symptoms, a);
	} else {
		r->gap.open = false;
		if (type == 3 && !(p->syndrome & 31))
			right = take_nak(r, symptoms, a);
		else
			r->nak.open = false;
		if (right)
			take_refused(r, symptoms, a);
	}
	r->asks -= r->asks > 0;
	return right;
}

/* ---- conclusions ---- */

/* Whether the request would have come here meanwhile. */
static bool never_comes(const struct responder_study *r, const struct responder_end *end)
{
	__u64 usual = r->ahead.longest ?: r->longest, late = usual ? USUAL_TIME * usual : LATE;

	return r->ahead.returned || (end->time > r->ahead.time && end->time - r->ahead.time > late);
}

/*
 * Acknowledgements of what never came. At the end of a capture the requests may only be late, by as much as others were. That several
 * are always the same number of packets ahead is at least odd.
 */
static void conclude_ahead(const struct responder_study *r, struct symptoms *symptoms, const struct responder_end *end)
{
	const struct responder_ahead *h = &r->ahead;
	bool odd = h->count > 1 && !h->differs;

	if (!responder_is_ahead(r) || (!odd && !never_comes(r, end)))
		return;
	symptoms_show(symptoms, KIND_ack_psn, h->shown, h->count, "PSN 0x%06x or one before it", "PSN 0x%06x");
}

static void conclude_ack_psn(const struct responder_study *r, struct symptoms *symptoms, const struct responder_end *end)
{
	struct symptom *symptom;
	bool doubted = false;

	conclude_ahead(r, symptoms, end);
	symptom = symptoms_find(symptoms, KIND_ack_psn);
	if (!symptom)
		return;
	if (r->swapped && r->swapped * 10 >= symptom->packets * 9) {
		SAY(symptom->figures, "Its bytes are in the other order.");
	} else if (r->never * 2 > symptom->packets) {
		doubted = !r->paired;
		SAY(symptom->figures, "%llu times it is a PSN that was never sent.%s", r->never,
		    doubted ? " Or these are answers to requests that are not seen here: --expect FILE would tell." : "");
	} else if (r->back * 2 > symptom->packets) {
		doubted = r->overtaken > r->back && (r->back < FINDING_PACKETS || r->passed_gaps);
		SAY(symptom->figures, "%llu times it goes back behind one that was acknowledged.%s", r->back,
		    doubted ? " Or answers overtook one another on their way to this place." : "");
	} else {
		doubted = r->passed_gaps || !never_comes(r, end);
		SAY(symptom->figures, "%llu times it is beyond what had come, up to PSN 0x%06x, which never comes.%s",
		    r->ahead.count, r->ahead.psn,
		    doubted ? " Or requests come to this place later than their answers, or not at all." : "");
	}
	symptom->doubted = doubted;
}

/*
 * Where this place misses packets, or damaged ones are asked for or sent again, which were not acknowledged, a few others are
 * no symptom.
 */
static void conclude_bad_icrc(const struct responder_study *r, struct symptoms *symptoms)
{
	struct symptom *symptom = symptoms_find(symptoms, KIND_ack_bad_icrc);

	if (!symptom)
		return;
	if (symptom->packets < FINDING_PACKETS && (r->damaged_refused || r->damaged_resent || r->passed_gaps)) {
		symptoms_drop(symptoms, KIND_ack_bad_icrc);
		return;
	}
	symptom->doubted = r->damaged_refused || 2 * (r->passed_gaps + r->ahead.count) > symptom->packets;
	if (r->damaged_refused)
		SAY(symptom->figures,
		    "But it asked for %llu others: perhaps these are damaged only on their way to this place.",
		    r->damaged_refused);
	else if (symptom->doubted)
		SAY(symptom->figures, "Or they were sent again, and this place has missed that.");
}

void responder_add_naks(struct responder_naks *to, const struct responder_study *r)
{
	to->odd += r->naks_odd + r->naks_front;
	to->other += r->naks_passed - r->naks_front;
}

static bool are_odd(const struct responder_naks *naks)
{
	return naks->odd >= FINDING_PACKETS && naks->odd >= 4 * naks->other;
}

/*
 * Where this place misses packets, a right NAK may be behind one of them now and then. That a packet is lost behind this place just in
 * front of one that is lost before it is chance: several such NAKs are none, whichever QPs they are of. Right QPs of another program do
 * not hide those of one.
 */
static void conclude_nak_psn(struct responder_study *r, struct symptoms *symptoms, const struct responder_end *end)
{
	struct responder_naks own = { 0 };
	struct symptom *symptom;
	bool front, most;

	responder_add_naks(&own, r);
	front = are_odd(&own) || (own.odd && are_odd(&end->naks));
	if (front && r->naks_front) {
		symptoms_show(symptoms, KIND_nak_psn, r->front, r->naks_front, "PSN 0x%06x", "PSN 0x%06x");
		r->naks_odd += r->naks_front;
	}
	most = front || r->naks_odd * 10 >= r->naks * 9;
	symptom = symptoms_find(symptoms, KIND_nak_psn);
	if (!symptom)
		return;
	if (r->asked && r->asked_odd && r->again >= FINDING_PACKETS) {
		symptom->packets += r->again;
		SAY(symptom->figures, "%llu of %llu NAKs do. What the last one asks for came again, %llu packets, and none of them was acknowledged.",
		    r->naks_odd, r->naks, r->again);
		return;
	}
	if (r->naks_behind == r->naks_odd && (!most || r->passed_gaps)) {
		symptoms_drop(symptoms, KIND_nak_psn);
		return;
	}
	symptom->doubted = r->passed_gaps || !most;
	SAY(symptom->figures, "%llu of %llu NAKs do.%s", r->naks_odd, r->naks,
	    symptom->doubted ? " Or this place has missed packets, or changed the order of both directions." : "");
}

/*
 * Gaps that are acknowledged. Most often only this place has missed the packets. But where the PSN leaps and nothing is missing, the
 * leap must be refused.
 */
static void conclude_passed(const struct responder_study *r, struct symptoms *symptoms)
{
	bool leaps = symptoms_find(symptoms, KIND_psn_skip);
	struct symptom *symptom;

	if (r->naks || !r->passed_gaps || (!leaps && r->passed_gaps < FINDING_PACKETS))
		return;
	symptom = symptoms_show(symptoms, KIND_nak_missing, r->passed, r->passed_gaps, "a NAK of PSN 0x%06x", "PSN 0x%06x");
	if (!symptom)
		return;
	symptom->doubted = !leaps;
	SAY(symptom->figures, "%llu times it acknowledges what lies behind a gap, and never asks for the gap.%s",
	    r->passed_gaps, leaps ? "" : " Or it has got these packets, and only this place has missed them.");
}

/* Whether the requester went back by itself behind each of several gaps, and no NAK ever came. */
static bool conclude_healed(const struct responder_study *r, struct symptoms *symptoms, const struct responder_end *end)
{
	struct symptom *symptom;

	if (r->naks || r->passed_gaps || !r->acked || r->healed_gaps < FINDING_PACKETS || end->resent < FINDING_PACKETS)
		return false;
	symptom = symptoms_show(symptoms, KIND_nak_missing, r->healed, r->healed_gaps, "a NAK of PSN 0x%06x",
				"none, until the sender went back");
	if (!symptom)
		return false;
	symptom->packets = r->healed_asks;
	SAY(symptom->figures, "Behind %llu gaps %llu packets asked for an answer, and the sender went back by itself.",
	    r->healed_gaps, r->healed_asks);
	return true;
}

static void conclude_nak_missing(const struct responder_study *r, struct symptoms *symptoms, const struct responder_end *end)
{
	struct symptom *symptom = symptoms_find(symptoms, KIND_nak_missing);

	if (!symptom && conclude_healed(r, symptoms, end))
		return;
	if (!symptom) {
		conclude_passed(r, symptoms);
		return;
	}
	if (r->repeated_gaps) {
		symptom->packets = r->repeats + r->silent_asks;
		SAY(symptom->figures, "Behind %llu gap%s it repeats the acknowledgement before the gap, %llu times in all.",
		    r->repeated_gaps, r->repeated_gaps == 1 ? "" : "s", r->repeats);
		return;
	}
	if (r->silent_gaps == 1 && r->naks) { /* it does send NAKs, and one may be lost before this place */
		symptoms_drop(symptoms, KIND_nak_missing);
		return;
	}
	symptom->packets = r->silent_asks;
	symptom->doubted = r->silent_gaps == 1 || r->passed_gaps || r->naks;
	SAY(symptom->figures, "Behind %llu gap%s %llu packets asked for an answer, and got none.%s", r->silent_gaps,
	    r->silent_gaps == 1 ? "" : "s",
	    r->silent_asks, symptom->doubted ? " Or its NAK was lost before this place." : "");
}

/* Where packets were not taken, only the MSN is known to be wrong: it was compared with packets that followed one another. */
static void drop_unsound(struct symptoms *symptoms)
{
	symptoms_drop(symptoms, KIND_ack_psn);
	symptoms_drop(symptoms, KIND_ack_bad_icrc);
	symptoms_drop(symptoms, KIND_nak_missing);
	symptoms_drop(symptoms, KIND_nak_psn);
	symptoms_drop(symptoms, KIND_nak_repeated);
}

void responder_study_conclude(struct responder_study *r, struct symptoms *symptoms, const struct responder_end *end)
{
	msn_study_conclude(&r->msn, symptoms, end->start);
	if (end->contended)
		symptoms_drop(symptoms, KIND_ack_msn);
	if (!end->complete || end->contended) {
		drop_unsound(symptoms);
		return;
	}
	if (end->twice && !r->nak.often)
		symptoms_drop(symptoms, KIND_nak_repeated);
	if (r->gap.open)
		judge_silence(r, symptoms, 0);
	conclude_ack_psn(r, symptoms, end);
	conclude_bad_icrc(r, symptoms);
	conclude_nak_missing(r, symptoms, end);
	conclude_nak_psn(r, symptoms, end);
	if (symptoms_find(symptoms, KIND_ack_psn)) /* the MSN was compared with what that PSN says */
		symptoms_drop(symptoms, KIND_ack_msn);
}
