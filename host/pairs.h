/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tells the kernel's programs which streams answer which: their map `pairs`. */
#ifndef HOST_PAIRS_H
#define HOST_PAIRS_H

#include "host/owners.h"

struct live;

struct pair_teller {
	int map;	     /* -1: none */
	__u32 *generation;   /* pairs_generation of bpf/pairs.h, in the programs' memory; NULL: not found */
	bool news;
};

void pairs_find_map(struct pair_teller *t, const struct live *l);

/* If the kernel does not know it, or knows otherwise. */
void pairs_tell(struct pair_teller *t, const struct owner_pair *p);

/* Has streams look again, if there are news. */
void pairs_told(struct pair_teller *t);

#endif
