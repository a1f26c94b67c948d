/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Asking the kernel about links and neighbours (rtnetlink). */
#ifndef LIB_NETLINK_H
#define LIB_NETLINK_H

#include <stdbool.h>
#include <stddef.h>

#include <netlink/netlink.h>

/*
 * Sends a request of that type (RTM_GET...; flags: NLM_F_DUMP for all there are) with its header of that size, and hands each
 * message of the answer to `take` with `context`; take returns NL_OK. false: no answer came.
 */
bool netlink_ask(int type, int flags, void *header, size_t size, nl_recvmsg_msg_cb_t take, void *context);

#endif
