/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stream has one sequence of PSNs. roce_observe() takes one packet of it. The caller stores streams (a BPF map, a hash
 * table), finds the struct by roce_stream_key() and passes it.
 */
#ifndef ROCE_STREAM_H
#define ROCE_STREAM_H

#include "roce/counters.h"
#include "roce/icrc.h"
#include "roce/lint.h"
#include "roce/message.h"
#include "roce/pair.h"
#include "roce/parse.h"
#include "roce/psn.h"

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
	__u16 udp_source_port;
	__u16 vlan;
	__u8 vlan_tags;
	__u8 tos;
	__u8 ttl;
	__u8 src_mac[6];
	__u8 dst_mac[6];
};

/* Fields are in the order in which a packet needs them: with thousands of streams, cache lines make up a packet's cost. */
struct roce_stream {
	__u64 last_seen; /* ns, the caller's clock */
	struct roce_psn psn;
	struct roce_message message;
	struct roce_lint_state lint_state;
	__u64 last_psn; /* PSN of the last packet, acknowledgements included */
	__u64 after_read; /* the last packet was a READ request of unknown span: its bytes, 0: no */
	__u64 read_end;	  /* ... and its end address */
	__u32 path_mtu;	 /* bytes, learnt from First and Middle packets, READ spans or the pair; 0: not known */
	__u32 mtu_least; /* lower bound, from an in-order packet behind a READ */
	__u32 mtu_guess; /* from the last jump behind a READ: believed if a second jump agrees */
	__u32 dqpn;	/* UD: of the last packet */
	__u32 sqpn;	/* UD only, else 0 */
	__u32 run;	/* --udp only */
	__u8 service;	/* enum roce_service */
	__u8 met;	/* a packet with a place in the sequence was seen */
	__u8 trusted;	/* a good ICRC was seen, or ICRCs are not checked */
	__u8 used;	/* any packet was seen */
	/*
	 * Generation of the pairs of this QPN (pair_generation_of()) when the stream last looked for its own. The store of
	 * pairs counts up, from 1, when it learns one; a stream with another number looks again.
	 */
	__u32 pair_generation;
	__u8 mistrusted; /* it was trusted without verification, until the first verified ICRC was bad */
	__u8 reserved[3];
	__u32 stepped; /* the last PSNs before the next one, so many, were those of packets with unknown opcodes */
	struct roce_last last;
	__u8 dst[16];	/* UD: of the last packet */
	__u64 first_seen;
	__u64 first_psn;
	struct roce_pair pair;
	__u64 unused; /* keeps the counters of each packet in one cache line (bpf/abi.h) */
	struct roce_counters counters;
	__u32 lint[ROCE_LINTS]; /* at most LINT_COUNT_MOST */
	struct roce_asked asked; /* requests only */
};

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

/* Lints are rare, so the counters are only touched if there is one. s->last_psn is still that of the packet before. */
roce_inline void stream_lint(struct roce_stream *s, const struct roce_packet *p, enum icrc_verdict icrc)
{
	struct lint_seen seen = { 0 };

	lint_follow(&s->lint_state, p, icrc, s->last_psn, s->met, &seen);
	roce_reload();
#define LINT(name, test, words) if (test) goto mistaken;
#include "roce/lint.def"
#undef LINT
	return;
mistaken:
#define LINT(name, test, words) stream_lint_add(&s->lint[LINT_##name], (test) ? 1 : 0);
#include "roce/lint.def"
#undef LINT
}

roce_inline void stream_describe(struct roce_stream *s, const struct roce_packet *p)
{
	struct roce_last *l = &s->last;

	/* CNPs come between acknowledgements, and unknown opcodes have no service */
	if (p->op && !(p->op & OP_CNP))
		s->service = p->service;
	s->dqpn = p->dqpn;
	s->sqpn = p->sqpn;
	roce_copy16(s->dst, p->dst);
	roce_copy6(l->src_mac, p->src_mac);
	roce_copy6(l->dst_mac, p->dst_mac);
	l->udp_source_port = p->udp_source_port;
	l->vlan = p->vlan;
	l->vlan_tags = p->vlan_tags;
	l->tos = p->tos;
	l->ttl = p->ttl;
	if (p->op & OP_RETH) {
		l->va = p->va;
		l->rkey = p->rkey;
		l->dma_length = p->dma_length;
	}
}

