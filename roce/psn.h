/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * 24-bit packet sequence numbers: the window that tells a late PSN from one seen before, and the holes that are
 * remembered beyond it (long paths have tens of thousands of PSNs in flight). The same serves the 64-bit packet numbers
 * of our own UDP streams: PSNs are counted on in 64 bits, and only differences of numbers matter.
 */
#ifndef ROCE_PSN_H
#define ROCE_PSN_H

#include "roce/base.h"

#define PSN_MASK 0xffffffu
#define PSN_WINDOW 1024	  /* how far back single PSNs are remembered */
#define PSN_WORDS (PSN_WINDOW / 64)
#define PSN_HOLES 20	  /* ranges of unseen PSNs remembered beyond the window */
#define PSN_GAP_MAX 65535 /* a larger jump forward is no loss but another place in the sequence */

/* Numbers that fell out of the window unseen. */
struct roce_hole {
	__u64 from;
	__u64 count; /* 0: no hole */
};

struct roce_psn {
	__u64 next; /* the number expected next */
	__u64 seen[PSN_WORDS];	 /* bit number % PSN_WINDOW: was it seen, for the last PSN_WINDOW numbers */
	struct roce_hole hole[PSN_HOLES]; /* nearest first, then the free ones; no two touch */
	/*
	 * What the rare paths keep in memory, because values in registers the verifier would follow one by one: how far
	 * psn_forward() shall move; psn_any(); psn_leave(); psn_recover_hole()
	 */
	volatile __u64 move_seen, move_unseen, move_take;
	volatile __u64 any;
	volatile __u64 at;
	volatile __u64 found, vanished, split;
};
_Static_assert(sizeof(((struct roce_psn *)0)->hole) <= 400, "it is a large part of every stream");

/* Signed distance from a to b on the 24-bit circle, -2^23 .. 2^23-1: positive when b comes after a. */
roce_inline __s32 psn_distance(__u32 a, __u32 b)
{
	return (__s32)((b - a) << 8) >> 8;
}

roce_inline __u64 *psn_word(struct roce_psn *w, __u64 number)
{
	return &w->seen[number % PSN_WINDOW / 64];
}

/*
 * The same value, of which the verifier knows nothing any more: it walks through what is rare and long once, and not for
 * each of the values that lead there.
 */
roce_inline __u64 psn_any(struct roce_psn *w, __u64 x)
{
	w->any = x;
	return w->any;
}

/* All ones if a lies before b. No branch, and the compiler makes none of it: the verifier would follow both ways. */
roce_inline __u64 psn_before(__u64 a, __u64 b)
{
	__u64 ones = (__s64)(a - b) >> 63;

	roce_opaque(ones);
	return ones;
}

/* The bits of from..end-1, which are some, in the word of `from`. */
roce_inline __u64 psn_bits(__u64 from, __u64 end)
{
	return ~0ull << from % 64 & (~(~0ull << end % 64) | psn_before(from | 63, end));
}

/* A stream met in the middle starts where it is met: earlier numbers count as seen. */
roce_inline void psn_start(struct roce_psn *w, __u64 number)
{
	w->next = number;
	for (int i = 0; i < PSN_WORDS; i++)
		w->seen[i] = ~0ull;
	for (int i = 0; i < PSN_HOLES; i++)
		w->hole[i].count = 0;
}

/* Marks from..end-1, of which only the last PSN_WINDOW matter. */
roce_inline void psn_mark(struct roce_psn *w, __u64 from, __u64 end, bool as_seen)
{
	if (end - from > PSN_WINDOW)
		from = end - PSN_WINDOW;
	for (int i = 0; i <= PSN_WORDS; i++) {
		__u64 *word = psn_word(w, from);

		if ((__s64)(end - from) <= 0)
			break;
		if (as_seen)
			*word |= psn_bits(from, end);
		else
			*word &= ~psn_bits(from, end);
		from = (from | 63) + 1;
	}
}

/* x and all bits below its highest. */
roce_inline __u64 psn_below(__u64 x)
{
	x |= x >> 1;
	x |= x >> 2;
	x |= x >> 4;
	x |= x >> 8;
	x |= x >> 16;
	return x | x >> 32;
}

/* Makes n places free in the list of holes, from the at-th on; so many that were furthest behind are forgotten. */
roce_inline void psn_open(struct roce_psn *w, __u64 at, __u64 n)
{
	at = psn_any(w, at);
	n = psn_any(w, n);
	for (int i = PSN_HOLES - 1; i > 0; i--) {
		__u64 from = i - n;

		if ((__u64)i < at + n)
			break;
		roce_opaque(from);
		if (from < PSN_HOLES)
			w->hole[i] = w->hole[from];
	}
}

/*
 * The window is about to move on by n > 0: remembers what falls out of it unseen, and before that the hole of `count`
 * numbers `from` on, which the window will not reach (0: none).
 */
