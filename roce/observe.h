/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stream observes its packets. The caller stores streams (a BPF map, a hash table), finds the struct by roce_stream_key() and
 * passes it to roce_observe().
 */
#ifndef ROCE_OBSERVE_H
#define ROCE_OBSERVE_H

#include "roce/datagram/heap.h"
#include "roce/datagram/udp_number.h"
#include "roce/sequence/copies.h"
#include "roce/sequence/probation.h"
#include "roce/sequence/ring.h"

/* Whether it is the expected packet, and no request that is to be remembered. */
roce_inline bool stream_is_next(const struct roce_stream *s, const struct roce_packet *p, bool udp)
{
	if (udp)
		return p->number == s->psn.next && s->sequence.run == p->run;
	return p->op && p->number == (s->psn.next & PSN_MASK) && !roce_is_answered(p);
}

/* Takes the expected packet, with nothing else to be done. */
roce_inline void stream_in_order(struct roce_stream *s, const struct roce_packet *p, bool udp)
{
	if (!udp)
		stream_message(s, p, PSN_IN_ORDER, 0);
	if (p->op & OP_IMMDT && !block_is_next(&s->message, &s->counters, p))
		stream_block(s, p, BLOCK_TAKEN);
}

/* stream_rare() for kernels that have no room for a probation (ROCE_HAS_LOOP). */
roce_inline void stream_simple(struct roce_stream *s, const struct roce_packet *p, const struct roce_peer_info *info)
{
	stream_ask_mtu(s, info);
	if (s->met && p->op && s->sequence.unknown_psns | s->reads.bytes)
		stream_revise(s, p);
	stream_take(s, p, info);
	stream_take_block(s, p);
	s->acks.asked_period = s->psn.next / PSN_PERIOD; /* such kernels count no PSN as unseen */
}

/*
 * Takes a packet that may have a place in the sequence: all but acknowledgements and CNPs. Nearly all are the expected one.
 * udp: its kind is ROCE_UDP; a constant.
 */
roce_inline void stream_sequence(struct roce_stream *s, const struct roce_packet *p, const struct roce_peer_info *info, bool udp)
{
	if (!ROCE_HAS_LOOP)
		stream_simple(s, p, info);
	else if (s->plain && stream_is_next(s, p, udp) && psn_step(&s->psn, s->plain == PLAIN_ALL))
		stream_in_order(s, p, udp);
	else
		stream_rare(s, p, info);
}

/*
 * Follows the MSN. One lower MSN may be that of an overtaken acknowledgement. Two in a row are another connection's: a
 * responder answers retransmissions with its newest MSN.
 */
roce_inline void stream_acknowledged(struct roce_stream *s, const struct roce_packet *p)
{
	/* a NAK acknowledges the PSNs before its own (IBTA 9.7.5.2.1); without an AETH it may be one */
	bool positive = !(p->syndrome >> 5 & 3) && !(p->op & OP_CUT);

	s->acks.behind[1] = s->acks.behind[0];
	s->acks.behind[0] = ACKED_VALID | ((p->number + positive) & PSN_MASK);
	if (p->op & OP_CUT)
		return;
	if (s->acks.msn_met && psn_distance(s->acks.msn, p->msn) < 0 && s->acks.msn_less < 1) {
		s->acks.msn_less++;
		return;
	}
	s->acks.msn_falls += s->acks.msn_met && psn_distance(s->acks.msn, p->msn) < 0;
	s->acks.msn_less = 0;
	s->acks.msn = p->msn;
	s->acks.msn_met = true;
}

/* Forgets messages, blocks, and requests or what numbers datagrams. */
roce_inline void stream_clear(struct roce_stream *s)
{
	message_clear(&s->message);
	__builtin_memset(&s->blocks, 0, sizeof(s->blocks));
	__builtin_memset(&s->ring, 0, sizeof(s->ring));
	__builtin_memset(&s->asked, 0, sizeof(s->asked));
}

/* The next packet begins a sequence. */
roce_inline void stream_forget(struct roce_stream *s)
{
	s->met = false;
	s->plain = PLAIN_NOT;
	s->probation = PROBATION_NONE;
	s->reads.bytes = 0;
	s->sequence.has_interleaved = s->sequence.alternations = 0;
	s->acks.behind[0] = s->acks.behind[1] = 0;
	s->acks.spilled = false;
	__builtin_memset(s->sample, 0, sizeof(s->sample)); /* they are of another connection */
}

