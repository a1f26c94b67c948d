// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "userspace/diagnose/finding/step.h"
#include "userspace/diagnose/flow/duplicate.h"

#define USUAL_TIME 4 /* times as long as usual without an answer */
#define RETURNS 2    /* times the requester goes back to them in vain, if an answer would have come meanwhile */
#define FEW 4	     /* times as often in vain as not: else packets were lost now and then */
#define MTU_LEAST 256

void duplicates_anew(struct duplicates *d)
{
	d->met = d->heard = d->again = false;
	memset(&d->waiting, 0, sizeof(d->waiting));
}

/* ---- requests ---- */

/* Whether these duplicates wait for longer than an answer takes. */
static bool is_in_vain(const struct duplicates *d, __u64 usual)
{
	__u64 since = d->waiting.to - d->waiting.from;
	bool long_since = usual && since > USUAL_TIME * usual;

	return (d->waiting.returns >= RETURNS && since >= usual) ||
	       (long_since && (d->waiting.returns || d->waiting.passed || d->waiting.asks >= FINDING_PACKETS));
}

/* `packets` duplicates, the first ones of those that ask, were not answered. */
static void take_silence(struct duplicates *d, __u64 packets)
{
	for (__u64 i = 0; i < packets && i < FINDING_EVIDENCE && d->unanswered + i < FINDING_EVIDENCE; i++)
		d->shown[d->unanswered + i] = d->waiting.shown[i];
	d->silent++;
	d->unanswered += packets;
}

static void take_duplicate(struct duplicates *d, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	bool executed = roce_is_answered(p), asks = request_asks(p);
	__u32 psn = p->number;

	d->waiting.executed |= executed;
	if (!d->again || psn_distance(d->lowest, psn) < 0)
		d->lowest = psn;
	if (!d->again || psn_distance(d->highest, psn) > 0)
		d->highest = psn;
	d->again = true;
	d->behind_them = false;
	if (!asks)
		return;
	if (d->waiting.asks && psn_distance(d->waiting.latest, psn) <= 0) {
		d->waiting.returns++;
		d->waiting.latest_asks = 0;
	}
	symptom_keep(d->waiting.shown, d->waiting.asks, (struct symptom_seen){ taken->number, psn, 0 });
	d->waiting.latest = psn;
	d->waiting.to = taken->stream->last_seen;
	if (!d->waiting.asks++)
		d->waiting.from = d->waiting.to;
	d->waiting.latest_asks++;
}

void duplicates_request(struct duplicates *d, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	__u32 psn = p->number, bytes = p->op & OP_READ_REQUEST ? p->dma_length : 0;

	if (taken->event->kinds & ROCE_EVENT(psn_resync))
		duplicates_anew(d);
	if (d->heard && psn_distance(d->behind, psn) < 0)
		take_duplicate(d, taken);
	if (!d->met || psn_distance(d->newest, psn) > 0) {
		if (d->waiting.asks && !d->waiting.passed)
			d->waiting.to = taken->stream->last_seen;
		d->waiting.passed = d->waiting.asks;
		if (!d->behind_them)
			d->fresh = psn;
		d->behind_them = true;
		d->newest = psn;
		d->last = (psn + (bytes ? bytes - 1 : 0) / (taken->stream->path_mtu ?: MTU_LEAST)) & PSN_MASK;
	}
	d->met = true;
}

/* ---- answers ---- */

/* Whether everything that was sent is acknowledged: then an answer is one of duplicates. */
static bool is_of_duplicates(const struct duplicates *d)
{
	return d->waiting.asks && psn_distance(d->behind, d->last) < 0;
}

/* Whether it is older than the newest acknowledgement, as its MSN says, and comes for the first time. */
static bool is_overtaken(const struct duplicates *d, const struct roce_packet *p)
{
	return psn_distance(d->msn, p->msn) < 0 && d->acks[p->number % DUPLICATE_ACKS] != p->number + 1;
}

/* Whether a duplicate may be answered so. */
static bool is_right(const struct duplicates *d, const struct roce_packet *p)
{
	__u32 type = p->syndrome >> 5 & 3, psn = p->number;

	if (type) /* the memory of a READ may be gone */
		return d->waiting.executed;
	if (psn == ((d->behind - 1) & PSN_MASK) || !(p->op & OP_ACK))
		return true;
	if (is_overtaken(d, p))
		return true;
	return psn_distance(d->lowest, psn) >= 0 && psn_distance(psn, d->highest) >= 0;
}

static void take_otherwise(const struct duplicates *d, struct symptoms *symptoms, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	struct evidence *e = symptoms_add(symptoms, KIND_duplicate_answered_otherwise, taken->number);

	if (!e)
		return;
	SAY(e->expected, "an ACK of PSN 0x%06x, or of 0x%06x", (d->behind - 1) & PSN_MASK, d->waiting.latest);
	SAY(e->found, "%s 0x%02x, PSN 0x%06llx", p->syndrome >> 5 & 3 ? "NAK" : "ACK", p->syndrome, p->number);
}

/* The answer acknowledges requests that were not acknowledged before, and that were sent. */
static void move_on(struct duplicates *d, const struct roce_packet *p)
{
	__u32 psn = p->number, behind = (psn + !(p->syndrome >> 5 & 3)) & PSN_MASK;

	if (psn_distance(d->last, (behind - 1) & PSN_MASK) > 0 || (d->heard && psn_distance(d->behind, behind) <= 0))
		return;
	d->behind = behind;
	d->msn = p->msn;
	d->heard = true;
	d->again &= !d->behind_them || psn_distance(d->fresh, (behind - 1) & PSN_MASK) < 0;
}

/*
 * An answer ends the wait. One that may be of requests behind the duplicates is none of them if they have waited for long.
 */
static void end_wait(struct duplicates *d, __u64 usual)
{
	bool in_vain = is_in_vain(d, usual), own = is_of_duplicates(d);
	__u64 packets = d->waiting.asks - (own ? d->waiting.latest_asks : 0);

	if (packets && in_vain)
		take_silence(d, packets);
	d->answered += own || !in_vain;
}

void duplicates_answer(struct duplicates *d, struct symptoms *symptoms, const struct doctor_packet *taken, __u64 usual)
{
	const struct roce_packet *p = &taken->parsed->packet;

	if (!d->met)
		return;
	if (is_of_duplicates(d) && !is_right(d, p))
		take_otherwise(d, symptoms, taken);
	if (d->waiting.asks)
		end_wait(d, usual);
	memset(&d->waiting, 0, sizeof(d->waiting));
	move_on(d, p);
	if (p->op & OP_ACK && !(p->syndrome >> 5 & 3))
		d->acks[p->number % DUPLICATE_ACKS] = p->number + 1;
}

void duplicates_conclude(struct duplicates *d, struct symptoms *symptoms, __u64 usual)
{
	struct symptom *symptom;

	if (d->waiting.asks && is_in_vain(d, usual))
		take_silence(d, d->waiting.asks);
	if (!d->silent || d->silent <= FEW * d->answered)
		return;
	symptom = symptoms_show(symptoms, KIND_duplicate_unanswered, d->shown, d->unanswered,
				"an ACK of PSN 0x%06x, or of a later one", "none");
	if (!symptom)
		return;
	SAY(symptom->figures, "The responder has acknowledged them up to PSN 0x%06x; %llu asked for it again, and %s.",
	    (d->behind - 1) & PSN_MASK, d->unanswered, d->answered ? "hardly one was answered" : "none was answered");
}
