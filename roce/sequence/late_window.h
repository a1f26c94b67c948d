/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The late window: which numbers are missing, further back than a stream's own window reaches. Packet spraying and go-back-N
 * over long paths bring packets tens of thousands of PSNs late. Few streams need it at a time, so it comes from a pool.
 */
#ifndef ROCE_SEQUENCE_LATE_WINDOW_H
#define ROCE_SEQUENCE_LATE_WINDOW_H

#include "roce/packet/base.h"

#define LATE_REACH 65536 /* numbers, a power of two */

/* Starts as zeroes. One that was used before is emptied by late_move(). */
struct roce_late {
	__u64 missing[LATE_REACH / 64]; /* bit number % LATE_REACH; 1: missing */
	__u64 base, end; /* the window holds base .. end - 1; no other bits are set */
	__u64 count;	 /* of missing numbers */
	struct {
		__u64 from, end;
		__u64 missing; /* what the numbers become: all ones or 0 */
		__u64 found;   /* how many had been missing */
		__u64 behind;  /* the last of them + 1 */
	} walk; /* variables of late_mark(), in memory because BPF has little stack */
	__u64 held;	 /* HELD_*: the memory beside it is in use (roce/sequence/probation.h): do not give it back */
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
roce_inline __u64 late_reached(const struct roce_late *window, __u64 number)
{
	__u64 first = number & ~63ull;

	if ((__s64)(window->base - first) <= 0)
		return ~0ull;
	return ~0ull << window->base % 64 & ~psn_before(first + 63, window->base);
}

/* Takes the next word. context: a pointer to the late window. */
static roce_step late_word(__u32 i, void *context)
{
	struct roce_late *window = *(struct roce_late **)context;
	__u64 from = window->walk.from, end = window->walk.end, bits, was, *word;

	(void)i;
	if ((__s64)(end - from) <= 0)
		return 1;
	word = &window->missing[from % LATE_REACH / 64];
	bits = psn_bits(from, end);
	was = *word & bits;
	*word = (*word & ~bits) | (window->walk.missing & bits);
	window->walk.found += __builtin_popcountll(was);
	if (was)
		window->walk.behind = (from & ~63ull) + __builtin_popcountll(roce_bits_below(was));
	window->walk.from = (from | 63) + 1;
	return 0;
}

/*
 * Marks the numbers from .. end - 1, at most LATE_REACH, as missing (none of them was) or as seen. Returns how many had been
 * missing. *behind becomes the number behind the last one that had been missing.
 */
roce_inline __u64 late_mark(struct roce_late *window, __u64 from, __u64 end, bool missing, __u64 *behind)
{
	if ((__s64)(end - from) <= 0)
		return 0;
	window->walk.from = from;
	window->walk.end = end;
	window->walk.missing = -(__u64)missing;
	window->walk.found = 0;
	roce_loop(LATE_REACH / 64 + 1, late_word, &window);
	window->count += missing ? end - from : -window->walk.found;
	if (window->walk.found)
		*behind = window->walk.behind;
	return window->walk.found;
}

/* Scans the next word: the walk ends at one with a missing number. context: a pointer to the late window. */
static roce_step late_scan(__u32 i, void *context)
{
	struct roce_late *window = *(struct roce_late **)context;
	__u64 from = window->walk.from, end = window->walk.end;

	(void)i;
	if ((__s64)(end - from) <= 0)
		return 1;
	window->walk.found = window->missing[from % LATE_REACH / 64] & psn_bits(from, end);
	window->walk.from = (from | 63) + 1;
	return window->walk.found != 0;
}

/* Whether one of from .. end - 1 is missing here. */
roce_inline bool late_lacks(struct roce_late *window, __u64 from, __u64 end)
{
	window->walk.from = (__s64)(window->base - from) > 0 ? window->base : from;
	window->walk.end = (__s64)(end - window->end) > 0 ? window->end : end;
	window->walk.found = 0;
	roce_loop(LATE_REACH / 64 + 1, late_scan, &window);
	return window->walk.found;
}

/*
 * Moves the window forward, so that it ends before the number `to`. Missing numbers that fall out of it are lost for good, and
 * *behind becomes the number behind the last of them.
 */
roce_inline void late_move(struct roce_late *window, __u64 to, __u64 *behind)
{
	__u64 base = to - LATE_REACH, beyond = window->base + LATE_REACH;

	if (window->count && (__s64)(base - window->base) > 0)
		late_mark(window, window->base, (__s64)(base - beyond) > 0 ? beyond : base, false, behind);
	window->base = base;
	window->end = to;
}

#endif
