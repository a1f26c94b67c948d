/* SPDX-License-Identifier: GPL-2.0-only */
/* QPs as the kernel knows them: at functions of ib_core, none of which is in a data path. */
#ifndef BPF_VERBS_QPS_H
#define BPF_VERBS_QPS_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/map.h"
#include "bpf/verbs_abi.h"

MAP(verbs_qps, HASH, struct verbs_qp_key, struct verbs_kernel_qp, VERBS_QPS, BPF_F_NO_PREALLOC);

#endif
