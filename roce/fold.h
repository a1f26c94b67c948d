/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CRC-32 without a table look-up per byte, for code without carry-less multiplication (BPF).
 *
 * x^300 + x^155 + x^117 + x^89 + 1 is the multiple of the CRC-32 polynomial with weight five and least degree. The 'Chorba'
 * method of zlib-ng uses it: a bit of the message can be removed by adding it 145, 183, 211 and 300 bits further on. Over GF(2)
 * the same exponents hold for x^8 in place of x (Frobenius), and so for bytes: without any shift, five unaligned loads, four
 * exclusive ors and one store fold eight bytes. The last 304 bytes are folded by bits in registers down to five words. These go
 * through the tables of slicing by sixteen.
 */
#ifndef ROCE_FOLD_H
#define ROCE_FOLD_H

#include "roce/base.h"

#define FOLD_POLYNOMIAL 0xedb88320u /* CRC-32 (IEEE 802.3), bit-reflected */

#define FOLD_PAD 304  /* zero bytes before the work area, in place of bytes before the message */
#define FOLD_TAIL 304 /* the last bytes of the message are not folded by bytes: the reach of 300 */
#define FOLD_STEP 64  /* bytes per iteration, with one bound check */
#define FOLD_HEAD 96  /* folding begins 0 to 63 bytes behind this offset, so that whole steps end at the tail */
#define FOLD_COPIED (FOLD_HEAD + FOLD_STEP) /* bytes of the work area that the caller fills in */
#define FOLD_LEAST (FOLD_HEAD + FOLD_TAIL)  /* shorter messages lie completely in the work area and are folded by words only */
#define FOLD_STEPS 144 /* at most */
#define FOLD_MAX (FOLD_LEAST + FOLD_STEPS * FOLD_STEP) /* the end of the longest message */

/* The shortest distance, back from the last byte that is not folded, must end before the message: in the Ethernet header. */
_Static_assert(FOLD_HEAD + FOLD_STEP - 2 - 145 < 14, "145: the shortest distance");

/* Slicing (Kounavis and Berry): slice[k][b] is the register after byte b and k zero bytes. */
struct fold_tables {
	__u32 slice[16][256];
};

/*
 * Zeroes, which must stay zero, and the frame. The caller copies the frame's beginning; folding overwrites the rest. If the
 * whole frame is here, it is folded in place.
 */
struct fold_work {
	__u8 zero[FOLD_PAD];
	__u8 frame[FOLD_MAX + FOLD_STEP];
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
}

/* The register after eight bytes, lowest first, followed by `zeroes` zero bytes (a constant, 0 or 8). */
roce_inline __u32 fold_eight(const struct fold_tables *t, __u64 w, int zeroes)
{
	const __u32(*slice)[256] = t->slice + zeroes;

	return slice[7][w & 0xff] ^ slice[6][w >> 8 & 0xff] ^ slice[5][w >> 16 & 0xff] ^ slice[4][w >> 24 & 0xff] ^
	       slice[3][w >> 32 & 0xff] ^ slice[2][w >> 40 & 0xff] ^ slice[1][w >> 48 & 0xff] ^ slice[0][w >> 56];
}

/* The register after the last five words. Words are taken in pairs: only the first of each pair waits for the register. */
roce_inline __u32 fold_last(const struct fold_tables *t, const __u64 w[5])
{
	__u32 r = fold_eight(t, w[0], 0);

	r = fold_eight(t, w[1] ^ r, 8) ^ fold_eight(t, w[2], 0);
	return fold_eight(t, w[3] ^ r, 8) ^ fold_eight(t, w[4], 0);
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

/* Folds eight bytes of the message at `from` into the work area at `to`. Both may be equal. */
roce_inline void fold_bytes(__u8 *to, const __u8 *from)
{
	roce_store(__u64, to, roce_load(__u64, from) ^ roce_load(__u64, to - 145) ^ roce_load(__u64, to - 183) ^
			      roce_load(__u64, to - 211) ^ roce_load(__u64, to - 300));
}

/* Word k of the tail, plus what the folded bytes before the tail add to it. */
roce_inline __u64 fold_gather(const __u8 *work, const __u8 *from, int k)
{
	__u64 w = roce_load(__u64, from + 8 * k);

	if (8 * k < 145)
		w ^= roce_load(__u64, work + 8 * k - 145);
	if (8 * k < 183)
		w ^= roce_load(__u64, work + 8 * k - 183);
	if (8 * k < 211)
		w ^= roce_load(__u64, work + 8 * k - 211);
	return w ^ roce_load(__u64, work + 8 * k - 300);
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

/*
 * The register, begun with 0, after a message that lies between `from` and `end` of the frame, completely in the work area,
 * with zeroes before it. Words are counted back from the end; zeroes in front of the first one change nothing. The message has
 * at least 40 bytes and ends at FOLD_LEAST at most. Otherwise the register is wrong, but nothing is read out of bounds.
 */
roce_inline __u32 fold_short(const struct fold_tables *t, const struct fold_work *w, __u32 from, __u32 end)
{
	__u32 at = end - ((end - from + 7) & ~7u);
	struct fold_carry c = { 0 };

	for (int i = 0; i < FOLD_LEAST / 8; i++) {
		roce_opaque(at);
		if (at > FOLD_LEAST || at + 48 > end)
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

/*
 * The register after a message that ends between FOLD_LEAST and FOLD_MAX. s: the frame, whose first FOLD_COPIED bytes are
 * already in the work area, with zeroes before the message; or the work area itself.
 */
roce_inline __u32 fold_long(const struct fold_tables *t, struct fold_work *w, const struct fold_source *s, __u32 end)
{
	__u32 tail = end - FOLD_TAIL, at = FOLD_HEAD + ((tail - FOLD_HEAD) & (FOLD_STEP - 1));
	struct fold_carry c = { 0 };
	const __u8 *p;
	__u8 *f;

	roce_opaque(at);
	if (at > FOLD_HEAD + FOLD_STEP)
		return 0;
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
			fold_bytes(f + k, p + k);
		at += FOLD_STEP;
		p += FOLD_STEP;
		f += FOLD_STEP;
	}
	/* Reload: each loop exit leaves the verifier a different range. */
	roce_opaque(end);
	tail = end - FOLD_TAIL;
	roce_opaque(tail);
	if (tail > FOLD_MAX - FOLD_TAIL)
		return 0;
	p = s->frame + tail;
	f = w->frame + tail;
	roce_opaque(p);
	roce_opaque(f);
	if (fold_beyond(s, p, FOLD_TAIL))
		return 0;
	roce_unroll
	for (int k = 0; k < 33; k++) {
		__u64 word = fold_gather(f, p, k);

		if (k == 0) /* the tail itself is not folded by bytes */
			roce_store(__u64, f, 0);
		fold_word(&c, word);
	}
	roce_unroll
	for (int k = 0; k < 5; k++)
		c.word[k] ^= fold_gather(f, p, 33 + k);
	return fold_last(t, c.word);
}

#endif
