/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* roce_observe() as programs for kernels without bpf_loop() have it (ROCE_HAS_LOOP). */
#ifndef TESTS_SUPPORT_OBSERVE_OLD_H
#define TESTS_SUPPORT_OBSERVE_OLD_H

#include "roce/observe.h"

void observe_old(struct roce_stream *s, struct roce_packet *p, enum icrc_verdict icrc, __u64 now,
		 const struct roce_peer_info *info);

#endif
