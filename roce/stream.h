/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A stream: what is remembered of it, its key, and what each of its packets counts, whatever its PSN. */
#ifndef ROCE_STREAM_H
#define ROCE_STREAM_H

#include "roce/counters.h"
#include "roce/datagram.h"
#include "roce/icrc.h"
#include "roce/lint.h"
#include "roce/message.h"
#include "roce/pair.h"
#include "roce/psn.h"
#include "roce/udp_number.h"

enum roce_side { SIDE_REQUEST, SIDE_RESPONSE };

/* Separates numbers of different kinds. */
enum roce_key_kind { KEY_NONE, KEY_CONNECTED, KEY_DATAGRAM, KEY_UDP };

/*
 * RC, UC, XRC: source, destination, destination QPN, side. UD: source and source QPN (DETH), for all destinations. --udp:
 * source, destination, port, flow. VLAN and interface are not part of the key. No padding: maps compare the bytes.
 */
struct roce_key {
	__u8 src[16];
	__u8 dst[16]; /* UD: zero */
	__u32 qpn;    /* UD: the source's */
	__u16 port;   /* --udp only */
	__u8 side;
	__u8 kind;
};
_Static_assert(sizeof(struct roce_key) == 40, "no padding");

/* What was seen last, for display. */
struct roce_last {
	__u64 va;
	__u32 rkey;
	__u32 dma_length;
	__u32 arrival; /* not for display: see before_arrival */
	__u16 udp_source_port;
	__u16 vlan;
	__u8 vlan_tags;
	__u8 tos; /* of the newest packet that has a place in the sequence, if there was one */
	__u8 tos_before; /* before the last of class_changes */
	__u8 ttl;
	__u8 src_mac[6];
	__u8 dst_mac[6];
};

/* Why a sequence was taken for another one. */
enum roce_restart_by {
	RESTART_NONE,
	RESTART_HANDSHAKE, /* connection management, or a pair from --expect */
	RESTART_MSN,	   /* the peer's message sequence number has fallen */
	RESTART_PACKET,	   /* another packet than before has a remembered PSN */
	RESTART_RUN,	   /* the length of the run of PSNs seen before */
	RESTART_ELSEWHERE, /* PSNs too far away for a loss, one after the other */
};

/* A packet of a reliable service with its number, to tell another one with that number. */
struct roce_sample {
	__u32 number; /* the lower bits */
	__u32 what;   /* of its headers, 0: none */
};

/* What a packet with the expected number has to look at. */
enum stream_plain {
	PLAIN_NOT, /* everything: stream_rare() */
	PLAIN,	   /* whether the window remembers something where the number goes */
	PLAIN_ALL, /* nothing: the window has no missing number */
};

_Static_assert(sizeof(struct udp_state) <= sizeof(struct roce_asked), "stream_clear() clears both");

#define ACKED_VALID (1u << 31)
#define STREAM_SAMPLES 8
#define STREAM_DEPTHS 17 /* of reordering, one per power of two; the last one holds PSN_REACH */

/*
 * With thousands of streams, cache lines make up a packet's cost. A packet that is in order, while nothing is missing, needs four:
 * that of last_seen and psn.next, that of the message, that of the last packet, and that of the first counters.
 */
