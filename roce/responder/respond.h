/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules of a responder: whether a request is taken, where its payload belongs, and what it is answered (IBTA 9.6.1, 9.7.4, 9.7.5
 * and 9.9.3 for RC, 9.8.2 for UC). RDMA WRITE and SEND, with and without immediate data.
 *
 * A packet goes through three steps: responder_judge(), the caller's copy of the payload, and responder_commit(). If the copy
 * fails, responder_fail() comes in place of the last. No other packet of the QP may come in between.
 */
#ifndef ROCE_RESPONDER_RESPOND_H
#define ROCE_RESPONDER_RESPOND_H

#include "roce/packet/packet.h"
#include "roce/responder/responder.h"

roce_inline bool responder_is_write(const struct roce_packet *p)
{
	return (p->opcode & 0x1f) >= 0x06;
}

/* READ, atomics, FLUSH, SEND with invalidate and the rest are not known here (IBTA table 38). */
roce_inline bool responder_knows(const struct roce_packet *p)
{
	return p->op & OP_KNOWN && (p->opcode & 0x1f) <= 0x0b;
}

/* Two P_Keys match if their lower bits do, and one is of a full member (IBTA 10.9.3). */
roce_inline bool responder_pkey_fits(__u32 a, __u32 b)
{
	return !((a ^ b) & 0x7fff) && (a | b) & 0x8000;
}

roce_inline bool responder_same_address(const __u8 *a, const __u8 *b)
{
	return roce_load(__u64, a) == roce_load(__u64, b) && roce_load(__u64, a + 8) == roce_load(__u64, b + 8);
}

roce_inline bool responder_has_receive(const struct roce_responder *q, __u64 posted)
{
	return q->endless || (__s64)(posted - q->receives) > 0;
}

/* Fills in `to` from the open message, which ends here. */
roce_inline void responder_end(struct roce_responder *q, struct roce_message_end *to, __u32 flags)
{
	to->at = q->begin;
	to->receive = q->receives;
	to->length = q->length;
	to->placed = q->placed;
	to->first_psn = q->first_psn;
	to->last_psn = q->last_psn;
	to->region = q->region;
	to->flags = q->flags | flags;
	to->valid = 1;
	q->open = OPEN_NONE;
	q->ended = flags & MESSAGE_INCOMPLETE ? ENDED_INCOMPLETE : ENDED_WHOLE;
}

/* Gives up the unfinished message: no more of it will be taken. */
roce_inline void responder_give_up(struct roce_responder *q, struct responder_step *s)
{
	if (q->open == OPEN_NONE)
		return;
	if (q->flags & MESSAGE_SEND)
		q->length = 0; /* the sender alone knows */
	responder_end(q, &s->broken, MESSAGE_INCOMPLETE);
}

/* UC: what is known of a message by a packet whose First was not taken. */
roce_inline __u32 responder_headless_flags(const struct roce_responder *q, const struct roce_packet *p)
{
	return MESSAGE_HEADLESS | (responder_is_write(p) ? 0 : MESSAGE_SEND) |
	       (psn_distance(q->expected, p->number) < 0 ? MESSAGE_LATE : 0);
}

/* UC: packets of the message; 0: not known. */
roce_inline __u32 responder_packets(const struct roce_responder *q)
{
	return q->flags & (MESSAGE_SEND | MESSAGE_HEADLESS) ? 0 : (q->length + q->path_mtu - 1) / q->path_mtu;
}

/* UC: whether the message that ended last was taken up to a packet that was missing or refused, so that more of it may come. */
roce_inline bool responder_may_have_rest(const struct roce_responder *q)
{
	return q->ended == ENDED_INCOMPLETE && !(q->flags & MESSAGE_HEADLESS);
}

/*
 * UC: whether a PSN so far behind the first one belongs to the message that ended last. If its length is not known, the PSN that
 * follows may be of its rest: another message would begin with that one, by a First.
 */