/* The first good ICRC. Earlier packets may have been anyone's, so what was counted of PSNs and messages is dropped. */
roce_inline void stream_trust(struct roce_stream *s)
{
	__u64 *v = s->counters.value;

	s->trusted = true;
	stream_forget(s);
	s->path_mtu = s->pair.path_mtu;
	s->reads.mtu_least = s->reads.mtu_guess = 0;
	stream_clear(s);
	__builtin_memset(&s->lint_state, 0, sizeof(s->lint_state));
	__builtin_memset(s->lint, 0, sizeof(s->lint));
	s->class_changes = 0;
	s->copies.alone = 0;
#define COUNTER(name, unit, kind, scope, ...)  \
	if (SCOPE_##scope >= SCOPE_STREAM)     \
		v[COUNTER_##name] = 0;
#include "roce/stream/counters.def"
#undef COUNTER
	s->sequence.restart_by = 0;
	__builtin_memset(s->arrival.depth, 0, sizeof(s->arrival.depth));
}

/*
 * Completes the datagram's number to 64 bits: the one nearest to the stream's next that has these lower bits. So it goes round
 * as PSNs do.
 */
roce_inline void stream_complete(const struct roce_stream *s, struct roce_packet *p)
{
	if (s->met)
		p->number = s->psn.next + roce_distance(s->psn.next, p->number, 64 - p->shift);
}

/* A datagram whose number depends on those before. Returns whether it takes a place in the sequence. */
roce_rare stream_datagram(struct roce_stream *s, struct roce_packet *p)
{
	if (!s || !p)
		return 0;
	if (p->udp_kind == UDP_SECOND) {
		udp_number_second(&s->udp.second, p);
		return 1;
	}
	if (p->udp_kind == UDP_TIME) {
		udp_number_time(&s->udp.time, p);
		return 1;
	}
	s->sequence.heaps = true;
	return heap_take(&s->udp.heaps, &s->counters, p, &s->message.changes) && p->udp.numbered;
}

/* Whether to look up the pair (roce_pair_key()) before observing this packet. generation: of the pairs. */
roce_inline bool roce_wants_pair(const struct roce_stream *s, const struct roce_packet *p, __u32 generation)
{
	return s->pair_generation != generation && p->kind == ROCE_PACKET && !(p->op & OP_DETH);
}

/*
 * Takes the result of the look-up for this packet: a pair, or NULL. A new pair begins another connection, also where QPNs are reused: the
 * sequence restarts. A pair from netlink does not: it names the peer, but nothing has begun. Call under the guard of
 * roce_observe().
 */
roce_inline void roce_adopt(struct roce_stream *s, const struct roce_packet *p, const struct roce_pair *pair,
			    __u32 generation)
{
	struct roce_pair *own = &s->pair;

	s->pair_generation = generation;
	if (!pair)
		return;
	if (pair->from == PAIR_NETLINK) {
		if (!own->from || own->peer_qpn != pair->peer_qpn)
			*own = *pair;
		if (!s->path_mtu)
			s->path_mtu = pair->path_mtu;
		return;
	}
	if (pair->from == own->from && pair->connection == own->connection)
		return;
	*own = *pair;
	if (p->op & OP_RESPONSE)
		own->first_psn = PAIR_NO_PSN; /* that is the first PSN of requests to the same addresses and QPN */
	if (s->met) {
		s->counters.value[COUNTER_psn_restarts]++;
		s->sequence.restart_by = RESTART_HANDSHAKE;
	}
	stream_forget(s);
	s->path_mtu = pair->path_mtu;
	s->reads.mtu_least = s->reads.mtu_guess = 0;
	stream_clear(s);
}

/*
 * Restarts the sequence with the next packet, because the stream was not followed for a while or its position is unknown.
 * Counters and the connection stay.
 */
roce_inline void roce_begin_anew(struct roce_stream *s)
{
	stream_forget(s);
	s->pair.first_psn = PAIR_NO_PSN; /* was valid at the beginning only */
	__builtin_memset(&s->psn, 0, sizeof(s->psn));
	stream_clear(s);
	__builtin_memset(&s->lint_state, 0, sizeof(s->lint_state));
}

/* Whether roce_observe() can use the peer's answer (roce_ask()) for this packet. */
roce_inline bool roce_wants_peer(const struct roce_stream *s, const struct roce_packet *p)
{
	/* Touch other cache lines last. */
	if (p->op & OP_RESPONSE)
		return !(p->op & OP_NO_PLACE) &&
		       (!s->met || !s->trusted || p->number != (s->psn.next & PSN_MASK)) && s->pair.from;
	if (s->plain && s->psn.next % PSN_PERIOD && !roce_is_answered(p))
		return false;
	return ((!s->path_mtu && (p->op & OP_READ_REQUEST || s->reads.bytes)) || s->probation == PROBATION_AGAIN ||
		(stream_is_due(s) && (s->acks.spilled || stream_may_have_unseen(s))) || stream_may_spill(s, p)) &&
	       s->pair.from;
}

/*
 * Asks the peer, the stream of roce_peer_key(), about a packet for which roce_wants_peer() holds. The peer is read word by word
 * and needs no guard. This stream needs none either: if another CPU moves it forward meanwhile, it ignores the answer.
 */
roce_inline void roce_ask(const struct roce_stream *s, const struct roce_stream *peer, const struct roce_packet *p,
			  struct roce_peer_info *info)
{
	struct roce_late *window = peer->acks.spilled ? psn_late(&peer->psn) : NULL;
	__s64 d;

	info->path_mtu = peer->path_mtu;
	info->msn_falls = peer->acks.msn_falls;
	info->number = peer->psn.next + psn_distance(peer->psn.next & PSN_MASK, p->number);
	info->from = s->met && s->trusted ? s->psn.next : stream_begin(peer, p);
	d = psn_distance(info->from & PSN_MASK, p->number);
	if (p->op & OP_RESPONSE && d > 0)
		asked_find(&peer->asked, window ? &extra_of(window)->asked : NULL, peer->psn.next,
			   s->path_mtu ?: peer->path_mtu ?: 4096, info->from & PSN_MASK, d, info);
	if (!(p->op & OP_RESPONSE))
		info->acknowledged = stream_acknowledged_by(s, peer);
	info->valid = !window || window == late_of(&peer->psn); /* another stream may have taken the memory meanwhile */
}

/*
 * Takes one packet (kind ROCE_PACKET or ROCE_UDP) of this stream. s: all zero before the first packet. icrc: the ICRC's
 * verdict. now: ns, any clock. info: from roce_ask() for this packet, or NULL. The caller guards the stream against other CPUs.
 * The number of a ROCE_UDP is completed. Returns whether the frame was captured before: then nothing of it counts but its bytes.
 */
roce_inline bool roce_observe(struct roce_stream *s, struct roce_packet *p, enum icrc_verdict icrc, __u64 now,
			      const struct roce_peer_info *info)
{
	const __u64 *v = s->counters.value;

	if (!s->used) {
		s->used = true;
		s->first_seen = now;
		s->service = p->service;
		stream_describe(s, p);
	}
	roce_count_packet(&s->counters, p, icrc);
	if (icrc == ICRC_BAD && s->trusted) {
		if (v[COUNTER_icrc_bad] != v[COUNTER_icrc_checked] + v[COUNTER_rocev1_icrc_checked])
			return false;
		s->trusted = false; /* only some packets are verified: the others had made it trusted */
		s->mistrusted = true;
	}
	if (now > s->last_seen) /* clocks of two CPUs may differ by a tick */
		s->last_seen = now;
	if (!s->trusted && (icrc == ICRC_GOOD || !v[COUNTER_icrc_bad])) {
		if (s->mistrusted)
			s->trusted = true; /* trusted again: earlier counts were its own */
		else
			stream_trust(s);
		s->mistrusted = false;
	}
	if (!s->lint_state.no_copies && copies_take(s, p))
		return true;
	if (p->op & (OP_RING | OP_CUT) || (p->op & OP_IMMDT && s->by_ring))
		stream_ring(s, p);
	stream_describe(s, p);
	if (p->kind == ROCE_UDP) {
		s->last.psn = p->number;
		if (p->foreign || p->stream_end || (p->udp_kind > UDP_NUMBER && (!ROCE_HAS_LOOP || !stream_datagram(s, p))))
			return false;
		stream_complete(s, p);
		stream_sequence(s, p, NULL, true);
		return false;
	}
	stream_lint(s, p, icrc);
	roce_reload();
	if (roce_is_partial(p) && roce_is_path_mtu(p->payload_bytes))
		s->path_mtu = p->payload_bytes;
	if (p->op & (OP_CNP | OP_UNPLACED))
		return false;
	if (p->op)
		s->last.psn = p->number;
	if (p->op & OP_ACK)
		stream_acknowledged(s, p);
	else
		stream_sequence(s, p, info, false);
	return false;
}

#endif
