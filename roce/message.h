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

#define MESSAGE_IMM_STEPS 4    /* equal steps in a row that make immediate data a counter */
#define MESSAGE_NO_PSN (~0u)   /* a value that no PSN has */
#define MESSAGE_IMM_GAP 65535  /* values; after a larger jump the field has another meaning */

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
	__u32 next;	 /* UC: the PSN behind the last packet, if the receiver has taken it, else MESSAGE_NO_PSN */
	__u32 first;	 /* UC: the PSN of the newest message's First, */
	__u32 bytes;	 /* its DMA length (0: unknown), */
	/* of blocks (roce/block.h); here, because each packet with immediate data needs it */
	__u32 immediate; /* the last value */
	__u32 step;	 /* from one value to the next, or the last difference */
	__u32 begin;	 /* BLOCK_BEGUN and the PSN behind the last immediate data; 0: not known */
	__u16 payload;	 /* UC: the payload of the First of the newest message, which is the path MTU */
	__u8 open;
	__u8 late;	 /* a late First opened this message: it was already counted as broken */
	__u8 unended;	 /* the newest message's last packet is missing; if it is not the open one, it was counted as broken */
	__u8 met; /* a message's beginning or end was seen: from now on a headless message is broken */
	__u8 counts; /* how often in a row the step was the same, up to MESSAGE_IMM_STEPS; BLOCK_LOOK */
	__u8 changes; /* goes up when a counter that shows an event may change (roce/event.h); here, because each packet needs this line */
};

#define BLOCK_BEGUN (1u << 31)
#define BLOCK_LOOK 0x80 /* the next immediate data is not merely the next value: PSNs were skipped since the last, or a message broke */
#define BLOCKS_OPEN 6	/* incomplete blocks that are remembered */

/* What few packets need of the blocks. */
struct roce_blocks {
	__u64 missing;		     /* bit i: the value i + 1 steps before `newest` has not come */
	__u32 from[BLOCKS_OPEN];     /* incomplete blocks: the PSN of the first packet, */
	__u16 packets[BLOCKS_OPEN];  /* and how many there are; 0: no block here, nor at a higher index */
	__u32 newest;		     /* a value, the last when `missing` was used */
	__u16 span;		     /* PSNs of a block, if those that were left out last and the next one are equally long, else 0 */
	__u8 bits;		     /* of the counter, learnt where it went round; 0: all */
	__u8 shared;		     /* several messages had the same value */
	__u8 behind;		     /* UC: how many of the last values a receiver has not got */
	__u8 judged;		     /* what else the newest block lacks does not count: it is too long, or began in another sequence */
	volatile __u8 at;	     /* a variable of block_find(), in memory because the verifier would follow its values */
};

#define RING_MESSAGES 4 /* messages of several packets, of which the address is remembered until their Last comes */

/* Of a stream whose blocks are slots of a ring (roce/ring.h). */
struct roce_ring_state {
	struct roce_ring ring; /* what was learnt: valid if row is MESSAGE_IMM_STEPS; slots 0: not seen to go round yet */
	__u32 last; /* BLOCK_BEGUN and the PSN of the last packet of the message that roce_last describes; 0: none */
	__u16 span; /* PSNs from one slot's end to the next; 0: not known */
	__u8 row;   /* how often in a row addresses stepped by ring.slot, up to MESSAGE_IMM_STEPS */
	__u8 beside; /* of a trial: it counts blocks */
	__u8 next;  /* of message[], modulo RING_MESSAGES */
	__u8 unused[3];
	struct {
		__u32 last; /* BLOCK_BEGUN and the PSN of the Last; 0: none */
		__u32 slot; /* that it ends, or RING_NONE */
	} message[RING_MESSAGES];
};

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
	m->counts |= BLOCK_LOOK;
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
