/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a receiver told its senders: the line that `rocescope receive --tell` or `rdma_stream recv --tell` wrote (docs/json.md,
 * "What a receiver tells").
 */
#ifndef USERSPACE_OBSERVE_MODEL_ENDPOINT_H
#define USERSPACE_OBSERVE_MODEL_ENDPOINT_H

#include "bpf/receive_abi.h"
#include "lib/rdma_end.h"

#define ENDPOINT_UNKNOWN UINT32_MAX

struct endpoint {
	struct rdma_end end; /* the QPs ascend by QPN, and have regions in which they may write to any address */
	struct receive_settings settings; /* its address and QPNs for refusal_text(); qps is 0 if the QPNs do not follow each other */
	struct roce_region *region; /* ascending by rkey, none twice; its `at` is not known */
	__u32 regions;
	__u32 receive_bytes; /* of a SEND's buffer; 0: none; ENDPOINT_UNKNOWN */
	__u32 receives; /* that are posted for the first SENDs; ENDPOINT_UNKNOWN */
	bool reads; /* it serves READs of its regions */
	__u16 pkey;
	bool has_peer;
	__u8 peer[16]; /* the address from which it takes packets */
};

/*
 * Takes the JSON object. false: it is not what a receiver tells, and `e` is empty; `why` (CONTROL_WHY bytes) names the member.
 */
bool endpoint_parse(const json_t *message, struct endpoint *e, char *why);

/*
 * Reads the first line of the file. On error prints one line and returns EXIT_USAGE (wrong content) or EXIT_COULD_NOT (not
 * readable); else EXIT_RAN. Free `e` in any case.
 */
int endpoint_read(const char *path, struct endpoint *e);

void endpoint_free(struct endpoint *e);

/* NULL: the receiver has no such QP; no region has the rkey. */
const struct rdma_qp_address *endpoint_qp(const struct endpoint *e, __u32 qpn);
const struct roce_region *endpoint_region(const struct endpoint *e, __u32 rkey);

#endif
