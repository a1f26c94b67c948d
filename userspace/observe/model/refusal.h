/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why packets were refused, in words with their numbers. */
#ifndef USERSPACE_OBSERVE_MODEL_REFUSAL_H
#define USERSPACE_OBSERVE_MODEL_REFUSAL_H

#include "bpf/receive_abi.h"

#define REFUSAL_TEXT 256

/* What is known of the receiver. */
struct refusal_receiver {
	const struct receive_settings *settings; /* own, first_qpn and qps; qps is 0 if the QPNs do not follow each other */
	const struct roce_region *region; /* in any order; NULL: not known */
	__u32 regions;
	__u32 path_mtu; /* bytes; 0: not known */
};

/* By enum roce_refusal; that of REFUSAL_NONE is not a refusal. */
extern const char *const refusal_names[ROCE_REFUSALS];
extern const char *const refusal_words[ROCE_REFUSALS];

struct operation_text {
	char text[64];
};

/* 'UC RDMA WRITE Only', or 'opcode 0x1f'. */
struct operation_text operation_text(__u8 opcode);

/*
 * What was wrong with a packet that was refused for this reason: 'rkey 0x1234 is none of the 2 regions'. One line without a
 * full stop. Depends on its arguments alone.
 */
void refusal_text(char text[REFUSAL_TEXT], enum roce_refusal reason, const struct receive_example *e,
		  const struct refusal_receiver *r);

#endif
