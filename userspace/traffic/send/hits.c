// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/traffic/send/hits.h"

static void find_due(struct hits *h)
{
	h->due = UINT64_MAX;
	for (uint64_t left = h->drawn; left; left &= left - 1) {
		const struct send_fault *f = hits_first(h, left);

		if (f->countdown < h->due)
			h->due = f->countdown;
	}
}

static uint64_t drawn_hits(struct hits *h, uint64_t *random)
{
	uint64_t hits = 0;

	for (uint64_t left = h->drawn; left; left &= left - 1) {
		struct send_fault *f = hits_first(h, left);

		if (f->countdown != h->packets)
			continue;
		f->countdown += fault_draw(f, random);
		hits |= left & -left;
	}
	find_due(h);
	return hits;
}

static bool watched_hit(struct send_fault *f, const struct send_packet *p, uint64_t *random)
{
	uint64_t number;

	if (!fault_concerns(f, p, &number))
		return false;
	if (f->p) {
		if (--f->countdown)
			return false;
		f->countdown = fault_draw(f, random);
		return true;
	}
	if (f->at)
		return number == f->at;
	return !f->every || number % f->every == 0;
}

uint64_t hits_of(struct hits *h, const struct send_packet *p, uint64_t *random)
{
	uint64_t hits = 0;

	if (++h->packets == h->due)
		hits = drawn_hits(h, random);
	for (uint64_t left = h->watched; left; left &= left - 1)
		if (watched_hit(hits_first(h, left), p, random))
			hits |= left & -left;
	return hits;
}

/* Faults that count messages, or one QP's packets, are not drawn from all packets. */
static bool is_drawn_from_all(const struct send_fault *f)
{
	struct send_qp qp = { 0 };
	struct send_packet middle = { .qp = &qp, .number = 7, .message = 1 };
	uint64_t number;

	return f->p && f->qp < 0 && fault_concerns(f, &middle, &number) && number == middle.number;
}

void hits_start(struct hits *h, const struct send_plan *plan, uint64_t *random)
{
	*h = (struct hits){ .faults = plan->faults };
	for (size_t i = 0; i < plan->fault_count; i++) {
		struct send_fault *f = &plan->faults[i];

		if (f->p)
			f->countdown = fault_draw(f, random);
		if (is_drawn_from_all(f))
			h->drawn |= 1ull << i;
		else
			h->watched |= 1ull << i;
	}
	find_due(h);
}
