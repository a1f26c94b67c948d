// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether a polynomial fits the packets. */
#include <string.h>

#include "userspace/diagnose/solver/icrc_solver.h"

__u32 candidate_times(const struct candidate *c, __u32 a, __u32 b)
{
	__u32 product = 0;

	for (int bit = 31; bit >= 0; bit--) {
		product = product << 1 ^ (product >> 31 ? c->polynomial : 0);
		if (a >> bit & 1)
			product ^= b;
	}
	return product;
}

__u32 candidate_power(const struct candidate *c, __u32 n)
{
	__u32 result = 1, square = 2;

	for (; n; n >>= 1, square = candidate_times(c, square, square))
		if (n & 1)
			result = candidate_times(c, result, square);
	return result;
}

__u32 candidate_crc(const struct candidate *c, __u32 r, const __u8 *bytes, __u32 count)
{
	for (__u32 i = 0; i < count; i++)
		r = r << 8 ^ c->table[r >> 24 ^ bytes[i]];
	return r;
}

void candidate_make_table(struct candidate *c)
{
	for (__u32 i = 0; i < 256; i++) {
		__u32 r = i << 24;

		for (int bit = 0; bit < 8; bit++)
			r = r << 1 ^ (r >> 31 ? c->polynomial : 0);
		c->table[i] = r;
	}
}

/* What the field adds to the register behind all of sample i, compared with sample 0. */
static __u32 field_of(const struct candidate *c, const struct samples *s, __u32 i, enum solve_field f)
{
	__u8 headers[SOLVE_HEADERS] = {};

	if (!(s->varies & set_of(f)) || !samples_add_difference(s, f, i, 0, headers))
		return 0;
	if (c->refin)
		mirror_bytes(headers, s->layout.end);
	return candidate_times(c, candidate_crc(c, 0, headers, s->layout.end), c->shift[i]);
}

void candidate_make(struct candidate *c, const struct samples *s, __u32 polynomial, bool refin)
{
	if (c->made && c->polynomial == polynomial && c->refin == refin)
		return;
	c->made = true;
	c->polynomial = polynomial;
	c->refin = refin;
	candidate_make_table(c);
	for (__u32 i = 0; i < s->count; i++) {
		const struct solver_sample *p = &s->list[i];

		c->rest[i] = candidate_crc(c, 0, p->rest[refin], p->bytes);
		c->shift[i] = i && p->bytes == p[-1].bytes ? c->shift[i - 1] : candidate_power(c, 8 * p->bytes);
		for (int f = 0; f < SOLVE_COUNT; f++)
			c->field[i][f] = field_of(c, s, i, f);
	}
}

/*
 * The 32 equations of one sample: its register is what came in behind the BTH, shifted by the rest, and the rest's own CRC, and
 * of each field that goes in what it adds, and the final xor.
 */
static bool add_sample(const struct candidate *c, const struct samples *s, __u32 i, const struct form *form, struct linear *to)
{
	struct linear_word w = {};

	linear_word_value(&w, form_register(form, s->list[i].found) ^ c->rest[i]);
	linear_word_times(&w, UNKNOWN_XOR, 1, 0);
	linear_word_times(&w, UNKNOWN_REGISTER, c->shift[i], c->polynomial);
	for (int f = 0; f < SOLVE_COUNT; f++)
		linear_word_column(&w, UNKNOWN_FIELD + f, c->field[i][f]);
	return linear_add_word(to, &w);
}

bool candidate_fits(const struct candidate *c, const struct samples *s, const struct form *form, __u32 evidence, struct linear *to)
{
	memset(to, 0, sizeof(*to));
	for (__u32 i = 0; i < s->count; i++)
		if (!add_sample(c, s, i, form, to))
			return false;
	return to->redundant >= evidence;
}
