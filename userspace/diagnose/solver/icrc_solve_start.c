// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The parameters beside the polynomial. The equations tell which of the varying fields go in, the final xor, and the register
 * behind the BTH, so far as they are determined. Which start, first byte and masks of the other fields lead to that register is
 * guessed, the usual ones first: many do. The cost of a solution is what is other than it ought to be.
 */
#include <string.h>

#include "userspace/diagnose/solver/icrc_solver.h"

#define LOOSE 16 /* the cost of a value of 32 bits that is none of the usual ones */
#define UNSURE_MOST 6 /* fields of which both is tried */

/* What is known so far. */
struct facts {
	const struct samples *samples;
	const struct candidate *candidate;
	const struct form *form;
	struct linear equations;
	__u32 in, out; /* sets of varying fields that go in as they are sent, and that do not */
	__u32 shown;   /* set of fields of which the packets tell it */
	struct solutions *to;
};

static void add_solution(struct solutions *to, const struct solution *s)
{
	int at = to->count;

	while (at && to->list[at - 1].cost > s->cost)
		at--;
	if (at == SOLUTIONS_MOST)
		return;
	to->count += to->count < SOLUTIONS_MOST;
	memmove(to->list + at + 1, to->list + at, (to->count - 1 - at) * sizeof(*s));
	to->list[at] = *s;
}

__u32 solution_feed(const struct solution *s, const struct solver_layout *l, const __u8 *frame, __u8 *to)
{
	const __u32 begins[] = { 0, l->ip, l->udp, l->bth };
	__u32 lead = s->ones ? LEAD_BYTES : 0, from = begins[s->first];
	__u8 headers[SOLVE_HEADERS];

	memcpy(headers, frame, l->end);
	for (int f = 0; f < SOLVE_COUNT; f++) {
		const struct solver_place *p = &l->place[f];

		for (__u32 at = p->at; s->masked & set_of(f) && at < p->at + p->bytes; at++)
			headers[at] = s->zeroes ? headers[at] & ~place_bits(p, at) : headers[at] | place_bits(p, at);
	}
	memset(to, 0xff, lead);
	memcpy(to + lead, headers + from, l->end - from);
	if (s->refin)
		mirror_bytes(to, lead + l->end - from);
	return lead + l->end - from;
}

/* ---- start and final xor ---- */

static __u32 xor_cost(__u32 xor_out)
{
	return xor_out == ~0u ? 0 : !xor_out ? 1 : LOOSE;
}

/* Adds that a word of the unknowns has this value. false: it has not. */
static bool add_value(struct linear *to, int unknown, __u32 value)
{
	struct linear_word w = {};

	linear_word_times(&w, unknown, 1, 0);
	linear_word_value(&w, value);
	return linear_add_word(to, &w);
}

/* The final xor if that is the register behind the BTH. false: it is not. */
static bool find_xor(const struct facts *k, __u32 behind_bth, __u32 *xor_out)
{
	struct linear l;
	bool low;

	/* quick: most are not */
	if (linear_fixed(&k->equations, UNKNOWN_REGISTER, &low) && low != (behind_bth & 1))
		return false;
	l = k->equations;
	if (!add_value(&l, UNKNOWN_REGISTER, behind_bth))
		return false;
	*xor_out = linear_solve(&l) >> UNKNOWN_XOR;
	if (k->form->refout)
		*xor_out = mirror(*xor_out);
	return true;
}

/* The start that leads to that register. false: there is none (the polynomial lacks x^0). */
static bool find_start(const struct facts *k, const struct solution *s, __u32 behind_bth, __u32 *start)
{
	const struct candidate *c = k->candidate;
	__u8 fed[LEAD_BYTES + SOLVE_HEADERS];
	__u32 count = solution_feed(s, &k->samples->layout, k->samples->list[0].header, fed);
	struct linear_word w = {};
	struct linear l = {};

	linear_word_value(&w, behind_bth ^ candidate_crc(c, 0, fed, count));
	linear_word_times(&w, 0, candidate_power(c, 8 * count), c->polynomial);
	if (!linear_add_word(&l, &w))
		return false;
	*start = linear_solve(&l);
	return true;
}

/*
 * Adds the solutions with a usual start, with the eight bytes in front or without. The register behind them is 0xc704dd7b with
 * the right polynomial; 0xdebb20e3 is the same, reflected.
 */
static void add_usual_starts(const struct facts *k, struct solution s)
{
	static const struct {
		__u32 start, cost;
		bool ones;
	} usual[] = {
		{ ~0u, 0, true }, { SOLVE_BEHIND_ONES, 1, false }, { 0xdebb20e3, 2, false }, { 0, 1, true }, { ~0u, 1, false },
		{ 0, 2, false },
	};
	__u32 cost = s.cost;

	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
		__u8 fed[LEAD_BYTES + SOLVE_HEADERS];
		__u32 count;

		if (usual[i].start == SOLVE_BEHIND_ONES && s.polynomial == SOLVE_POLYNOMIAL)
			continue; /* the first one does the same */
		s.start = usual[i].start;
		s.ones = usual[i].ones;
		count = solution_feed(&s, &k->samples->layout, k->samples->list[0].header, fed);
		if (!find_xor(k, candidate_crc(k->candidate, s.start, fed, count), &s.xor_out))
			continue;
		s.cost = cost + usual[i].cost + xor_cost(s.xor_out);
		add_solution(k->to, &s);
	}
}

