/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which explanations of a wrong ICRC give the value that a packet carries. */
#ifndef USERSPACE_DOCTOR_ICRC_TRY_H
#define USERSPACE_DOCTOR_ICRC_TRY_H

#include "userspace/doctor/icrc.h"
#include "userspace/doctor/icrc_recipe.h"

#define EXPLANATION_WORDS (EXPLANATIONS_MOST / 64)

/* Both as the four bytes on the wire, the first one lowest. */
struct icrc_attempt {
	__u32 right, found;
	__u32 behind[ICRC_STEPS]; /* the right register behind IP header, UDP, BTH, extension headers, payload and pad */
	__u32 fitting;		       /* explanations that do */
	__u64 fits[EXPLANATION_WORDS]; /* by their place in the list */
};

void icrc_try(const struct icrc_case *c, struct icrc_attempt *a);

#endif
