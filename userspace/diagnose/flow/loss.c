// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/diagnose/flow/loss.h"

#define OVERTAKEN 1024 /* packets that may overtake one */
#define AGAIN 4 /* packets in a row that may be missing from those that are sent again */

static void say_gap(struct evidence *e, const struct loss_gap *g)
{
	SAY(e->expected, "PSN 0x%06x", g->expected);
	SAY(e->found, "PSN 0x%06x", g->seen);
}

static void show(struct symptoms *symptoms, enum finding_kind kind, const struct loss_gap *g)
{
	struct evidence *e = symptoms_add(symptoms, kind, g->frame);

	if (e)
		say_gap(e, g);
}

static void hold(struct loss_held *h, const struct loss_gap *g)
{
	if (h->gaps < FINDING_EVIDENCE)
		h->gap[h->gaps] = *g;
	h->gaps++;
	h->skipped += g->skipped;
	if (g->skipped > h->largest)
		h->largest = g->skipped;
}

/* Judges the gaps held as missing packets, or as a PSN that was skipped. */
static void settle(struct loss *l, struct symptoms *symptoms, struct loss_held *h, bool missing)
{
	enum finding_kind kind = missing ? KIND_loss : KIND_psn_skip;
	struct symptom *symptom;

	if (!h->gaps)
		return;
	for (__u64 i = 0; i < h->gaps && i < FINDING_EVIDENCE; i++)
		show(symptoms, kind, &h->gap[i]);
	symptom = symptoms_find(symptoms, kind);
	if (symptom && h->gaps > FINDING_EVIDENCE)
		symptom->packets += h->gaps - FINDING_EVIDENCE;
	if (missing) {
		l->gaps += h->gaps;
		l->skipped += h->skipped;
		if (h->largest > l->largest)
			l->largest = h->largest;
	}
	*h = (struct loss_held){ 0 };
}

void loss_begins(struct loss *l, struct symptoms *symptoms, bool unended)
{
	settle(l, symptoms, &l->between, true);
	if (unended)
		settle(l, symptoms, &l->inside, true);
	/* the gap before this packet */
	l->between = l->inside;
	l->inside = (struct loss_held){ 0 };
}

void loss_judge(struct loss *l, struct symptoms *symptoms, bool whole, bool all, __u32 packets)
{
	settle(l, symptoms, &l->inside, !all && (!whole || l->inside.skipped % packets == 0));
	settle(l, symptoms, &l->between, !all);
}

static void take_gap(struct loss *l, const struct doctor_step *p, __u32 skipped)
{
	struct loss_gap g = { p->frame, p->event.expected, p->psn, skipped };
	/* where packets are not shown, or come again, their PSNs tell how many they were */
	__u64 since = l->apart || l->again ? (p->psn - l->missing_end) & PSN_MASK : l->packets - l->last + skipped;

	l->called = l->called ?: CALL_LOSS;
	l->missing_from = p->event.expected;
	l->missing_end = p->psn;
	l->missing = skipped;
	if (l->last) {
		l->periodic = !l->period || (l->periodic && since == l->period);
		l->period = since;
	}
	l->last = l->packets;
	hold(&l->inside, &g);
}

/* Whether the sender goes back to what is missing here, perhaps again in vain. */
static bool is_to_gap(const struct loss *l, const struct doctor_step *p)
{
	return p->event.kinds & ROCE_EVENT(psn_recovered) || (l->missing && p->psn == l->missing_end);
}

/*
 * Why this packet, which came late or again, is sent. What was seen before the sender went back is the reason for all of them, and
 * for nothing behind. A packet that is only late may have been overtaken: that is no return.
 */
static void find_call(struct loss *l, const struct doctor_step *p, bool again)
{
	bool lower = psn_distance(l->went_back, p->psn) < 0;

	if (!l->again_now || p->psn == l->went_back || p->psn == l->again_psn || (lower && l->called)) {
		l->went_back = p->psn;
		l->again_by = l->called ?: is_to_gap(l, p) ? CALL_LOSS : CALL_NONE;
		l->spent = again;
		if (again)
			l->called = CALL_NONE;
		return;
	}
	if (lower) /* its first packets were overtaken */
		l->went_back = p->psn;
	if (!again || l->spent)
		return;
	l->spent = true;
	if (!p->called)
		l->called = CALL_NONE;
}

static void take_again(struct loss *l, const struct doctor_step *p, const struct loss_gap *g)
{
	bool again = p->event.kinds & ROCE_EVENT(psn_duplicate), late = p->event.kinds & ROCE_EVENT(psn_recovered);

	if (again || late)
		find_call(l, p, again);
	else
		l->ahead = p->identification;
	l->again_now = again || late;
	l->again_psn = p->psn;
	if (!again)
		return;
	if (!l->again_by && l->again_for[CALL_NONE].packets < FINDING_EVIDENCE)
		l->uncalled_gap[l->again_for[CALL_NONE].packets] = *g;
	if (!l->again_for[l->again_by].packets++)
		l->again_for[l->again_by].first = *g;
}

