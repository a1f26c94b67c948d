/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * 24-bit packet sequence numbers: a window that distinguishes late PSNs from repeated ones, and behind it the far window, if
 * numbers are missing there. Also used for the 64-bit packet numbers of our UDP streams: PSNs are
 * extended to 64 bits, and only differences of numbers matter.
 */
#ifndef ROCE_SEQUENCE_PSN_H
#define ROCE_SEQUENCE_PSN_H

#include "roce/sequence/far.h"
#include "roce/stream/stream.h"

#define PSN_REACH ((ROCE_HAS_LOOP ? FAR_REACH : 0) + PSN_WINDOW) /* how far back the windows reach */
#define PSN_PERIOD 256	  /* psn_step() refuses multiples of this: rare work is done there */

/*
 * The pool of far windows belongs to the caller of the engine (bpf/extras.h, roce/sequence/extra.c). far_of(): the stream's far window;
 * NULL: it has none. far_take(): takes one from the pool if the stream has none; NULL: the pool is empty. far_give(): gives it
 * back, whatever is missing in it.
 */
roce_pool(struct roce_far *) far_of(const struct roce_psn *w);
roce_pool(struct roce_far *) far_take(struct roce_psn *w);
roce_pool(void) far_give(struct roce_psn *w);

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

/* The far window; NULL: there is none. */
roce_inline struct roce_far *psn_far(const struct roce_psn *w)
{
	return ROCE_HAS_LOOP && w->far ? far_of(w) : NULL;
}

/* Moves the far window forward to the number `to`, where the near window begins. Gives it back if nothing is missing in it. */
roce_inline void psn_move_far(struct roce_psn *w, __u64 to)
{
	struct roce_far *far = psn_far(w);

	if (!far)
		return;
	far_move(far, to, &w->unknown_before);
	if (!far->count && !far->held)
		far_give(w);
}

/* Starts at this number. Earlier numbers count as seen. */
roce_inline void psn_start(struct roce_psn *w, __u64 number)
{
	w->next = w->begin = number;
	w->unknown_before = number - (1ull << 62);
	w->reordered = 0;
	for (int i = 0; i < PSN_WORDS; i++)
		w->seen[i] = ~0ull;
}

