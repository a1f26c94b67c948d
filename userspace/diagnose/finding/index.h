/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries that are found by a key. They keep the order of their insertion and do not move in memory. */
#ifndef USERSPACE_DIAGNOSE_FINDING_INDEX_H
#define USERSPACE_DIAGNOSE_FINDING_INDEX_H

#include "roce/packet/base.h"

/* The owner sets max, key_size (bytes at the beginning of an entry) and entry_size. The rest is zero at first. */
struct index {
	size_t max, key_size, entry_size;
	void **entries;
	size_t count, room;
	__u32 *slots; /* open addressing: 1 + index into entries[], 0: free */
	size_t slot_count;
};

/* NULL: no entry has this key. */
void *index_find(const struct index *x, const void *key);

/* Finds the entry, or appends one that is zero after its key. NULL: no room, or no memory. */
void *index_get(struct index *x, const void *key);

/* Frees the entries. The owner frees what they point to. */
void index_free(struct index *x);

#endif
