/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rules of PSNs (docs/rules.md): a packet's place in the sequence of its stream. Recovered or duplicate: stream_late(). */
#ifndef ROCE_SEQUENCE_SEQUENCE_H
#define ROCE_SEQUENCE_SEQUENCE_H

#include "roce/sequence/asked.h"
#include "roce/sequence/block.h"
#include "roce/sequence/copies.h"
#include "roce/stream/count.h"

/* A packet's place in the sequence. */
enum psn_place { PSN_IN_ORDER, PSN_RECOVERED, PSN_DUPLICATE, PSN_RESYNC };

/* Signed distance of the packet from the expected number. */
roce_inline __s64 stream_distance(const struct roce_stream *s, const struct roce_packet *p)
{
	return p->kind == ROCE_UDP ? (__s64)(p->number - s->psn.next) : psn_distance(s->psn.next & PSN_MASK, p->number);
}

/* How many PSNs a READ request takes: one per response packet (IBTA 9.4.4). path_mtu: 256 .. 4096. */
roce_inline __u32 stream_read_span(__u64 bytes, __u32 path_mtu)
{
	return bytes ? (bytes - 1) / path_mtu + 1 : 1;
}

/*
 * The path MTU, `least` or more, with which a READ of `bytes` takes `psns` PSNs. 0: there is none. For one PSN several may fit:
 * then their sum. Without branches, because the verifier follows each.
 */
roce_inline __u32 stream_mtu_of(__u64 bytes, __u64 psns, __u32 least)
{
	__u64 mtu = 0;

	for (__u64 m = 256; m <= 4096; m *= 2) {
		__u64 other = ((bytes - 1) / m + 1) ^ psns;

		mtu += m & ~psn_before(-other, 0) & ~psn_before(m, least);
	}
	return mtu;
}

#define READ_UNKNOWN (1ull << 63) /* `reads.bytes` of a READ whose RETH was cut off: it may take any number of PSNs */

/* Whether the packet before was a READ, and a jump of d fits a path MTU. */
roce_inline bool stream_is_read_jump(const struct roce_stream *s, __s64 d)
{
	__u64 mtu = stream_mtu_of(s->reads.bytes, s->psn.next + d - s->reads.at, 0), jump;

	jump = psn_before(-mtu, 0) & psn_before(-s->reads.bytes, 0);
	jump |= s->reads.bytes >> 63 & psn_before(0, d) & psn_before(d, PSN_GAP_MAX + 1);
	roce_opaque(jump);
	return jump & 1;
}

/* Whether this is the READ before it, sent again from the middle on. Then its PSN tells the path MTU (0: none fits). */
roce_inline bool stream_read_again(const struct roce_stream *s, const struct roce_packet *p, __u64 psns, __u32 *mtu)
{
	__u64 other, found = 0;

	if (!(p->op & OP_READ_REQUEST) || !p->dma_length || p->dma_length >= s->reads.bytes ||
	    p->va + p->dma_length != s->reads.end)
		return false;
	for (__u64 m = 256; m <= 4096; m *= 2) {
		other = (psns * m + p->dma_length) ^ s->reads.bytes;
		found += m & ~psn_before(-other, 0);
	}
	*mtu = found;
	return true;
}

/*
 * A packet inside the span that the READ before it has with the known path MTU. If the READ ends there with a larger path MTU,
 * that has changed: the QP was used again.
 */
roce_inline void stream_mtu_grown(struct roce_stream *s, const struct roce_packet *p, __u64 number)
{
	__u64 psns = number - s->reads.at;
	__u32 mtu;

	if ((__s64)psns <= 0)
		return;
	if (stream_read_again(s, p, psns, &mtu)) {
		if (mtu <= s->path_mtu)
			return;
		psns = stream_read_span(s->reads.bytes, mtu);
	} else {
		mtu = stream_mtu_of(s->reads.bytes, psns, s->path_mtu);
		if (!mtu)
			return;
	}
	s->path_mtu = psns > 1 ? mtu : 0;
	s->reads.mtu_guess = s->reads.mtu_least = 0;
	psn_back(&s->psn, s->reads.at + psns);
}

