// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/diagnose/finding/step.h"
#include "userspace/diagnose/flow/goback.h"

/*
 * So often at least, and more often wrong than right: what is sent again may be lost again, so that a run seems to begin later; and
 * where a NAK is lost behind this place, the requester goes back to what it knows to be acknowledged, though later than soon.
 */
#define OFTEN 3
#define TWICE 2
#define SOON 4 /* times as long as the fastest acknowledgement */
#define FLIGHT 65536 /* PSNs that may be on their way */

/* ---- runs ---- */

/* The run is over: the requester goes back again, or nothing follows. */
static void end_run(struct goback *g)
{
	struct goback_run *r = &g->run;

	if (!r->packets)
		return;
	if (r->wrong) {
		g->packets += r->packets;
		g->early += r->early;
		g->soon += r->early && r->soon;
	}
	if (r->asks) {
		g->asking++;
	} else if (r->should) {
		symptom_keep(g->mute_shown, g->mute++, (struct symptom_seen){ r->frame, 0, r->psn });
		g->mute_packets += r->packets;
	}
	*r = (struct goback_run){ 0 };
}

static void take_wrong(struct goback *g, __u64 frame, __u32 psn, bool soon)
{
	if (g->wrong < FINDING_EVIDENCE) {
		g->shown[g->wrong].frame = frame;
		g->shown[g->wrong].nak = g->nak.frame;
		g->shown[g->wrong].wanted = g->nak.psn;
		g->shown[g->wrong].psn = psn;
	}
	g->run.again = g->nak.tried;
	g->again += g->run.again;
	g->run.wrong = g->nak.tried = true;
	g->run.early = psn_distance(psn, g->nak.psn) > 0;
	g->run.soon = soon;
	g->wrong++;
}

/* A READ in the run, before what the NAK asks for: its response may be incomplete, of which the NAK says nothing. */
static void excuse(struct goback *g)
{
	if (!g->run.wrong || !g->run.early)
		return;
	g->run.wrong = false;
	g->wrong--;
	g->again -= g->run.again;
}

/* Another answer comes behind the NAK, before the requester can have gone back. */
static void keep_nak(struct goback *g)
{
	if (g->nak.open)
		g->nak.before[g->nak.count++ % GOBACK_NAKS] = g->nak.psn;
	g->nak.open = false;
}

static bool is_of_nak_before(const struct goback *g, __u32 psn)
{
	for (__u32 i = 0; i < g->nak.count && i < GOBACK_NAKS; i++)
		if (g->nak.before[i] == psn)
			return true;
	return false;
}

/*
 * The requester goes back. A packet that comes for the first time may only be late, or was lost at the first time and the ones
 * before it at the second time; and where one is damaged, it may have gone back to that.
 */
static void go_back(struct goback *g, const struct doctor_packet *taken)
{
	__u64 since = taken->stream->last_seen - g->nak.time;
	__u32 psn = taken->parsed->packet.number;
	bool duplicate = taken->event->kinds & ROCE_EVENT(psn_duplicate);

	g->run.should |= g->run.asked && psn == g->run.psn; /* once more: it was in vain */
	end_run(g);
	g->run = (struct goback_run){ .frame = taken->number, .psn = psn };
	if (!g->nak.open)
		return;
	if (psn == g->nak.psn || is_of_nak_before(g, psn))
		g->right += !g->nak.tried;
	else if (duplicate && !g->damaged)
		take_wrong(g, taken->number, psn, since <= SOON * g->fastest);
}

/* ---- packets ---- */

void goback_anew(struct goback *g)
{
	end_run(g);
	g->met = g->nak.open = false;
}

/* It asked for an answer when it was sent first. */
static bool has_asked(const struct goback *g, __u32 psn)
{
	return g->asked[psn % GOBACK_ASKED] == psn + 1;
}

/*
 * The PSN comes for which a NAK asks. If the requester had gone back before the NAK came, it has still to heed it: also where these
 * packets were on their way then, and come here only now. They begin elsewhere.
 */
static void pass_asked(struct goback *g, __u32 psn)
{
	if (!g->nak.open || psn != g->nak.psn)
		return;
	if (g->run.packets && (g->run.frame < g->nak.frame || (g->run.psn != psn && !g->run.wrong))) {
		keep_nak(g);
		return;
	}
	g->nak.open = false;
	g->nak.count = 0;
}

