/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each packet of a stream counts and shows, whatever its PSN. */
#ifndef ROCE_STREAM_COUNT_H
#define ROCE_STREAM_COUNT_H

#include "roce/stream/lint.h"
#include "roce/stream/stream.h"

/* Counts rare packets: acknowledgements, CNPs, unknown opcodes. */
roce_inline void count_rare(__u64 *v, const struct roce_packet *p)
{
	if (!p->op)
		v[COUNTER_unknown_opcodes]++;
	if (p->op & OP_CNP)
		v[COUNTER_cnps]++;
	if (!(p->op & OP_ACK) || p->op & OP_CUT)
		return;
	/* IBTA 9.7.5.2.1, tables 44 and 45: bits 6..5 of the syndrome: 00 ACK, 01 RNR NAK, 11 NAK */
	switch (p->syndrome >> 5 & 3) {
	case 0:
		v[COUNTER_acks]++;
		break;
	case 1:
		v[COUNTER_rnr_naks]++;
		break;
	case 3:
		v[COUNTER_naks]++;
		v[COUNTER_nak_psn_sequence] += (p->syndrome & 31) == 0;
		v[COUNTER_nak_invalid_request] += (p->syndrome & 31) == 1;
		v[COUNTER_nak_remote_access] += (p->syndrome & 31) == 2;
		v[COUNTER_nak_remote_operational] += (p->syndrome & 31) == 3;
		break;
	}
}

/* Counts what few packets are: apart, because these counters lie in cache lines of their own. */
roce_inline void count_seldom(__u64 *v, const struct roce_packet *p)
{
	v[COUNTER_ttl_one] += p->ttl == 1 && !p->rocev1;
	v[COUNTER_truncated] += p->truncated;
	v[COUNTER_short_packets] += -(__u64)p->ends_at >> 63;
}

/*
 * Counts one packet, for the snapshot as a whole and, once its stream is found, for the stream (scope PACKET of counters.def).
 * Bad ICRCs are counted here and nowhere else.
 */
roce_inline void roce_count_packet(struct roce_counters *c, const struct roce_packet *p, enum icrc_verdict icrc)
{
	__u64 *v = c->value;

	v[COUNTER_bytes] += p->frame_bytes;
	if (p->truncated || p->ttl == 1)
		count_seldom(v, p);
	if (p->kind == ROCE_UDP) {
		v[COUNTER_udp_packets]++;
	} else {
		if (p->rocev1) { /* roce_packets and its parts count RoCEv2 only */
			v[COUNTER_rocev1_packets]++;
			v[COUNTER_rocev1_icrc_checked] += icrc != ICRC_UNCHECKED;
		} else {
			v[COUNTER_roce_packets]++;
			if (icrc == ICRC_UNCHECKED)
				v[COUNTER_icrc_unchecked]++;
			else
				v[COUNTER_icrc_checked]++;
		}
		if (icrc == ICRC_BAD) {
			v[COUNTER_icrc_bad]++;
			return;
		}
		if (!p->op || p->op & (OP_ACK | OP_CNP))
			count_rare(v, p);
	}
	v[COUNTER_payload_bytes] += p->payload_bytes;
	if ((p->tos & 3) == 3)
		v[COUNTER_ecn_ce]++;
}

/*
 * Takes back what roce_count_frame() and roce_count_packet() have counted of a copy (roce_observe() has returned true). one: all
 * zero, as it is left; the caller has it because it is too large for the stack of the kernel's programs.
 */
roce_inline void roce_leave_out(struct roce_totals *t, struct roce_counters *of_stream, const struct roce_packet *p,
				enum icrc_verdict icrc, struct roce_counters *one)
{
	roce_count_packet(one, p, icrc);
	t->value[COUNTER_frames]--;
	for (__u32 i = 0; i < ROCE_STREAM_COUNTERS; i++) {
		of_stream->value[i] -= one->value[i];
		t->value[i] -= one->value[i];
		one->value[i] = 0;
	}
}

/* What the lengths of short frames say. */
enum short_frames { SHORT_UNDECIDED, SHORT_CUT, SHORT_WRONG };

/*
 * Whether the frames that are shorter than their IP lengths were cut by a mirror: it cuts all longer frames, and at one length.
 * Where whole frames are longer, or no more than the ICRC is missing, their sender counts wrongly. One frame alone does not show
 * it. Of frames as long as the longest whole ones most must be short. v: of the totals; a finished snapshot is judged as before.
 */
roce_inline enum short_frames roce_judge_short(const __u64 *v)
{
	__u64 frames = v[COUNTER_short_frames], most = v[COUNTER_short_most], whole = v[COUNTER_whole_most];

	if (frames && (v[COUNTER_short_least] != most || v[COUNTER_short_by] <= WIRE_ICRC_LEN || whole > most))
		return SHORT_WRONG;
	if (frames && whole == most && 2 * frames <= v[COUNTER_roce_packets])
		return SHORT_WRONG;
	return frames > 1 ? SHORT_CUT : SHORT_UNDECIDED;
}

