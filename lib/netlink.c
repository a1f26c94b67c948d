// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <netlink/attr.h>

#include "lib/netlink.h"

__u32 netlink_number(const struct nlattr *a)
{
	return a && nla_len(a) >= (int)sizeof(__u32) ? nla_get_u32(a) : 0;
}

bool netlink_ask(int type, int flags, void *header, size_t size, nl_recvmsg_msg_cb_t take, void *context)
{
	struct nl_sock *socket = nl_socket_alloc();
	bool answered;

	if (!socket)
		return false;
	nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, take, context);
	answered = !nl_connect(socket, NETLINK_ROUTE) && nl_send_simple(socket, type, flags, header, size) >= 0 &&
		   nl_recvmsgs_default(socket) >= 0;
	nl_socket_free(socket);
	return answered;
}
