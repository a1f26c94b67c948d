/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CRC-32 without a table look-up per byte, for code without carry-less multiplication (BPF).
 *
 * A message that is a multiple of the CRC-32 polynomial changes no CRC if it is added. The multiple
 * x^300 + x^155 + x^117 + x^89 + 1, added so that its x^300 meets a bit that is set, clears that bit and adds it 145, 183, 211
 * and 300 bits further on: its taps. It has weight five and, of those, the least degree; zlib-ng's 'Chorba' method uses it.
 * Over GF(2) the same exponents hold for x^8 in place of x (Frobenius), so the taps hold for bytes: without any shift, five
 * loads, four exclusive ors and one store fold eight bytes.
 *
 * That takes 300 bytes behind the folded ones. So a message is folded in stages, each up to what the next one needs:
 *   far    bytes, by those taps, up to the last 304;
 *   near   bytes, by taps that reach 137, up to the last 144 (shorter messages begin here);
 *   bits   13 words, by the far taps as distances in bits, in registers;
 *   last   five words, by the tables of slicing by sixteen.
 * Zeroes are appended to the message up to a multiple of eight, so that all words that it is read and stored by are aligned.
 */
#ifndef ROCE_ICRC_FOLD_H
#define ROCE_ICRC_FOLD_H

#include "roce/packet/base.h"

#define FOLD_POLYNOMIAL 0xedb88320u /* CRC-32 (IEEE 802.3), bit-reflected */

/*
 * The near taps are those of x^137 + x^37 + x^34 + x^32 + x^19 + x^16 + x^14 + x^3 + 1. A load that covers parts of two recent
 * stores waits until both have left the CPU's queue. So the shortest tap must be long: of all sets of up to eight taps that
 * reach 18 words at most, this one's is the longest (tests/unit/roce/test_icrc.c searches them). With six taps it would be 53.
 */
#define FOLD_FAR(tap) tap(145) tap(183) tap(211) tap(300)
#define FOLD_NEAR(tap) tap(100) tap(103) tap(105) tap(118) tap(121) tap(123) tap(134) tap(137)

#define FOLD_PAD 304   /* zero bytes before the work area, in place of bytes before the message */
#define FOLD_LAST 18   /* words that are not folded by the near taps: their reach */
#define FOLD_MIDDLE 20 /* words before those that are not folded by the far taps */
#define FOLD_TAIL (8 * (FOLD_MIDDLE + FOLD_LAST)) /* their reach */
#define FOLD_STEP 64   /* bytes per iteration, with one bound check */
#define FOLD_HEAD 96   /* folding begins 0 to 56 bytes behind this offset, so that whole steps end at the tail */
#define FOLD_COPIED (FOLD_HEAD + FOLD_STEP) /* bytes of the work area that the caller fills in */
#define FOLD_LEAST (FOLD_HEAD + FOLD_TAIL)  /* shorter messages lie completely in the work area */
#define FOLD_STEPS 144 /* at most */
#define FOLD_MAX (FOLD_LEAST + FOLD_STEPS * FOLD_STEP) /* the end of the longest message */

/* The same of messages that begin with the near taps. */
#define FOLD_NEAR_STEP 32
#define FOLD_NEAR_HEAD 88
#define FOLD_NEAR_LEAST (8 * FOLD_LAST) /* messages that end before this offset are folded by bits only */

/* The shortest distance, back from the last byte that is not folded, must end before the message: in the Ethernet header. */
_Static_assert(FOLD_HEAD + FOLD_STEP - 9 - 145 < 14, "145: the shortest distance");
_Static_assert(FOLD_NEAR_HEAD + FOLD_NEAR_STEP - 9 - 100 < 14, "100: the shortest distance");

/* Slicing (Kounavis and Berry): slice[k][b] is the register after byte b and k zero bytes. */
struct fold_tables {
	__u32 slice[16][256];
	__u32 residue[8]; /* [k]: what fold_last() gives for a message that ends with its CRC and k zeroes */
};

/*
 * Zeroes, which must stay zero, and the frame. The caller copies the frame's beginning; folding overwrites the rest. If the
 * whole frame is here, it is folded in place. middle: a zero, words folded by the near taps, a zero.
 */
struct fold_work {
	__u8 zero[FOLD_PAD];
	__u8 frame[FOLD_MAX + FOLD_STEP];
	__u64 middle[1 + FOLD_MIDDLE + 1];
};

