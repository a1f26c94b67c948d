/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Things that are found by a key, in the order in which they were met; they stay where they are in memory. */
#ifndef USERSPACE_DOCTOR_INDEX_H
#define USERSPACE_DOCTOR_INDEX_H

#include "roce/base.h"

/* max, key_size (bytes, the first ones of an entry) and entry_size are the owner's to set, the rest is zero at first. */
struct index {
	size_t max, key_size, entry_size;
	void **entries;
	size_t count, room;
	__u32 *slots; /* open addressing: 1 + index into entries[], 0: free */
	size_t slot_count;
};

/* NULL: there is none. */
void *index_find(const struct index *x, const void *key);

/* Made, all zero behind the key, if there was none; NULL: no room, or no memory. */
void *index_get(struct index *x, const void *key);

/* Frees the entries; what they point to is the owner's. */
void index_free(struct index *x);

#endif