#define STREAM_MTU_PROOFS 3 /* READs in a row that prove another path MTU than the known one */
#define STREAM_GUESSES 2 /* READs in a row that prove a path MTU, where none is known */

/*
 * The last packet was a READ request. How many PSNs from the next on belong to it? d >= 0: the distance of the packet that
 * follows.
 *
 * A jump may be the span of the READ for another path MTU than the known one (or than any, if none is known). It may also be a
 * loss that looks like it, so several jumps must agree: a loss would be sent again meanwhile. What was skipped behind these READs
 * belongs to them.
 */
roce_inline void stream_after_read(struct roce_stream *s, const struct roce_packet *p, __s64 d)
{
	__u64 psns = s->psn.next + d - s->reads.at;
	__u32 mtu;
	__s64 own;

	if (s->reads.bytes == READ_UNKNOWN) {
		s->reads.own = d <= PSN_GAP_MAX ? d : 0;
		s->reads.bytes = 0;
		return;
	}
	if (stream_read_again(s, p, psns, &mtu)) {
		if (mtu)
			s->path_mtu = mtu;
		mtu = 0;
	} else {
		mtu = psns > 1 ? stream_mtu_of(s->reads.bytes, psns, s->path_mtu ? 0 : s->reads.mtu_least) : 0;
	}
	if (!s->path_mtu && d == 0) {
		if (s->reads.bytes > s->reads.mtu_least && s->reads.bytes <= 4096)
			s->reads.mtu_least = s->reads.bytes;
		return;
	}
	if (mtu == s->path_mtu)
		mtu = 0;
	if (mtu != s->reads.mtu_guess || !mtu) {
		s->reads.mtu_guess = mtu;
		s->reads.mtu_guess_from = s->psn.next;
		s->reads.mtu_guess_row = 0;
	}
	s->reads.mtu_guess_row += mtu != 0;
	if (s->reads.mtu_guess_row >= (s->path_mtu ? STREAM_MTU_PROOFS : STREAM_GUESSES)) {
		s->reads.late = s->path_mtu ? s->psn.next - s->reads.mtu_guess_from : 0;
		s->path_mtu = mtu;
		s->reads.mtu_guess = 0;
		s->reads.mtu_guess_row = 0;
	}
	if (!s->path_mtu) {
		s->reads.own = mtu ? d : 0;
		return;
	}
	own = s->reads.at + stream_read_span(s->reads.bytes, s->path_mtu) - s->psn.next;
	s->reads.own = own > 0 ? own : 0;
	s->reads.bytes = 0;
}

/*
 * Call before the stream takes a packet. Corrects what was taken for PSNs of the sequence: those of packets with unknown
 * opcodes, and those that a READ takes.
 */
roce_rare stream_revise(struct roce_stream *s, const struct roce_packet *p)
{
	__s64 d;

	if (!s || !p)
		return 0;
	d = stream_distance(s, p);
	if (d < 0 && -d <= s->sequence.unknown_psns)
		psn_back(&s->psn, s->psn.next + d);
	else if (ROCE_HAS_LOOP && d < 0 && !s->sequence.unknown_psns && s->reads.bytes && s->path_mtu)
		stream_mtu_grown(s, p, s->psn.next + d);
	d = stream_distance(s, p);
	if (d && s->path_mtu && (d < 0 || !s->reads.bytes))
		s->reads.mtu_guess = 0;
	if (d < 0)
		return 0;
	s->sequence.unknown_psns = 0;
	if (s->reads.bytes)
		stream_after_read(s, p, d);
	return 0;
}

/* How many PSNs a request takes. 1 for a READ, if the path MTU is not known. */
roce_inline __u32 stream_span(const struct roce_stream *s, const struct roce_packet *p)
{
	return p->op & OP_READ_REQUEST && s->path_mtu ? stream_read_span(p->dma_length, s->path_mtu) : 1;
}

/* Starts the sequence at this number. */
roce_inline void stream_restart(struct roce_stream *s, __u64 number)
{
	psn_restart(&s->psn, number);
	block_forget_all(s);
}

/* Counts a late packet by how far it is behind. */
roce_inline void stream_depth(struct roce_stream *s, __u64 behind)
{
	__u32 i = __builtin_popcountll(roce_bits_below(behind)) - 1;

	roce_opaque(i);
	if (i < STREAM_DEPTHS)
		stream_lint_add(&s->arrival.depth[i], 1);
}