/* A packet's place in the sequence. */
enum psn_place { PSN_IN_ORDER, PSN_RECOVERED, PSN_DUPLICATE, PSN_RESYNC };

/*
 * The last packet was a READ request of unknown span. Returns how many PSNs from the next on belong to it. d: the distance of
 * the packet that follows.
 *
 * A READ that is retried inside its span (same end, fewer bytes) reveals the path MTU. Otherwise a jump may be the span, if it
 * fits one path MTU. It may also be a loss that looks like the span for another path MTU, so two jumps must agree.
 */
roce_inline __u64 stream_after_read(struct roce_stream *s, const struct roce_packet *p, __s64 d)
{
	bool again = p->op & OP_READ_REQUEST && p->dma_length && p->va + p->dma_length == s->read_end;
	__u32 fits = 0, mtu = 0;

	if (d < 0 && !s->path_mtu)
		return 0;
	/* the request itself has taken the first PSN of its span */
	for (__u32 m = 256; m <= 4096 && !s->path_mtu; m *= 2) {
		if (again && (__u64)(d + 1) * m + p->dma_length == s->after_read)
			s->path_mtu = m;
		if (m >= s->mtu_least && (s->after_read + m - 1) / m == (__u64)d + 1) {
			fits++;
			mtu = m;
		}
	}
	if (!s->path_mtu && d == 0) {
		if (s->after_read > s->mtu_least && s->after_read <= 4096)
			s->mtu_least = s->after_read;
		return 0;
	}
	if (fits == 1 && s->mtu_guess == mtu && !s->path_mtu)
		s->path_mtu = mtu;
	s->mtu_guess = fits == 1 ? mtu : 0;
	if (!s->path_mtu)
		return fits ? d : 0;
	fits = (s->after_read - 1) / s->path_mtu;
	s->after_read = 0;
	return fits;
}

/* How many PSNs a request takes. A READ request takes one per response packet (IBTA 9.4.4). */
roce_inline __u32 stream_span(const struct roce_stream *s, const struct roce_packet *p)
{
	if (!(p->op & OP_READ_REQUEST) || !s->path_mtu || p->dma_length <= s->path_mtu)
		return 1;
	return (p->dma_length - 1) / s->path_mtu + 1;
}

/*
 * PSN rules (docs/rules.md): a packet d ahead of the expected number makes a gap of d; behind it, the window and the holes
 * decide; too far either way is another place in the sequence. begins: the packet begins a message or the stream; how far such
 * a response is ahead means nothing. Returns the packet's place; psn_forward() may have to follow.
 */
