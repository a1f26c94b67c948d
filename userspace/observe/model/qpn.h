/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* QPNs as people read them: both notations, since senders' logs have one and `ibv_devinfo`, rdma(8) or Wireshark the other. */
#ifndef USERSPACE_OBSERVE_MODEL_QPN_H
#define USERSPACE_OBSERVE_MODEL_QPN_H

#include <stdio.h>

#include "roce/stream/stream.h"

struct qpn_text {
	char text[sizeof("4294967295 (0xffffffff)")];
};

/* In a sentence, behind "QPN" or "QP": "258 (0x102)". */
static inline struct qpn_text qpn_text(__u32 qpn)
{
	struct qpn_text t;

	snprintf(t.text, sizeof(t.text), "%u (0x%x)", qpn, qpn);
	return t;
}

/* In a table's column "QPN": "258"; of a flow of --udp the port and the flow, "5001/3". */
static inline struct qpn_text qpn_cell(const struct roce_key *key)
{
	struct qpn_text t;

	if (key->kind == KEY_UDP)
		snprintf(t.text, sizeof(t.text), "%u/%u", key->port, key->qpn);
	else
		snprintf(t.text, sizeof(t.text), "%u", key->qpn);
	return t;
}

/* In the column "hex" beside it: "0x102"; of a flow of --udp nothing. */
static inline struct qpn_text qpn_hex_cell(const struct roce_key *key)
{
	struct qpn_text t = { "" };

	if (key->kind != KEY_UDP)
		snprintf(t.text, sizeof(t.text), "0x%x", key->qpn);
	return t;
}

#endif
