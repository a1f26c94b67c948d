/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --expect FILE: connections that are known beforehand, one per line:
 *
 *     # a comment
 *     10.9.0.1 qpn 17 psn 0x100 <-> 10.9.0.2 qpn 18 psn 0 mtu 4096
 *     fd00::1 qpn 0x21 <-> fd00::2 qpn 0x22
 *
 * psn: the first PSN of that end's requests. psn and mtu are optional. Numbers are decimal, or hexadecimal with 0x.
 */
#ifndef USERSPACE_OBSERVE_MODEL_EXPECT_H
#define USERSPACE_OBSERVE_MODEL_EXPECT_H

#include "roce/packet/pair.h"

struct expected_pair {
	struct roce_pair_key key;
	struct roce_pair pair;
	unsigned int line;
};

/* Two pairs per connection. */
struct expected {
	struct expected_pair *entries;
	size_t count;
};

/*
 * Reads the file. On error prints one line and returns EXIT_USAGE (wrong content) or EXIT_COULD_NOT (not readable); else
 * EXIT_RAN. Free `e` in any case.
 */
int expect_read(const char *path, struct expected *e);

void expect_free(struct expected *e);

#endif
