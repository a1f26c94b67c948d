/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A receiver's maps in ordinary memory, and what bpf/receive.h does with them. */
#ifndef TESTS_UNIT_RECEIVE_RECEIVER_H
#define TESTS_UNIT_RECEIVE_RECEIVER_H

#include <stdlib.h>

#include "tests/unit/cmocka_includes.h"
#include "userspace/traffic/receive/maps.h"

struct test_receiver {
	struct receive_maps maps; /* the same memory, as readers have it */
	struct receive_settings setup;
	struct receive_qp *qps;
	struct receive_ring *rings;
	__u64 *generations;
};

static inline struct test_receiver *receiver_new(__u32 cpus, __u32 qps, __u64 memory, __u64 block)
{
	struct test_receiver *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->setup = (struct receive_settings){ .first_qpn = 0x100, .qps = qps, .memory = memory, .block = block };
	r->qps = aligned_alloc(64, qps * sizeof(*r->qps));
	memset(r->qps, 0, qps * sizeof(*r->qps));
	r->rings = calloc(cpus, sizeof(*r->rings));
	r->generations = calloc(memory / block, sizeof(*r->generations));
	r->maps = (struct receive_maps){ .setup = &r->setup, .memory = calloc(1, memory), .memory_bytes = memory, .qps = r->qps,
					 .qp_count = qps, .rings = r->rings, .cpu_count = cpus, .generations = r->generations,
					 .block_count = memory / block, .regions = -1 };
	return r;
}

static inline void receiver_free(struct test_receiver *r)
{
	free((void *)r->maps.memory);
	free(r->qps);
	free(r->rings);
	free(r->generations);
	free(r);
}

/* As receive_record() of bpf/receive.h. pause: called in the middle; NULL: not. */
static inline void receiver_record(struct test_receiver *r, __u32 cpu, const struct receive_record *record, void (*pause)(void))
{
	struct receive_ring *ring = &r->rings[cpu];
	__u64 head = ring->head, *to, from[sizeof(*record) / 8];

	to = (__u64 *)&ring->record[head & (RECEIVE_RECORDS - 1)];
	memcpy(from, record, sizeof(from));
	__atomic_store_n(&to[0], 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (size_t i = 1; i < sizeof(from) / 8; i++) {
		if (pause && i == 4)
			pause();
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
	}
	__atomic_store_n(&to[0], head + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
}

#endif