void loss_take_back(struct loss *l)
{
	l->again--;
	if (l->again_for[l->again_by].packets)
		l->again_for[l->again_by].packets--;
}

void loss_want(struct loss *l, __u32 psn)
{
	l->wants = true;
	l->wanted = psn;
	l->came = false;
}

/* Whether a packet that came late was sent before those that came already: its sender counts packets by the identification. */
static bool is_overtaken(const struct loss *l, const struct doctor_step *p)
{
	__u16 behind = l->ahead - p->identification;

	return l->ahead && p->identification && behind && behind < OVERTAKEN;
}

/* before: late or back. Whether this packet is the next one in the sequence, but for damaged ones. */
static bool is_next(const struct loss *l, __u32 before, const struct doctor_step *p)
{
	return before && ((p->psn - before) & PSN_MASK) < l->span + l->damaged;
}

/* Whether a packet that comes for the first time was lost before: it was asked for, or the sender sends all again from some place on. */
static bool is_resent(const struct loss *l, const struct doctor_step *p)
{
	bool reliable = p->service == SERVICE_RC || p->service == SERVICE_XRC;

	return (p->resent || (reliable && l->back && ((p->psn - l->back) & PSN_MASK) < l->span + l->damaged + AGAIN)) && !is_overtaken(l, p);
}

/* The packet comes for which the receiver has asked. */
static void take_wanted(struct loss *l, const struct loss_gap *g)
{
	l->wants = false;
	l->came = true;
	l->came_packets = l->came_psns = 0;
	l->came_gap = *g;
}

/* It comes again: what came before was overtaken for so long that the receiver had asked for it meanwhile. */
static void take_back_wanted(struct loss *l, struct symptoms *symptoms)
{
	l->came = false;
	l->resent -= l->came_psns;
	for (__u64 i = 0; i < l->came_packets; i++)
		show(symptoms, KIND_reorder, &l->came_gap);
}

/* A packet comes that was before the first one: those in front of it were missing, and the sender has not begun with a wrong PSN. */
static void take_start(struct loss *l, struct symptoms *symptoms, const struct doctor_step *p)
{
	struct loss_gap *g = &l->start;

	if (!g->skipped || psn_distance(g->expected, p->psn) < 0 || psn_distance(p->psn, g->seen) <= 0)
		return;
	show(symptoms, KIND_loss, g);
	l->gaps++;
	l->skipped += g->skipped;
	if (g->skipped > l->largest)
		l->largest = g->skipped;
	g->skipped = 0;
}

/* Missing packets come late. */
static void take_late(struct loss *l, struct symptoms *symptoms, const struct doctor_step *p, const struct loss_gap *g)
{
	take_start(l, symptoms, p);
	if (!is_next(l, l->late, p)) {
		l->late_packets = l->late_psns = 0;
		l->answers = !is_overtaken(l, p) && l->wants && p->psn == l->wanted;
		if (l->answers)
			take_wanted(l, g);
	}
	l->recovered += p->event.recovered;
	l->missing -= p->event.recovered < l->missing ? p->event.recovered : l->missing;
	if (l->answers) {
		l->came_packets++;
		l->came_psns += p->event.recovered;
		l->resent += p->event.recovered;
		return;
	}
	if (is_resent(l, p)) {
		l->resent += p->event.recovered;
		l->back = p->psn + 1;
		return;
	}
	l->back = 0;
	l->late_packets += !is_overtaken(l, p);
	l->late_psns += is_overtaken(l, p) ? 0 : p->event.recovered;
	show(symptoms, KIND_reorder, g);
}

/* The packet behind those that came late comes again: the sender went back, and they were lost, not reordered. */
static void take_back_late(struct loss *l, struct symptoms *symptoms)
{
	for (__u64 i = 0; i < l->late_packets; i++)
		symptoms_take_back(symptoms, KIND_reorder);
	l->resent += l->late_psns;
	l->came = false;
}

