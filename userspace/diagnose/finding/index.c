// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "userspace/diagnose/finding/index.h"

#define SLOTS_FIRST 64

static size_t hash(const struct index *x, const void *key)
{
	const __u8 *bytes = key;
	__u64 h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < x->key_size; i++)
		h = (h ^ bytes[i]) * 0x100000001b3u;
	return h ^ h >> 29;
}

static __u32 *slot(const struct index *x, const void *key)
{
	for (size_t i = hash(x, key); x->slot_count; i++) {
		__u32 *s = &x->slots[i & (x->slot_count - 1)];

		if (!*s || !memcmp(x->entries[*s - 1], key, x->key_size))
			return s;
	}
	return NULL;
}

void *index_find(const struct index *x, const void *key)
{
	__u32 *s = slot(x, key);

	return s && *s ? x->entries[*s - 1] : NULL;
}

static bool grow(struct index *x)
{
	size_t room = x->slot_count ?: SLOTS_FIRST / 2;
	void **entries = realloc(x->entries, room * sizeof(*entries));
	__u32 *slots = calloc(2 * room, sizeof(*slots));

	if (entries)
		x->entries = entries;
	if (!entries || !slots) {
		free(slots);
		return false;
	}
	free(x->slots);
	x->room = room;
	x->slots = slots;
	x->slot_count = 2 * room;
	for (size_t i = 0; i < x->count; i++)
		*slot(x, x->entries[i]) = i + 1;
	return true;
}

void *index_get(struct index *x, const void *key)
{
	void *entry = index_find(x, key);

	if (entry || x->count == x->max || (x->count == x->room && !grow(x)))
		return entry;
	entry = calloc(1, x->entry_size);
	if (!entry)
		return NULL;
	memcpy(entry, key, x->key_size);
	*slot(x, key) = x->count + 1; /* slot() compares keys only on the next call: the entry is stored by then */
	x->entries[x->count++] = entry;
	return entry;
}

void index_free(struct index *x)
{
	for (size_t i = 0; i < x->count; i++)
		free(x->entries[i]);
	free(x->entries);
	free(x->slots);
	x->entries = NULL;
	x->slots = NULL;
	x->count = x->room = x->slot_count = 0;
}