roce_inline bool responder_reaches(const struct roce_responder *q, __s32 offset)
{
	__s32 packets = responder_packets(q);

	if (!packets)
		packets = psn_distance(q->first_psn, q->last_psn) + 1 + responder_may_have_rest(q);
	return q->ended && offset >= 0 && offset < packets;
}

/*
 * UC: a message begins with that PSN. Counts the PSNs directly before it that are of messages that have ended. All PSNs behind an
 * incomplete message are taken for such. So a late packet may count a message too few, but never a message twice.
 */
roce_inline void responder_count_before(struct roce_responder *q, __u32 psn)
{
	__s32 before = psn_distance(q->first_psn, psn);
	bool follows = before > 0 && (q->ended == ENDED_INCOMPLETE || responder_reaches(q, before - 1));
	__u32 counted = follows ? before + q->counted : 0;

	q->counted = counted < 0xffff ? counted : 0xffff;
}

/* UC: whether the message of a packet that is neither First nor Only has ended, and so is counted. */
roce_inline bool responder_has_ended(const struct roce_responder *q, const struct roce_packet *p)
{
	__s32 offset = psn_distance(q->first_psn, p->number);

	if (offset < 0)
		return -offset <= q->counted;
	return q->open == OPEN_NONE && responder_is_write(p) == !(q->flags & MESSAGE_SEND) && responder_reaches(q, offset);
}

/* UC: the message of a packet that is not taken, and that does not belong to the open one. */
roce_inline void responder_begin_headless(struct roce_responder *q, const struct roce_packet *p)
{
	responder_count_before(q, p->number);
	q->open = OPEN_BROKEN;
	q->first_psn = q->last_psn = p->number;
	q->length = q->placed = 0;
	q->begin = RESPONDER_NOWHERE;
	q->region = 0;
	q->flags = responder_headless_flags(q, p);
}

/* UC: the message of this packet alone ends, beside the open one. */
roce_inline void responder_end_beside(const struct roce_responder *q, const struct roce_packet *p, struct responder_step *s)
{
	s->ended = (struct roce_message_end){
		.at = RESPONDER_NOWHERE, .receive = q->receives, .first_psn = p->number, .last_psn = p->number,
		.immediate = p->immediate, .valid = 1,
		.flags = responder_headless_flags(q, p) | MESSAGE_INCOMPLETE | (p->op & OP_IMMDT ? MESSAGE_IMMEDIATE : 0),
	};
}

/* UC: ends the dropped message with its last packet. */
roce_inline void responder_end_dropped(struct roce_responder *q, const struct roce_packet *p, struct responder_step *s)
{
	if (q->flags & MESSAGE_SEND)
		q->length = 0;
	responder_end(q, &s->ended, MESSAGE_INCOMPLETE | (p->op & OP_IMMDT ? MESSAGE_IMMEDIATE : 0));
	s->ended.immediate = p->immediate;
}

/*
 * UC: whether a First or Only that is refused leaves the open message alone. An Only does, and a First with a PSN that the open one
 * still awaits: no packet of theirs can come that would be taken for one of it.
 */
roce_inline bool responder_is_beside(const struct roce_responder *q, const struct roce_packet *p)
{
	__s32 offset = psn_distance(q->first_psn, p->number), packets = responder_packets(q);

	if (q->open == OPEN_NONE)
		return false;
	return p->op & OP_LAST || (psn_distance(q->expected, p->number) >= 0 && offset >= 0 && offset < packets);
}

/* UC: drops a First or Only. */
roce_inline void responder_drop_first(struct roce_responder *q, const struct roce_packet *p, struct responder_step *s)
{
	if (responder_is_beside(q, p)) {
		responder_end_beside(q, p, s);
		return;
	}
	responder_give_up(q, s);
	responder_begin_headless(q, p);
	if (p->op & OP_LAST)
		responder_end_dropped(q, p, s);
}

/*
 * UC: drops the packet, and with it the rest of its message. That is the open one, unless the PSN is before the beginning or
 * behind the end of that one.
 */