static inline void fold_make_tables(struct fold_tables *t)
{
	for (int b = 0; b < 256; b++) {
		__u32 r = b;

		for (int bit = 0; bit < 8; bit++)
			r = r >> 1 ^ (r & 1 ? FOLD_POLYNOMIAL : 0);
		t->slice[0][b] = r;
	}
	for (int k = 1; k < 16; k++)
		for (int b = 0; b < 256; b++)
			t->slice[k][b] = t->slice[k - 1][b] >> 8 ^ t->slice[0][t->slice[k - 1][b] & 0xff];
	t->residue[0] = ~0u;
	for (int k = 1; k < 8; k++)
		t->residue[k] = t->residue[k - 1] >> 8 ^ t->slice[0][t->residue[k - 1] & 0xff];
}

/* The entry of slice k for the byte of w whose lowest bit is `bit`. Constants, but for w. */
roce_inline __u32 fold_slice(const struct fold_tables *t, int k, __u64 w, int bit)
{
	const __u8 *entry = (const __u8 *)t + ((bit ? w >> (bit - 2) : w << 2) & 0x3fc);

	roce_opaque(entry); /* otherwise the compiler keeps an address for each slice, for which BPF has no registers */
	return roce_load(__u32, entry + k * sizeof(t->slice[0]));
}

/* The register after the four lower bytes of w, lowest first, followed by `zeroes` zero bytes (a constant, 0 to 12). */
roce_inline __u32 fold_four(const struct fold_tables *t, __u64 w, int zeroes)
{
	return fold_slice(t, zeroes + 3, w, 0) ^ fold_slice(t, zeroes + 2, w, 8) ^ fold_slice(t, zeroes + 1, w, 16) ^
	       fold_slice(t, zeroes, w, 24);
}

/* The same of all eight bytes; zeroes: 0 or 8. */
roce_inline __u32 fold_eight(const struct fold_tables *t, __u64 w, int zeroes)
{
	return fold_four(t, w, zeroes + 4) ^ fold_four(t, w >> 32, zeroes);
}

/*
 * The register after the last five words but for the last four bytes, plus those four bytes: the register after all of them is
 * four zero bytes further on. If they are the CRC of what is before them, this is ~0 (a CRC is the register's complement).
 * Words are taken in pairs: only the first of each pair waits for the register.
 */
roce_inline __u32 fold_last(const struct fold_tables *t, const __u64 w[5])
{
	__u32 r = fold_eight(t, w[0], 8) ^ fold_eight(t, w[1], 0);
	__u64 x;

	r = fold_eight(t, w[2] ^ r, 8) ^ fold_eight(t, w[3], 0);
	x = w[4] ^ r;
	return fold_four(t, x, 0) ^ x >> 32;
}

/* What earlier words have added to the next five. */
struct fold_carry {
	__u64 word[5];
};

/* Removes one word: its bits are added 145, 183, 211 and 300 bits further on. */
roce_inline void fold_word(struct fold_carry *c, __u64 bytes)
{
	__u64 w = bytes ^ c->word[0];

	c->word[0] = c->word[1];
	c->word[1] = c->word[2] ^ w << 17 ^ w << 55;
	c->word[2] = c->word[3] ^ w >> 47 ^ w >> 9 ^ w << 19;
	c->word[3] = c->word[4] ^ w >> 45 ^ w << 44;
	c->word[4] = w >> 20;
	/* Keep the order of words: if the compiler moves them together, they exceed BPF's stack. */
	__asm__ volatile("" : "+r"(c->word[1]), "+r"(c->word[2]), "+r"(c->word[3]), "+r"(c->word[4]) : : "memory");
}

/*
 * What the folded bytes from `begin` to `end` add to the word at `at`, all relative to p. Constants, so that a distance which
 * lies outside costs nothing. A word that lies outside in part is read; the rest of it must be zero.
 */
#define FOLD_TAP(distance)							\
	if (at < end + (distance) && at + 8 > begin + (distance))		\
		w ^= roce_load(__u64, p + at - (distance));

roce_inline __u64 fold_by_far(const __u8 *p, int begin, int end, int at)
{
	__u64 w = 0;

	FOLD_FAR(FOLD_TAP)
	return w;
}

roce_inline __u64 fold_by_near(const __u8 *p, int begin, int end, int at)
{
	__u64 w = 0;

	FOLD_NEAR(FOLD_TAP)
	return w;
}

/*
 * Memory to read from. limited (a constant): readable up to `limit`, as the verifier demands for packets. Otherwise the memory
 * is large enough.
 */
