// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "roce/event/find_events.h"
#include "roce/observe.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/faults.h"
#include "userspace/observe/model/selection.h"

/* Counters of the sequence, but for those of messages and blocks whose ends were seen: these are in the file, or are not. */
static bool is_of_sequence(enum roce_counter c)
{
	return counter_facts[c].scope >= SCOPE_STREAM && c != COUNTER_messages && c != COUNTER_blocks;
}

void selection_read(struct selection *c, const char *comment, size_t length)
{
	if (!comment || !event_parse(comment, length, &c->verdict))
		c->verdict = (struct roce_event){ .expected = EVENT_NO_PSN };
}

enum icrc_verdict selection_icrc(const struct selection *c, enum icrc_verdict icrc)
{
	return icrc == ICRC_UNCHECKED && c->verdict.kinds & ROCE_EVENT(icrc_bad) ? ICRC_BAD : icrc;
}

void selection_leave(struct roce_stream *s)
{
	late_give(&s->psn);
	roce_begin_anew(s);
}

/* The next packet begins a sequence, but the immediate data goes on: by what step it counts stays known. */
static void leap(struct roce_stream *s)
{
	const struct roce_message before = s->message;

	selection_leave(s);
	message_resume(&s->message, &before);
}

/* A number of --udp is complete only in roce_observe(): its sequence goes on, and only what it counts is taken back. */
void selection_begin(struct selection *c, struct roce_stream *s, const struct roce_packet *p, enum icrc_verdict icrc)
{
	bool placed = p->kind == ROCE_PACKET && p->op && !(p->op & OP_NO_PLACE) && !(icrc == ICRC_BAD && s->trusted);
	bool follows = placed && s->met && !stream_distance(s, p);

	if (c->verdict.expected != EVENT_NO_PSN)
		follows = c->verdict.expected == event_expected(s);
	c->apart = !follows && (placed || p->kind == ROCE_UDP);
	if (placed && (!s->met || stream_distance(s, p)))
		leap(s);
	memcpy(c->kept, s->counters.value, sizeof(c->kept));
	memcpy(c->lint, s->lint, sizeof(c->lint));
	c->waited = s->sequence.waited;
}

void selection_end(const struct selection *c, struct roce_stream *s, __u32 trusted)
{
	bool forgotten = s->trusted && !trusted; /* stream_trust() */
	__u64 *v = s->counters.value;

	for (int i = 0; i < ROCE_STREAM_COUNTERS; i++)
		if (is_of_sequence(i))
			v[i] = forgotten ? 0 : c->kept[i];
	s->sequence.waited = c->waited;
	if (!c->verdict.kinds)
		return;
	/* of others a habit counts, which is no fault */
	for (int i = 0; i < ROCE_LINTS && c->verdict.kinds & (ROCE_EVENT(lint) | ROCE_EVENT(icrc_bad)); i++)
		s->lint[i] = forgotten ? 0 : c->lint[i];
	faults_count(s, &c->verdict, c->verdict.kinds & (ROCE_EVENTS_OF_SEQUENCE | ROCE_EVENT(lint)) & ~ROCE_EVENT(psn_stray));
	/* what comes later, or never, cannot be told from what was left out */
	v[COUNTER_blocks_missing] = 0;
	if (v[COUNTER_blocks] < v[COUNTER_blocks_incomplete])
		v[COUNTER_blocks] = v[COUNTER_blocks_incomplete];
	/* it was skipped in a file that is not here */
	if (v[COUNTER_psn_recovered] > v[COUNTER_psn_skipped])
		v[COUNTER_psn_recovered] = v[COUNTER_psn_skipped];
	s->message.changes++;
}

void selection_tell(const struct selection *c, struct roce_event *e)
{
	const struct roce_event own = *e;

	if (!c->verdict.kinds)
		return;
	*e = c->verdict;
	e->kinds |= own.kinds & ~(ROCE_EVENTS_OF_SEQUENCE | ROCE_EVENT(lint));
	e->seen = own.seen;
	e->ring = own.ring;
}
