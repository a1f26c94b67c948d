/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --group: streams of requests by what an operator calls them, e.g. four QPs to an antenna, and their counters summed up. */
#ifndef USERSPACE_OBSERVE_MODEL_GROUP_H
#define USERSPACE_OBSERVE_MODEL_GROUP_H

#include "lib/address.h"
#include "userspace/observe/model/snapshot.h"

#define GROUP_NAME 32

enum group_of { GROUP_NONE, GROUP_QPN, GROUP_VLAN, GROUP_DSCP, GROUP_PORT, GROUP_SRC, GROUP_DST };

/* --group NAME=OF or NAME=OF/N, OF%N, OF>>N, OF&N. All zero: there is none. */
struct group_rule {
	char name[GROUP_NAME]; /* letters, digits and _, no digit first: a label of Prometheus */
	enum group_of of;
	char operation; /* '/', '%', '>', '&'; 0: the value itself */
	__u32 operand;
};

struct group {
	__u8 value[16]; /* an address, or a number, big-endian in the last bytes */
	size_t streams;
	struct roce_counters sum;
};

/* Reads --group. Returns NULL, or what is wrong. */
const char *group_parse(const char *text, struct group_rule *rule);

/* What a group is called. */
struct group_text {
	char text[INET6_ADDRSTRLEN];
};

struct group_text group_text(const struct group_rule *rule, const struct group *g);

/*
 * The groups of a finished snapshot, by their values: of streams of requests that are in the totals, and that are shown. The caller
 * frees them. NULL: no memory, or none.
 */
struct group *group_make(const struct group_rule *rule, const struct snapshot *s, size_t *count);

/* The counters that views show of a group, in this order. */
extern const enum roce_counter group_counters[];
extern const size_t group_counter_count;

#endif
