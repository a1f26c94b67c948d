/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tries which explanations of a wrong ICRC give the value on the wire. */
#ifndef USERSPACE_DIAGNOSE_ICRC_ICRC_TRY_H
#define USERSPACE_DIAGNOSE_ICRC_ICRC_TRY_H

#include "userspace/diagnose/icrc/icrc.h"
#include "userspace/diagnose/solver/icrc_recipe.h"

#define EXPLANATION_WORDS (EXPLANATIONS_MOST / 64)

/* right, found: the four bytes on the wire, the first one in the lowest bits. */
struct icrc_attempt {
	__u32 right, found;
	__u32 behind[ICRC_STEPS]; /* the right register after IP header, UDP, BTH, extension headers, payload and pad */
	__u32 fitting;		       /* explanations that give the value */
	__u64 fits[EXPLANATION_WORDS]; /* bit set of their indices */
};

void icrc_try(const struct icrc_case *c, struct icrc_attempt *a);

#endif
