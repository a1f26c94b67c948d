// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <linux/types.h>

#include <bpf/bpf.h>

#include "userspace/observe/verbs/map_walk.h"

#define BATCH 1024 /* entries at a time: the kernel gives whole buckets, and has a bucket for each entry that there may be */

void map_walk(int map, size_t key_size, size_t value_size, void (*take)(void *context, const void *key, const void *value), void *context)
{
	char *keys = malloc(BATCH * key_size), *values = malloc(BATCH * value_size);
	__u32 count = BATCH, position;
	bool last = !keys || !values;

	for (bool first = true; !last; first = false, count = BATCH) {
		last = bpf_map_lookup_batch(map, first ? NULL : &position, &position, keys, values, &count, NULL);
		if (last && errno != ENOENT)
			break;
		for (__u32 i = 0; i < count; i++)
			take(context, keys + i * key_size, values + i * value_size);
	}
	free(keys);
	free(values);
}
