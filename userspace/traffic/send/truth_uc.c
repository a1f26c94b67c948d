// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/traffic/send/truth_uc.h"

/* Whether the packet is farther in the sequence than all before it, or starts it again. */
static bool newest(const struct truth_part *p)
{
	return p->arrival == IN_ORDER || p->arrival == AFTER_GAP || p->arrival == ELSEWHERE;
}

/* A message is under way whose First was not seen. It does not count. */
void truth_uc_start(struct truth_uc *u)
{
	*u = (struct truth_uc){ .unended = true, .more = UINT64_MAX };
}

void truth_uc_restart(struct truth_uc *u)
{
	u->late = false;
	u->unended = u->open;
	u->more = UINT64_MAX;
}

/* The receiver drops its open message. */
static void give_up(struct truth_uc *u)
{
	if (u->open && !u->late)
		u->broken++;
	u->open = false;
}

/* How many packets follow a First, by its DMA length. */
static uint64_t following(const struct truth_part *p)
{
	if (!(p->op & OP_RETH) || !p->dma_length || !p->payload_bytes)
		return UINT64_MAX;
	return (p->dma_length - 1) / p->payload_bytes;
}

void truth_uc_first(struct truth_uc *u, const struct truth_part *p)
{
	bool only = p->op & OP_LAST;
	uint32_t behind = (p->psn + 1) & TRUTH_PSN_MASK;

	/* else it is a duplicate of the open message's First */
	if (only || !u->open || !u->only_first || u->expected != behind) {
		give_up(u);
		u->open = u->only_first = !only;
		u->messages += only;
		u->late = !newest(p);
		u->expected = behind;
	}
	if (newest(p)) {
		u->unended = !only;
		u->first = p->position;
		u->more = following(p);
	} else if (!only && u->more == UINT64_MAX && following(p) != UINT64_MAX &&
		   p->newest - p->position <= following(p)) {
		u->first = p->position; /* the First of the newest message */
		u->more = following(p);
	}
}

void truth_uc_mismatch(struct truth_uc *u, const struct truth_part *p)
{
	bool another;

	give_up(u);
	if (!newest(p))
		return;
	another = !u->unended || (p->arrival != IN_ORDER && p->position - u->first > u->more);
	if (another) {
		u->broken++;
		u->more = UINT64_MAX;
	}
	u->unended = !(p->op & OP_LAST);
}