roce_inline enum psn_place stream_place(struct roce_stream *s, const struct roce_packet *p, __s64 d, bool begins,
					const struct roce_peer_info *info)
{
	bool reliable = p->service == SERVICE_RC || p->service == SERVICE_XRC || p->service == SERVICE_RD;
	__u64 number = s->psn.next + d, own = 0, skipped = 0, found = 0;
	enum psn_place place = PSN_IN_ORDER;
	__u64 *v = s->counters.value;
	__u32 span;

	if (d < 0)
		found = psn_recover(&s->psn, number, stream_span(s, p));
	if (s->after_read)
		own = stream_after_read(s, p, d);
	span = stream_span(s, p);
	if (d < (__s64)own) {
		v[COUNTER_psn_recovered] += found;
		place = found ? PSN_RECOVERED : reliable || d >= -PSN_WINDOW ? PSN_DUPLICATE : PSN_RESYNC;
		v[COUNTER_psn_duplicates] += place == PSN_DUPLICATE;
	} else if (d > 0 && p->op & OP_RESPONSE && info && info->valid && info->from == s->psn.next &&
		   (begins || info->wanted)) {
		/* acknowledged PSNs between them count as unseen too, which is harmless */
		own = info->begin;
		skipped = info->end - own;
		span += d - info->end;
		v[COUNTER_psn_gaps] += info->skipped > 0;
		v[COUNTER_psn_skipped] += info->skipped;
	} else if (begins && p->op & OP_RESPONSE) {
		own = d;
	} else if (d - own <= PSN_GAP_MAX) {
		skipped = d - own;
		v[COUNTER_psn_gaps] += skipped > 0;
		v[COUNTER_psn_skipped] += skipped;
	} else {
		place = PSN_RESYNC;
	}
	if (place == PSN_RESYNC) {
		v[COUNTER_psn_resyncs]++;
		psn_start(&s->psn, number);
		own = 0;
	}
	if (place == PSN_RECOVERED || place == PSN_DUPLICATE) {
		span = 0;
	} else if (p->op & OP_READ_REQUEST && !s->path_mtu) {
		s->after_read = p->dma_length;
		s->read_end = p->va + p->dma_length;
	} else {
		s->after_read = 0;
	}
	if (span != 1 || own || skipped || !psn_step(&s->psn))
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

/* Signed distance of the packet from the expected number. */
roce_inline __s64 stream_distance(const struct roce_stream *s, const struct roce_packet *p)
{
	return p->kind == ROCE_UDP ? (__s64)(p->number - s->psn.next) : psn_distance(s->psn.next & PSN_MASK, p->number);
}

/* late: the PSN had been skipped or seen before. place: PSN_DUPLICATE completes nothing but on UC. */
roce_inline void stream_message(struct roce_stream *s, const struct roce_packet *p, enum psn_place place, __s64 d)
{
	bool late = place == PSN_RECOVERED || place == PSN_DUPLICATE;

	if (p->kind == ROCE_UDP)
		return;
	if (p->service == SERVICE_UC)
		message_uc(&s->message, &s->counters, p, late, d);
	else if (place != PSN_DUPLICATE)
		message_acknowledged(&s->message, &s->counters, p, late);
}

/*
 * A packet with an unknown opcode may have a PSN of the sequence (a manufacturer's opcode) or not. If it has the expected one,
 * it takes it, until a known packet with that PSN comes.
 */
roce_inline void stream_unknown(struct roce_stream *s, const struct roce_packet *p)
{
	if (!s->met || s->after_read || stream_distance(s, p))
		return;
	s->stepped++;
	psn_plan(&s->psn, 0, 0, 1);
}

roce_inline void stream_step_back(struct roce_stream *s, const struct roce_packet *p)
{
	__s64 d = stream_distance(s, p);

	if (d < 0 && -d > s->stepped)
		return; /* late, or again */
	if (d < 0)
		s->psn.next += d;
	s->stepped = 0;
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
		s->stepped = 0;
		s->first_psn = p->number;
		s->run = p->run;
		if (!(p->op & OP_RESPONSE))
			psn_start(&s->psn, stream_begin(s, p));
		else
			psn_start(&s->psn, info && info->valid ? info->from : p->number);
		/* if the beginning of the sequence was seen, a headless message is broken */
		s->message.met = s->pair.from && s->pair.first_psn != PAIR_NO_PSN &&
				 psn_distance(s->pair.first_psn, s->psn.next & PSN_MASK) == 0;
	}
	if (p->kind == ROCE_UDP && s->run != p->run) { /* the sender was restarted */
		s->run = p->run;
		psn_start(&s->psn, p->number);
	}
	if (!s->path_mtu && info && info->valid)
		s->path_mtu = info->path_mtu;
	if (s->stepped)
		stream_step_back(s, p);
	roce_reload();
	d = stream_distance(s, p);
	number = s->psn.next + d;
	place = stream_place(s, p, d, begins, info);
	if (roce_is_answered(p) && place != PSN_DUPLICATE)
		asked_add(&s->asked, p, number);
	stream_message(s, p, place, d);
}

