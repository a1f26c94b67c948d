// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

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

/* Makes room for that many words. false: there is no memory, and x is 0. */
static bool reserve(struct arena *a, struct poly *x, __u32 words)
{
	struct poly grown;

	if (64 * words <= x->room)
		return true;
	grown = new_poly(a, 64 * (words + words / 4));
	if (!grown.word) {
		x->bits = 0;
		return false;
	}
	if (x->bits)
		memcpy(grown.word, x->word, 8 * words_of(x->bits));
	grown.bits = x->bits;
	*x = grown;
	return true;
}

/* ---- products ---- */

struct product {
	__u64 low, high;
};

/* A factor of many words, and its multiples by each polynomial of four bits. */
struct factor {
	__u64 value;
	struct product multiple[16];
};

/* cpu: the CPU multiplies, and needs no multiples. */
static void make_factor(struct factor *f, __u64 value, bool cpu)
{
	f->value = value;
	f->multiple[0] = (struct product){ 0 };
	for (int i = 1; i < 16 && !cpu; i++) {
		struct product half = f->multiple[i / 2];

		f->multiple[i].low = half.low << 1 ^ (i & 1 ? value : 0);
		f->multiple[i].high = half.high << 1 | half.low >> 63;
	}
}

typedef struct product times_word(const struct factor *f, __u64 word);

static struct product times_by_table(const struct factor *f, __u64 word)
{
	struct product p = { 0 };

	for (int at = 60; at >= 0; at -= 4) {
		const struct product *m = &f->multiple[word >> at & 15];

		p.high = (p.high << 4 | p.low >> 60) ^ m->high;
		p.low = p.low << 4 ^ m->low;
	}
	return p;
}

/* to += from * f * x^shift. There is room for all of it, and a word more. */
static inline __attribute__((always_inline)) void add_by(times_word *times, __u64 *to, const struct poly *from,
							 const struct factor *f, __u32 shift)
{
	__u32 words = words_of(from->bits), up = shift % 64;
	__u64 carry = 0, before = 0;

	to += shift / 64;
	for (__u32 i = 0; i <= words; i++) {
		struct product p = i < words ? times(f, from->word[i]) : (struct product){ 0 };
		__u64 word = p.low ^ carry;

		to[i] ^= word << up | before >> 1 >> (63 - up);
		carry = p.high;
		before = word;
	}
	to[words + 1] ^= before >> 1 >> (63 - up);
}

/* x = f[0] x + f[1] y, y = f[2] x + f[3] y. Both have room for a word more. */
static inline __attribute__((always_inline)) void mix_by(times_word *times, __u64 *x, __u64 *y, __u32 words,
							 const struct factor f[4])
{
	struct product carry = { 0 };

	for (__u32 i = 0; i < words; i++) {
		struct product xx = times(&f[0], x[i]), xy = times(&f[1], y[i]), yx = times(&f[2], x[i]), yy = times(&f[3], y[i]);

		x[i] = xx.low ^ xy.low ^ carry.low;
		y[i] = yx.low ^ yy.low ^ carry.high;
		carry = (struct product){ xx.high ^ xy.high, yx.high ^ yy.high };
	}
	x[words] = carry.low;
	y[words] = carry.high;
}

#ifdef __x86_64__
#define BY_CPU __attribute__((target("pclmul")))

BY_CPU static struct product times_by_cpu(const struct factor *f, __u64 word)
{
	__m128i p = _mm_clmulepi64_si128(_mm_cvtsi64_si128(f->value), _mm_cvtsi64_si128(word), 0);

	return (struct product){ _mm_cvtsi128_si64(p), _mm_cvtsi128_si64(_mm_unpackhi_epi64(p, p)) };
}

BY_CPU static void add_by_cpu(__u64 *to, const struct poly *from, const struct factor *f, __u32 shift)
{
	add_by(times_by_cpu, to, from, f, shift);
}

BY_CPU static void mix_by_cpu(__u64 *x, __u64 *y, __u32 words, const struct factor f[4])
{
	mix_by(times_by_cpu, x, y, words, f);
}

static bool cpu_multiplies(void)
{
	return __builtin_cpu_supports("pclmul");
}
#else
static void add_by_cpu(__u64 *to, const struct poly *from, const struct factor *f, __u32 shift)
{
	add_by(times_by_table, to, from, f, shift);
}

static void mix_by_cpu(__u64 *x, __u64 *y, __u32 words, const struct factor f[4])
{
	mix_by(times_by_table, x, y, words, f);
}

static bool cpu_multiplies(void)
{
	return false;
}
#endif

/* ---- Euclid's algorithm ---- */

/* x += y * by * x^shift */
static void add(struct arena *a, struct poly *x, const struct poly *y, __u64 by, __u32 shift)
{
	__u32 words = shift / 64 + words_of(y->bits) + 2;
	struct factor f;

	if (!y->bits || !reserve(a, x, words))
		return;
	make_factor(&f, by, cpu_multiplies());
	if (cpu_multiplies())
		add_by_cpu(x->word, y, &f, shift);
	else
		add_by(times_by_table, x->word, y, &f, shift);
	find_degree(x, 64 * words > x->bits ? 64 * words : x->bits);
}

