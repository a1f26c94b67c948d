/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fault.def as a table. */
#ifndef USERSPACE_SEND_FAULT_KINDS_H
#define USERSPACE_SEND_FAULT_KINDS_H

#include "userspace/send/fault.h"

/* What a fault needs in the plan. */
enum {
	NEEDS_IPV4 = 1 << 0,
	NEEDS_IPV6 = 1 << 1,
	NEEDS_PAD = 1 << 2,	  /* payload that is not a multiple of 4 */
	NEEDS_RETH = 1 << 3,
	NEEDS_IMM = 1 << 4,
	NEEDS_REQUEST = 1 << 5,	  /* UC or RC */
	NEEDS_CONNECTED = 1 << 6, /* no datagrams */
};

struct fault_row {
	const char *name; /* with _ for - */
	enum fault_unit unit;
	enum fault_stage stage;
	unsigned int needs;
	const char *keys;
};

extern const struct fault_row fault_rows[FAULT_KINDS];

#endif
