/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --expect FILE: connections that are known beforehand, one a line:
 *
 *     # a comment
 *     10.9.0.1 qpn 17 psn 0x100 <-> 10.9.0.2 qpn 18 psn 0 mtu 4096
 *     fd00::1 qpn 0x21 <-> fd00::2 qpn 0x22
 *
 * psn: with which the requests of that end begin. psn and mtu may be left out. Numbers are decimal, or hexadecimal with 0x.
 */
#ifndef USERSPACE_MODEL_EXPECT_H
#define USERSPACE_MODEL_EXPECT_H

#include "roce/pair.h"

struct expected_pair {
	struct roce_pair_key key;
	struct roce_pair pair;
	unsigned int line;
};

/* Two pairs a connection. */
struct expected {
	struct expected_pair *entries;
	size_t count;
};

/*
 * Returns EXIT_RAN, or says in one line what is wrong and returns EXIT_USAGE (of what stands there) or EXIT_COULD_NOT (it
 * cannot be read). To be freed in any case.
 */
int expect_read(const char *path, struct expected *e);

void expect_free(struct expected *e);

#endif
