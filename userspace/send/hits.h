/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which of a plan's faults hit a packet. Sets of faults are a bit each, by their index in the plan. */
#ifndef USERSPACE_SEND_HITS_H
#define USERSPACE_SEND_HITS_H

#include <stdint.h>

#include "userspace/send/fault.h"

#define FAULTS_MOST 64

struct hits {
	struct fault *faults;
	uint64_t watched; /* have to be looked at for every packet */
	uint64_t drawn;	  /* at random over all packets: their countdown is the packet they hit next */
	uint64_t due;	  /* the earliest of those packets */
	uint64_t packets; /* until now, of all QPs */
};

/* At most FAULTS_MOST of the plan's faults; their countdowns are set. random: see fault_random(). */
void hits_start(struct hits *h, const struct plan *plan, uint64_t *random);

/* The next packet; to be called for each. */
uint64_t hits_of(struct hits *h, const struct packet *p, uint64_t *random);

/* The first fault of a set that is not empty. */
static inline struct fault *hits_first(const struct hits *h, uint64_t set)
{
	return &h->faults[__builtin_ctzll(set)];
}

#endif