roce_inline void responder_drop(struct roce_responder *q, const struct roce_packet *p, struct responder_step *s)
{
	__s32 offset = psn_distance(q->first_psn, p->number);
	__s32 packets = responder_packets(q);

	if (p->op & OP_FIRST) {
		responder_drop_first(q, p, s);
		return;
	}
	if (q->open == OPEN_NONE) {
		responder_begin_headless(q, p);
	} else if (offset < 0) {
		q->open = OPEN_BROKEN;
		if (p->op & OP_LAST)
			responder_end_beside(q, p, s);
		return;
	} else if (packets && offset >= packets) {
		responder_give_up(q, s);
		responder_begin_headless(q, p);
	}
	q->open = OPEN_BROKEN;
	q->last_psn = p->number;
	if (p->op & OP_LAST)
		responder_end_dropped(q, p, s);
}

roce_inline void responder_answer(struct responder_step *s, __u32 syndrome, __u32 psn)
{
	s->answers = 1;
	s->syndrome = syndrome;
	s->answer_psn = psn & 0xffffff;
}

/*
 * A request that breaks the rules. RC: a NAK, and the QP is in error (IBTA 9.9.3, class C). UC: the message is dropped (class D).
 */
roce_inline void responder_reject(struct roce_responder *q, const struct roce_packet *p, __u32 refusal, __u32 syndrome,
				  struct responder_step *s)
{
	s->refusal = refusal;
	if (q->service != SERVICE_RC) {
		responder_drop(q, p, s);
		return;
	}
	responder_answer(s, syndrome, p->number);
	responder_give_up(q, s);
	q->state = RESPONDER_ERROR;
}

/* The checks of IBTA 9.6.1, which need no PSN. A packet that fails is dropped silently. */
roce_inline __u32 responder_check_header(const struct roce_responder *q, const struct roce_packet *p, enum icrc_verdict icrc)
{
	if (icrc != ICRC_GOOD)
		return REFUSAL_icrc;
	if (q->state == RESPONDER_RESET)
		return REFUSAL_not_ready;
	if (!responder_same_address(q->peer, p->src))
		return REFUSAL_source;
	if (p->tver)
		return REFUSAL_tver;
	if (!responder_pkey_fits(p->pkey, q->pkey))
		return REFUSAL_pkey;
	if (p->op & (OP_RESPONSE | OP_CNP))
		return REFUSAL_response;
	if (p->service != q->service)
		return REFUSAL_service;
	return q->state == RESPONDER_ERROR ? REFUSAL_error : REFUSAL_NONE;
}

/* IBTA 9.7.4.1.2 and 9.7.5.1: false: the packet is not the expected one. */
roce_inline bool responder_check_psn_rc(struct roce_responder *q, const struct roce_packet *p, struct responder_step *s)
{
	__s32 d = psn_distance(q->expected, p->number);

	if (!d)
		return true;
	s->refusal = d < 0 ? REFUSAL_duplicate : REFUSAL_ahead;
	if (d > 0 && !q->asked) {
		q->asked = 1;
		responder_answer(s, AETH_NAK_SEQUENCE, q->expected);
	} else if (d < 0 && responder_knows(p)) {
		responder_answer(s, AETH_ACK, q->expected - 1); /* a READ cannot have been answered before */
	}
	return false;
}

/* UC: drops a packet that does not go on with the open message. */
roce_inline void responder_drop_stray(struct roce_responder *q, const struct roce_packet *p, struct responder_step *s)
{
	bool counted = responder_has_ended(q, p), rest = q->open == OPEN_BROKEN;

	if (counted && q->open == OPEN_NONE && responder_may_have_rest(q))
		rest = psn_distance(q->first_psn, p->number) >= 0;
	s->refusal = rest ? REFUSAL_rest : p->number != q->expected ? REFUSAL_gap : REFUSAL_order;
	if (!counted)
		responder_drop(q, p, s);
	else if (q->open != OPEN_NONE)
		q->open = OPEN_BROKEN;
	else if (rest && psn_distance(q->last_psn, p->number) == 1)
		q->last_psn = p->number;
}