struct roce_stream {
	__u64 last_seen; /* ns, the caller's clock */
	struct roce_psn psn;
	struct roce_message message;
	struct roce_lint_state lint_state;
	struct roce_last last;
	__u64 last_psn; /* PSN of the last packet, acknowledgements included */
	__u32 path_mtu;	/* bytes, learnt from First and Middle packets, the spans of READs, or the pair; 0: not known */
	/*
	 * Generation of the pairs of this QPN (pair_generation_of()) when the stream last looked for its own. The store of
	 * pairs counts up, from 1, when it learns one; a stream with another number looks again.
	 */
	__u32 pair_generation;
	__u8 service;	/* enum roce_service */
	__u8 met;	/* a packet with a place in the sequence was seen */
	__u8 trusted;	/* a good ICRC was seen, or ICRCs are not checked */
	__u8 used;	/* any packet was seen */
	__u8 mistrusted; /* it was trusted without verification, until the first verified ICRC was bad */
	__u8 plain;	 /* enum stream_plain */
	__u8 trial;	 /* enum trial_kind */
	__u8 by_ring;	 /* addresses count its blocks: --imm ring, and a WRITE was seen */
	__u64 after_read; /* the last packet was a READ request: its bytes, 0: no, or it takes one PSN whatever the path MTU */
	__u64 read_end;	  /* ... and its end address */
	__u32 mtu_least; /* lower bound, from an in-order packet behind a READ */
	__u32 looked; /* the next number / PSN_PERIOD when the peer was asked last for what it acknowledges */
	__u32 run;	/* --udp only */
	__u32 stepped; /* the last PSNs before the next one, so many, were those of packets with unknown opcodes */
	struct roce_counters counters;
	__u8 dst[16];	/* UD: of the last packet */
	__u32 dqpn;	/* UD: of the last packet */
	__u32 sqpn;	/* UD and RD only, else 0 */
	__u64 first_seen;
	__u64 first_psn;
	struct roce_pair pair;
	__u64 other; /* the number that continues another sequence, which was left or came between; valid if has_other */
	struct roce_sample sample[STREAM_SAMPLES];
	__u32 lint[ROCE_LINTS]; /* at most LINT_COUNT_MOST */
	__u32 class_changes; /* packets with another traffic class than the one before (stream_class()); at most LINT_COUNT_MOST */
	union { /* by the key's kind; both would be more than bpf/abi.h has room for */
		struct roce_asked asked; /* not KEY_UDP: requests */
		struct udp_state udp;	 /* KEY_UDP */
	};
	__u64 read_at;	   /* number of the last READ request */
	__u32 mtu_guess;   /* another path MTU, from the last jumps behind READs (`doubt_row`) */
	__u32 read_own;	   /* of the next packet, from stream_look_back(): so many PSNs before it belong to the READ, ... */
	__u64 read_late;   /* ... and so many from doubt_from on */
	__u64 doubt_from;  /* since this number, what was skipped behind READs is explained by `mtu_guess`, ... */
	__u32 doubt_row;   /* ... so many times one after the other */
	/* responses: the PSNs behind those that the last two acknowledgements name, ACKED_VALID if there is one */
	__u32 acked[2];
	__u32 before_arrival; /* where packets arrived before they did where they do now (`last.arrival`) */
	__u64 acknowledged; /* requests: numbers before this one were acknowledged at the last look, ... */
	__u64 settled;	    /* ... and before this one at that before it: what is missing there counts as unseen */
	__u64 arrival_since; /* the next number when packets began to arrive where they do now */
	__u64 arrival_next;  /* the number behind the newest one that had arrived there until then, or came late since, ... */
	__u64 before_next;   /* ... and the same for before_arrival; stream_arrived() reads them */
	__u32 depth[STREAM_DEPTHS]; /* late packets by how far they were behind: bucket n from 2^n on; at most LINT_COUNT_MOST */
	__u64 answered;	/* requests: the number behind the newest acknowledged one, when the peer was asked last */
	__u8 spilled;	/* requests: some are remembered in the pool (struct roce_asked_more) */
	__u8 has_other;
	__u8 turns; /* how often the two sequences took turns lately: the evidence for another turn grows with each */
	__u8 msn_met;
	__u8 msn_less; /* so many acknowledgements in a row have a lower MSN than one before */
	__u8 heaps; /* --udp only: it is made of heaps */
	__u8 restart_by; /* enum roce_restart_by, of the last restart */
	__u8 unused;
	/* acknowledgements: the highest MSN, which counts completed messages (IBTA 9.7.7.1), and how often it has fallen */
	__u32 msn, msn_falls;
	struct roce_blocks blocks;
	struct roce_ring_state ring;
	__u32 waited; /* packets that waited, because they would have carried the sequence off */
};

