/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes into the map `pairs` of the kernel programs which streams answer which. */
#ifndef USERSPACE_OBSERVE_HOST_PAIRS_H
#define USERSPACE_OBSERVE_HOST_PAIRS_H

#include "userspace/observe/host/owners.h"

struct live;

struct pair_writer {
	int map;
	void *data; /* the programs' variables, mapped */
	size_t bytes;
	__u32 *generations; /* pairs_generation (bpf/pairs.h) among them; NULL: not available, and no pair is written */
};

void pairs_begin(struct pair_writer *w, const struct live *l);
void pairs_end(struct pair_writer *w);

/* Writes the pair, unless the kernel has the same one, and makes its streams look for it. */
void pairs_write(struct pair_writer *w, const struct owner_pair *p);

#endif
