/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * 24-bit packet sequence numbers: a window that distinguishes late PSNs from repeated ones, and behind it the late window, if
 * numbers are missing there. Also used for the 64-bit packet numbers of our UDP streams: PSNs are
 * extended to 64 bits, and only differences of numbers matter.
 */
#ifndef ROCE_SEQUENCE_PSN_H
#define ROCE_SEQUENCE_PSN_H

#include "roce/sequence/late_window.h"
#include "roce/stream/stream.h"

#define PSN_REACH ((ROCE_HAS_LOOP ? LATE_REACH : 0) + PSN_WINDOW) /* how far back the windows reach */
#define PSN_PERIOD 256	  /* psn_step() refuses multiples of this: rare work is done there */

/*
 * The pool of late windows belongs to the caller of the engine (bpf/extras.h, roce/sequence/extra.c). late_of(): the stream's
 * late window; NULL: it has none. late_take(): takes one from the pool if the stream has none; NULL: the pool is empty.
 * late_give(): gives it back, whatever is missing in it.
 */
roce_pool(struct roce_late *) late_of(const struct roce_psn *w);
roce_pool(struct roce_late *) late_take(struct roce_psn *w);
roce_pool(void) late_give(struct roce_psn *w);

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

/* The late window; NULL: there is none. */
roce_inline struct roce_late *psn_late(const struct roce_psn *w)
{
	return ROCE_HAS_LOOP && w->late ? late_of(w) : NULL;
}

/* Moves the late window forward to the number `to`, where the near window begins. Gives it back if nothing is missing in it. */
roce_inline void psn_move_late(struct roce_psn *w, __u64 to)
{
	struct roce_late *window = psn_late(w);

	if (!window)
		return;
	late_move(window, to, &w->unknown_before);
	if (!window->count && !window->held)
		late_give(w);
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

/* psn_start() for a sequence that may have a late window. */
roce_inline void psn_restart(struct roce_psn *w, __u64 number)
{
	if (psn_late(w))
		late_give(w);
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

/* Moves the missing ones among begin .. end - 1 from the window to the late one (NULL: forgets them). */
roce_inline void psn_pass(struct roce_psn *w, struct roce_late *window, __u64 begin, __u64 end)
{
	for (int i = 0; i <= PSN_WORDS; i++) {
		__u64 bits, kept = 0, lost;

		if ((__s64)(end - begin) <= 0)
			break;
		bits = ~*psn_word(w, begin) & psn_bits(begin, end);
		if (window)
			kept = bits & late_reached(window, begin);
		lost = bits & ~kept;
		if (window) {
			window->missing[begin % LATE_REACH / 64] |= kept;
			window->count += __builtin_popcountll(kept);
		} else {
			w->forgotten += __builtin_popcountll(lost);
		}
		if (lost)
			w->unknown_before = (begin & ~63ull) + __builtin_popcountll(roce_bits_below(lost));
		begin = (begin | 63) + 1;
	}
}

/* The same for the numbers from .. end - 1. All of them are missing. */
roce_inline void psn_pass_hole(struct roce_psn *w, struct roce_late *window, __u64 from, __u64 end)
{
	__u64 base = window ? window->base : end;

	if ((__s64)(base - from) > 0) {
		w->unknown_before = (__s64)(base - end) < 0 ? base : end;
		w->forgotten += window ? 0 : end - from;
		from = base;
	}
	if (window)
		late_mark(window, from, end, true, &w->unknown_before);
}

/*
 * Call before the window moves by n > 0. The unseen numbers that fall out of it go to the late window. So does, behind them, a
 * hole of `count` numbers from `from` on that never enters the window (count 0: there is no such hole).
 */
roce_inline void psn_leave(struct roce_psn *w, __u64 n, __u64 from, __u64 count)
{
	__u64 begin = w->next - PSN_WINDOW, end = begin + psn_any(w, n < PSN_WINDOW ? n : PSN_WINDOW), k = begin, any = count;
	struct roce_late *window = NULL;

	for (int i = 0; i <= PSN_WORDS; i++) {
		if ((__s64)(end - k) <= 0)
			break;
		any |= ~*psn_word(w, k) & psn_bits(k, end);
		k = (k | 63) + 1;
	}
	if (!any)
		return;
	if (ROCE_HAS_LOOP)
		window = late_take(w);
	if (window)
		late_move(window, begin + n, &w->unknown_before);
	psn_pass(w, window, begin, end);
	if (count)
		psn_pass_hole(w, window, from, from + count);
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
		psn_move_late(w, end - PSN_WINDOW);
}

/*
 * Moves back, so that `number` is the expected one: numbers from there on were not of the sequence. Those that the late window
 * holds and the near one would reach now are forgotten: they stay missing.
 */
roce_inline void psn_back(struct roce_psn *w, __u64 number)
{
	struct roce_late *window = psn_late(w);
	__u64 to = number - PSN_WINDOW;

	w->next = number;
	if (!window || (__s64)(window->end - to) <= 0)
		return;
	w->forgotten += late_mark(window, (__s64)(to - window->base) > 0 ? to : window->base, window->end, false,
				  &w->unknown_before);
	late_move(window, to, &w->unknown_before);
}

/* psn_recover() for the numbers from .. end - 1 behind the window. */
roce_inline void psn_recover_late(struct roce_psn *w, __u64 from, __u64 end)
{
	struct roce_late *window = psn_late(w);
	__u64 behind;

	if (!window)
		return;
	late_move(window, w->next - PSN_WINDOW, &w->unknown_before);
	if ((__s64)(window->base - from) > 0)
		from = window->base;
	if ((__s64)(end - window->end) > 0)
		end = window->end;
	w->found += late_mark(window, from, end, false, &behind);
	if (!window->count && !window->held)
		late_give(w);
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
		psn_recover_late(w, from, end);
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
	struct roce_late *window;

	if ((__s64)(begin - from) > 0) {
		window = psn_late(w);
		if (psn_is_unknown(w, from) || (window && late_lacks(window, from, end)))
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
