/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether datagrams are of a format that has a name, as far as their headers tell: by what all of them have (a magic number, a
 * length). A new format of roce/packet/udp_format.def with such a header gets an entry in flow_format.c.
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_FLOW_FORMAT_H
#define USERSPACE_DIAGNOSE_FLOW_FLOW_FORMAT_H

#include "userspace/diagnose/flow/flow_sample.h"

/* What is looked at, and with which result, in a datagram of another format. */
struct format_mismatch {
	char expected[48], found[48];
};

enum format_verdict {
	FORMAT_UNKNOWN, /* its headers do not tell */
	FORMAT_FITS,	/* or a part does: nothing is wrong for certain */
	FORMAT_SWAPPED, /* all fit if the bytes of each word are read in the other order */
	FORMAT_OTHER,
};

/* name: of a format. mismatch: of the first head, filled in unless it fits. */
enum format_verdict format_judge(const char *name, const struct flow_sample *s, struct format_mismatch *mismatch);

/* The format that all datagrams of the sample fit. NULL: none that is known by its headers. */
const char *format_guess(const struct flow_sample *s);

#endif
