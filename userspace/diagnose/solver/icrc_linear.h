/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Systems of linear equations over GF(2) of up to 96 unknowns. */
#ifndef USERSPACE_DIAGNOSE_SOLVER_ICRC_LINEAR_H
#define USERSPACE_DIAGNOSE_SOLVER_ICRC_LINEAR_H

#include <stdbool.h>

#include <linux/types.h>

#define LINEAR_UNKNOWNS 96

/* An equation: the unknowns of the set bits add up to bit 127. */
typedef unsigned __int128 linear_row;

/* All zero at first: no equation. */
struct linear {
	linear_row pivot[LINEAR_UNKNOWNS]; /* 0, or the equation whose highest unknown this is */
	__u32 redundant; /* equations that followed from those before */
};

static inline linear_row linear_one(int unknown)
{
	return (linear_row)1 << unknown;
}

static inline linear_row linear_value(bool value)
{
	return (linear_row)value << 127;
}

/* The highest unknown of the equation, or -1. */
static inline int linear_top(linear_row row)
{
	__u64 high = (__u64)(row >> 64) & ~(1ull << 63), low = row;

	return high ? 127 - __builtin_clzll(high) : low ? 63 - __builtin_clzll(low) : -1;
}

static inline linear_row linear_reduce(const struct linear *l, linear_row row)
{
	linear_row kept = 0;

	for (int top = linear_top(row); top >= 0; top = linear_top(row)) {
		if (l->pivot[top])
			row ^= l->pivot[top];
		else
			kept |= row & linear_one(top), row &= ~linear_one(top);
	}
	return row | kept;
}

/* false: it contradicts the equations before. */
static inline bool linear_add(struct linear *l, linear_row row)
{
	int top;

	row = linear_reduce(l, row);
	top = linear_top(row);
	if (top >= 0)
		l->pivot[top] = row;
	else
		l->redundant += !row;
	return top >= 0 || !row;
}

/* 32 equations at once: bit k of a sum of words is row k. All zero at first. */
struct linear_word {
	linear_row row[32];
};

/* The sum is this word. */
static inline void linear_word_value(struct linear_word *w, __u32 value)
{
	for (int bit = 0; bit < 32; bit++)
		w->row[bit] |= linear_value(value >> bit & 1);
}

/* Adds to the sum: the unknown times this word. */
static inline void linear_word_column(struct linear_word *w, int unknown, __u32 word)
{
	for (; word; word &= word - 1)
		w->row[__builtin_ctz(word)] |= linear_one(unknown);
}

/* Adds to the sum: an unknown word, whose bit 0 is that unknown, times this polynomial, modulo x^32 + the other one. */
static inline void linear_word_times(struct linear_word *w, int unknown, __u32 by, __u32 modulo)
{
	for (int bit = 0; bit < 32; bit++, by = by << 1 ^ (by >> 31 ? modulo : 0))
		linear_word_column(w, unknown + bit, by);
}

/* false: they contradict the equations before. */
static inline bool linear_add_word(struct linear *l, const struct linear_word *w)
{
	for (int bit = 0; bit < 32; bit++)
		if (!linear_add(l, w->row[bit]))
			return false;
	return true;
}

/* Whether the equations determine the unknown. */
static inline bool linear_fixed(const struct linear *l, int unknown, bool *value)
{
	linear_row row = linear_reduce(l, linear_one(unknown));

	*value = row >> 127;
	return linear_top(row) < 0;
}

/* A solution: bit k is unknown k. Those that nothing determines are 0. */
static inline linear_row linear_solve(const struct linear *l)
{
	linear_row solution = 0;

	for (int k = 0; k < LINEAR_UNKNOWNS; k++) {
		linear_row row = l->pivot[k] & solution;
		bool sum = (l->pivot[k] >> 127) ^ (__builtin_popcountll(row) & 1) ^ (__builtin_popcountll(row >> 64) & 1);

		solution |= sum ? linear_one(k) : 0;
	}
	return solution;
}

/* Unknowns that may be chosen, so that they determine the others; the first `most` of those that occur. */
static inline int linear_free(const struct linear *l, __u32 *free, int most)
{
	linear_row used = 0;
	int count = 0;

	for (int k = 0; k < LINEAR_UNKNOWNS; k++)
		used |= l->pivot[k];
	for (int k = 0; k < LINEAR_UNKNOWNS && count < most; k++)
		if (!l->pivot[k] && used >> k & 1)
			free[count++] = k;
	return count;
}

#endif
