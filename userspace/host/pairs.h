/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tells the kernel's programs which streams answer which: their map `pairs`. */
#ifndef USERSPACE_HOST_PAIRS_H
#define USERSPACE_HOST_PAIRS_H

#include "userspace/host/owners.h"

struct live;

struct pair_teller {
	int map;
	void *data; /* the programs' variables, in our memory */
	size_t bytes;
	__u32 *generation; /* pairs_generation of bpf/pairs.h, one of them; NULL: it cannot be had, nothing is told */
	bool news;
};

void pairs_begin(struct pair_teller *t, const struct live *l);
void pairs_end(struct pair_teller *t);

/* If the kernel does not know it, or knows otherwise. */
void pairs_tell(struct pair_teller *t, const struct owner_pair *p);

/* Has streams look again, if there are news. */
void pairs_told(struct pair_teller *t);

#endif
