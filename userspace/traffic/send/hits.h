/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which of a plan's faults hit a packet. A set of faults has a bit for each, by its index in the plan. */
#ifndef USERSPACE_TRAFFIC_SEND_HITS_H
#define USERSPACE_TRAFFIC_SEND_HITS_H

#include <stdint.h>

#include "userspace/traffic/send/fault.h"

#define FAULTS_MOST 64

struct hits {
	struct send_fault *faults;
	uint64_t watched; /* faults to check for every packet */
	uint64_t drawn;	  /* faults drawn at random over all packets: their countdown is the number of the next packet to hit */
	uint64_t due;	  /* the lowest of those numbers */
	uint64_t packets; /* packets of all QPs so far */
};

/* The plan has at most FAULTS_MOST faults. Sets their countdowns. random: see fault_random(). */
void hits_start(struct hits *h, const struct send_plan *plan, uint64_t *random);

/* The set of faults that hit this packet. Call it once for every packet. */
uint64_t hits_of(struct hits *h, const struct send_packet *p, uint64_t *random);

/* The first fault of a set, which must not be empty. */
static inline struct send_fault *hits_first(const struct hits *h, uint64_t set)
{
	return &h->faults[__builtin_ctzll(set)];
}

#endif
