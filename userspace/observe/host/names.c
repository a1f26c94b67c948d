// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/observe/host/host.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char *name(const char *const *names, size_t count, size_t i)
{
	return i < count && names[i] ? names[i] : "?";
}

const char *const host_priority_names[PRIORITY_COUNTS] = {
	[PRIORITY_RX_PAUSE] = "rx_pause", [PRIORITY_TX_PAUSE] = "tx_pause", [PRIORITY_DISCARDS] = "discards",
	[PRIORITY_MARKED] = "marked",
};

/* include/rdma/ib_verbs.h, enum ib_qp_type */
const char *host_type_name(__u8 type)
{
	static const char *const names[] = { "SMI", "GSI", "RC", "UC", "UD", "RAW_IPV6", "RAW_ETHERTYPE", [8] = "RAW_PACKET",
					     "XRC_INI", "XRC_TGT" };

	return name(names, ARRAY_SIZE(names), type);
}

/* enum ib_qp_state */
const char *host_state_name(__u8 state)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

	return state == HOST_QP_GONE ? "GONE" : name(names, ARRAY_SIZE(names), state);
}
