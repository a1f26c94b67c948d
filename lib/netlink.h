/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queries of links and neighbours from the kernel (rtnetlink). */
#ifndef LIB_NETLINK_H
#define LIB_NETLINK_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>
#include <netlink/netlink.h>

struct nlattr;

/*
 * Sends a request, and passes each message of the reply to `take`, which returns NL_OK. type: RTM_GETLINK and the like. flags:
 * NLM_F_DUMP for all entries. header, size: the request's header. false: no reply.
 */
bool netlink_ask(int type, int flags, void *header, size_t size, nl_recvmsg_msg_cb_t take, void *context);

/* The number in an attribute of 32 bits, which may be NULL or too short: 0. */
__u32 netlink_number(const struct nlattr *a);

#endif