__u32 loss_take(struct loss *l, struct symptoms *symptoms, const struct doctor_step *p, enum psn_how how)
{
	__u32 kinds = p->event.kinds, skipped = 0;
	struct loss_gap g = { p->frame, p->event.expected, p->psn, 0 };

	l->packets++;
	l->apart += p->apart;
	l->called = p->called ?: l->called ?: p->damaged ? CALL_DAMAGE : CALL_NONE;
	if (p->damaged) {
		l->damaged++;
		return 0;
	}
	if (how == PSN_TAKEN || how == PSN_RESUMES)
		return 0;
	if (kinds & ROCE_EVENT(psn_gap) && how == PSN_FIRST && !p->apart) {
		l->start = g;
		l->start.skipped = p->event.skipped;
		l->start.expected = (p->psn - p->event.skipped) & PSN_MASK;
	}
	/* conclude_start() judges a gap before the first packet, unless others before it were not shown */
	if (kinds & ROCE_EVENT(psn_gap) && (how != PSN_FIRST || p->apart)) {
		__u64 healed = l->damaged < p->event.skipped ? l->damaged : p->event.skipped;

		l->healed += healed;
		skipped = p->event.skipped - healed;
		if (skipped)
			take_gap(l, p, skipped);
	}
	take_again(l, p, &g);
	if (is_next(l, l->late, p) && kinds & ROCE_EVENT(psn_duplicate))
		take_back_late(l, symptoms);
	else if (l->came && kinds & ROCE_EVENT(psn_duplicate) && p->psn == l->wanted)
		take_back_wanted(l, symptoms);
	if (kinds & ROCE_EVENT(psn_recovered))
		take_late(l, symptoms, p, &g);
	else
		l->back = kinds & ROCE_EVENT(psn_duplicate) ? p->psn + 1 : 0;
	l->late = kinds & ROCE_EVENT(psn_recovered) ? p->psn + 1 : 0;
	l->span = p->span;
	l->damaged = 0;
	if (kinds & ROCE_EVENT(psn_duplicate)) {
		l->again++;
		show(symptoms, KIND_duplicates, &g);
	}
	if (kinds & ROCE_EVENT(psn_resync)) {
		l->jumps++;
		show(symptoms, KIND_psn_jump, &g);
	}
	return skipped;
}

void loss_take_out(struct loss *l, __u64 frame, __u32 psns, bool all)
{
	l->taken_out += psns;
	if (all && l->no_gaps.count < FINDING_EVIDENCE)
		l->no_gaps.frame[l->no_gaps.count++] = frame;
}

static void drop_evidence(struct symptoms *symptoms, __u64 frame)
{
	struct symptom *symptom = symptoms_find(symptoms, KIND_loss);
	size_t kept = 0;

	for (size_t i = 0; symptom && i < symptom->shown; i++)
		if (symptom->evidence[i].frame != frame)
			symptom->evidence[kept++] = symptom->evidence[i];
	if (symptom)
		symptom->shown = kept;
}

static void take_out(struct loss *l, struct symptoms *symptoms)
{
	l->skipped -= l->taken_out < l->skipped ? l->taken_out : l->skipped;
	if (l->taken_out && l->resent > l->skipped) /* those of them that came again with the others */
		l->resent = l->skipped;
	l->gaps -= l->no_gaps.count < l->gaps ? l->no_gaps.count : l->gaps;
	for (size_t i = 0; i < l->no_gaps.count; i++)
		drop_evidence(symptoms, l->no_gaps.frame[i]);
}

/* Moves the evidence of one kind to another. */
static void rename_symptom(struct symptoms *symptoms, enum finding_kind from, enum finding_kind to)
{
	struct symptom *symptom = symptoms_find(symptoms, from);

	if (symptom)
		symptom->kind = to;
}

void loss_conclude(struct loss *l, struct symptoms *symptoms, bool reliable)
{
	struct symptom *symptom;
	__u64 lost;

	settle(l, symptoms, &l->between, true);
	settle(l, symptoms, &l->inside, true);
	take_out(l, symptoms);
	lost = l->skipped > l->recovered ? l->skipped - l->recovered : 0;
	if (l->bounded && lost > l->most)
		lost = l->most;
	symptom = symptoms_find(symptoms, KIND_loss);
	if (!reliable)
		l->resent = 0;
	if (symptom)
		symptom->packets = lost + l->resent;
	if (symptom && !symptom->packets)
		symptoms_drop(symptoms, KIND_loss);
	if (reliable)
		rename_symptom(symptoms, KIND_duplicates, KIND_retransmission);
}

bool loss_share(const struct loss *l, enum loss_call why, struct symptom *symptom)
{
	*symptom = (struct symptom){ .kind = KIND_retransmission, .packets = l->again_for[why].packets, .shown = 1 };
	symptom->evidence[0].frame = l->again_for[why].first.frame;
	say_gap(&symptom->evidence[0], &l->again_for[why].first);
	return symptom->packets;
}

bool loss_uncalled(const struct loss *l, struct symptom *symptom)
{
	__u64 uncalled = l->again_for[CALL_NONE].packets;

	if (uncalled < FINDING_PACKETS || l->apart)
		return false;
	*symptom = (struct symptom){ .kind = KIND_retransmission, .packets = uncalled };
	for (; symptom->shown < uncalled && symptom->shown < FINDING_EVIDENCE; symptom->shown++) {
		symptom->evidence[symptom->shown].frame = l->uncalled_gap[symptom->shown].frame;
		say_gap(&symptom->evidence[symptom->shown], &l->uncalled_gap[symptom->shown]);
	}
	SAY(symptom->figures, "Of %llu packets these followed neither a gap nor a NAK that was seen.", l->again);
	return true;
}