/* What several steps make of two polynomials: x = xx x + xy y, y = yx x + yy y. */
struct steps {
	__u64 xx, xy, yx, yy;
};

static void mix(struct arena *a, struct poly *x, struct poly *y, const struct steps *s)
{
	__u32 words = words_of(x->bits > y->bits ? x->bits : y->bits);
	struct factor f[4];

	if (!words || !reserve(a, x, words + 1) || !reserve(a, y, words + 1))
		return;
	make_factor(&f[0], s->xx, cpu_multiplies());
	make_factor(&f[1], s->xy, cpu_multiplies());
	make_factor(&f[2], s->yx, cpu_multiplies());
	make_factor(&f[3], s->yy, cpu_multiplies());
	if (cpu_multiplies())
		mix_by_cpu(x->word, y->word, words, f);
	else
		mix_by(times_by_table, x->word, y->word, words, f);
	find_degree(x, 64 * (words + 1));
	find_degree(y, 64 * (words + 1));
}

typedef unsigned __int128 window;

/* 64 bits, the lowest of which is the coefficient of x^from. */
static __u64 bits_from(const struct poly *x, __s64 from)
{
	__s64 word = from >> 6, up = from & 63, words = words_of(x->bits);
	__u64 low = word >= 0 && word < words ? x->word[word] : 0, high = word + 1 >= 0 && word + 1 < words ? x->word[word + 1] : 0;

	return low >> up | high << 1 << (63 - up);
}

/* The 128 bits below x^end. */
static window window_of(const struct poly *x, __u32 end)
{
	return (window)bits_from(x, (__s64)end - 64) << 64 | bits_from(x, (__s64)end - 128);
}

static int degree(window w)
{
	__u64 high = w >> 64, low = w;

	return high ? 127 - __builtin_clzll(high) : low ? 63 - __builtin_clzll(low) : -1;
}

/*
 * Steps of Euclid's algorithm, as far as the leading 128 bits settle them: what they make of the lower bits stays below bit 63 of these.
 * false: there is no step like that.
 */
static bool find_steps(const struct poly *x, const struct poly *y, struct steps *s)
{
	window u = window_of(x, x->bits), v = window_of(y, x->bits);

	*s = (struct steps){ .xx = 1, .yy = 1 };
	if (degree(v) < 64)
		return false;
	while (degree(v) >= 64) {
		struct steps last = *s;
		window rest = u;

		for (int by = degree(rest) - degree(v); by >= 0; by = degree(rest) - degree(v)) {
			rest ^= v << by;
			last.xx ^= last.yx << by;
			last.xy ^= last.yy << by;
		}
		u = v;
		v = rest;
		*s = (struct steps){ last.yx, last.yy, last.xx, last.xy };
	}
	return true;
}

/* The leading bits of x / y, and what they are to be shifted by. */
static __u64 find_quotient(const struct poly *x, const struct poly *y, __u32 *shift)
{
	window u = window_of(x, x->bits), v = window_of(y, y->bits);
	__u32 most = x->bits - y->bits < 63 ? x->bits - y->bits : 63;
	__u64 quotient = 0;

	for (__u32 i = 0; i <= most; i++) {
		quotient <<= 1;
		if (!(u >> (127 - i) & 1))
			continue;
		u ^= v >> i;
		quotient |= 1;
	}
	*shift = x->bits - y->bits - most;
	return quotient;
}

static void swap(struct poly *x, struct poly *y, int count)
{
	for (int i = 0; i < count; i++) {
		struct poly other = x[i];

		x[i] = y[i];
		y[i] = other;
	}
}

void poly_euclid(struct arena *a, struct poly *x, struct poly *y, int count, int lead)
{
	while (!a->full) {
		struct steps steps;
		__u64 quotient;
		__u32 shift;

		if (x[lead].bits < y[lead].bits)
			swap(x, y, count);
		if (!y[lead].bits)
			return;
		if (find_steps(&x[lead], &y[lead], &steps)) {
			for (int i = 0; i < count; i++)
				mix(a, &x[i], &y[i], &steps);
			continue;
		}
		quotient = find_quotient(&x[lead], &y[lead], &shift);
		for (int i = 0; i < count; i++)
			add(a, &x[i], &y[i], quotient, shift);
	}
}

static struct poly copy(struct arena *a, const struct poly *x)
{
	struct poly to = {};

	if (x->bits && reserve(a, &to, words_of(x->bits) + 2)) {
		memcpy(to.word, x->word, 8 * words_of(x->bits));
		to.bits = x->bits;
	}
	return to;
}

struct poly poly_gcd(struct arena *a, const struct poly *x, const struct poly *y)
{
	struct poly divisor = copy(a, x), other = copy(a, y);

	poly_euclid(a, &divisor, &other, 1, 0);
	return divisor;
}

__u32 poly_zeroes(const struct poly *x)
{
	__u32 w = 0;

	while (!x->word[w])
		w++;
	return 64 * w + __builtin_ctzll(x->word[w]);
}
