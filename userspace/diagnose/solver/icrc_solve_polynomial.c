// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is common to the differences of packets. A packet and its register add up to a multiple of the polynomial, but for start,
 * final xor, and fields that do not go in. The difference of two packets of one length has neither start nor xor; what else is
 * unknown is eliminated as in a system of linear equations.
 */
#include <string.h>

#include "userspace/diagnose/solver/icrc_solver.h"

#define COLUMNS (SOLVE_COUNT + 1)
#define COLUMN_XOR SOLVE_COUNT /* the last one: its polynomials are long */

/* The polynomial divides known + the sum of (unknown * column). */
struct polynomial_row {
	struct poly column[COLUMNS], known;
};
#define POLYNOMIALS (COLUMNS + 1)

/* The bits of the field in which samples i and i + 1 differ. The others of the headers are 0. */
static struct poly field_of(struct samples *s, enum solve_field f, __u32 i, bool refin)
{
	__u8 *headers = arena_take(&s->arena, s->layout.end);

	if (!headers || !samples_add_difference(s, f, i, i + 1, headers))
		return (struct poly){};
	if (refin)
		mirror_bytes(headers, s->layout.end);
	return poly_of_bytes(&s->arena, headers, s->layout.end);
}

/*
 * Samples i and i + 1, neighbours in length. They are lined up at their headers: zeroes follow the shorter one's ICRC. So the
 * register behind the headers cancels; the final xor only where they have the same length.
 */
static bool make_row(struct samples *s, __u32 i, const struct form *form, const struct solver_plan *plan,
		     struct polynomial_row *row)
{
	__u32 count = s->layout.end + s->most + ICRC_BYTES;
	__u8 *bytes = arena_take(&s->arena, count);

	memset(row, 0, sizeof(*row));
	if (!bytes)
		return false;
	for (int f = 0; f < SOLVE_COUNT; f++)
		if (plan->in & set_of(f))
			samples_add_difference(s, f, i, i + 1, bytes);
	if (form->refin)
		mirror_bytes(bytes, s->layout.end);
	for (int k = 0; k < 2; k++) {
		const struct solver_sample *p = &s->list[i + k];
		__u32 value = form_register(form, p->found);

		for (__u32 at = 0; at < p->bytes; at++)
			bytes[s->layout.end + at] ^= p->rest[form->refin][at];
		for (int at = 0; at < ICRC_BYTES; at++)
			bytes[s->layout.end + p->bytes + at] ^= value >> (24 - 8 * at);
	}
	row->known = poly_of_bytes(&s->arena, bytes, count);
	for (int f = 0; f < SOLVE_COUNT; f++)
		if (!((plan->in | plan->out) & set_of(f)))
			row->column[f] = field_of(s, f, i, form->refin);
	if (s->list[i].bytes != s->list[i + 1].bytes)
		row->column[COLUMN_XOR] = poly_of_two(&s->arena, 8 * (s->most - s->list[i].bytes),
						      8 * (s->most - s->list[i + 1].bytes));
	return true;
}

/*
 * Makes the column 0 in all rows but one, which is dropped: Euclid's algorithm with rows. As rows are only added, what is known
 * gets no factor that it had not.
 */
static void eliminate(struct arena *a, struct polynomial_row *rows, __u32 *count, int column)
{
	__u32 last = *count; /* the latest one that is not 0 there */

	for (__u32 i = 0; i < *count; i++) {
		if (!rows[i].column[column].bits)
			continue;
		if (last < *count)
			poly_euclid(a, rows[i].column, rows[last].column, POLYNOMIALS, column);
		last = i;
	}
	if (last < *count && !a->full)
		rows[last] = rows[--*count];
}

#define ROWS_LEFT 3 /* with fewer, the common divisor often has other factors as well */

/* Rows of one length come without an unknown xor. If there are enough of them, the others are left out. */
static __u32 make_rows(struct samples *s, const struct form *form, const struct solver_plan *plan,
		       struct polynomial_row rows[SOLVE_PACKETS])
{
	int least = ROWS_LEFT + __builtin_popcount(s->varies & ~plan->in & ~plan->out), same = 0;
	__u32 count = 0;

	for (__u32 i = 0; i + 1 < s->count; i++)
		same += s->list[i].bytes == s->list[i + 1].bytes;
	for (__u32 i = 0; i + 1 < s->count; i++)
		if (same < least || s->list[i].bytes == s->list[i + 1].bytes)
			count += make_row(s, i, form, plan, &rows[count]);
	return count;
}

struct poly common_divisor(struct samples *s, const struct form *form, const struct solver_plan *plan, bool *enough)
{
	struct polynomial_row rows[SOLVE_PACKETS];
	struct poly common = {};
	__u32 count = make_rows(s, form, plan, rows);

	for (int c = 0; c < COLUMNS; c++)
		eliminate(&s->arena, rows, &count, c);
	*enough = count >= ROWS_LEFT && !s->arena.full;
	if (count < 2)
		return common;
	common = rows[0].known;
	for (__u32 i = 1; i < count && (i == 1 || common.bits > 32); i++)
		common = poly_gcd(&s->arena, &common, &rows[i].known);
	return common;
}
