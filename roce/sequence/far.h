/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The far window: which numbers are missing, further back than a stream's own window reaches. Packet spraying and go-back-N over
 * long paths bring packets tens of thousands of PSNs late. Few streams need it at a time, so it comes from a pool.
 */
#ifndef ROCE_SEQUENCE_FAR_H
#define ROCE_SEQUENCE_FAR_H

#include "roce/packet/base.h"

#define FAR_REACH 65536 /* numbers, a power of two */

/* Starts as zeroes. One that was used before is emptied by far_move(). */
struct roce_far {
	__u64 missing[FAR_REACH / 64]; /* bit number % FAR_REACH; 1: missing */
	__u64 base, end; /* the window holds base .. end - 1; no other bits are set */
	__u64 count;	 /* of missing numbers */
	struct {
		__u64 from, end;
		__u64 missing; /* what the numbers become: all ones or 0 */
		__u64 found;   /* how many had been missing */
		__u64 behind;  /* the last of them + 1 */
	} walk; /* variables of far_mark(), in memory because BPF has little stack */
	__u64 held;	 /* HELD_*: the memory beside it is in use (roce/sequence/trial.h): do not give it back */
};

/*
 * All ones if a < b, else 0. The compiler must not make it a branch: the verifier would follow both ways.
 */
roce_inline __u64 psn_before(__u64 a, __u64 b)
{
	__u64 ones = (__s64)(a - b) >> 63;

	roce_opaque(ones);
	return ones;
}

/* The bits of from .. end - 1 (not empty) in the word of `from`. */
roce_inline __u64 psn_bits(__u64 from, __u64 end)
{
	return ~0ull << from % 64 & (~(~0ull << end % 64) | psn_before(from | 63, end));
}

/* The bits of the numbers from `base` on in the word of `number`. */
roce_inline __u64 far_reached(const struct roce_far *far, __u64 number)
{
	__u64 first = number & ~63ull;

	if ((__s64)(far->base - first) <= 0)
		return ~0ull;
	return ~0ull << far->base % 64 & ~psn_before(first + 63, far->base);
}

/* Takes the next word. context: a pointer to the far window. */
static roce_step far_word(__u32 i, void *context)
{
	struct roce_far *far = *(struct roce_far **)context;
	__u64 from = far->walk.from, end = far->walk.end, bits, was, *word;

	(void)i;
	if ((__s64)(end - from) <= 0)
		return 1;
	word = &far->missing[from % FAR_REACH / 64];
	bits = psn_bits(from, end);
	was = *word & bits;
	*word = (*word & ~bits) | (far->walk.missing & bits);
	far->walk.found += __builtin_popcountll(was);
	if (was)
		far->walk.behind = (from & ~63ull) + __builtin_popcountll(roce_bits_below(was));
	far->walk.from = (from | 63) + 1;
	return 0;
}

/*
 * Marks the numbers from .. end - 1, at most FAR_REACH, as missing (none of them was) or as seen. Returns how many had been
 * missing. *behind becomes the number behind the last one that had been missing.
 */
roce_inline __u64 far_mark(struct roce_far *far, __u64 from, __u64 end, bool missing, __u64 *behind)
{
	if ((__s64)(end - from) <= 0)
		return 0;
	far->walk.from = from;
	far->walk.end = end;
	far->walk.missing = -(__u64)missing;
	far->walk.found = 0;
	roce_loop(FAR_REACH / 64 + 1, far_word, &far);
	far->count += missing ? end - from : -far->walk.found;
	if (far->walk.found)
		*behind = far->walk.behind;
	return far->walk.found;
}

/* Looks at the next word. context: a pointer to the far window. */
static roce_step far_look(__u32 i, void *context)
{
	struct roce_far *far = *(struct roce_far **)context;
	__u64 from = far->walk.from, end = far->walk.end;

	(void)i;
	if ((__s64)(end - from) <= 0)
		return 1;
	far->walk.found = far->missing[from % FAR_REACH / 64] & psn_bits(from, end);
	far->walk.from = (from | 63) + 1;
	return far->walk.found != 0;
}

/* Whether one of from .. end - 1 is missing here. */
roce_inline bool far_lacks(struct roce_far *far, __u64 from, __u64 end)
{
	far->walk.from = (__s64)(far->base - from) > 0 ? far->base : from;
	far->walk.end = (__s64)(end - far->end) > 0 ? far->end : end;
	far->walk.found = 0;
	roce_loop(FAR_REACH / 64 + 1, far_look, &far);
	return far->walk.found;
}

/*
 * Moves the window forward, so that it ends before the number `to`. Missing numbers that fall out of it are lost for good, and
 * *behind becomes the number behind the last of them.
 */
roce_inline void far_move(struct roce_far *far, __u64 to, __u64 *behind)
{
	__u64 base = to - FAR_REACH, beyond = far->base + FAR_REACH;

	if (far->count && (__s64)(base - far->base) > 0)
		far_mark(far, far->base, (__s64)(base - beyond) > 0 ? beyond : base, false, behind);
	far->base = base;
	far->end = to;
}

#endif
