/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pool of late windows and probations (roce/sequence/probation.h). An entry belongs to the stream whose `late` is its
 * handle; only the holder of that stream's guard touches it. If no entry is free, that of an idle stream is taken.
 */
#ifndef BPF_EXTRAS_H
#define BPF_EXTRAS_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/scratch.h"
#include "roce/sequence/probation.h"

#define EXTRAS_BUSY (~0ull) /* the handle while the entry changes hands */

/* Value of the map `extras`. */
struct extra_value {
	__u64 handle; /* turn << 32 | its place + 1; 0: free */
	__u32 owner;  /* 1 + place of the stream that took it last */
	__u32 turn;   /* how often it was taken */
	struct roce_extra extra;
};

#define EXTRAS_SWEEP 64		/* entries that a search looks at */
#define EXTRAS_STEP (EXTRAS_SWEEP / 4) /* a CPU's next search begins so much farther */
#define EXTRAS_APART (37 * EXTRAS_STEP) /* and the next CPU's, lest all fill the same part; 37: an odd number reaches all */
#define EXTRAS_IDLE 10000000000ull /* ns without a packet, after which a stream may lose its entry */

MAP(extras, ARRAY, __u32, struct extra_value, EXTRAS_MAX, 0);

static __always_inline struct extra_value *extras_at(__u64 handle)
{
	__u32 place = handle - 1;

	return bpf_map_lookup_elem(&extras, &place);
}

struct roce_late *late_of(const struct roce_psn *w)
{
	__u64 handle = w->late;
	struct extra_value *e = extras_at(handle);

	return e && e->handle == handle ? &e->extra.late : NULL;
}

void late_give(struct roce_psn *w)
{
	__u64 handle = w->late;
	struct extra_value *e = extras_at(handle);

	w->late = 0;
	if (e && e->handle == handle)
		*(volatile __u64 *)&e->handle = 0;
}

/* Takes the entry from its owner, if that is idle or gone. Waits for nobody's guard, since the caller has one. */
static __always_inline bool extras_is_idle(struct extra_value *e, __u64 handle, __u32 own, __u64 now)
{
	__u32 place = e->owner - 1;
	struct stream_value *v = bpf_map_lookup_elem(&streams, &place);
	bool freed = false;

	if (handle == EXTRAS_BUSY || !v || place == own || !guard_try(v))
		return false;
	if (v->stream.psn.late != handle) {
		freed = true;
	} else if (now > v->stream.last_seen + EXTRAS_IDLE) {
		v->stream.counters.value[COUNTER_psn_forgotten] += e->extra.late.count;
		if (e->extra.late.count)
			v->stream.psn.unknown_before = e->extra.late.end;
		v->stream.psn.late = 0;
		v->stream.probation = PROBATION_NONE;
		freed = true;
	}
	guard_release(v, &(struct guard){ 0 });
	return freed;
}

struct extras_search {
	__u64 now;
	__u64 handle; /* the result; 0: none yet */
	__u32 hand, most; /* among the places below `most` */
	__u32 own;
	__u32 idle; /* take idle streams' as well */
};

static __noinline long extras_try(__u32 i, void *context)
{
	struct extras_search *s = context;
	__u32 place = (s->hand + i) % s->most;
	struct extra_value *e = bpf_map_lookup_elem(&extras, &place);
	__u64 handle;

	if (!e)
		return 1;
	handle = *(volatile __u64 *)&e->handle;
	if (handle && (!s->idle || !extras_is_idle(e, handle, s->own, s->now)))
		return 0;
	if (__sync_val_compare_and_swap(&e->handle, handle, EXTRAS_BUSY) != handle)
		return 0;
	e->owner = s->own + 1;
	e->turn++;
	s->handle = (__u64)e->turn << 32 | (place + 1);
	return 1;
}

/*
 * Finds an entry for the stream in the scratch. Streams that only lose packets may use half of the pool. The other half is for
 * reordered streams, whose missing numbers still come.
 */
__noinline int extras_find(struct roce_psn *w)
{
	struct scratch *own = bpf_map_lookup_elem(&scratches, &(__u32){ 0 });
	struct extras_search s = { 0 };
	struct extra_value *e;
	__u64 behind;

	if (!w || !own || !settings.extras)
		return 0;
	s.most = w->reordered ? settings.extras : (settings.extras + 1) / 2;
	s.hand = own->cpu * EXTRAS_APART + own->table.extra;
	s.hand += w->reordered ? settings.extras / 2 : 0;
	s.own = own->place - 1;
	s.now = own->now;
	own->table.extra += EXTRAS_STEP;
	bpf_loop(EXTRAS_SWEEP, extras_try, &s, 0);
	s.idle = 1;
	if (!s.handle)
		bpf_loop(EXTRAS_SWEEP, extras_try, &s, 0);
	e = s.handle ? extras_at(s.handle) : NULL;
	if (!e)
		return 0;
	late_move(&e->extra.late, e->extra.late.end + LATE_REACH, &behind);
	e->extra.late.held = 0;
	*(volatile __u64 *)&e->handle = s.handle;
	w->late = s.handle;
	return 0;
}

struct roce_late *late_take(struct roce_psn *w)
{
	struct roce_late *window = late_of(w);

	if (window || w->late == PSN_NO_LATE)
		return window;
	w->late = 0;
	extras_find(w);
	return late_of(w);
}

#endif
