// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host of an RNIC: what the kernel does with QPs (bpf/verbs_qps.h), and what programs post and poll (bpf/verbs_calls.h).
 * Without either half the other one works.
 */
#include "bpf/verbs_qps.h"
#include "bpf/verbs_calls.h"

char LICENSE[] SEC("license") = "GPL";