struct fold_source {
	const __u8 *frame;
	const __u8 *limit;
	bool limited;
};

roce_inline bool fold_beyond(const struct fold_source *s, const __u8 *p, __u32 bytes)
{
	return s->limited && p + bytes > s->limit;
}

/* The end of the message with its zeroes. */
roce_inline __u32 fold_rounded(__u32 end)
{
	return (end + 7) & ~7u;
}

/* The last word of a message that ends before `p`, with its zeroes. */
roce_inline __u64 fold_final(const __u8 *p, __u32 end)
{
	return roce_load(__u64, p - 8) >> 8 * (-end & 7);
}

/* The last words of a message; first and final: the first and the last of them, which the caller has loaded. */
struct fold_ending {
	const __u8 *words;
	const __u8 *near; /* the end of what is folded by the near taps; eight zero bytes follow */
	const __u8 *far;  /* the same of the far taps; FOLD_MIDDLE words before these. NULL (a constant): there are none */
	__u64 first, final;
};

roce_inline __u64 fold_end_word(const struct fold_ending *e, int k)
{
	__u64 w = k == 0 ? e->first : k == FOLD_LAST - 1 ? e->final : roce_load(__u64, e->words + 8 * k);

	w ^= fold_by_near(e->near, -FOLD_PAD, 0, 8 * k);
	if (e->far)
		w ^= fold_by_far(e->far, -FOLD_PAD, 0, 8 * (FOLD_MIDDLE + k));
	return w;
}

roce_inline __u32 fold_end(const struct fold_tables *t, const struct fold_ending *e)
{
	struct fold_carry c = { 0 };

	roce_unroll
	for (int k = 0; k < FOLD_LAST - 5; k++)
		fold_word(&c, fold_end_word(e, k));
	roce_unroll
	for (int k = 0; k < 5; k++)
		c.word[k] ^= fold_end_word(e, FOLD_LAST - 5 + k);
	return fold_last(t, c.word);
}

/* A message that ends before FOLD_NEAR_LEAST. Words are counted back from its end; zeroes in front of it change nothing. */
roce_inline __u32 fold_shortest(const struct fold_tables *t, const struct fold_work *w, __u32 from, __u32 end)
{
	__u32 at = end - ((end - from + 7) & ~7u);
	struct fold_carry c = { 0 };

	for (int i = 0; i < FOLD_NEAR_LEAST / 8; i++) {
		roce_opaque(at);
		if (at > FOLD_NEAR_LEAST || at + 48 > end)
			break;
		fold_word(&c, roce_load(__u64, w->frame + at));
		at += 8;
	}
	roce_opaque(at);
	at &= 511; /* so that each loop exit is the same to the verifier */
	for (int k = 0; k < 5; k++)
		c.word[k] ^= roce_load(__u64, w->frame + at + 8 * k);
	return fold_last(t, c.word);
}

/* Folds the bytes before `tail` by the near taps, in place. Those before FOLD_NEAR_HEAD have nothing to take up. */
roce_inline void fold_near_bytes(struct fold_work *w, __u32 tail)
{
	__u32 at = FOLD_NEAR_HEAD + ((tail - FOLD_NEAR_HEAD) & (FOLD_NEAR_STEP - 1));
	__u8 *f = w->frame + at;

	for (int i = 0; i < FOLD_LEAST / FOLD_NEAR_STEP; i++) {
		roce_opaque(f);
		if (at >= tail)
			break;
		for (int k = 0; k < FOLD_NEAR_STEP; k += 8)
			roce_store(__u64, f + k, roce_load(__u64, f + k) ^ fold_by_near(f + k, -FOLD_PAD, 0, 0));
		at += FOLD_NEAR_STEP;
		f += FOLD_NEAR_STEP;
	}
}

/*
 * Folds a message that lies between `from` and `end` of the frame, completely in the work area, with zeroes before it. For
 * fold_is_right(). The message has at least 40 bytes and ends before FOLD_LEAST. Otherwise the result is wrong, but nothing is
 * read out of bounds.
 */
roce_inline __u32 fold_short(const struct fold_tables *t, struct fold_work *w, __u32 from, __u32 end)
{
	struct fold_ending e = { 0 };
	__u32 tail;
	__u8 *f;

	if (end < FOLD_NEAR_LEAST)
		return fold_shortest(t, w, from, end);
	fold_near_bytes(w, fold_rounded(end) - 8 * FOLD_LAST);
	/* Reload: each loop exit leaves the verifier a different range. */
	roce_opaque(end);
	if (end > FOLD_LEAST)
		return 0;
	e.final = fold_final(w->frame + end, end);
	tail = fold_rounded(end) - 8 * FOLD_LAST;
	roce_opaque(tail);
	if (tail > FOLD_LEAST)
		return 0;
	f = w->frame + tail;
	roce_opaque(f);
	e.words = e.near = f;
	e.first = roce_load(__u64, f);
	roce_store(__u64, f, 0); /* the tail itself is not folded by bytes */
	return fold_end(t, &e);
}

