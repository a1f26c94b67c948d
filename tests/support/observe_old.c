// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define ROCE_HAS_LOOP 0

#include "tests/support/observe_old.h"

void observe_old(struct roce_stream *s, struct roce_packet *p, enum icrc_verdict icrc, __u64 now,
		 const struct roce_peer_info *info)
{
	roce_observe(s, p, icrc, now, info);
}
