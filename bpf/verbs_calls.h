/* SPDX-License-Identifier: GPL-2.0-only */
/* What programs post and poll: probes at the provider's functions, where ibv_post_send() and the like arrive. */
#ifndef BPF_VERBS_CALLS_H
#define BPF_VERBS_CALLS_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/map.h"
#include "bpf/verbs_abi.h"

MAP(verbs_calls, HASH, struct verbs_call_key, struct verbs_calls, VERBS_QPS, BPF_F_NO_PREALLOC);

#endif
