// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "userspace/diagnose/solver/icrc_poly.h"

void *arena_take(struct arena *a, size_t bytes)
{
	size_t words = (bytes + 7) / 8;
	__u64 *taken = a->words + a->used;

	if (words > a->room - a->used) {
		a->full = true;
		return NULL;
	}
	a->used += words;
	return memset(taken, 0, 8 * words);
}

static __u32 words_of(__u32 bits)
{
	return (bits + 63) / 64;
}

/* Room for that many bits. */
static struct poly new_poly(struct arena *a, __u32 bits)
{
	return (struct poly){ .word = arena_take(a, 8 * (size_t)words_of(bits)), .room = 64 * words_of(bits) };
}

/* Sets the degree, which is below `bits`. */
static void find_degree(struct poly *x, __u32 bits)
{
	__u32 w = words_of(bits);

	while (w && !x->word[w - 1])
		w--;
	x->bits = w ? 64 * w - __builtin_clzll(x->word[w - 1]) : 0;
}

/* to += from * x^shift. The words of `to` must reach that far. */
static void add(__u64 *to, const struct poly *from, __u32 shift)
{
	__u32 words = words_of(from->bits), up = shift % 64;
	const __u64 *word = from->word;

	to += shift / 64;
	if (!up) {
		for (__u32 i = 0; i < words; i++)
			to[i] ^= word[i];
		return;
	}
	to[0] ^= word[0] << up;
	for (__u32 i = 1; i < words; i++)
		to[i] ^= word[i] << up | word[i - 1] >> (64 - up);
	if (word[words - 1] >> (64 - up))
		to[words] ^= word[words - 1] >> (64 - up);
}

struct poly poly_of_bytes(struct arena *a, const __u8 *bytes, __u32 count)
{
	struct poly x = new_poly(a, 8 * count);

	if (!x.word)
		return x;
	for (__u32 i = 0; i < count; i++)
		x.word[i / 8] |= (__u64)bytes[count - 1 - i] << 8 * (i % 8);
	find_degree(&x, 8 * count);
	return x;
}

struct poly poly_of_two(struct arena *a, __u32 i, __u32 k)
{
	__u32 bits = (i > k ? i : k) + 1;
	struct poly x = new_poly(a, bits);

	if (!x.word)
		return x;
	x.word[i / 64] ^= 1ull << i % 64;
	x.word[k / 64] ^= 1ull << k % 64;
	find_degree(&x, bits);
	return x;
}

void poly_add(struct arena *a, struct poly *x, const struct poly *y, __u32 shift)
{
	__u32 bits = y->bits + shift > x->bits ? y->bits + shift : x->bits;

	if (!y->bits)
		return;
	if (bits > x->room) {
		struct poly grown = new_poly(a, bits + bits / 4);

		if (!grown.word) {
			x->bits = 0;
			return;
		}
		if (x->bits)
			add(grown.word, x, 0);
		*x = grown;
	}
	add(x->word, y, shift);
	find_degree(x, bits);
}

/* The remainder stays in *x. */
static void reduce(struct poly *x, const struct poly *y)
{
	while (x->bits >= y->bits) {
		add(x->word, y, x->bits - y->bits);
		find_degree(x, x->bits);
	}
}

static struct poly copy(struct arena *a, const struct poly *x)
{
	struct poly to = {};

	poly_add(a, &to, x, 0);
	return to;
}

struct poly poly_gcd(struct arena *a, const struct poly *x, const struct poly *y)
{
	struct poly big = copy(a, x), small = copy(a, y);

	while (small.bits) {
		struct poly rest = big;

		reduce(&rest, &small);
		big = small;
		small = rest;
	}
	return big;
}

__u32 poly_zeroes(const struct poly *x)
{
	__u32 w = 0;

	while (!x->word[w])
		w++;
	return 64 * w + __builtin_ctzll(x->word[w]);
}