/* psn_start() for a sequence that may have a far window. */
roce_inline void psn_restart(struct roce_psn *w, __u64 number)
{
	if (psn_far(w))
		far_give(w);
	psn_start(w, number);
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

/* Moves the missing ones among begin .. end - 1 from the window to the far one (NULL: forgets them). */
roce_inline void psn_pass(struct roce_psn *w, struct roce_far *far, __u64 begin, __u64 end)
{
	for (int i = 0; i <= PSN_WORDS; i++) {
		__u64 bits, kept = 0, lost;

		if ((__s64)(end - begin) <= 0)
			break;
		bits = ~*psn_word(w, begin) & psn_bits(begin, end);
		if (far)
			kept = bits & far_reached(far, begin);
		lost = bits & ~kept;
		if (far) {
			far->missing[begin % FAR_REACH / 64] |= kept;
			far->count += __builtin_popcountll(kept);
		} else {
			w->forgotten += __builtin_popcountll(lost);
		}
		if (lost)
			w->unknown_before = (begin & ~63ull) + __builtin_popcountll(roce_bits_below(lost));
		begin = (begin | 63) + 1;
	}
}

/* The same for the numbers from .. end - 1. All of them are missing. */
roce_inline void psn_pass_hole(struct roce_psn *w, struct roce_far *far, __u64 from, __u64 end)
{
	__u64 base = far ? far->base : end;

	if ((__s64)(base - from) > 0) {
		w->unknown_before = (__s64)(base - end) < 0 ? base : end;
		w->forgotten += far ? 0 : end - from;
		from = base;
	}
	if (far)
		far_mark(far, from, end, true, &w->unknown_before);
}

/*
 * Call before the window moves by n > 0. The unseen numbers that fall out of it go to the far window. So does, behind them, a
 * hole of `count` numbers from `from` on that never enters the window (count 0: there is no such hole).
 */
roce_inline void psn_leave(struct roce_psn *w, __u64 n, __u64 from, __u64 count)
{
	__u64 begin = w->next - PSN_WINDOW, end = begin + psn_any(w, n < PSN_WINDOW ? n : PSN_WINDOW), k = begin, any = count;
	struct roce_far *far = NULL;

	for (int i = 0; i <= PSN_WORDS; i++) {
		if ((__s64)(end - k) <= 0)
			break;
		any |= ~*psn_word(w, k) & psn_bits(k, end);
		k = (k | 63) + 1;
	}
	if (!any)
		return;
	if (ROCE_HAS_LOOP)
		far = far_take(w);
	if (far)
		far_move(far, begin + n, &w->unknown_before);
	psn_pass(w, far, begin, end);
	if (count)
		psn_pass_hole(w, far, from, from + count);
}

/*
 * Takes the next number, if nothing else is to be done. Its bit is that of the number that falls out of the window. whole:
 * psn_is_whole() is known to hold. false: call psn_forward(), because the number that falls out was unseen, or the next one is
 * a multiple of PSN_PERIOD.
 */
roce_inline bool psn_step(struct roce_psn *w, bool whole)
{
	if (!(w->next % PSN_PERIOD) || (!whole && !(*psn_word(w, w->next) >> w->next % 64 & 1)))
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
	bool period = (end - 1) / PSN_PERIOD != (w->next - 1) / PSN_PERIOD;

	psn_plan(w, 0, 0, 0);
	if (end - hole > PSN_WINDOW) /* some unseen numbers lie behind the window at once */
		beyond = unseen < end - hole - PSN_WINDOW ? unseen : end - hole - PSN_WINDOW;
	beyond = psn_any(w, beyond);
	psn_leave(w, end - w->next, hole, beyond);
	psn_mark(w, w->next, end, true);
	psn_mark(w, hole + beyond, hole + unseen, false);
	w->next = end;
	if (period)
		psn_move_far(w, end - PSN_WINDOW);
}

/*
 * Moves back, so that `number` is the expected one: numbers from there on were not of the sequence. Those that the far window
 * holds and the near one would reach now are forgotten: they stay missing.
 */
roce_inline void psn_back(struct roce_psn *w, __u64 number)
{
	struct roce_far *far = psn_far(w);
	__u64 to = number - PSN_WINDOW;

	w->next = number;
	if (!far || (__s64)(far->end - to) <= 0)
		return;
	w->forgotten += far_mark(far, (__s64)(to - far->base) > 0 ? to : far->base, far->end, false, &w->unknown_before);
	far_move(far, to, &w->unknown_before);
}

/* psn_recover() for the numbers from .. end - 1 behind the window. */
roce_inline void psn_recover_far(struct roce_psn *w, __u64 from, __u64 end)
{
	struct roce_far *far = psn_far(w);
	__u64 behind;

	if (!far)
		return;
	far_move(far, w->next - PSN_WINDOW, &w->unknown_before);
	if ((__s64)(far->base - from) > 0)
		from = far->base;
	if ((__s64)(end - far->end) > 0)
		end = far->end;
	w->found += far_mark(far, from, end, false, &behind);
	if (!far->count && !far->held)
		far_give(w);
}

/*
 * Takes n late numbers from `from` on, which is less than `next`. Numbers from `next` on do not count. Returns how many had
 * been missing. 0: a duplicate; if psn_is_unknown(), it may have been missing.
 */
roce_inline __u64 psn_recover(struct roce_psn *w, __u64 from, __u64 n)
{
	__u64 behind = w->next - from, end;

	n = psn_any(w, n < behind ? n : behind);
	end = from + n;
	w->found = 0;
	if (behind > PSN_WINDOW) {
		psn_recover_far(w, from, end);
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
	w->reordered |= w->found > 0;
	return w->found;
}

/* Whether a late number that was not found may be missing nevertheless: it is too old, or was forgotten. */
roce_inline bool psn_is_unknown(const struct roce_psn *w, __u64 number)
{
	return (__s64)(number - w->unknown_before) < 0;
}

/* Whether one of the numbers from .. end - 1, which lie behind `next`, is missing, or was when the windows left it behind. */
roce_inline bool psn_lacks(struct roce_psn *w, __u64 from, __u64 end)
{
	__u64 begin = w->next - PSN_WINDOW, bits = 0;
	struct roce_far *far;

	if ((__s64)(begin - from) > 0) {
		far = psn_far(w);
		if (psn_is_unknown(w, from) || (far && far_lacks(far, from, end)))
			return true;
		from = begin;
	}
	for (int i = 0; i <= PSN_WORDS; i++) { /* without a branch: the verifier would follow both ways */
		bits |= ~*psn_word(w, from) & psn_bits(from, end) & psn_before(from, end);
		from = (from | 63) + 1;
	}
	return bits;
}

/* How many of the numbers in the window that lie before `end` are missing. */
roce_inline __u64 psn_missing(const struct roce_psn *w, __u64 end)
{
	__u64 missing = 0;

	for (__u64 n = w->next - PSN_WINDOW; (__s64)(end - n) > 0 && n != w->next; n++)
		missing += ~w->seen[n % PSN_WINDOW / 64] >> n % 64 & 1;
	return missing;
}

#endif
