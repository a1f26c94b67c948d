// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/diagnose/flow/exchange.h"

#define CLOCK 1000 /* ns by which a capture's times may be rounded */
#define FLIGHT 64  /* requests that may be on their way when a NAK comes, where no acknowledgement told how many */
#define FLIGHT_MORE 16

/* ---- RNR NAKs ---- */

/* Units of 10 us. The timers go up by a factor of about 1.4: two for each power of two; 0 stands for the largest. */
static __u32 rnr_units(__u32 timer)
{
	if (timer == 1)
		return 1;
	timer = timer ?: 32;
	return timer % 2 ? 3u << (timer - 3) / 2 : 1u << timer / 2;
}

struct rnr_text rnr_text(__u32 timer)
{
	__u32 units = rnr_units(timer);
	struct rnr_text t;

	SAY(t.text, "%u.%02u ms", units / 100, units % 100);
	return t;
}

void exchange_rnr(struct exchange *x, const struct roce_packet *p, __u64 time)
{
	struct exchange_rnr *r = &x->rnr;
	__u32 timer = p->syndrome & 31;

	if (!r->met || p->number != r->psn) {
		r->psns++;
		r->row = 0;
	}
	r->row++;
	if (r->row > r->row_most)
		r->row_most = r->row;
	if (!r->naks || rnr_units(timer) < rnr_units(r->least))
		r->least = timer;
	if (!r->naks || rnr_units(timer) > rnr_units(r->most))
		r->most = timer;
	r->naks++;
	r->met = r->open = true;
	r->answered = false;
	r->psn = r->next = p->number;
	r->timer = timer;
	r->time = time;
}

void exchange_add_rnr(struct exchange_rnr *to, const struct exchange_rnr *r)
{
	if (!r->naks)
		return;
	if (!to->naks || rnr_units(r->least) < rnr_units(to->least))
		to->least = r->least;
	if (!to->naks || rnr_units(r->most) > rnr_units(to->most))
		to->most = r->most;
	if (r->hurried && (!to->hurried || r->shortest < to->shortest))
		to->shortest = r->shortest;
	if (r->row_most > to->row_most)
		to->row_most = r->row_most;
	to->naks += r->naks;
	to->psns += r->psns;
	to->again += r->again;
	to->waited += r->waited;
	to->hurried += r->hurried;
}

/* Compares the time since the NAK with the timer. */
static void take_wait(struct exchange_rnr *r, __u64 time)
{
	__u64 wait = time - r->time, timer = 10000ull * rnr_units(r->timer);

	r->answered = true;
	if (!r->time || time <= r->time)
		return;
	if (wait + CLOCK >= timer) {
		r->waited++;
		return;
	}
	if (!r->hurried++ || wait < r->shortest)
		r->shortest = wait;
}

/* Counts a request of the run that an RNR NAK asks for again. */
static void take_again(struct exchange_rnr *r, const struct doctor_step *p, __u64 time)
{
	if (!r->open || psn_distance(r->next, p->psn) < 0)
		return;
	if (p->psn == r->psn && !r->answered)
		take_wait(r, time);
	if (!(p->event.kinds & ROCE_EVENT(psn_duplicate)))
		return;
	r->next = (p->psn + 1) & PSN_MASK;
	r->again++;
}

/* ---- NAKs ---- */

void exchange_nak(struct exchange *x, const struct responder_study *r, const struct roce_packet *p, __u64 frame, bool shared)
{
	struct exchange_nak *n = &x->nak;

	if (!r->met || psn_distance(r->start, p->number) < 0 || psn_distance(p->number, responder_newest(r)) < 0)
		return;
	if (n->open && (!n->shared || shared))
		return;
	n->open = true;
	n->apart = false;
	n->shared = shared;
	n->psn = p->number;
	n->newest = responder_newest(r);
	n->frame = frame;
}

static void take_nak(struct exchange_nak *n, const struct doctor_step *p)
{
	if (!n->open)
		return;
	n->apart |= p->apart;
	if (psn_distance(n->psn, p->psn) > 0)
		return;
	n->open = false;
	n->heeded += !n->shared;
}

/* The sender would have gone back meanwhile. */
bool exchange_ignores(const struct exchange *x, const struct responder_study *r)
{
	__u32 most = r->acked ? 2 * r->flight + FLIGHT_MORE : FLIGHT;

	return x->nak.open && psn_distance(x->nak.newest, responder_newest(r)) > (__s32)most;
}

void exchange_conclude(const struct exchange *x, const struct responder_study *r, struct symptoms *symptoms, size_t streams)
{
	const struct exchange_nak *n = &x->nak;
	__u32 newest = responder_newest(r), on = psn_distance(n->newest, newest);
	struct symptom *symptom = exchange_ignores(x, r) ? symptoms_get(symptoms, KIND_nak_ignored) : NULL;
	char more[96] = "";

	if (!symptom)
		return;
	symptom->packets = on;
	symptom->doubted = n->apart || n->heeded || n->shared;
	symptom->shown = 1;
	symptom->evidence[0].frame = n->frame;
	SAY(symptom->evidence[0].expected, "PSN 0x%06x sent again", n->psn);
	SAY(symptom->evidence[0].found, "PSN 0x%06x to 0x%06x", (n->newest + 1) & PSN_MASK, newest);
	if (streams > 1)
		SAY(more, " Which of %zu streams is meant is not known; none of them goes back.", streams);
	SAY(symptom->figures,
	    "The NAK in frame %llu asks for PSN 0x%06x; %u packets come behind it, up to 0x%06x, and never that one.%s",
	    n->frame, n->psn, on, newest, more);
}

/* ---- packets ---- */

void exchange_anew(struct exchange *x)
{
	x->rnr.open = x->nak.open = false;
}

void exchange_request(struct exchange *x, const struct responder_study *r, const struct doctor_step *p, __u64 time)
{
	take_again(&x->rnr, p, time);
	take_nak(&x->nak, p);
	if (!r->met || psn_distance(r->end, p->psn) >= 0)
		x->rnr.open &= !x->rnr.answered;
}

void exchange_ack(struct exchange *x, const struct responder_study *r)
{
	if (x->nak.open && responder_has_acked(r, x->nak.psn))
		x->nak.open = false;
}
