// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "userspace/doctor/icrc_study.h"

struct icrc_study *icrc_study_new(void)
{
	return calloc(1, sizeof(struct icrc_study));
}

void icrc_study_free(struct icrc_study *s)
{
	if (!s)
		return;
	for (__u32 i = 0; i < s->count; i++)
		free(s->packet[i].detail);
	free(s);
}

void icrc_study_good(struct icrc_study *s, __u64 packets)
{
	s->good += packets;
}

/* If there is no memory, nothing explains the packet. */
static void keep(struct icrc_studied *to, const struct icrc_attempt *a, const struct flips *f)
{
	if (!a->fitting && !f->count)
		return;
	to->detail = malloc(sizeof(*to->detail));
	if (!to->detail)
		return;
	to->fitting = a->fitting;
	to->detail->flips = *f;
	memcpy(to->detail->fits, a->fits, sizeof(a->fits));
}

void icrc_study_take(struct icrc_study *s, const struct roce_key *stream, const struct icrc_case *c)
{
	struct icrc_attempt a;
	struct flips f;

	if (!s->bad++)
		s->stream = *stream;
	if (s->count == ICRC_STUDIED)
		return;
	icrc_try(c, &a);
	flips_find(c->packet, a.right, a.found, &f);
	s->packet[s->count] = (struct icrc_studied){ .number = c->number, .right = a.right, .found = a.found,
						     .bits = f.bits };
	memcpy(s->packet[s->count].behind, a.behind, sizeof(a.behind));
	keep(&s->packet[s->count++], &a, &f);
}