/* Counts the lengths of a packet that is cut, or longer than the others, or of a frame that ends before its BTH. */
roce_rare roce_count_length(struct roce_totals *c, struct roce_packet *p, __u32 *longest)
{
	bool is_short;
	__u64 *v;

	if (!c || !p || !longest)
		return 0;
	v = c->value;
	is_short = p->truncated && p->ends_at;
	if (!p->truncated)
		*longest = p->frame_bytes;
	if (is_short) {
		v[COUNTER_short_frames]++;
		v[COUNTER_short_least] = roce_add_LEAST(v[COUNTER_short_least], p->ends_at);
		v[COUNTER_short_most] = roce_add_MOST(v[COUNTER_short_most], p->ends_at);
		v[COUNTER_short_by] = roce_add_MOST(v[COUNTER_short_by], p->frame_bytes - p->ends_at);
	}
	if (v[COUNTER_short_frames])
		v[COUNTER_whole_most] = *longest;
	p->length_wrong = is_short && roce_judge_short(v) == SHORT_WRONG;
	return 0;
}

/*
 * Counts the kind of frame (scope FRAME), and RoCEv1 frames that roce_count_packet() will not see. Of a short one it says whether
 * its length is wrong, as far as is known by now. longest: bytes of the longest whole RoCE frame that these totals have counted; the
 * caller keeps it, 0 at first.
 */
roce_inline void roce_count_frame(struct roce_totals *c, struct roce_packet *p, __u32 *longest)
{
	__u64 *v = c->value;

	v[COUNTER_frames]++;
	if (p->truncated || (p->kind == ROCE_PACKET && p->frame_bytes > *longest))
		roce_count_length(c, p, longest);
	if (p->kind == ROCE_PACKET)
		return;
	v[COUNTER_headless_frames] += p->truncated;
	v[COUNTER_other_frames] += p->kind == ROCE_OTHER || p->kind == ROCE_UDP;
	v[COUNTER_unparsed_frames] += p->unparsed;
	v[COUNTER_rocev1_packets] += p->kind == ROCE_V1;
	v[COUNTER_ip_fragments] += p->kind == ROCE_FRAGMENT;
	v[COUNTER_malformed] += p->kind == ROCE_MALFORMED;
}

/* Lints are rare, so the counters are only touched if there is one. s->last.psn is still that of the packet before. */
roce_inline void stream_lint(struct roce_stream *s, const struct roce_packet *p, enum icrc_verdict icrc)
{
	struct lint_seen seen = { 0 };

	lint_follow(&s->lint_state, p, icrc, s->last.psn, s->met, &seen);
	roce_reload();
#define LINT(name, class, test, words) if (test) goto mistaken;
#include "roce/stream/lint.def"
#undef LINT
	return;
mistaken:
	s->message.changes++;
#define LINT(name, class, test, words) stream_lint_add(&s->lint[LINT_##name], (test) ? 1 : 0);
#include "roce/stream/lint.def"
#undef LINT
}

/*
 * The number behind the newest one that arrived where the last packet did. An interface and receive queue keep packets in order,
 * two of them do not, so only what this number is ahead of was overtaken on the wire for certain.
 */
roce_inline __u64 stream_arrived(const struct roce_stream *s)
{
	return s->psn.next != s->arrival.since ? s->psn.next : s->arrival.next;
}

/* Packets arrive elsewhere from now on. */
roce_inline void stream_arrive(struct roce_stream *s, __u32 arrival)
{
	__u64 known = arrival == s->arrival.before ? s->arrival.before_next : s->psn.next - (1ull << 62);

	s->arrival.before_next = stream_arrived(s);
	s->arrival.before = s->last.arrival;
	s->arrival.next = known;
	s->arrival.since = s->psn.next;
	s->last.arrival = arrival;
}

/* What decides how a network queues a packet: its DSCP, and whether it is ECN-capable (RFC 3168, 5), but not whether it is marked. */
roce_inline __u32 roce_class(__u32 tos)
{
	return (tos & 0xfc) | ((tos | tos >> 1) & 1);
}

/*
 * A stream keeps its traffic class, or its packets go different ways: through queues that overtake each other, and are paused and
 * marked by themselves. ACKs and CNPs have classes of their own, and a datagram has its destination's.
 */
roce_inline void stream_class(struct roce_stream *s, const struct roce_packet *p)
{
	struct roce_last *l = &s->last;

	if (l->tos == p->tos || (s->met && (p->op & (OP_ACK | OP_CNP) || p->foreign)))
		return;
	if (s->met && !(p->op & OP_DETH) && roce_class(l->tos) != roce_class(p->tos)) {
		stream_lint_add(&s->class_changes, 1);
		l->tos_before = l->tos;
	}
	l->tos = p->tos;
}

roce_inline void stream_describe(struct roce_stream *s, const struct roce_packet *p)
{
	struct roce_last *l = &s->last;

	if (l->arrival != p->arrival)
		stream_arrive(s, p->arrival);

	/* CNPs come between acknowledgements, and unknown opcodes have no service */
	if (p->op && !(p->op & OP_CNP))
		s->service = p->service;
	if (p->op & OP_DETH) {
		s->ud.dqpn = p->dqpn;
		s->ud.sqpn = p->sqpn;
		roce_copy16(s->ud.dst, p->dst);
	}
	roce_copy6(l->src_mac, p->src_mac);
	roce_copy6(l->dst_mac, p->dst_mac);
	l->udp_source_port = p->udp_source_port;
	l->vlan = p->vlan;
	l->vlan_tags = p->vlan_tags;
	l->ttl = p->ttl;
	stream_class(s, p);
	if (p->op & OP_RETH) {
		l->va = p->va;
		l->rkey = p->rkey;
		l->dma_length = p->dma_length;
	}
}

#endif