/*
 * IBTA 9.8.2.2: a message may begin at any PSN, and goes on at the expected one only. A packet that begins a message, and is taken,
 * shows that the one before it has lost its end (responder_judge()). false: the packet is dropped.
 */
roce_inline bool responder_check_psn_uc(struct roce_responder *q, const struct roce_packet *p, struct responder_step *s)
{
	if (p->op & OP_FIRST)
		return true;
	if (p->number == q->expected && (q->open == OPEN_WRITE || q->open == OPEN_SEND))
		return true;
	responder_drop_stray(q, p, s);
	return false;
}

/* IBTA 9.7.4.1.3, table 39. */
roce_inline bool responder_follows(const struct roce_responder *q, const struct roce_packet *p)
{
	if (p->op & OP_FIRST)
		return q->open == OPEN_NONE || q->service != SERVICE_RC;
	return q->open == (responder_is_write(p) ? OPEN_WRITE : OPEN_SEND);
}

/*
 * Whether the packet has the length that its opcode allows (IBTA 9.7.4.1.5, 9.7.4.1.6), and the pad that fills it up to four bytes
 * (9.2.1). length: of the message; placed: bytes of it before this packet.
 */
roce_inline bool responder_length_fits(const struct roce_responder *q, const struct roce_packet *p, __u64 length, __u64 placed)
{
	__u32 payload = p->payload_bytes;
	__u64 end = placed + payload;

	if (length > RESPONDER_DMA_MAX || payload > q->path_mtu || p->pad != (-payload & 3))
		return false;
	if (!(p->op & OP_LAST))
		return payload == q->path_mtu && (responder_is_write(p) ? end < length : end <= length);
	if (!(p->op & OP_FIRST) && !payload)
		return false;
	return responder_is_write(p) ? end == length : end <= length;
}

/*
 * The place of a packet that begins a message. region: that of the RETH's rkey, NULL: none has it. A WRITE of no bytes needs no
 * rkey (IBTA 9.7.4.1.4). Returns why it is refused.
 */
roce_inline __u32 responder_place(const struct roce_responder *q, const struct roce_packet *p, const struct roce_region *region,
				  __u64 *at)
{
	__u64 offset;

	if (!responder_is_write(p)) {
		*at = q->receive_slots ? q->receive_at + q->receives % q->receive_slots * q->receive_bytes :
					 RESPONDER_NOWHERE;
		return REFUSAL_NONE;
	}
	*at = RESPONDER_NOWHERE;
	if (!p->dma_length)
		return REFUSAL_NONE;
	if (!region)
		return REFUSAL_rkey;
	offset = p->va - region->va; /* of an address before the region, it wraps and is too large */
	if (offset > region->bytes || p->dma_length > region->bytes - offset)
		return REFUSAL_bounds;
	*at = region->at + offset;
	return REFUSAL_NONE;
}

/* Whether the packet uses up a receive that must be there now: a SEND when it begins, and what carries immediate data. */
roce_inline bool responder_wants_receive(const struct roce_packet *p)
{
	return responder_is_write(p) ? p->op & OP_IMMDT : p->op & OP_FIRST;
}

roce_inline void responder_refuse_receive(struct roce_responder *q, const struct roce_packet *p, struct responder_step *s)
{
	s->refusal = REFUSAL_no_receive;
	if (q->service != SERVICE_RC) {
		responder_drop(q, p, s);
		return;
	}
	q->asked = 1; /* what follows is dropped silently until this PSN comes again (IBTA 9.7.5.2.8) */
	responder_answer(s, AETH_RNR | (q->rnr_timer & 0x1f), p->number);
}

/*
 * Judges a packet of kind ROCE_PACKET to this QP. region: as above, only looked at for a WRITE that begins; posted: receives
 * posted so far. If s->refusal is REFUSAL_NONE then copy s->bytes of payload to s->at, and call responder_commit() or
 * responder_fail(). A message may have ended: s->broken is complete now, s->ended and the answer only then.
 */