/* Adds the solution whose start follows from the register behind the BTH, with and without the eight bytes in front. */
static void add_start_for(const struct facts *k, struct solution s, __u32 behind_bth)
{
	struct solution bare = s;

	s.ones = true;
	bare.ones = false;
	if (!find_xor(k, behind_bth, &s.xor_out) || !find_start(k, &s, behind_bth, &s.start) ||
	    !find_start(k, &bare, behind_bth, &s.bare_start))
		return;
	s.loose = true;
	s.cost += LOOSE + xor_cost(s.xor_out);
	add_solution(k->to, &s);
}

/* Adds the solutions with any start. Where the equations leave room: that with a usual xor, else up to four of them. */
static void add_any_start(const struct facts *k, const struct solution *s)
{
	static const __u32 usual[] = { ~0u, 0 };
	__u32 free[2];
	int count;

	for (int i = 0; i < 2; i++) {
		struct linear l = k->equations;

		if (!add_value(&l, UNKNOWN_XOR, usual[i]))
			continue;
		add_start_for(k, *s, linear_solve(&l) >> UNKNOWN_REGISTER);
		return;
	}
	count = linear_free(&k->equations, free, 2);
	for (int choice = 0; choice < 1 << count; choice++) {
		struct linear l = k->equations;

		for (int i = 0; i < count; i++)
			linear_add(&l, linear_one(free[i]) | linear_value(choice >> i & 1));
		add_start_for(k, *s, linear_solve(&l) >> UNKNOWN_REGISTER);
	}
}

/* ---- the first byte and the masks ---- */

/* Whether the field is sent as it would be if it were masked. */
static bool has_filler(const struct samples *s, enum solve_field f, bool zeroes)
{
	const struct solver_place *p = &s->layout.place[f];

	for (__u32 at = p->at; at < p->at + p->bytes; at++)
		if ((s->list[0].header[at] ^ (zeroes ? 0 : 0xff)) & place_bits(p, at))
			return false;
	return true;
}

/* Fields that ought to be masked and never change: whether they are masked shows in the start only. */
static __u32 find_open(const struct samples *s, __u32 to_mask, bool zeroes)
{
	__u32 set = 0;

	for (int f = 0; f < SOLVE_COUNT; f++)
		if (!has_filler(s, f, zeroes))
			set |= set_of(f);
	return set & to_mask & ~s->varies;
}

static __u32 find_present(const struct solver_layout *l)
{
	__u32 set = 0;

	for (int f = 0; f < SOLVE_COUNT; f++)
		set |= l->place[f].bytes ? set_of(f) : 0;
	return set;
}

/* Adds the solutions that begin with this header. */
static void add_first(const struct facts *k, enum solve_first first)
{
	const struct samples *samples = k->samples;
	struct solution s = {
		.polynomial = k->candidate->polynomial, .refin = k->form->refin, .refout = k->form->refout,
		.swapped = k->form->swapped, .first = first, .shown = k->shown,
	};
	__u32 before = set_before(first), to_mask = set_to_mask() & ~before & find_present(&samples->layout);
	__u32 wrong = (k->in & to_mask) | (k->out & ~to_mask & ~before);

	if (k->in & before || (first == FIRST_UDP && samples->layout.udp == samples->layout.bth))
		return;
	for (int zeroes = 0; zeroes < 2; zeroes++) {
		__u32 open = find_open(samples, to_mask, zeroes);

		s.zeroes = zeroes;
		s.in_start = open | (samples->varies & ~k->shown & ~before);
		for_each_subset(sent, open) {
			s.masked = (k->out & ~before) | (to_mask & ~k->in & ~sent);
			s.cost = __builtin_popcount(wrong) + (first != FIRST_IP) + zeroes + __builtin_popcount(sent);
			if (zeroes && !s.masked)
				break; /* the same with ones */
			add_usual_starts(k, s);
			if (!zeroes && !sent)
				add_any_start(k, &s);
		}
	}
}

/* ---- the fields that vary ---- */

/*
 * Which of them go in. Returns those of which the packets do not tell: lengths, if there are two of them only, may be in the start
 * as well.
 */
static __u32 read_fields(struct facts *k)
{
	__u32 unsure = 0;

	for (int f = 0; f < SOLVE_COUNT; f++) {
		bool goes_in;

		if (!(k->samples->varies & set_of(f)))
			continue;
		if (!linear_fixed(&k->equations, UNKNOWN_FIELD + f, &goes_in))
			unsure |= set_of(f);
		else
			*(goes_in ? &k->in : &k->out) |= set_of(f);
	}
	k->shown = k->in | k->out;
	return unsure;
}

/* Takes it that these of the unsure fields go in, and the others do not. */
static void add_fields(const struct facts *known, __u32 in, __u32 unsure)
{
	struct facts k = *known;

	for (int f = 0; f < SOLVE_COUNT; f++)
		if (unsure & set_of(f) &&
		    !linear_add(&k.equations, linear_one(UNKNOWN_FIELD + f) | linear_value(in & set_of(f))))
			return;
	k.in |= in;
	k.out |= unsure & ~in;
	for (int first = FIRST_ETHERNET; first <= FIRST_BTH; first++)
		add_first(&k, first);
}

void solutions_find(struct solutions *to, const struct samples *s, const struct candidate *c, const struct form *form,
		    const struct linear *equations)
{
	struct solution list[SOLUTIONS_MOST];
	struct solutions found = { .list = list };
	struct facts k = { .samples = s, .candidate = c, .form = form, .equations = *equations, .to = &found };
	__u32 unsure = read_fields(&k);

	if (__builtin_popcount(unsure) > UNSURE_MOST) {
		add_fields(&k, unsure & ~set_to_mask(), unsure);
	} else {
		for_each_subset(in, unsure)
			add_fields(&k, in, unsure);
	}
	for (int i = 0; i < found.count && list[i].cost == list[0].cost; i++)
		add_solution(to, &list[i]);
}