/* Folds the frame's bytes before `tail` by the far taps into the work area. false: out of bounds. */
roce_inline bool fold_far_bytes(struct fold_work *w, const struct fold_source *s, __u32 tail)
{
	__u32 at = FOLD_HEAD + ((tail - FOLD_HEAD) & (FOLD_STEP - 1));
	const __u8 *p;
	__u8 *f;

	roce_opaque(at);
	if (at > FOLD_HEAD + FOLD_STEP)
		return false;
	p = s->frame + at;
	f = w->frame + at;
	for (int i = 0; i < FOLD_STEPS; i++) {
		roce_opaque(p); /* read through the register that was compared */
		roce_opaque(f);
		if (at >= tail)
			break;
		if (fold_beyond(s, p, FOLD_STEP))
			break;
		for (int k = 0; k < FOLD_STEP; k += 8)
			roce_store(__u64, f + k, roce_load(__u64, p + k) ^ fold_by_far(f + k, -FOLD_PAD, 0, 0));
		at += FOLD_STEP;
		p += FOLD_STEP;
		f += FOLD_STEP;
	}
	return true;
}

/*
 * Folds the first words of the tail at p by the near taps into w->middle. f: the end of what is folded by the far taps. Not in
 * place, because between both stages' bytes there have to be zeroes.
 */
roce_inline void fold_middle(struct fold_work *w, __u8 *f, const __u8 *p)
{
	__u8 *middle = (__u8 *)&w->middle[1];

	roce_unroll
	for (int at = 0; at < 8 * FOLD_MIDDLE; at += 8) {
		__u64 word = roce_load(__u64, p + at) ^ fold_by_far(f, -FOLD_PAD, 0, at) ^
			     fold_by_near(middle, 0, 8 * FOLD_MIDDLE, at);

		if (at == 0) /* the tail itself is not folded by the far taps */
			roce_store(__u64, f, 0);
		roce_store(__u64, middle + at, word);
		roce_reload(); /* as in fold_word() */
	}
}

/*
 * Folds a message that ends between FOLD_LEAST and FOLD_MAX. For fold_is_right(). s: the frame, whose first FOLD_COPIED bytes
 * are already in the work area, with zeroes before the message; or the work area itself.
 */
roce_inline __u32 fold_long(const struct fold_tables *t, struct fold_work *w, const struct fold_source *s, __u32 end)
{
	struct fold_ending e = { .near = (const __u8 *)&w->middle[1 + FOLD_MIDDLE] };
	const __u8 *p, *last;
	__u32 tail;
	__u8 *f;

	if (!fold_far_bytes(w, s, fold_rounded(end) - FOLD_TAIL))
		return 0;
	/* Reload: each loop exit leaves the verifier a different range. */
	roce_opaque(end);
	tail = end - 8; /* bounded by itself: the verifier admits no negative offset to a packet pointer that it did not check */
	roce_opaque(tail);
	if (tail > FOLD_MAX - 8)
		return 0;
	last = s->frame + tail;
	roce_opaque(last);
	if (fold_beyond(s, last, 8))
		return 0;
	e.final = fold_final(last + 8, end);
	tail = fold_rounded(end) - FOLD_TAIL;
	roce_opaque(tail);
	if (tail > FOLD_MAX - FOLD_TAIL)
		return 0;
	p = s->frame + tail;
	f = w->frame + tail;
	roce_opaque(p);
	roce_opaque(f);
	if (fold_beyond(s, p, FOLD_TAIL - 8))
		return 0;
	fold_middle(w, f, p);
	e.words = p + 8 * FOLD_MIDDLE;
	e.far = f;
	e.first = roce_load(__u64, e.words);
	return fold_end(t, &e);
}

/* Whether the message ends with its CRC. r: what fold_short() or fold_long() returned for the message that ends there. */
roce_inline bool fold_is_right(const struct fold_tables *t, __u32 r, __u32 end)
{
	return r == t->residue[end < FOLD_NEAR_LEAST ? 0 : -end & 7];
}

#endif
