/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pairs of streams in user space: the counterpart of bpf/pairs.h. */
#ifndef USERSPACE_OBSERVE_MODEL_PAIRS_H
#define USERSPACE_OBSERVE_MODEL_PAIRS_H

#include "roce/stream/stream.h"

struct pairs_entry {
	struct roce_pair_key key;
	struct roce_pair pair; /* PAIR_UNKNOWN: the entry is free */
};

/* A hash table that grows up to a bound. */
struct pairs_table {
	struct pairs_entry *entries; /* open addressing */
	size_t room;		     /* a power of two, or 0 */
	size_t count;
};

/* Starts as zeroes. */
struct pairs {
	struct pairs_table known, requests;
	__u32 news; /* number of pairs learnt */
};

/* Adds a pair that is known beforehand. false: no room. */
bool pairs_put(struct pairs *p, const struct roce_pair_key *key, const struct roce_pair *pair);

/*
 * Learns from a packet for which roce_is_management() holds and whose ICRC is not bad. window: as for roce_parse(), with
 * `available` bytes of the frame. Drops pairs for which there is no room.
 */
void pairs_learn(struct pairs *p, const struct roce_packet *packet, const __u8 *window, __u32 available);

/* NULL: unknown. Valid until the next pair is added. */
const struct roce_pair *pairs_get(const struct pairs *p, const struct roce_pair_key *key);

/* Looks up the stream's pair, before roce_observe(). */
void pairs_find(const struct pairs *p, struct roce_stream *s, const struct roce_packet *packet);

void pairs_free(struct pairs *p);

#endif