/* Counts `found` late PSNs in psn_crossed, if the observer may have reordered them itself. number: of the first one. */
roce_inline void stream_crossed(struct roce_stream *s, __u64 number, __u64 found)
{
	__u64 newest = stream_arrived(s), overtaken = psn_before(number, newest) & ~psn_before(s->psn.next, newest);

	s->counters.value[COUNTER_psn_crossed] += found & ~overtaken;
	s->arrival.next += (number + 1 - s->arrival.next) & psn_before(s->arrival.next, number + 1);
}

/* A packet behind the expected number, and not in the span of the READ before it. */
roce_inline enum psn_place stream_late(struct roce_stream *s, __s64 d, __u64 found)
{
	__u64 *v = s->counters.value;

	v[COUNTER_psn_recovered] += found;
	if (found) {
		stream_crossed(s, s->psn.next + d, found);
		stream_depth(s, -d);
		return PSN_RECOVERED;
	}
	if (psn_is_unknown(&s->psn, s->psn.next + d) && (__s64)(s->psn.next + d - s->psn.begin) >= 0)
		v[COUNTER_psn_late_unknown]++;
	else
		v[COUNTER_psn_duplicates]++;
	copies_expect(s);
	return PSN_DUPLICATE;
}

/* Counts skipped PSNs. skipped: 0 or more. */
roce_inline void stream_skips(struct roce_stream *s, __u64 skipped)
{
	s->counters.value[COUNTER_psn_gaps] += skipped > 0;
	s->counters.value[COUNTER_psn_skipped] += skipped;
	s->message.counts |= skipped ? BLOCK_CHECK : 0;
}

/*
 * PSN rules (docs/rules.md). A packet d ahead of the expected number makes a gap of d. A packet behind it was missing or is a
 * duplicate: the windows know. Too far away either way, it begins another sequence. (Where there is room for a probation,
 * packets come here only after it.) begins: the packet begins a message or the stream. A response that begins one may be any
 * distance ahead, without a gap. Returns the packet's place. psn_forward() may have to follow.
 */
roce_inline enum psn_place stream_place(struct roce_stream *s, const struct roce_packet *p, __s64 d, bool begins,
					const struct roce_peer_info *info)
{
	__u64 number = s->psn.next + d, own = 0, skipped = 0, found = 0, from = number, late;
	enum psn_place place = PSN_IN_ORDER;
	__u64 *v = s->counters.value;
	__u32 span;

	if (d < 0) {
		late = stream_span(s, p);
	} else {
		own = s->reads.own;
		late = s->reads.late;
		from = s->reads.mtu_guess_from;
	}
	s->reads.own = s->reads.late = 0;
	if (late)
		found = psn_recover(&s->psn, from, late);
	if (d >= 0) {
		v[COUNTER_psn_recovered] += found; /* not lost, but part of a READ */
		found = 0;
	}
	span = stream_span(s, p);
	if (d < (__s64)own) {
		if (found || stream_is_reliable(p) || d >= -PSN_REACH)
			place = stream_late(s, d, found);
		else
			place = PSN_RESYNC;
	} else if (d > 0 && p->op & OP_RESPONSE && info && info->valid && info->from == s->psn.next &&
		   (begins || info->wanted)) {
		/* acknowledged PSNs between them are marked as missing as well, which is harmless */
		own = info->begin;
		skipped = info->end - own;
		span += d - info->end;
		stream_skips(s, info->skipped);
	} else if (begins && p->op & OP_RESPONSE) {
		own = d;
	} else if (d - own <= PSN_GAP_MAX) {
		skipped = d - own;
		stream_skips(s, skipped);
	} else {
		place = PSN_RESYNC;
	}
	if (place == PSN_RESYNC) {
		v[COUNTER_psn_resyncs]++;
		v[COUNTER_psn_restarts]++;
		s->sequence.restart_by = RESTART_ELSEWHERE;
		stream_restart(s, number);
		own = 0;
	}
	if (place == PSN_RECOVERED || place == PSN_DUPLICATE) {
		span = 0;
	} else {
		s->reads.bytes = p->op & OP_READ_REQUEST && p->dma_length > 256 ? p->dma_length : 0;
		/* without a branch, because the verifier follows each; its DMA length was cut off as well */
		s->reads.bytes |= (__u64)(p->op / OP_READ_REQUEST & p->op / OP_CUT & 1) << 63;
		s->reads.end = p->va + p->dma_length;
		s->reads.at = number;
	}
	if (span != 1 || own || skipped || !psn_step(&s->psn, false))
		psn_plan(&s->psn, own, skipped, span);
	return place;
}

