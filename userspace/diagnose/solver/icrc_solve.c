// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which polynomials are tried: the well-known ones, then those that divide the common divisor. icrc_solver.h has an overview. */
#include <stdlib.h>

#include "userspace/diagnose/solver/icrc_solver.h"

#define ARENA_BYTES (16 << 20)

/* Known as CRCs, or what becomes of these by a bit order that is mistaken (catalogue of CRC RevEng). */
static const struct {
	__u32 polynomial;
	const char *name;
} known[] = {
	{ SOLVE_POLYNOMIAL, "Ethernet" },
	{ 0x1edc6f41, "CRC-32C" },
	{ 0xedb88320, "0x04c11db7 with its bits in the other order" },
	{ 0x82f63b78, "CRC-32C with its bits in the other order" },
	{ 0xdb710641, "the reciprocal of 0x04c11db7" },
	{ 0x05ec76f1, "the reciprocal of CRC-32C" },
	{ 0x741b8cd7, "CRC-32K" },
	{ 0x814141ab, "CRC-32Q" },
	{ 0xa833982b, "CRC-32D" },
	{ 0xf4acfb13, "CRC-32/AUTOSAR" },
	{ 0x8001801b, "CRC-32/CD-ROM-EDC" },
	{ 0x000000af, "CRC-32/XFER" },
};
#define KNOWN (sizeof(known) / sizeof(*known))

const char *polynomial_name(__u32 polynomial)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (known[i].polynomial == polynomial)
			return known[i].name;
	return NULL;
}

/* Equations that must hold by themselves, beyond those that determine unknowns, each a chance of one in two. */
#define EVIDENCE_KNOWN 64
#define EVIDENCE 96

struct search {
	struct samples samples;
	struct candidate candidate;
	struct solutions found;
};

static bool try_polynomial(struct search *s, const struct form *form, __u32 polynomial, __u32 evidence)
{
	struct linear equations;

	candidate_make(&s->candidate, &s->samples, polynomial, form->refin);
	if (!candidate_fits(&s->candidate, &s->samples, form, evidence, &equations))
		return false;
	solutions_find(&s->found, &s->samples, &s->candidate, form, &equations);
	return true;
}

static void try_known(struct search *s)
{
	for (size_t k = 0; k < KNOWN; k++)
		for (int i = 0; i < FORMS; i++) {
			struct form form = form_of(i);

			try_polynomial(s, &form, known[k].polynomial, EVIDENCE_KNOWN);
		}
}

/* ---- divisors ---- */

#define FACTOR_BITS 20 /* most bits of another factor that the common divisor may have */

/* x / y, and the remainder. y is not 0. */
static __u64 divide(__u64 x, __u64 y, __u64 *rest)
{
	int top = 63 - __builtin_clzll(y);
	__u64 quotient = 0;

	while (x >> top) {
		int shift = 63 - __builtin_clzll(x) - top;

		quotient |= 1ull << shift;
		x ^= y << shift;
	}
	*rest = x;
	return quotient;
}

/* The polynomial is the common divisor without a few small factors: tries all that there can be. */
static void try_divisors(struct search *s, const struct form *form, const struct poly *common)
{
	__u32 zeroes = poly_zeroes(common), bits = common->bits - zeroes;
	__u64 odd = 0;

	if (bits > 33 + FACTOR_BITS)
		return;
	for (__u32 i = 0; i < bits; i++)
		odd |= (__u64)(common->word[(zeroes + i) / 64] >> (zeroes + i) % 64 & 1) << i;
	/* a polynomial without x^0 is a mistake, but somebody's */
	for (__u32 even = 0; even <= zeroes && even < 32; even++) {
		int degree = (int)bits - 1 - 32 + (int)even;

		if (degree < 0 || degree > FACTOR_BITS)
			continue;
		for (__u64 factor = 1ull << degree; factor < 2ull << degree; factor++) {
			__u64 rest, quotient = divide(odd, factor, &rest);

			if (!rest && try_polynomial(s, form, quotient << even, EVIDENCE))
				return;
		}
	}
}

/* Returns whether there were enough packets. */
static bool try_plan(struct search *s, const struct solver_plan *plan)
{
	struct arena *a = &s->samples.arena;
	size_t used = a->used;
	bool enough = true;

	for (int i = 0; i < FORMS; i++) {
		struct form form = form_of(i);
		struct poly common = common_divisor(&s->samples, &form, plan, &enough);

		if (common.bits > 32 && !a->full)
			try_divisors(s, &form, &common);
		a->used = used;
		a->full = false;
	}
	return enough;
}

/*
 * Each unknown field costs a packet. If there are too few, only what ought to be masked is unknown, with each header at which
 * the CRC may begin; and then with one field more that is masked.
 */
static void try_plans(struct search *s)
{
	struct solver_plan plan = {};

	if (try_plan(s, &plan))
		return;
	for (int first = FIRST_ETHERNET; !s->found.count && first <= FIRST_BTH; first++) {
		plan.out = set_before(first);
		plan.in = ~set_to_mask() & ~plan.out;
		try_plan(s, &plan);
		for (int f = 0; !s->found.count && f < SOLVE_COUNT; f++) {
			struct solver_plan more = { plan.in & ~set_of(f), plan.out | set_of(f) };

			if (s->samples.varies & plan.in & set_of(f))
				try_plan(s, &more);
		}
	}
}

int solve(const struct solve_packet *packets, size_t count, struct solution found[SOLUTIONS_MOST])
{
	struct search s = {
		.samples.arena = { .words = malloc(ARENA_BYTES), .room = ARENA_BYTES / 8 }, .found.list = found,
	};

	if (count && s.samples.arena.words && samples_read(&s.samples, packets, count)) {
		try_known(&s);
		if (!s.found.count)
			try_plans(&s);
	}
	free(s.samples.arena.words);
	return s.found.count;
}

/* ---- what a solution says ---- */

bool solution_is_right(const struct solution *s)
{
	return !s->cost && s->polynomial == SOLVE_POLYNOMIAL && s->refin && s->refout && !s->swapped;
}

__u32 solution_icrc(const struct solution *s, const struct solve_packet *p)
{
	struct candidate c = { .polynomial = s->polynomial };
	__u8 fed[LEAD_BYTES + SOLVE_HEADERS];
	struct solver_layout l;
	__u32 r;

	layout_find(&l, p);
	candidate_make_table(&c);
	r = candidate_crc(&c, s->start, fed, solution_feed(s, &l, p->frame, fed));
	for (__u32 at = l.end; at < p->icrc; at++) {
		__u8 byte = s->refin ? crc_reverse_bits(p->frame[at]) : p->frame[at];

		r = candidate_crc(&c, r, &byte, 1);
	}
	r = (s->refout ? mirror(r) : r) ^ s->xor_out;
	return s->swapped ? __builtin_bswap32(r) : r;
}
