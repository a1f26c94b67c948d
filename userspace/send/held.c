// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "userspace/send/held.h"

bool held_add(struct send_qp *qp, const struct packet *p, const struct packet *before, uint64_t faults, uint64_t due)
{
	struct held **at = &qp->held, *h = malloc(sizeof(*h));

	if (!h)
		return false;
	if (qp->held && qp->held_last->due <= due) /* usually it belongs at the end: skip the search */
		at = &qp->held_last->next;
	while (*at && (*at)->due <= due)
		at = &(*at)->next;
	*h = (struct held){ .next = *at, .due = due, .packet = *p, .faults = faults };
	if (before)
		h->before = *before;
	*at = h;
	if (!h->next)
		qp->held_last = h;
	return true;
}

struct held *held_due(struct send_qp *qp, uint64_t number)
{
	struct held *h = qp->held;

	if (!h || h->due > number)
		return NULL;
	qp->held = h->next;
	return h;
}
