/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The streams of user space: a hash table that grows up to a bound. */
#ifndef USERSPACE_MODEL_TABLE_H
#define USERSPACE_MODEL_TABLE_H

#include "userspace/model/snapshot.h"

struct table {
	struct snapshot_stream *streams; /* in the order in which they were met */
	size_t count;
	size_t max;	/* streams, at most */
	size_t room;	/* of streams[] */
	__u32 *slots;	/* open addressing: 1 + index into streams[], 0: free */
	size_t slot_count; /* a power of two, or 0 */
};

/* Of a key. The slots go by its lower bits: the upper ones are free for who has several tables. */
__u64 table_hash(const struct roce_key *key);

/* Asks for the memory of the slot where the search for a key begins. */
static inline void table_want_slot(const struct table *t, __u64 hash)
{
	if (t->slot_count)
		__builtin_prefetch(&t->slots[hash & (t->slot_count - 1)]);
}

/* The first stream that the search will meet: most likely its own. NULL: none. */
static inline const struct snapshot_stream *table_guess(const struct table *t, __u64 hash)
{
	__u32 slot = t->slot_count ? t->slots[hash & (t->slot_count - 1)] : 0;

	return slot ? &t->streams[slot - 1] : NULL;
}

/* t is all zero but for max. The stream of this key, all zero if it is new; NULL: there is no room for a new one. */
struct roce_stream *table_find(struct table *t, const struct roce_key *key);
struct roce_stream *table_find_hashed(struct table *t, const struct roce_key *key, __u64 hash); /* of table_hash() */

/*
 * What the stream tells that answers this packet's (which s is about to observe), or that this one's answers; `valid` is
 * false where there is nothing to be asked, or nobody.
 */
struct roce_told table_ask(const struct table *t, const struct roce_stream *s, const struct roce_packet *p);

/* The streams now belong to the caller (free()); the table is empty. */
struct snapshot_stream *table_take(struct table *t, size_t *count);

void table_free(struct table *t);

#endif
