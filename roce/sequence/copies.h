/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The same frame twice (docs/rules.md): a mirror of both directions, two taps into one file, a capture of all interfaces. A frame
 * that is sent again has another IPv4 identification, and its copy has the same. Where a sender does not count the identification,
 * only a copy that came another way is certain: by its MAC addresses, VLAN, TTL or interface.
 *
 * Copies are looked for where there may be some: in a stream's first packets, and behind a PSN that was seen before. So a stream
 * without any does not pay for it.
 */
#ifndef ROCE_SEQUENCE_COPIES_H
#define ROCE_SEQUENCE_COPIES_H

#include "roce/stream/stream.h"

/* After so many packets without a copy or a duplicate, copies are not looked for any more: */
#define COPIES_FIRST 128  /* at a stream's beginning; it is short because thousands of streams would pay for it, */
#define COPIES_QUIET 1024 /* ... behind a duplicate, */
#define COPIES_LATE 65535 /* ... and if the stream had a copy */

/* What a packet has in common with its copy, in 16 bits, never 0. */
roce_inline __u32 copies_digest(const struct roce_packet *p)
{
	__u32 what = (__u32)p->opcode << 24 ^ p->syndrome << 16 ^ p->payload_bytes;
	__u32 digest = (__u32)p->number * 0x85ebca6b ^ what * 0xc2b2ae35;

	digest = (digest ^ digest >> 15 ^ p->ip_id) * 0x9e3779b1 >> 16;
	return digest + !digest;
}

/* Whether the packet came another way than the stream's last one that was no copy. */
roce_inline bool copies_elsewhere(const struct roce_last *l, const struct roce_packet *p)
{
	__u32 differs = roce_load(__u32, l->src_mac) ^ roce_load(__u32, p->src_mac);

	differs |= roce_load(__u16, l->src_mac + 4) ^ roce_load(__u16, p->src_mac + 4);
	differs |= roce_load(__u32, l->dst_mac) ^ roce_load(__u32, p->dst_mac);
	differs |= roce_load(__u16, l->dst_mac + 4) ^ roce_load(__u16, p->dst_mac + 4);
	differs |= (l->ttl ^ p->ttl) | (l->vlan_tags ^ p->vlan_tags) | (l->vlan ^ p->vlan);
	return differs | roce_arrival_interface(l->arrival ^ p->arrival);
}

/* A packet was seen before: if it was captured twice, others will be. */
roce_inline void copies_expect(struct roce_stream *s)
{
	if (s->by_ring || s->psn.late == PSN_NO_LATE) /* a probation */
		return;
	s->copies.quiet = 0;
	if (!s->lint_state.no_copies)
		return;
	s->lint_state.no_copies = false;
	__builtin_memset(s->copies.seen, 0, sizeof(s->copies.seen)); /* older than what comes now */
}

/*
 * The first packet of the stream has the identification 0, as senders have that do not count it. So its copies could not be
 * told from retransmissions. If the packet behind them has another identification, the sender counts, and they were copies.
 */
roce_inline void copies_settle(struct roce_stream *s, const struct roce_packet *p)
{
	__u64 *v = s->counters.value, alone = s->copies.alone;

	s->copies.alone = 0;
	if (!p->ip_id)
		return;
	s->message.changes++;
	v[COUNTER_captured_twice] += alone;
	v[COUNTER_psn_duplicates] -= v[COUNTER_psn_duplicates] < alone ? v[COUNTER_psn_duplicates] : alone;
}

/* Remembers a packet that is no copy. i: its place. */
roce_inline void copies_remember(struct roce_stream *s, const struct roce_packet *p, __u32 i, __u32 digest)
{
	struct roce_copies *c = &s->copies;

	if (c->by_id == COPIES_NONE) {
		c->by_id = p->ip_id ? COPIES_COUNTED : COPIES_ALONE;
		c->quiet = COPIES_QUIET - COPIES_FIRST;
	} else if (c->id != p->ip_id || c->seen[i] != digest) { /* another packet, or sent again by one who counts */
		c->by_id = c->id != p->ip_id ? COPIES_COUNTED : COPIES_CONSTANT;
		if (c->alone)
			copies_settle(s, p);
	}
	c->id = p->ip_id;
	c->seen[i] = digest;
	c->quiet++;
	s->lint_state.no_copies = c->quiet >= (s->counters.value[COUNTER_captured_twice] ? COPIES_LATE : COPIES_QUIET);
}

/* Whether a packet with this PSN may have been here before: chance must not make a copy of a new one. */
roce_inline bool copies_are_possible(const struct roce_stream *s, const struct roce_packet *p)
{
	__u32 newest = s->psn.next - 1, psn = p->number;

	if (p->op & OP_ACK) {
		newest = s->acks.behind[0];
		psn += !(p->syndrome >> 5 & 3);
	} else if (!s->met) {
		return false;
	}
	return psn_distance(newest & PSN_MASK, psn & PSN_MASK) <= 0;
}

/*
 * Call before the stream takes a packet, unless no_copies. Returns whether it is the copy of one of the last COPIES packets; if
 * not, it is remembered.
 */
roce_rare copies_take(struct roce_stream *s, const struct roce_packet *p)
{
	__u32 digest, i;

	if (!s || !p)
		return 0;
	if (p->kind != ROCE_PACKET || s->by_ring || p->op & OP_RING) {
		s->lint_state.no_copies = true;
		return 0;
	}
	if (!p->op || p->op & OP_CNP)
		return 0;
	digest = copies_digest(p);
	i = p->number % COPIES;
	roce_opaque(i);
	if (i >= COPIES)
		return 0;
	if (s->copies.seen[i] == digest && copies_are_possible(s, p)) {
		if (s->copies.by_id == COPIES_COUNTED || copies_elsewhere(&s->last, p)) {
			s->counters.value[COUNTER_captured_twice]++;
			s->copies.quiet = 0;
			return 1;
		}
		if (s->copies.by_id == COPIES_ALONE)
			s->copies.alone += s->copies.alone < 255;
	}
	copies_remember(s, p, i, digest);
	return 0;
}

#endif