/* Packets that came late, and were not missing as far as is known. */
roce_inline __u64 stream_seen_before(const struct roce_stream *s)
{
	return s->counters.value[COUNTER_psn_duplicates] + s->counters.value[COUNTER_psn_late_unknown];
}

/* The key of the packet's stream. p: kind ROCE_PACKET or ROCE_UDP. */
roce_inline void roce_stream_key(const struct roce_packet *p, struct roce_key *key)
{
	__builtin_memset(key, 0, sizeof(*key));
	roce_copy16(key->src, p->src);
	if (p->kind == ROCE_PACKET && p->op & OP_DETH && !(p->op & OP_RDETH)) {
		key->kind = KEY_DATAGRAM;
		key->qpn = p->sqpn;
		return;
	}
	roce_copy16(key->dst, p->dst);
	key->kind = KEY_CONNECTED;
	key->qpn = p->dqpn;
	if (p->kind == ROCE_UDP) {
		key->kind = KEY_UDP;
		key->port = p->udp_port;
		return;
	}
	key->side = p->op & OP_RESPONSE ? SIDE_RESPONSE : SIDE_REQUEST;
}

/* Counts rare packets: acknowledgements, CNPs, unknown opcodes. */
roce_inline void count_rare(__u64 *v, const struct roce_packet *p)
{
	if (!p->op)
		v[COUNTER_unknown_opcodes]++;
	if (p->op & OP_CNP)
		v[COUNTER_cnps]++;
	if (!(p->op & OP_ACK))
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

/*
 * Counts one packet, for the snapshot as a whole and, once its stream is found, for the stream (scope PACKET of counters.def).
 * Bad ICRCs are counted here and nowhere else.
 */
roce_inline void roce_count_packet(struct roce_counters *c, const struct roce_packet *p, enum icrc_verdict icrc)
{
	__u64 *v = c->value;

	v[COUNTER_bytes] += p->frame_bytes;
	if (p->kind == ROCE_UDP) {
		v[COUNTER_udp_packets]++;
	} else {
		if (p->rocev1) { /* roce_packets and its parts count RoCEv2 only */
			v[COUNTER_rocev1_packets]++;
			v[COUNTER_rocev1_icrc_checked] += icrc != ICRC_UNCHECKED;
			v[COUNTER_truncated] += p->truncated;
		} else {
			v[COUNTER_roce_packets]++;
			if (icrc == ICRC_UNCHECKED) {
				v[COUNTER_icrc_unchecked]++;
				v[COUNTER_truncated] += p->truncated;
			} else {
				v[COUNTER_icrc_checked]++;
			}
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

/* Counts the kind of frame (scope FRAME), and RoCEv1 frames that roce_count_packet() will not see. */
roce_inline void roce_count_frame(struct roce_totals *c, const struct roce_packet *p)
{
	__u64 *v = c->value;

	v[COUNTER_frames]++;
	if (p->kind == ROCE_PACKET)
		return;
	v[COUNTER_other_frames] += p->kind == ROCE_OTHER || p->kind == ROCE_UDP;
	v[COUNTER_unparsed_frames] += p->unparsed;
	v[COUNTER_rocev1_packets] += p->kind == ROCE_V1;
	v[COUNTER_ip_fragments] += p->kind == ROCE_FRAGMENT;
	v[COUNTER_malformed] += p->kind == ROCE_MALFORMED;
}

#define LINT_COUNT_MOST 0xffffffffu /* 6.6 minutes of 100 Gbit/s in packets of 1 KiB: from there on "at least" */

/* Adds up to LINT_COUNT_MOST. Without a branch, because the verifier follows each. */
roce_inline void stream_lint_add(__u32 *count, __u32 n)
{
	__u64 sum = (__u64)*count + n, beyond = -(sum >> 32);

	roce_opaque(beyond);
	*count = sum | beyond;
}

/*
 * 1 if the lint is a habit (LINT_HABITS): every packet of the stream that was looked at has it, this one included; else 0.
 * Packets without a lint cost nothing, because the counters tell how many there were. A count at LINT_COUNT_MOST is taken for a
 * habit. Without a branch, because the verifier follows each.
 */
roce_inline __u32 stream_is_habit(const struct roce_stream *s, enum roce_lint lint)
{
	const __u64 *v = s->counters.value;
	__u64 bad = v[COUNTER_icrc_bad] * s->trusted; /* these are looked at on a stream without good ICRCs only */
	__u64 packets = v[COUNTER_roce_packets] + v[COUNTER_rocev1_packets] - bad, had = s->lint[lint];
	__u64 others = packets - had - 1, any = -packets;

	roce_opaque(others);
	roce_opaque(any);
	return LINT_HABITS >> lint & 1 & (others >> 63 | (had + 1) >> 32) & any >> 63;
}

/* Lints are rare, so the counters are only touched if there is one. s->last_psn is still that of the packet before. */
roce_inline void stream_lint(struct roce_stream *s, const struct roce_packet *p, enum icrc_verdict icrc)
{
	struct lint_seen seen = { 0 };

	lint_follow(&s->lint_state, p, icrc, s->last_psn, s->met, &seen);
	roce_reload();
#define LINT(name, class, test, words) if (test) goto mistaken;
#include "roce/lint.def"
#undef LINT
	return;
mistaken:
	s->message.changes++;
#define LINT(name, class, test, words) stream_lint_add(&s->lint[LINT_##name], (test) ? 1 : 0);
#include "roce/lint.def"
#undef LINT
}

/*
 * The number behind the newest one that arrived where the last packet did. An interface and receive queue keep packets in order,
 * two of them do not, so only what this number is ahead of was overtaken on the wire for certain.
 */
roce_inline __u64 stream_arrived(const struct roce_stream *s)
{
	return s->psn.next != s->arrival_since ? s->psn.next : s->arrival_next;
}

/* Packets arrive elsewhere from now on. */
roce_inline void stream_arrive(struct roce_stream *s, __u32 arrival)
{
	__u64 known = arrival == s->before_arrival ? s->before_next : s->psn.next - (1ull << 62);

	s->before_next = stream_arrived(s);
	s->before_arrival = s->last.arrival;
	s->arrival_next = known;
	s->arrival_since = s->psn.next;
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
		s->dqpn = p->dqpn;
		s->sqpn = p->sqpn;
		roce_copy16(s->dst, p->dst);
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

/* Whether counters of scope STREAM enter the totals. Not those of phantoms, nor where the PSN is not checked. */
roce_inline bool roce_is_totalled(const struct roce_stream *s)
{
	return s->trusted && s->service != SERVICE_UD && s->service != SERVICE_UDP;
}

/* Mistakes in headers that are faults: habits are none. */
roce_inline __u64 stream_lints(const struct roce_stream *s)
{
	__u64 sum = 0;

	for (__u32 i = 0; i < ROCE_LINTS; i++)
		sum += s->lint[i] * (__u64)(1 - stream_is_habit(s, i));
	return sum;
}

/*
 * Adds a stream's counters to the totals, except those that the totals have already: when it is evicted, and in a snapshot.
 * snapshot_total_lost() has what follows from the sums.
 */
roce_inline void roce_add_stream(struct roce_totals *total, const struct roce_stream *s)
{
	const __u64 *v = s->counters.value;

	total->value[COUNTER_lints] += stream_lints(s);
	if (roce_is_totalled(s)) {
#define SUM(...)
#define COUNTER(name, unit, kind, scope, ...)          \
		if (SCOPE_##scope >= SCOPE_STREAM)     \
			total->value[COUNTER_##name] += v[COUNTER_##name];
#include "roce/counters.def"
#undef COUNTER
		return;
	}
	if (!s->trusted)
		return;
#define COUNTER(...)
#define SUM(name, from, counter, ...)                  \
	if (s->service == SERVICE_##from)              \
		total->value[COUNTER_##name] += v[COUNTER_##counter];
#include "roce/counters.def"
#undef COUNTER
}

#endif
