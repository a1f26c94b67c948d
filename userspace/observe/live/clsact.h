/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Our filter of an interface's clsact qdisc. It takes the place of a link for outgoing frames, which kernels before 6.6 do not have.
 * It stays when its process is killed.
 */
#ifndef USERSPACE_OBSERVE_LIVE_CLSACT_H
#define USERSPACE_OBSERVE_LIVE_CLSACT_H

#include <linux/types.h>
#include <stdbool.h>

/* Adds the qdisc. 0 or an errno; EEXIST: there is one. */
int clsact_add(unsigned int ifindex);

/* Attaches the program to the qdisc, instead of a filter that an earlier process left. 0 or an errno. */
int clsact_attach(unsigned int ifindex, int program);

/* Removes our filter, of whatever process. qdisc: the qdisc as well. */
void clsact_remove(unsigned int ifindex, bool qdisc);

/* The id of our filter's program, of whatever process. 0: there is none. */
__u32 clsact_program(unsigned int ifindex);

/* Whether the filter is that of another rocescope that shares the interface. */
bool clsact_is_anothers(unsigned int ifindex);

#endif
