/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * 24-bit packet sequence numbers: a window that distinguishes late PSNs from repeated ones, and a list of holes behind it (long
 * paths have tens of thousands of PSNs in flight). Also used for the 64-bit packet numbers of our UDP streams: PSNs are
 * extended to 64 bits, and only differences of numbers matter.
 */
#ifndef ROCE_PSN_H
#define ROCE_PSN_H

#include "roce/base.h"

#define PSN_MASK 0xffffffu
#define PSN_WINDOW 1024	  /* PSNs that are remembered one by one */
#define PSN_WORDS (PSN_WINDOW / 64)
#define PSN_HOLES 20	  /* ranges of unseen PSNs remembered behind the window */
#define PSN_GAP_MAX 65535 /* a larger jump forward is another place in the sequence, not a loss */

/* Unseen numbers behind the window. */
struct roce_hole {
	__u64 from;
	__u64 count; /* 0: no hole */
};

struct roce_psn {
	__u64 next; /* the next expected number */
	__u64 seen[PSN_WORDS];	 /* bit number % PSN_WINDOW of the last PSN_WINDOW numbers; 1: seen */
	struct roce_hole hole[PSN_HOLES]; /* nearest first, then the free slots; no two holes touch */
	/*
	 * Variables of the rare paths: the arguments of psn_forward(), and those of psn_any(), psn_leave() and
	 * psn_recover_hole(). They are in memory because the verifier would follow each value of a register.
	 */
	volatile __u64 move_seen, move_unseen, move_take;
	volatile __u64 any;
	volatile __u64 at;
	volatile __u64 found, vanished, split;
};
_Static_assert(sizeof(((struct roce_psn *)0)->hole) <= 400, "it is a large part of every stream");

/* Signed distance from a to b on the 24-bit circle, -2^23 .. 2^23-1. Positive if b comes after a. */
roce_inline __s32 psn_distance(__u32 a, __u32 b)
{
	return (__s32)((b - a) << 8) >> 8;
}

roce_inline __u64 *psn_word(struct roce_psn *w, __u64 number)
{
	return &w->seen[number % PSN_WINDOW / 64];
}

/* Hides the value's range from the verifier, so that it explores this path once. */
roce_inline __u64 psn_any(struct roce_psn *w, __u64 x)
{
	w->any = x;
	return w->any;
}

/*
 * All ones if a < b, else 0. The code keeps the compiler from making it a branch, of which the verifier would follow both ways.
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

/* A stream that is met in the middle starts there: earlier numbers count as seen. */
roce_inline void psn_start(struct roce_psn *w, __u64 number)
{
	w->next = number;
	for (int i = 0; i < PSN_WORDS; i++)
		w->seen[i] = ~0ull;
	for (int i = 0; i < PSN_HOLES; i++)
		w->hole[i].count = 0;
}

/* Marks from .. end - 1 as seen or unseen. Only the last PSN_WINDOW of them matter. */
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

/* Sets all bits below the highest one of x. */
roce_inline __u64 psn_below(__u64 x)
{
	x |= x >> 1;
	x |= x >> 2;
	x |= x >> 4;
	x |= x >> 8;
	x |= x >> 16;
	return x | x >> 32;
}

/* Inserts n free slots at index `at`. The n oldest holes are dropped. */
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
 * Call before the window moves by n > 0. Remembers the unseen numbers that fall out of the window, and before them the hole of
 * `count` numbers at `from`, which lies in front of the window (count 0: none).
 */
roce_inline void psn_leave(struct roce_psn *w, __u64 n, __u64 from, __u64 count)
{
	__u64 begin = w->next - PSN_WINDOW, end = begin + psn_any(w, n < PSN_WINDOW ? n : PSN_WINDOW), k = begin;
	__u64 before = w->hole[0].count, holes = psn_any(w, count > 0), any = count, carry;

	/* the hole that fell out last may continue */
	before = psn_any(w, before && w->hole[0].from + before == begin ? before : 0);
	carry = psn_any(w, before > 0);
	for (int i = 0; i <= PSN_WORDS; i++) {
		__u64 bits;

		if ((__s64)(end - k) <= 0)
			break;
		bits = ~*psn_word(w, k) & psn_bits(k, end);
		any |= bits;
		holes += __builtin_popcountll(bits & ~(bits << 1 | carry << k % 64)); /* first numbers of holes */
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
	w->at = count > 0; /* in memory, to hide it from the verifier */
	from = psn_any(w, count ? from : end + 1);
	count = psn_any(w, count);
	/* Each word is found empty once and crossed by a hole once, until all slots are used. */
	for (int i = 0; i < 2 * (PSN_WORDS + 1) + PSN_HOLES; i++) {
		__u64 base = (end - 1) & ~63ull, bits, rest, found, other, at;

		if ((__s64)(end - begin) <= 0)
			break;
		bits = ~*psn_word(w, base) & ~0ull >> (63 - (end - 1) % 64);
		bits &= ~0ull << begin % 64 | ~psn_before(base, begin);
		rest = psn_below(psn_below(bits) & ~bits); /* bits below the highest hole */
		bits = __builtin_popcountll(bits & ~rest);
		end = base + __builtin_popcountll(rest);
		found = psn_before(0, bits);
		other = psn_before(end + bits, from) & found; /* a hole of its own, not the continuation of the one before */
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
 * Takes the next number, if nothing else is to be done: it reuses the bit of the number that falls out of the window. false:
 * that number was unseen, and psn_forward() must remember it.
 */
roce_inline bool psn_step(struct roce_psn *w)
{
	if (!(*psn_word(w, w->next) >> w->next % 64 & 1))
		return false;
	w->next++;
	return true;
}

/*
 * Plans psn_forward(): skip `seen` numbers that count as seen, then `unseen` ones, then take `take` numbers. Call psn_forward()
 * as late as possible, when the verifier has no other state to distinguish.
 */
roce_inline void psn_plan(struct roce_psn *w, __u64 seen, __u64 unseen, __u64 take)
{
	w->move_seen = seen;
	w->move_unseen = unseen;
	w->move_take = take;
}

/* Moves forward as planned by psn_plan(). */
roce_inline void psn_forward(struct roce_psn *w)
{
	__u64 hole = w->next + w->move_seen, unseen = w->move_unseen, end = hole + unseen + w->move_take, beyond = 0;

	psn_plan(w, 0, 0, 0);
	if (end - hole > PSN_WINDOW) /* some unseen numbers lie behind the window at once */
		beyond = unseen < end - hole - PSN_WINDOW ? unseen : end - hole - PSN_WINDOW;
	beyond = psn_any(w, beyond);
	psn_leave(w, end - w->next, hole, beyond);
	psn_mark(w, w->next, end, true);
	psn_mark(w, hole + beyond, hole + unseen, false);
	w->next = end;
}

/* psn_recover() for numbers behind the window: holes vanish, shrink or split. Distances are counted back from `next`. */
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
 * Takes n late numbers, beginning at `from`, which lies behind `next`. Only those behind `next` count. Returns how many had
 * been missing; 0: a duplicate.
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
