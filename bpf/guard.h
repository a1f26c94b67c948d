/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps two CPUs from working on a stream at the same time. The queues of a NIC keep a stream on one CPU, so the guard is
 * nearly always free. A compare-and-exchange in the stream's own cache line costs a fifth of bpf_spin_lock(), whose two calls
 * and masking of interrupts cost as much as all other work. Without bpf_loop() (ROCE_HAS_LOOP) nobody can wait for it: there,
 * one lock guards all streams.
 */
#ifndef BPF_GUARD_H
#define BPF_GUARD_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/abi.h"
#include "bpf/map.h"

struct guard {
	struct table_state *state; /* contains the lock; without ROCE_HAS_LOOP */
};

#define GUARD_TRIES (1 << 20) /* some ten milliseconds: longer than a hypervisor suspends a CPU */

const volatile struct monitor_settings settings;

MAP(table_states, ARRAY, __u32, struct table_state, 1, 0);

static __always_inline struct table_state *guard_state(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&table_states, &zero);
}

static __always_inline bool guard_try(struct stream_value *v)
{
	__u32 sequence = *(volatile __u32 *)&v->sequence;

	return !(sequence & 1) && __sync_val_compare_and_swap(&v->sequence, sequence, sequence + 1) == sequence;
}

struct guard_wait {
	struct stream_value *stream;
	bool taken;
};

static __noinline long guard_again(__u32 i, void *context)
{
	struct guard_wait *w = context;

	(void)i;
	w->taken = guard_try(w->stream);
	return w->taken;
}

static __always_inline struct guard guard_begin(void)
{
	return (struct guard){ .state = ROCE_HAS_LOOP ? NULL : guard_state() };
}

/*
 * false: the guard could not be taken. Call nothing that waits until guard_release(), and without ROCE_HAS_LOOP no function at all.
 */
static __always_inline bool guard_take(struct stream_value *v, const struct guard *g)
{
	struct guard_wait wait = { .stream = v };

	if (ROCE_HAS_LOOP) {
		if (guard_try(v))
			return true;
		bpf_loop(GUARD_TRIES, guard_again, &wait, 0);
		return wait.taken;
	}
	if (!g->state)
		return false;
	bpf_spin_lock(&g->state->lock);
	v->sequence++;
	__asm__ volatile("" : : : "memory");
	return true;
}

static __always_inline void guard_release(struct stream_value *v, const struct guard *g)
{
	__u32 next = v->sequence + 1;

	__asm__ volatile("" : : : "memory");
	if (ROCE_HAS_LOOP && !settings.plain_release)
		__sync_lock_test_and_set(&v->sequence, next);
	else
		*(volatile __u32 *)&v->sequence = next;
	if (!ROCE_HAS_LOOP && g->state)
		bpf_spin_unlock(&g->state->lock);
}

#endif