roce_inline void responder_judge(struct roce_responder *q, const struct roce_packet *p, enum icrc_verdict icrc,
				 const struct roce_region *region, __u64 posted, struct responder_step *s)
{
	__u64 length, placed, at;
	__u32 refusal;

	__builtin_memset(s, 0, sizeof(*s));
	s->refusal = responder_check_header(q, p, icrc);
	if (s->refusal)
		return;
	if (q->service != SERVICE_RC && !responder_knows(p)) {
		s->refusal = REFUSAL_operation; /* the next packet shows whether it was one of the open message */
		return;
	}
	if (!(q->service == SERVICE_RC ? responder_check_psn_rc(q, p, s) : responder_check_psn_uc(q, p, s)))
		return;
	if (!responder_knows(p)) {
		responder_reject(q, p, REFUSAL_operation, AETH_NAK_INVALID, s);
		return;
	}
	if (!responder_follows(q, p)) {
		responder_reject(q, p, REFUSAL_order, AETH_NAK_INVALID, s);
		return;
	}
	if (responder_wants_receive(p) && !responder_has_receive(q, posted)) {
		responder_refuse_receive(q, p, s);
		return;
	}
	at = q->begin + q->placed;
	length = q->length;
	placed = q->placed;
	if (p->op & OP_FIRST) {
		length = responder_is_write(p) ? p->dma_length : q->receive_slots ? q->receive_bytes : 0;
		placed = 0;
		refusal = responder_place(q, p, region, &at);
		if (refusal) {
			responder_reject(q, p, refusal, AETH_NAK_ACCESS, s);
			return;
		}
		s->region = responder_is_write(p) && p->dma_length ? region->index : 0;
	}
	if (!responder_length_fits(q, p, length, placed)) {
		responder_reject(q, p, REFUSAL_length, AETH_NAK_INVALID, s);
		return;
	}
	if (p->op & OP_FIRST)
		responder_give_up(q, s);
	s->at = at;
	s->bytes = p->payload_bytes;
}

/* The packet's payload is in memory. s: as responder_judge() has left it. */
roce_inline void responder_commit(struct roce_responder *q, const struct roce_packet *p, struct responder_step *s)
{
	if (p->op & OP_FIRST) {
		bool late = q->service == SERVICE_UC && psn_distance(q->expected, p->number) < 0;

		responder_count_before(q, p->number);
		q->open = responder_is_write(p) ? OPEN_WRITE : OPEN_SEND;
		q->flags = (late ? MESSAGE_LATE : 0) | (responder_is_write(p) ? 0 : MESSAGE_SEND);
		q->first_psn = p->number;
		q->length = responder_is_write(p) ? p->dma_length : q->receive_bytes;
		q->placed = 0;
		q->begin = s->at;
		q->region = s->region;
	}
	q->placed += s->bytes;
	q->last_psn = p->number;
	q->expected = (p->number + 1) & 0xffffff;
	q->asked = 0;
	if (p->op & OP_LAST) {
		if (q->flags & MESSAGE_SEND)
			q->length = q->placed;
		responder_end(q, &s->ended, p->op & OP_IMMDT ? MESSAGE_IMMEDIATE : 0);
		s->ended.immediate = p->immediate;
		if (s->ended.flags & (MESSAGE_SEND | MESSAGE_IMMEDIATE))
			q->receives++;
		q->msn = (q->msn + 1) & 0xffffff;
	}
	if (q->service == SERVICE_RC && p->ackreq)
		responder_answer(s, AETH_ACK, p->number);
}

/* The payload could not be copied. RC: as if the packet had been lost. UC: the message is dropped. */
roce_inline void responder_fail(struct roce_responder *q, const struct roce_packet *p, struct responder_step *s)
{
	s->refusal = REFUSAL_copy;
	if (q->service != SERVICE_RC)
		responder_drop(q, p, s);
}

#endif
