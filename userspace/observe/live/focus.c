// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/capture_abi.h"
#include "userspace/observe/live/focus.h"

struct focus {
	struct focus_value *value; /* the map's value, mapped into our memory */
	bool on;
	struct roce_key key;
};

struct focus *focus_open(int map)
{
	struct focus *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->value = mmap(NULL, sizeof(*f->value), PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (f->value == MAP_FAILED) {
		free(f);
		return NULL;
	}
	focus_set(f, NULL); /* with --pin, clears the focus of a killed agent */
	return f;
}

void focus_set(struct focus *f, const struct roce_key *key)
{
	__atomic_store_n(&f->value->on, 0, __ATOMIC_SEQ_CST);
	f->on = key;
	if (!key)
		return;
	/* A program that saw the focus may still be counting. membarrier() waits for an RCU grace period. */
	syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	memset(&f->value->seen, 0, sizeof(f->value->seen));
	f->key = f->value->key = *key;
	__atomic_store_n(&f->value->on, 1, __ATOMIC_RELEASE);
}

const struct roce_key *focus_key(const struct focus *f)
{
	return f->on ? &f->key : NULL;
}

bool focus_read(const struct focus *f, struct roce_focus *seen)
{
	if (f->on)
		memcpy(seen, &f->value->seen, sizeof(*seen));
	else
		memset(seen, 0, sizeof(*seen));
	return f->on;
}

__u64 focus_gap_quantile(const struct roce_focus *seen, double part)
{
	__u64 sum = 0, counted = 0;
	__u32 i;

	/* sum gap[] itself: it may be ahead of `gaps` */
	for (i = 0; i < FOCUS_GAPS; i++)
		sum += seen->gap[i];
	for (i = 0; i < FOCUS_GAPS - 1; i++) {
		counted += seen->gap[i];
		if (counted && counted >= part * sum)
			break;
	}
	if (!sum)
		return 0;
	if (i == FOCUS_GAPS - 1 || focus_gap_begin(i + 1) > seen->gap_most)
		return seen->gap_most;
	return focus_gap_begin(i + 1);
}

void focus_close(struct focus *f)
{
	if (!f)
		return;
	focus_set(f, NULL);
	munmap(f->value, sizeof(*f->value));
	free(f);
}