/* Takes any packet that may have a place in the sequence. */
roce_inline void stream_any(struct roce_stream *s, const struct roce_packet *p, const struct roce_peer_info *info)
{
	if (p->kind == ROCE_PACKET && !p->op)
		stream_unknown(s, p);
	else
		stream_known(s, p, info);
	if (s->psn.move_seen | s->psn.move_unseen | s->psn.move_take)
		psn_forward(&s->psn);
}

roce_rare stream_rare(struct roce_stream *s, const struct roce_packet *p, const struct roce_peer_info *info)
{
	if (s && p)
		stream_any(s, p, info);
	return 0;
}

/*
 * Takes a packet that may have a place in the sequence: all but acknowledgements and CNPs. Nearly all are the expected one.
 * old: as for roce_observe_by().
 */
roce_inline void stream_sequence(struct roce_stream *s, const struct roce_packet *p, const struct roce_peer_info *info,
				 bool old)
{
	if (old)
		stream_any(s, p, info);
	else if (s->met && s->run == p->run && !s->after_read && !s->stepped && !stream_distance(s, p) &&
		 (p->op || p->kind == ROCE_UDP) && !roce_is_answered(p) && psn_step(&s->psn))
		stream_message(s, p, PSN_IN_ORDER, 0);
	else
		stream_rare(s, p, info);
}

/* The first good ICRC. Earlier packets may have been anyone's, so what was counted of PSNs and messages is dropped. */
roce_inline void stream_trust(struct roce_stream *s)
{
	__u64 *v = s->counters.value;

	s->trusted = true;
	s->met = false;
	s->after_read = 0;
	s->path_mtu = s->pair.path_mtu;
	s->mtu_least = s->mtu_guess = 0;
	__builtin_memset(&s->message, 0, sizeof(s->message));
	__builtin_memset(&s->lint_state, 0, sizeof(s->lint_state));
	__builtin_memset(s->lint, 0, sizeof(s->lint));
	__builtin_memset(&s->asked, 0, sizeof(s->asked));
	v[COUNTER_messages] = v[COUNTER_messages_broken] = 0;
	v[COUNTER_imm_gaps] = v[COUNTER_imm_skipped] = 0;
	v[COUNTER_psn_gaps] = v[COUNTER_psn_skipped] = v[COUNTER_psn_recovered] = 0;
	v[COUNTER_psn_duplicates] = v[COUNTER_psn_resyncs] = 0;
}

/* Whether to look up the pair (roce_pair_key()) before observing this packet. generation: of the pairs. */
roce_inline bool roce_wants_pair(const struct roce_stream *s, const struct roce_packet *p, __u32 generation)
{
	return s->pair_generation != generation && p->kind == ROCE_PACKET && !(p->op & OP_DETH);
}

roce_inline void roce_pair_key(const struct roce_packet *p, struct roce_pair_key *key)
{
	pair_key(key, p->src, p->dst, p->dqpn);
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
		own->first_psn = PAIR_NO_PSN; /* it is that of the requests which have the same addresses and QPN */
	s->met = false;
	s->after_read = 0;
	s->path_mtu = pair->path_mtu;
	s->mtu_least = s->mtu_guess = 0;
	__builtin_memset(&s->message, 0, sizeof(s->message));
	__builtin_memset(&s->asked, 0, sizeof(s->asked));
}

/*
 * Restarts the sequence with the next packet, because the stream was not followed for a while or its position is unknown.
 * Counters and the connection stay.
 */
roce_inline void roce_begin_anew(struct roce_stream *s)
{
	s->met = false;
	s->after_read = 0;
	s->pair.first_psn = PAIR_NO_PSN; /* was valid at the beginning only */
	__builtin_memset(&s->psn, 0, sizeof(s->psn));
	__builtin_memset(&s->message, 0, sizeof(s->message));
	__builtin_memset(&s->lint_state, 0, sizeof(s->lint_state));
	__builtin_memset(&s->asked, 0, sizeof(s->asked));
}

