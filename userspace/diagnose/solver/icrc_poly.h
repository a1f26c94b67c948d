/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Polynomials over GF(2) of any degree. */
#ifndef USERSPACE_DIAGNOSE_SOLVER_ICRC_POLY_H
#define USERSPACE_DIAGNOSE_SOLVER_ICRC_POLY_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

/*
 * The memory of polynomials. It is only taken, and given back all at once by setting `used` back. When it is full, polynomials
 * are 0, and `full` says so.
 */
struct arena {
	__u64 *words;
	size_t used, room; /* words */
	bool full;
};

/* Zeroed words. NULL: full. */
void *arena_take(struct arena *a, size_t bytes);

struct poly {
	__u64 *word;  /* bit k of the words is the coefficient of x^k */
	__u32 bits;   /* the degree and 1; 0: the polynomial is 0 */
	__u32 room;   /* bits that the words have room for */
};

/* The first bit of the bytes, the most significant one of the first byte, has the highest degree. */
struct poly poly_of_bytes(struct arena *a, const __u8 *bytes, __u32 count);

/* x^i + x^k */
struct poly poly_of_two(struct arena *a, __u32 i, __u32 k);

/*
 * Euclid's algorithm with two rows of polynomials: adds multiples of one to the other until polynomial `lead` of *y is 0, and that of *x
 * the common divisor. Up to 63 bits of the quotients follow from the leading 128 bits, and then go into all polynomials at once
 * (D. H. Lehmer, Euclid's algorithm for large numbers, 1938).
 */
void poly_euclid(struct arena *a, struct poly *x, struct poly *y, int count, int lead);

/* The greatest common divisor. The time is the product of the degrees, divided by some thousands. */
struct poly poly_gcd(struct arena *a, const struct poly *x, const struct poly *y);

/* How often x divides it. It is not 0. */
__u32 poly_zeroes(const struct poly *x);

#endif