void goback_request(struct goback *g, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	bool answered = roce_is_answered(p), asks = request_asks(p), again;
	__u32 psn = p->number;

	if (taken->event->kinds & ROCE_EVENT(psn_resync))
		goback_anew(g);
	again = g->met && psn_distance(g->newest, psn) <= 0;
	if (again) {
		if (!g->run.packets || psn_distance(g->latest, psn) <= 0)
			go_back(g, taken);
		if (answered && g->nak.open && psn_distance(psn, g->nak.psn) > 0)
			excuse(g);
		g->run.packets++;
		g->run.should |= p->op & OP_LAST && has_asked(g, psn);
		g->run.asked |= has_asked(g, psn);
	} else {
		g->newest = psn;
	}
	g->run.asks |= asks;
	if (asks && !again)
		g->asked[psn % GOBACK_ASKED] = psn + 1;
	pass_asked(g, psn);
	g->latest = psn;
	g->met = true;
	g->damaged = false;
}

void goback_damaged(struct goback *g)
{
	g->damaged = true;
}

void goback_nak(struct goback *g, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	__s32 behind = psn_distance(p->number, g->newest);

	if (!g->met || behind < 0 || behind > FLIGHT)
		return;
	keep_nak(g);
	g->nak.open = true;
	g->nak.tried = false;
	g->nak.psn = p->number;
	g->nak.frame = taken->number;
	g->nak.time = taken->stream->last_seen;
}

void goback_shared_nak(struct goback *g, __u32 psn)
{
	g->nak.before[g->nak.count++ % GOBACK_NAKS] = psn;
}

void goback_ack(struct goback *g, const struct twice *sent, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	__u64 since = twice_time(sent, p->number), took = taken->stream->last_seen - since;

	if (since && took && (!g->fastest || took < g->fastest))
		g->fastest = took;
	if (g->nak.open && psn_distance(g->nak.psn, p->number) >= 0)
		keep_nak(g);
}

/* ---- symptoms ---- */

void goback_add(struct goback_runs *to, struct goback *g, bool lossy)
{
	end_run(g);
	to->right += g->right;
	to->wrong += g->wrong - (lossy ? g->again : 0); /* what the NAK asks for may be lost once more */
	/* a requester that goes back to where its message begins is now and then right */
	to->unsure |= g->right || g->early || lossy;
}

static bool is_often_wrong(const struct goback_runs *r)
{
	return r->wrong >= (r->unsure ? OFTEN : TWICE) && r->wrong > r->right;
}

static void conclude_wrong(struct goback *g, struct symptoms *symptoms, const struct goback_runs *all)
{
	bool lossy = symptoms_find(symptoms, KIND_loss);
	bool before = g->soon >= (lossy || g->right ? TWICE : 1) && g->soon * 2 >= g->right;
	bool disordered = symptoms_find(symptoms, KIND_reorder); /* then a run seems to begin anywhere */
	struct goback_runs own = { 0 };
	struct symptom *symptom;
	bool often;

	goback_add(&own, g, lossy);
	often = is_often_wrong(&own) || (g->wrong && is_often_wrong(all));
	symptom = (before || often) && !disordered ? symptoms_get(symptoms, KIND_goes_back_wrong) : NULL;
	if (!symptom)
		return;
	symptom->packets = g->packets;
	for (; symptom->shown < FINDING_EVIDENCE && symptom->shown < g->wrong; symptom->shown++) {
		struct evidence *e = &symptom->evidence[symptom->shown];

		e->frame = g->shown[symptom->shown].frame;
		SAY(e->expected, "PSN 0x%06x, as the NAK in frame %llu asks", g->shown[symptom->shown].wanted,
		    g->shown[symptom->shown].nak);
		SAY(e->found, "PSN 0x%06x", g->shown[symptom->shown].psn);
	}
	SAY(symptom->figures,
	    "It went back %llu time%s to another PSN, %llu of them before the one that was asked for, and %llu time%s to that "
	    "one.", g->wrong, g->wrong == 1 ? "" : "s", g->early, g->right, g->right == 1 ? "" : "s");
}

static void conclude_mute(const struct goback *g, struct symptoms *symptoms)
{
	struct symptom *symptom = g->mute <= g->asking ? NULL :
				  symptoms_show(symptoms, KIND_resends_without_ackreq, g->mute_shown, g->mute,
						"AckReq in the last packet, as before", "none from PSN 0x%06x on");

	if (!symptom)
		return;
	symptom->packets = g->mute_packets;
	SAY(symptom->figures, "It went back %llu time%s so.", g->mute, g->mute == 1 ? "" : "s");
}

void goback_conclude(struct goback *g, struct symptoms *symptoms, const struct goback_runs *all)
{
	end_run(g);
	conclude_wrong(g, symptoms, all);
	conclude_mute(g, symptoms);
}
