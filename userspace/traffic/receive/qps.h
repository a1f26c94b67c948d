/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The queue pairs of a receiver, in the memory that it shares with the kernel's program. */
#ifndef USERSPACE_TRAFFIC_RECEIVE_QPS_H
#define USERSPACE_TRAFFIC_RECEIVE_QPS_H

#include <stdbool.h>

#include "bpf/receive_abi.h"
#include "userspace/traffic/receive/setup.h"

/*
 * Arms the QP: from now on it takes packets. r: what responder.h says that whoever arms it sets; posted: receives. Its counters
 * begin at 0. false: the kernel's program holds it for longer than a packet takes.
 */
bool receive_qp_arm(struct receive_qp *q, const struct roce_responder *r, __u64 posted);

/* The QP takes nothing any more. Its counters stay. A message that is open is incomplete, without a record. Returns as above. */
bool receive_qp_reset(struct receive_qp *q);

/* Frees a QP that a killed process was arming. Call when no other process arms QPs. */
void receive_qp_recover(struct receive_qp *q);

/*
 * The responder of a QP, RESPONDER_READY. peer_qpn: where its answers go. expected: first PSN. receive_bytes: of the buffers of
 * SENDs, 0: none. path_mtu: bytes.
 */
struct roce_responder receive_responder(const struct receive_setup *s, __u32 qp, const __u8 peer[16], enum rdma_service service,
					__u32 peer_qpn, __u32 expected, __u32 path_mtu, __u32 receive_bytes);

/* Receives to post on a QP with buffers of so many bytes (0: none): as many as have a buffer each. */
__u64 receive_receives(const struct receive_setup *s, __u32 receive_bytes);

#endif
