/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The streams in user space: a hash table that grows up to a bound. */
#ifndef USERSPACE_OBSERVE_MODEL_TABLE_H
#define USERSPACE_OBSERVE_MODEL_TABLE_H

#include "roce/event/event.h"
#include "userspace/observe/model/snapshot.h"

struct table {
	struct snapshot_stream *streams; /* ordered by first packet */
	struct roce_before *before;	 /* of each, when it last had an event: read only when it has one again */
	size_t count;
	size_t max;	/* upper bound of streams */
	size_t room;	/* of streams[] */
	__u32 *slots;	/* open addressing: 1 + index into streams[], 0: free */
	size_t slot_count; /* a power of two, or 0 */
};

/* Hash of a key. The table uses the lower bits; a caller with several tables may use the upper ones. */
__u64 table_hash(const struct roce_key *key);

/* Prefetches the slot where the search for a key begins. */
static inline void table_want_slot(const struct table *t, __u64 hash)
{
	if (t->slot_count)
		__builtin_prefetch(&t->slots[hash & (t->slot_count - 1)]);
}

/* The stream in that slot, which is most likely the one searched for. NULL: none. */
static inline const struct snapshot_stream *table_guess(const struct table *t, __u64 hash)
{
	__u32 slot = t->slot_count ? t->slots[hash & (t->slot_count - 1)] : 0;

	return slot ? &t->streams[slot - 1] : NULL;
}

/* The entry of a stream that table_find() has returned. */
static inline struct snapshot_stream *table_entry(const struct roce_stream *s)
{
	return (struct snapshot_stream *)((__u8 *)s - offsetof(struct snapshot_stream, stream));
}

/* What is remembered of it. */
static inline struct roce_before *table_before(const struct table *t, const struct roce_stream *s)
{
	return &t->before[table_entry(s) - t->streams];
}

/* The stream of this key, all zero if it is new. NULL: no room. t: starts as zeroes except `max`. */
struct roce_stream *table_find(struct table *t, const struct roce_key *key);
struct roce_stream *table_find_hashed(struct table *t, const struct roce_key *key, __u64 hash); /* hash: from table_hash() */

/* The stream of this key. NULL: there is none. */
const struct roce_stream *table_lookup(const struct table *t, const struct roce_key *key);

/*
 * Asks the peer stream about this packet, which s is about to observe. `valid` is false if there is nothing to ask, or no peer.
 */
struct roce_peer_info table_ask(const struct table *t, const struct roce_stream *s, const struct roce_packet *p);

/* Passes the streams to the caller, who frees them with free(). The table is empty afterwards. */
struct snapshot_stream *table_take(struct table *t, size_t *count);

void table_free(struct table *t);

#endif