/* Whether roce_observe() can use the peer's answer (roce_ask()) for this packet. */
roce_inline bool roce_wants_peer(const struct roce_stream *s, const struct roce_packet *p)
{
	/* Touch other cache lines last. */
	if (p->op & OP_RESPONSE)
		return !(p->op & (OP_ACK | OP_CNP)) &&
		       (!s->met || !s->trusted || p->number != (s->psn.next & PSN_MASK)) && s->pair.from;
	return !s->path_mtu && (p->op & OP_READ_REQUEST || s->after_read) && s->pair.from;
}

/* The key of the stream that answers this packet's stream, or is answered by it. */
roce_inline void roce_peer_key(const struct roce_stream *s, const struct roce_packet *p, struct roce_key *key)
{
	__builtin_memset(key, 0, sizeof(*key));
	__builtin_memcpy(key->src, p->dst, 16);
	__builtin_memcpy(key->dst, p->src, 16);
	key->kind = KEY_CONNECTED;
	key->qpn = s->pair.peer_qpn;
	key->side = p->op & OP_RESPONSE ? SIDE_REQUEST : SIDE_RESPONSE;
}

/*
 * Asks the peer, the stream of roce_peer_key(), about a packet for which roce_wants_peer() holds. The peer is read word by word
 * and needs no guard. This stream needs none either: if another CPU moves it forward meanwhile, it ignores the answer.
 */
roce_inline void roce_ask(const struct roce_stream *s, const struct roce_stream *peer, const struct roce_packet *p,
			  struct roce_peer_info *info)
{
	__s64 d;

	info->path_mtu = peer->path_mtu;
	info->from = s->met && s->trusted ? s->psn.next : stream_begin(peer, p);
	d = psn_distance(info->from & PSN_MASK, p->number);
	if (p->op & OP_RESPONSE && d > 0)
		asked_look(&peer->asked, peer->psn.next, s->path_mtu ?: peer->path_mtu ?: 4096, info->from & PSN_MASK, d,
			   info);
	info->valid = true;
}

/*
 * Takes one packet (kind ROCE_PACKET or ROCE_UDP) of this stream. s: all zero before the first packet. icrc: the ICRC's
 * verdict. now: ns, any clock. info: from roce_ask() for this packet, or NULL. The caller guards the stream against other CPUs.
 * old: without a call, which old kernels do not allow while a lock is held; a constant.
 */
roce_inline void roce_observe_by(struct roce_stream *s, const struct roce_packet *p, enum icrc_verdict icrc, __u64 now,
				 const struct roce_peer_info *info, bool old)
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
			return;
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
	stream_describe(s, p);
	if (p->kind == ROCE_UDP) {
		s->last_psn = p->number;
		if (!p->foreign && !p->stream_end)
			stream_sequence(s, p, NULL, old);
		return;
	}
	stream_lint(s, p, icrc);
	roce_reload();
	if (roce_is_partial(p) && roce_is_path_mtu(p->payload_bytes))
		s->path_mtu = p->payload_bytes;
	if (p->op & OP_CNP)
		return;
	if (p->op)
		s->last_psn = p->number;
	if (!(p->op & OP_ACK))
		stream_sequence(s, p, info, old);
}

roce_inline void roce_observe(struct roce_stream *s, const struct roce_packet *p, enum icrc_verdict icrc, __u64 now,
			      const struct roce_peer_info *info)
{
	roce_observe_by(s, p, icrc, now, info, false);
}

/* Whether counters of scope STREAM enter the totals. Not those of phantoms, nor where the PSN is not checked. */
roce_inline bool roce_is_totalled(const struct roce_stream *s)
{
	return s->trusted && s->service != SERVICE_UD && s->service != SERVICE_UDP;
}

/* Adds an evicted stream's counters to the totals, except those that the totals have already. */
roce_inline void roce_keep_evicted(struct roce_totals *total, const struct roce_stream *s)
{
	enum { FRAME, PACKET, STREAM, REPORT };

	if (!roce_is_totalled(s))
		return;
#define COUNTER(name, unit, kind, scope, words)                                                     \
	if (scope == STREAM)                                                                       \
		total->value[COUNTER_##name] += s->counters.value[COUNTER_##name];
#include "roce/counters.def"
#undef COUNTER
}

#endif