/* The first number of a sequence: that of its first packet, or an earlier one if the first PSN of its requests is known. */
roce_inline __u64 stream_begin(const struct roce_stream *requests, const struct roce_packet *p)
{
	const struct roce_pair *pair = &requests->pair;
	__s32 d = psn_distance(pair->first_psn, p->number);

	return !pair->from || pair->first_psn == PAIR_NO_PSN || d < 0 || d > PSN_GAP_MAX ? p->number : pair->first_psn;
}

/* p: no ROCE_UDP. late: the PSN had been skipped or seen before. place: PSN_DUPLICATE completes nothing but on UC. */
roce_inline void stream_message(struct roce_stream *s, const struct roce_packet *p, enum psn_place place, __s64 d)
{
	bool late = place == PSN_RECOVERED || place == PSN_DUPLICATE;

	if (p->service == SERVICE_UC)
		message_uc(&s->message, &s->counters, p, late, d);
	else if (place != PSN_DUPLICATE)
		s->counters.value[COUNTER_messages] += !!(p->op & OP_LAST);
}

/*
 * A packet with an unknown opcode (a manufacturer's) may have a PSN of the sequence or not. If it has the expected PSN, it
 * takes that, until a packet with a known opcode comes with the same PSN.
 */
roce_inline void stream_unknown(struct roce_stream *s, const struct roce_packet *p)
{
	if (!s->met || (s->reads.bytes && !s->path_mtu) || stream_distance(s, p))
		return;
	s->sequence.unknown_psns++;
	psn_plan(&s->psn, 0, 0, 1);
}

/* Takes over the peer's path MTU, if the stream knows none. */
roce_inline void stream_ask_mtu(struct roce_stream *s, const struct roce_peer_info *info)
{
	if (!s->path_mtu && info && info->valid)
		s->path_mtu = info->path_mtu;
}

/* Takes a packet with a known opcode. psn_forward() may have to follow. */
roce_inline void stream_known(struct roce_stream *s, const struct roce_packet *p, const struct roce_peer_info *info)
{
	bool begins = p->op & OP_FIRST || !s->met;
	enum psn_place place;
	__u64 number;
	__s64 d;

	if (!s->met) {
		s->met = true;
		s->sequence.unknown_psns = 0;
		s->sequence.first_psn = p->number;
		s->sequence.run = p->run;
		if (!(p->op & OP_RESPONSE))
			stream_restart(s, stream_begin(s, p));
		else
			stream_restart(s, info && info->valid ? info->from : p->number);
		/* if the beginning of the sequence was seen, a headless message is broken */
		s->message.met = s->pair.from && s->pair.first_psn != PAIR_NO_PSN &&
				 psn_distance(s->pair.first_psn, s->psn.next & PSN_MASK) == 0;
	}
	if (p->kind == ROCE_UDP && s->sequence.run != p->run) { /* the sender was restarted */
		s->sequence.run = p->run;
		stream_restart(s, p->number);
	}
	roce_reload();
	d = stream_distance(s, p);
	number = s->psn.next + d;
	place = stream_place(s, p, d, begins, info);
	if (roce_is_answered(p) && place != PSN_DUPLICATE)
		asked_add(&s->asked, p, number, s->path_mtu ? stream_span(s, p) : 0);
	/* of UC in a probation: the receiver has taken it already */
	if (p->kind != ROCE_UDP && (p->service != SERVICE_UC || s->psn.late != PSN_NO_LATE))
		stream_message(s, p, place, d);
}

