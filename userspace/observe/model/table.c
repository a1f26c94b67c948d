// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "roce/observe.h"
#include "userspace/observe/model/table.h"

#define TABLE_FIRST 64 /* initial room, streams */

/* Multiply and fold, word by word. The multiplier is the fraction of the golden ratio, 2^64 / phi. */
__u64 table_hash(const struct roce_key *key)
{
	__u64 h = 0;

	for (size_t i = 0; i < sizeof(*key); i += 8) {
		h = (h ^ roce_load(__u64, (const __u8 *)key + i)) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return h;
}

/* The slot with this key, or the free slot for it. */
static __u32 *find_slot(const struct table *t, const struct roce_key *key, __u64 hash)
{
	for (;; hash++) {
		__u32 *slot = &t->slots[hash & (t->slot_count - 1)];

		if (!*slot || !memcmp(&t->streams[*slot - 1].key, key, sizeof(*key)))
			return slot;
	}
}

/* Doubles the room. There are twice as many slots, so that at most half are used. */
static bool grow(struct table *t)
{
	size_t room = t->room ? t->room * 2 : TABLE_FIRST;
	__u32 *slots = calloc(room * 2, sizeof(*slots));
	struct snapshot_stream *streams = realloc(t->streams, room * sizeof(*streams));
	struct roce_before *before = realloc(t->before, room * sizeof(*before));

	if (streams)
		t->streams = streams;
	if (before)
		t->before = before;
	if (!slots || !streams || !before) {
		free(slots);
		return false;
	}
	free(t->slots);
	t->slots = slots;
	t->slot_count = room * 2;
	t->room = room;
	for (size_t i = 0; i < t->count; i++)
		*find_slot(t, &t->streams[i].key, table_hash(&t->streams[i].key)) = i + 1;
	return true;
}

struct roce_stream *table_find_hashed(struct table *t, const struct roce_key *key, __u64 hash)
{
	struct snapshot_stream *s;
	__u32 *slot;

	if (!t->slot_count && !grow(t))
		return NULL;
	slot = find_slot(t, key, hash);
	if (*slot)
		return &t->streams[*slot - 1].stream;
	if (t->count >= t->max)
		return NULL;
	if (t->count == t->room) {
		if (!grow(t))
			return NULL;
		slot = find_slot(t, key, hash);
	}
	s = &t->streams[t->count++];
	*slot = t->count;
	memset(s, 0, sizeof(*s));
	memset(&t->before[t->count - 1], 0, sizeof(*t->before));
	s->key = *key;
	return &s->stream;
}

struct roce_stream *table_find(struct table *t, const struct roce_key *key)
{
	return table_find_hashed(t, key, table_hash(key));
}

const struct roce_stream *table_lookup(const struct table *t, const struct roce_key *key)
{
	const __u32 *slot = t->slot_count ? find_slot(t, key, table_hash(key)) : NULL;

	return slot && *slot ? &t->streams[*slot - 1].stream : NULL;
}

struct roce_peer_info table_ask(const struct table *t, const struct roce_stream *s, const struct roce_packet *p)
{
	struct roce_peer_info info = { .valid = false };
	const struct roce_stream *peer;
	struct roce_key key;

	if (!roce_wants_peer(s, p))
		return info;
	roce_peer_key(s, p, &key);
	peer = table_lookup(t, &key);
	if (peer)
		roce_ask(s, peer, p, &info);
	return info;
}

/* Nobody follows the streams any further. */
static void give_extras(struct table *t)
{
	for (size_t i = 0; i < t->count; i++)
		late_give(&t->streams[i].stream.psn);
}

struct snapshot_stream *table_take(struct table *t, size_t *count)
{
	struct snapshot_stream *streams = t->streams;

	give_extras(t);
	*count = t->count;
	t->streams = NULL;
	t->count = 0;
	table_free(t);
	return streams;
}

void table_free(struct table *t)
{
	give_extras(t);
	free(t->streams);
	free(t->before);
	free(t->slots);
	*t = (struct table){ .max = t->max };
}
