/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Takes the packets of streams for which the table has no room (roce/stream/untracked.h). */
#ifndef ROCE_STREAM_TAKE_UNTRACKED_H
#define ROCE_STREAM_TAKE_UNTRACKED_H

#include "roce/stream/untracked.h"

roce_inline __u64 untracked_hash(const struct roce_key *key, __u64 seed)
{
	const __u8 *bytes = (const __u8 *)key;
	__u64 h = seed;

	for (__u32 i = 0; i < sizeof(*key); i += 8) {
		h = (h ^ roce_load(__u64, bytes + i)) * 0x9e3779b97f4a7c15;
		h ^= h >> 32;
	}
	h *= 0xbf58476d1ce4e5b9;
	return h ^ h >> 29;
}

roce_inline bool untracked_is(const struct roce_untracked_stream *e, const struct roce_key *key)
{
	const __u8 *a = (const __u8 *)&e->key, *b = (const __u8 *)key;
	__u64 differs = 0;

	for (__u32 i = 0; i < sizeof(*key); i += 8)
		differs |= roce_load(__u64, a + i) ^ roce_load(__u64, b + i);
	return !differs;
}

/* Takes a packet of the stream of this key. seed: secret, so that nobody can choose keys that fall into one set. */
roce_inline void untracked_take(struct roce_untracked *u, const struct roce_key *key, const struct roce_packet *p, __u64 seed)
{
	__u64 hash = untracked_hash(key, seed), least = ~0ull;
	__u32 first = (__u32)hash * UNTRACKED_WAYS % UNTRACKED_KEPT, at = first, i = (__u32)(hash >> 8) % UNTRACKED_RANKS;
	__u8 rank = 45 - __builtin_popcountll(roce_bits_below(hash >> 20)); /* zeroes in front of 44 bits, and 1 */
	struct roce_untracked_stream *e;

	u->begun++;
	if (u->rank[i] < rank)
		u->rank[i] = rank;
	for (__u32 way = 0; way < UNTRACKED_WAYS; way++) {
		e = &u->stream[(first + way) % UNTRACKED_KEPT];
		if (untracked_is(e, key)) {
			at = first + way;
			break;
		}
		if (e->packets < least) {
			least = e->packets;
			at = first + way;
		}
	}
	roce_opaque(at); /* else the verifier follows each of its values */
	e = &u->stream[at % UNTRACKED_KEPT];
	if (!untracked_is(e, key)) {
		e->key = *key;
		e->before = e->packets;
	}
	e->packets++;
	roce_copy16(e->dst, p->dst);
	e->dqpn = p->dqpn;
	e->service = p->service;
	u->ended++;
}

#endif
