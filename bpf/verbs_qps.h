/* SPDX-License-Identifier: GPL-2.0-only */
/* QPs as the kernel knows them: at functions of ib_core, none of which is in a data path. */
#ifndef BPF_VERBS_QPS_H
#define BPF_VERBS_QPS_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/map.h"
#include "bpf/verbs_abi.h"

/* Kept while its QP exists. The calls look it up when they meet a QP; without the kernel's half it is empty. */
MAP(verbs_births, HASH, struct verbs_birth_key, struct verbs_birth, VERBS_QPS, BPF_F_NO_PREALLOC);
MAP(verbs_qps, HASH, struct verbs_qp_key, struct verbs_kernel_qp, VERBS_QPS, BPF_F_NO_PREALLOC);

/* device: of VERBS_COMM bytes, all zero behind its end. NULL: unknown to the kernel's half. */
static __always_inline const struct verbs_birth *verbs_birth_of(const char *device, __u32 pid, __u32 qpn)
{
	struct verbs_birth_key key = { .pid = pid, .qpn = qpn };

	__builtin_memcpy(key.device, device, sizeof(key.device));
	return bpf_map_lookup_elem(&verbs_births, &key);
}

#endif