roce_inline void psn_leave(struct roce_psn *w, __u64 n, __u64 from, __u64 count)
{
	__u64 begin = w->next - PSN_WINDOW, end = begin + psn_any(w, n < PSN_WINDOW ? n : PSN_WINDOW), k = begin;
	__u64 before = w->hole[0].count, holes = psn_any(w, count > 0), any = count, carry;

	/* what falls out next may continue the hole that fell out last */
	before = psn_any(w, before && w->hole[0].from + before == begin ? before : 0);
	carry = psn_any(w, before > 0);
	for (int i = 0; i <= PSN_WORDS; i++) {
		__u64 bits;

		if ((__s64)(end - k) <= 0)
			break;
		bits = ~*psn_word(w, k) & psn_bits(k, end);
		any |= bits;
		holes += __builtin_popcountll(bits & ~(bits << 1 | carry << k % 64)); /* their first numbers */
		carry = bits >> 63;
		k = (k | 63) + 1;
	}
	if (!any)
		return;
	psn_open(w, 0, holes);
	if (count) {
		w->hole[0].from = from;
		w->hole[0].count = count;
	}
	w->at = count > 0; /* in memory, as the verifier must not know it */
	from = psn_any(w, count ? from : end + 1);
	count = psn_any(w, count);
	/* Each word can be found empty once and be crossed by a hole once; then there are as many holes as have room. */
	for (int i = 0; i < 2 * (PSN_WORDS + 1) + PSN_HOLES; i++) {
		__u64 base = (end - 1) & ~63ull, bits, rest, found, other, at;

		if ((__s64)(end - begin) <= 0)
			break;
		bits = ~*psn_word(w, base) & ~0ull >> (63 - (end - 1) % 64);
		bits &= ~0ull << begin % 64 | ~psn_before(base, begin);
		rest = psn_below(psn_below(bits) & ~bits); /* what is below the highest hole */
		bits = __builtin_popcountll(bits & ~rest);
		end = base + __builtin_popcountll(rest);
		found = psn_before(0, bits);
		other = psn_before(end + bits, from) & found; /* not the one before, continued */
		from ^= (from ^ end) & found;
		count = bits + (count & ~other);
		w->at -= other;
		at = w->at - 1;
		roce_opaque(at);
		if (at < PSN_HOLES) {
			rest = before & ~psn_before(begin, from);
			w->hole[at].from = from - rest;
			w->hole[at].count = count + rest;
		}
	}
}

/*
 * Takes the next number, if that is all there is to do: the bit of the number that falls out of the window then serves
 * the new one. false: that number was missing, and psn_forward() has to remember it.
 */
roce_inline bool psn_step(struct roce_psn *w)
{
	if (!(*psn_word(w, w->next) >> w->next % 64 & 1))
		return false;
	w->next++;
	return true;
}

/*
 * What psn_forward() shall do: move over `seen` numbers that count as seen, then over `unseen` ones, then take `take`.
 * Whoever can calls that as the very last, when the verifier has nothing else to keep apart.
 */
roce_inline void psn_plan(struct roce_psn *w, __u64 seen, __u64 unseen, __u64 take)
{
	w->move_seen = seen;
	w->move_unseen = unseen;
	w->move_take = take;
}

/* Moves forward as planned. */
roce_inline void psn_forward(struct roce_psn *w)
{
	__u64 hole = w->next + w->move_seen, unseen = w->move_unseen, end = hole + unseen + w->move_take, beyond = 0;

	psn_plan(w, 0, 0, 0);
	if (end - hole > PSN_WINDOW) /* so many of the unseen are beyond the window at once */
		beyond = unseen < end - hole - PSN_WINDOW ? unseen : end - hole - PSN_WINDOW;
	beyond = psn_any(w, beyond);
	psn_leave(w, end - w->next, hole, beyond);
	psn_mark(w, w->next, end, true);
	psn_mark(w, hole + beyond, hole + unseen, false);
	w->next = end;
}

/* psn_recover() for what lies beyond the window: holes vanish, shrink or split. Distances are those behind `next`. */
roce_inline void psn_recover_hole(struct roce_psn *w, __u64 from, __u64 n)
{
	__u64 begin = w->next - from, end = begin - n, at;

	w->vanished = w->split = 0;
	for (int i = 0; i < PSN_HOLES; i++) {
		struct roce_hole *h = &w->hole[i];
		__u64 hole_begin = w->next - h->from, hole_end = hole_begin - h->count;
		__u64 first = begin < hole_begin ? begin : hole_begin, last = end > hole_end ? end : hole_end;

		if (!h->count)
			break;
		if (first <= last)
			continue;
		w->found += first - last;
		h->count = hole_begin - first;
		if (!h->count) {
			h->from = w->next - last;
			h->count = last - hole_end;
			w->vanished |= last - hole_end - 1;
		} else if (last != hole_end) {
			w->split = last - hole_end;
			w->at = i;
		}
	}
	if (w->split) {
		psn_open(w, w->at, 1);
		at = w->at;
		roce_opaque(at);
		if (at < PSN_HOLES) {
			w->hole[at].from = w->next - end;
			w->hole[at].count = w->split;
		}
	}
	if (!(w->vanished >> 63))
		return;
	w->at = 0;
	for (int i = 0; i < PSN_HOLES; i++) {
		struct roce_hole h = w->hole[i];

		w->hole[i].count = 0;
		at = w->at;
		roce_opaque(at);
		if (!h.count || at >= PSN_HOLES)
			continue;
		w->hole[at] = h;
		w->at = at + 1;
	}
}

/*
 * The n numbers from `from` on, which lies behind `next`, came late: they are seen now, as far as they lie behind `next`
 * as well. Returns how many of them had been missing: 0 for a duplicate.
 */
roce_inline __u64 psn_recover(struct roce_psn *w, __u64 from, __u64 n)
{
	__u64 behind = w->next - from, end;

	n = psn_any(w, n < behind ? n : behind);
	end = from + n;
	w->found = 0;
	if (behind > PSN_WINDOW) {
		psn_recover_hole(w, from, n);
		from = w->next - PSN_WINDOW;
	}
	for (int i = 0; i <= PSN_WORDS; i++) {
		__u64 *word = psn_word(w, from), bits;

		if ((__s64)(end - from) <= 0)
			break;
		bits = psn_bits(from, end) & ~*word;
		w->found += __builtin_popcountll(bits);
		*word |= bits;
		from = (from | 63) + 1;
	}
	return w->found;
}

#endif
