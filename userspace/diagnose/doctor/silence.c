// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "lib/address.h"
#include "roce/packet/opcode.h"
#include "userspace/diagnose/doctor/record.h"

#define USUAL_ASKS 2  /* times as many packets ask in vain as did before an acknowledgement came */
#define USUAL_TIME 4  /* times as long */
#define RETURNS 2     /* times the requester goes back in vain: it has waited for an answer */
#define PAUSES 2      /* times as long as a QP's longest pause inside of the message, ... */
#define PAUSE_LEAST 250000000ull /* ns: ... and so long at least, it sends nothing: usual timeouts are shorter */

/* ---- acknowledgements ---- */

void silence_ask(struct silence *s, const struct responder_study *r, const struct roce_packet *p, __u64 frame, __u64 time)
{
	if (responder_has_acked(r, p->number)) {
		s->again++;
		return;
	}
	if (!request_asks(p))
		return;
	symptom_keep(s->shown, s->asks, (struct symptom_seen){ frame, p->number, 0 });
	s->repeats += s->asks && psn_distance(s->latest, p->number) <= 0;
	s->latest = p->number;
	if (!s->asks++)
		s->from = time;
	s->to = time;
}

void silence_answer(struct silence *s, const struct responder_study *r, const struct roce_packet *p, __u64 time)
{
	s->refused = p->syndrome >> 5 & 3;
	if (s->refused || responder_has_acked(r, p->number) || responder_is_foreign(r, p->number))
		return;
	if (s->asks && time - s->from > s->longest)
		s->longest = time - s->from;
	if (s->asks > s->most)
		s->most = s->asks;
	s->asks = s->again = s->repeats = 0;
	s->heard++;
}

/* Whether a gap in these requests may be what the responder waits for. */
static bool lacks_packets(const struct stream_record *c)
{
	return c->loss.last && psn_distance(c->responder.acked_psn, c->loss.missing_from) > 0;
}

static bool has_stopped(const struct stream_record *c)
{
	const struct silence *s = &c->silence;

	return s->heard && !record_is_contended(c) && !s->refused && s->asks >= FINDING_PACKETS &&
	       (s->asks > USUAL_ASKS * s->most || s->repeats >= RETURNS) && s->to - s->from > USUAL_TIME * s->longest && !lacks_packets(c);
}

/* The requests in the opposite direction, if all are of one QP. NULL: none, or of several. */
static struct stream_record *opposite(const struct doctor *d, const struct stream_record *c)
{
	const struct path *back = doctor_path(d, c->key.dst, c->key.src), *forth = doctor_path(d, c->key.src, c->key.dst);

	return back && forth && path_is_single(back) && path_is_single(forth) ? back->streams : NULL;
}

static void say_stop(const struct doctor *d, struct stream_record *c)
{
	const struct silence *s = &c->silence;
	struct symptom *symptom = symptoms_show(&c->symptoms, KIND_ack_stops, s->shown, s->asks, "an ACK of PSN %u", "none");
	struct address_text from = address_text(c->key.dst), to = address_text(c->key.src);
	__u32 next = (c->responder.acked_psn + 1) & PSN_MASK;
	struct stream_record *peer = opposite(d, c);
	char deaf[200] = "";

	if (!symptom)
		return;
	symptom->of = c->answered_by ? &c->answered_by->key : &c->key;
	/* what is usual, one or two do not tell, but the requester does, who sends again */
	symptom->doubted = s->heard < FINDING_PACKETS && !s->repeats;
	if (peer && peer->silence.again) {
		peer->deaf = true;
		SAY(deaf, " %s sends again what %s has acknowledged: nothing of %s reaches it.", from.text, to.text, to.text);
	}
	SAY(symptom->figures, "From %s to %s: PSN %u (0x%06x) is the first without one; %llu packets asked for it, or for a later one, in %g s.%s",
	    from.text, to.text, next, next, s->asks, (s->to - s->from) / 1e9, deaf);
}

/* ---- messages ---- */

/* Whether the stream ends inside of a message of which all came so far. */
static bool is_unfinished(const struct stream_record *c)
{
	const struct message_study *m = &c->message;

	return m->open && m->begun && m->whole && m->reth && m->bytes < m->dma_length;
}

static bool is_silent(const struct doctor *d, const struct stream_record *c)
{
	__u64 silent = d->end > c->seen ? d->end - c->seen : 0;

	return silent >= PAUSE_LEAST && silent >= PAUSES * c->pause;
}

/* Whether both have stopped at the same place of such a message, their first one. */
static bool is_alike(const struct stream_record *a, const struct stream_record *b)
{
	const struct message_study *x = &a->message, *y = &b->message;

	return !x->ended && !y->ended && x->bytes == y->bytes && x->dma_length == y->dma_length;
}

static void say_unfinished(struct stream_record *c)
{
	const struct message_study *m = &c->message;
	struct symptom *symptom = symptoms_get(&c->symptoms, KIND_message_unfinished);

	if (!symptom)
		return;
	symptom->packets = m->packets;
	symptom->shown = 1;
	symptom->evidence[0].frame = c->waiting.frame;
	SAY(symptom->evidence[0].expected, "%u bytes in all", m->dma_length);
	SAY(symptom->evidence[0].found, "%llu, and nothing behind it", m->bytes);
	SAY(symptom->figures, "%llu of %u bytes.", m->bytes, m->dma_length);
}

/*
 * A capture may end anywhere, so a QP must be silent for long. Where one is, others that have stopped at the same place of their
 * first message have stopped for the same reason, even if the capture ends too soon behind them.
 */
static void conclude_messages(struct doctor *d)
{
	const struct stream_record *sample = NULL;

	for (size_t i = 0; i < d->records.count; i++) {
		struct stream_record *c = d->records.entries[i];

		if (!record_is_complete(c) || !is_unfinished(c) || !is_silent(d, c))
			continue;
		say_unfinished(c);
		sample = sample ?: c;
	}
	for (size_t i = 0; sample && i < d->records.count; i++) {
		struct stream_record *c = d->records.entries[i];

		if (record_is_complete(c) && is_unfinished(c) && !is_silent(d, c) && is_alike(c, sample))
			say_unfinished(c);
	}
}

void silence_conclude(struct doctor *d)
{
	if (d->selection)
		return;
	for (size_t i = 0; i < d->records.count; i++) {
		struct stream_record *c = d->records.entries[i];

		if (record_is_complete_with_answers(c) && has_stopped(c))
			say_stop(d, c);
	}
	conclude_messages(d);
}
