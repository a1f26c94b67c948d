/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * First/Middle/Last grammar: which messages completed on the wire, and which broke.
 *
 * UC follows its receiver (kernel: rxe_resp.c, check_psn): it accepts a First or Only with any PSN, and after a mismatch drops
 * everything up to the next First or Only. RC heals by retransmission: a message is complete when its last packet is seen for
 * the first time; what never heals shows as psn_lost. Each UD packet is a message.
 */
#ifndef ROCE_MESSAGE_MESSAGE_H
#define ROCE_MESSAGE_MESSAGE_H

#include "roce/stream/stream.h"

/* Forgets the messages. */
roce_inline void message_clear(struct roce_message *m)
{
	__u8 changes = m->changes;

	__builtin_memset(m, 0, sizeof(*m));
	m->changes = changes + 1;
}

/* Whether this PSN can belong to the newest message, given what is known of its length. */
roce_inline bool message_reaches(const struct roce_message *m, __u32 number)
{
	if (!m->bytes)
		return true;
	return ((number - m->first) & PSN_MASK) <= (m->bytes - 1) / m->payload;
}

/* The receiver drops this packet, which is no First. gap: PSNs were skipped before it. */
roce_inline void message_dropped(struct roce_message *m, struct roce_counters *c, const struct roce_packet *p, bool gap)
{
	m->counts |= BLOCK_CHECK;
	if ((m->met && !m->unended) || (gap && !message_reaches(m, p->number))) {
		m->changes++;
		c->value[COUNTER_messages_broken]++; /* another message, whose First is missing */
		m->bytes = 0;
	}
	m->unended = !(p->op & OP_LAST);
	m->met |= !m->unended;
}

/* A First or Only. A late First describes the newest message only if it is its own. */
roce_inline void message_begins(struct roce_message *m, const struct roce_packet *p, bool late, __s64 d)
{
	__u32 bytes = p->op & OP_RETH && p->payload_bytes ? p->dma_length : 0;

	if (late && (p->op & OP_LAST || m->bytes || !bytes || -d > (__s64)((bytes - 1) / p->payload_bytes) + 1))
		return;
	m->first = p->number;
	m->payload = p->payload_bytes;
	m->bytes = bytes;
}

/* The immediate data continues as in another sequence, which was followed beside this one. */
roce_inline void message_resume(struct roce_message *m, const struct roce_message *beside)
{
	m->immediate = beside->immediate;
	m->step = beside->step;
	m->begin = beside->begin;
	m->counts = beside->counts;
}

/* Packets that seemed to be late are of another sequence: the open message is the newest. */
roce_inline void message_anew(struct roce_message *m)
{
	m->late = false;
	m->met = true;
	m->unended = m->open != MESSAGE_NONE;
	m->bytes = 0;
}

/* Takes one UC request packet. d: its distance from the next PSN. late: its PSN was skipped or seen before. */
roce_inline void message_uc(struct roce_message *m, struct roce_counters *c, const struct roce_packet *p, bool late, __s64 d)
{
	bool last = p->op & OP_LAST, first = p->op & OP_FIRST;
	__u32 next = (p->number + 1) & PSN_MASK;
	bool again = first && !last && m->open == MESSAGE_FIRST && m->next == next; /* the same First twice in a row */
	bool follows = !first && m->open && p->number == m->next;

	if (!again && !follows) {
		if (m->open && !m->late) {
			m->changes++;
			c->value[COUNTER_messages_broken]++;
		}
		m->open = MESSAGE_NONE;
		m->late = late;
	}
	if (!first && !follows) {
		m->next = MESSAGE_NO_PSN;
		if (!late)
			message_dropped(m, c, p, d != 0);
		return;
	}
	if (first)
		message_begins(m, p, late, d);
	if (!late || !m->late) {
		m->unended = !last;
		m->met = true;
	}
	m->next = next;
	m->open = last ? MESSAGE_NONE : first ? MESSAGE_FIRST : MESSAGE_MORE;
	c->value[COUNTER_messages] += last;
}

#endif
