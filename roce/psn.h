/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * 24-bit packet sequence numbers, and the window that tells a late PSN from one seen before.
 * The same window serves the 64-bit packet numbers of our own UDP streams: it takes the distance, not the number.
 */
#ifndef ROCE_PSN_H
#define ROCE_PSN_H

#include "roce/base.h"

#define PSN_MASK 0xffffffu
#define PSN_WINDOW 1024   /* how far back single PSNs are remembered */
#define PSN_GAP_MAX 65535 /* a larger jump forward is no loss but another place in the sequence */

struct roce_psn {
	__u64 next;			 /* the number expected next */
	__u64 seen[PSN_WINDOW / 64]; /* bit number % PSN_WINDOW: was it seen, for the last PSN_WINDOW numbers */
};

/* Signed distance from a to b on the 24-bit circle, -2^23 .. 2^23-1: positive when b comes after a. */
roce_inline __s32 psn_distance(__u32 a, __u32 b)
{
	return (__s32)((b - a) << 8) >> 8;
}

roce_inline void psn_mark(struct roce_psn *w, __u64 number)
{
	w->seen[number % PSN_WINDOW / 64] |= 1ull << number % 64;
}

roce_inline bool psn_marked(const struct roce_psn *w, __u64 number)
{
	return w->seen[number % PSN_WINDOW / 64] >> number % 64 & 1;
}

/* A stream met in the middle starts where it is met: earlier numbers count as seen. */
roce_inline void psn_start(struct roce_psn *w, __u64 number)
{
	w->next = number;
	for (int i = 0; i < PSN_WINDOW / 64; i++)
		w->seen[i] = ~0ull;
}

/* The bits of word i that lie in [from, from + n) on the circle of PSN_WINDOW bits. */
roce_inline __u64 psn_word(__u32 i, __u64 from, __u64 n)
{
	__u32 begin = (i * 64 - (__u32)from) % PSN_WINDOW; /* distance of the word's bit 0 behind `from` */
	__u64 mask = 0;

	if (begin < n)
		mask = n - begin >= 64 ? ~0ull : (1ull << (n - begin)) - 1;
	if (begin > PSN_WINDOW - 64) { /* `from` itself lies in this word, at bit 1024 - begin */
		__u32 bit = PSN_WINDOW - begin;

		mask |= (n >= 64 ? ~0ull : (1ull << n) - 1) << bit;
	}
	return mask;
}

/*
 * Moves the window forward by n numbers, which count as seen or as not seen. Whole words at once: n may be 65535.
 */
roce_inline void psn_advance(struct roce_psn *w, __u64 n, bool as_seen)
{
	__u64 from = w->next;

	w->next += n;
	for (__u32 i = 0; i < PSN_WINDOW / 64; i++) {
		__u64 mask = psn_word(i, from, n);

		w->seen[i] = as_seen ? w->seen[i] | mask : w->seen[i] & ~mask;
	}
}

/* Marks the n numbers from `from` on, which all lie in the window; returns how many of them had not been seen. */
roce_inline __u32 psn_fill(struct roce_psn *w, __u64 from, __u64 n)
{
	__u32 filled = 0;

	for (__u32 i = 0; i < PSN_WINDOW / 64; i++) {
		__u64 mask = psn_word(i, from, n) & ~w->seen[i];

		filled += __builtin_popcountll(mask);
		w->seen[i] |= mask;
	}
	return filled;
}

#endif
