/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who asks for whose MAC address (ARP, RFC 826; neighbour discovery, RFC 4861), and who is never answered. */
#ifndef USERSPACE_DIAGNOSE_DOCTOR_NEIGHBOUR_H
#define USERSPACE_DIAGNOSE_DOCTOR_NEIGHBOUR_H

#include "userspace/diagnose/doctor/doctor.h"
#include "userspace/diagnose/finding/index.h"

/* All questions of one address for another. */
struct doctor_neighbour {
	__u8 asker[16], wanted[16]; /* the key of the index */
	__u64 asks; /* since the last answer */
	__u64 frame[FINDING_EVIDENCE]; /* the first of them */
};

/* All zero at first. */
struct neighbours {
	struct index asked;
	__u64 told; /* answers to all hosts */
};

/* Takes a frame that is no RoCE. */
void neighbours_take(struct neighbours *n, const struct doctor_packet *taken);

/* Adds the symptoms of those that answer RoCE, but not to these questions. */
void neighbours_conclude(struct doctor *d);

void neighbours_free(struct neighbours *n);

#endif