/* Takes any packet that may have a place in the sequence. stream_take_block() has to follow. */
roce_rare stream_take(struct roce_stream *s, const struct roce_packet *p, const struct roce_peer_info *info)
{
	if (!s || !p)
		return 0;
	if (p->kind == ROCE_PACKET && !p->op)
		stream_unknown(s, p);
	else
		stream_known(s, p, info);
	if (s->psn.move_seen | s->psn.move_unseen | s->psn.move_take)
		psn_forward(&s->psn);
	s->counters.value[COUNTER_psn_forgotten] += s->psn.forgotten;
	s->psn.forgotten = 0;
	return 0;
}

/* The block of a packet that was taken. Not part of stream_take(): kernels before 6.9 add up the stack of all calls to 512 bytes. */
roce_inline void stream_take_block(struct roce_stream *s, const struct roce_packet *p)
{
	if (p->service == SERVICE_UC && s->psn.late == PSN_NO_LATE && !s->ring.beside)
		return; /* a probation: the receiver has taken the packet already */
	if (p->op & (OP_IMMDT | OP_SLOT) || s->blocks.packets[0])
		stream_block(s, p, BLOCK_TAKEN);
}

/* ---- unseen PSNs: acknowledged, so not lost, but not seen here ---- */

/* Whether the peer is to be asked again: once in each PSN_PERIOD. */
roce_inline bool stream_is_due(const struct roce_stream *s)
{
	return (__u32)(s->psn.next / PSN_PERIOD) != s->acks.asked_period;
}

/* Whether PSNs are missing that the peer may acknowledge. */
roce_inline bool stream_may_have_unseen(const struct roce_stream *s)
{
	const __u64 *v = s->counters.value;

	return (s->service == SERVICE_RC || s->service == SERVICE_XRC) &&
	       v[COUNTER_psn_skipped] != v[COUNTER_psn_recovered] + v[COUNTER_psn_unseen];
}

/* The larger one of `best` and the distance from `next` to this PSN, if it was sent. psn: the one behind an acknowledged one. */
roce_inline __s64 stream_nearer(__s64 best, __u64 next, __u32 psn)
{
	__s64 d = psn_distance(next & PSN_MASK, psn & PSN_MASK);

	return d <= 0 && d > best ? d : best;
}

/*
 * The number behind the newest acknowledged request. Two acknowledgements, or one response, acknowledge it. A PSN that was not
 * sent cannot be acknowledged. If nothing is acknowledged, a number far behind.
 */
roce_inline __u64 stream_acknowledged_by(const struct roce_stream *s, const struct roce_stream *peer)
{
	__u32 last = peer->acks.behind[0], before = peer->acks.behind[1];
	__s64 best = -(1 << 23);

	if (last & before & ACKED_VALID)
		best = stream_nearer(best, s->psn.next, psn_distance(before & PSN_MASK, last & PSN_MASK) < 0 ? last : before);
	if (peer->met)
		best = stream_nearer(best, s->psn.next, peer->psn.next);
	return s->psn.next + best;
}

/*
 * Counts missing PSNs as unseen that were acknowledged when the peer was asked the time before. If they had been lost, their
 * retransmissions would have come meanwhile. (At a mirror port an acknowledgement may overtake them, so what it acknowledges
 * now is judged the next time.)
 */
roce_rare stream_count_unseen(struct roce_stream *s, const struct roce_peer_info *info)
{
	__u64 from, end, next;
	__u32 reordered;

	if (!s || !info || !info->valid)
		return 0;
	next = s->psn.next;
	end = s->acks.acknowledged;
	from = s->acks.unseen_before;
	s->acks.acknowledged = info->acknowledged;
	if ((__s64)(from - s->psn.begin) < 0 || (__s64)(next - from) < 0)
		from = s->psn.begin;
	s->acks.unseen_before = from;
	if ((__s64)(end - from) <= 0 || (__s64)(next - end) < 0)
		return 0;
	s->acks.unseen_before = end;
	if (next - from > PSN_REACH)
		from = next - PSN_REACH;
	reordered = s->psn.reordered;
	if ((__s64)(end - from) > 0)
		s->counters.value[COUNTER_psn_unseen] += psn_recover(&s->psn, from, end - from);
	s->psn.reordered = reordered;
	return 0;
}

#endif
