/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * First/Middle/Last grammar: which messages completed on the wire, and which broke.
 *
 * UC follows its receiver (kernel: rxe_resp.c, check_psn): it accepts a First or Only with any PSN, and after a mismatch drops
 * everything up to the next First or Only. RC heals by retransmission: a message is complete when its last packet is seen for
 * the first time; what never heals shows as psn_lost. Each UD packet is a message.
 */
#ifndef ROCE_MESSAGE_H
#define ROCE_MESSAGE_H

#include "roce/counters.h"
#include "roce/parse.h"
#include "roce/psn.h"

#define MESSAGE_IMM_STEPS 4    /* steps of +1 in a row that make immediate data a counter */
#define MESSAGE_IMM_GAP 65535  /* after a larger step the field has another meaning */

/* What a UC receiver has open. */
enum message_open {
	MESSAGE_NONE,  /* nothing: it drops packets until the next First */
	MESSAGE_FIRST, /* a message of which only the First has arrived */
	MESSAGE_MORE,
};

/*
 * UC: besides its receiver's open message, the newest message is followed: that of the packet farthest in the sequence. It is
 * counted once, broken or not. A late First opens another message for the receiver; the newest stays.
 */
struct roce_message {
	__u32 next;	 /* UC: the PSN that the receiver expects inside the open message */
	__u32 first;	 /* UC: the PSN of the newest message's First, */
	__u32 bytes;	 /* its DMA length (0: unknown), */
	__u32 payload;	 /* and its First's payload, which is the path MTU */
	__u32 immediate; /* the last value seen */
	__u32 skipped;	 /* psn_skipped at that time */
	__u8 open;
	__u8 late;	 /* a late First opened this message: it was already counted as broken */
	__u8 unended;	 /* the newest message's last packet is missing; if it is not the open one, it was counted as broken */
	__u8 met; /* a message's beginning or end was seen: from now on a headless message is broken */
	__u8 imm_steps;
	__u8 changes; /* goes up when a counter that shows an event may change (roce/event.h); here, because each packet needs this line */
};

/* Forgets the messages. */
roce_inline void message_clear(struct roce_message *m)
{
	__u8 changes = m->changes;

	__builtin_memset(m, 0, sizeof(*m));
	m->changes = changes + 1;
}

/*
 * Immediate data that counts up by one (radio astronomy's block number) shows which blocks are missing. Do not call for a late
 * packet. heals: skipped PSNs will be sent again, so that a jump beside them means nothing.
 */
roce_inline void message_immediate(struct roce_message *m, struct roce_counters *c, const struct roce_packet *p, bool heals)
{
	__u32 step = p->immediate - m->immediate, skipped;
	bool healing = false;

	if (!(p->op & OP_IMMDT))
		return;
	if (heals) {
		skipped = c->value[COUNTER_psn_skipped];
		healing = skipped != m->skipped;
		m->skipped = skipped;
	}
	m->immediate = p->immediate;
	if (step == 1) {
		m->imm_steps += m->imm_steps < MESSAGE_IMM_STEPS;
	} else if (m->imm_steps == MESSAGE_IMM_STEPS && step > 1 && step <= MESSAGE_IMM_GAP) {
		m->changes++;
		c->value[COUNTER_imm_gaps] += !healing;
		c->value[COUNTER_imm_skipped] += healing ? 0 : step - 1;
	} else if (step) {
		m->imm_steps = 0;
	}
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
	m->skipped = beside->skipped;
	m->imm_steps = beside->imm_steps;
}

/* The packets that seemed to be late are those of another sequence: the open message is the newest. */
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
	if (last && !late)
		message_immediate(m, c, p, false);
}

/* Takes a packet of RC, XRC or UD, or a response, whose PSN is new. late: its PSN had been skipped. */
roce_inline void message_acknowledged(struct roce_message *m, struct roce_counters *c, const struct roce_packet *p,
				      bool late)
{
	if (!(p->op & OP_LAST))
		return;
	c->value[COUNTER_messages]++;
	if (!late)
		message_immediate(m, c, p, p->service != SERVICE_UD);
}

#endif
