/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * First/Middle/Last grammar: which messages were completed on the wire, and which were broken.
 *
 * UC follows its receiver (kernel: rxe_resp.c, check_psn): a First or Only is accepted whatever its PSN, and after a
 * mismatch everything up to the next First or Only is dropped. RC heals by retransmission: a message is complete when
 * its last packet is seen for the first time, and what never heals shows as psn_lost. Each UD packet is a message.
 */
#ifndef ROCE_MESSAGE_H
#define ROCE_MESSAGE_H

#include "roce/counters.h"
#include "roce/parse.h"
#include "roce/psn.h"

#define MESSAGE_IMM_STEPS 4    /* so many steps of +1 in a row make immediate data a counter */
#define MESSAGE_IMM_GAP 65535  /* a larger step is another use of the field */

enum message_state {
	MESSAGE_NONE,  /* between messages, or met in the middle of one */
	MESSAGE_OPEN,
	MESSAGE_BROKEN, /* counted as broken; its rest is passed over */
};

struct roce_message {
	__u32 next;	 /* UC: the PSN its receiver expects inside the open message */
	__u32 first;	 /* UC: the PSN of the last First, */
	__u32 bytes;	 /* the DMA length it gave (0: not known, or it is not about this message), */
	__u32 payload;	 /* and its payload, which is the path MTU */
	__u32 immediate; /* the last one seen */
	__u32 skipped;	 /* psn_skipped when it was seen */
	__u8 state;
	__u8 met; /* the stream has been seen at a message's beginning or end: nothing headless is the start any more */
	__u8 imm_steps;
	__u8 late;   /* the open message was begun by a late First: if it breaks, that was counted already */
	__u8 inside; /* ... which came amid another message, whose rest may still follow */
};

/*
 * Immediate data that counts up by one (radio astronomy's block number) says which blocks are missing. Not to be called
 * for a late packet. heals: PSNs that were skipped will be sent again, so that a jump beside them says nothing.
 */
roce_inline void message_immediate(struct roce_message *m, struct roce_counters *c, const struct roce_packet *p, bool heals)
{
	__u32 step = p->immediate - m->immediate, skipped = c->value[COUNTER_psn_skipped];
	bool healing = heals && skipped != m->skipped;

	if (!(p->op & OP_IMMDT))
		return;
	m->immediate = p->immediate;
	m->skipped = skipped;
	if (step == 1) {
		m->imm_steps += m->imm_steps < MESSAGE_IMM_STEPS;
	} else if (m->imm_steps == MESSAGE_IMM_STEPS && step > 1 && step <= MESSAGE_IMM_GAP) {
		c->value[COUNTER_imm_gaps] += !healing;
		c->value[COUNTER_imm_skipped] += healing ? 0 : step - 1;
	} else if (step) {
		m->imm_steps = 0;
	}
}

/* Whether that PSN behind the last First can be of its message, by what is known of its length. */
roce_inline bool message_reaches(const struct roce_message *m, __u32 number)
{
	if (!m->bytes)
		return true;
	return ((number - m->first) & PSN_MASK) <= (m->bytes - 1) / m->payload;
}

/* One request packet of UC; late: its PSN lies before one that was seen already. */
roce_inline void message_uc(struct roce_message *m, struct roce_counters *c, const struct roce_packet *p, bool late)
{
	__u32 next = (p->number + 1) & PSN_MASK;
	bool in_order = p->number == m->next;

	if (p->op & OP_FIRST) {
		bool again = m->state == MESSAGE_OPEN && m->next == next; /* the same First twice in a row */

		/* the Last of the message before never came */
		c->value[COUNTER_messages_broken] += m->state == MESSAGE_OPEN && !m->late && !again;
		if (!again) {
			m->inside = late && m->state != MESSAGE_NONE;
			m->late = late;
		}
		m->state = MESSAGE_OPEN;
		m->met = true;
		m->first = p->number;
		m->payload = p->payload_bytes;
		m->bytes = p->op & OP_RETH && p->payload_bytes && !late ? p->dma_length : 0;
	} else if (m->state != MESSAGE_NONE && !in_order) {
		c->value[COUNTER_messages_broken] += m->state == MESSAGE_OPEN && !m->late;
		m->state = MESSAGE_BROKEN;
		if (!late && !message_reaches(m, p->number)) {
			c->value[COUNTER_messages_broken]++; /* another one, whose First is missing */
			m->bytes = 0;
		}
	} else if (m->state == MESSAGE_NONE && m->met && !late) {
		c->value[COUNTER_messages_broken]++; /* its First is missing */
		m->state = MESSAGE_BROKEN;
		m->bytes = 0;
	}
	m->next = next;
	if (!(p->op & OP_LAST) || (late && m->state != MESSAGE_OPEN))
		return;
	if (m->state == MESSAGE_OPEN) {
		c->value[COUNTER_messages]++;
		if (!late)
			message_immediate(m, c, p, false);
		m->state = m->inside ? MESSAGE_BROKEN : MESSAGE_NONE;
	} else {
		m->state = MESSAGE_NONE;
	}
	m->inside = false;
	m->met = true;
}

/* A packet of RC, XRC or UD, or a response, whose PSN was not seen before; late: it had been skipped. */
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
