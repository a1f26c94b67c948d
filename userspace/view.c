// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/view.h"

static __u64 packets(const struct snapshot_stream *s)
{
	const __u64 *v = s->stream.counters.value;

	return v[COUNTER_roce_packets] + v[COUNTER_rocev1_packets] + v[COUNTER_udp_packets];
}

bool view_wants(const struct snapshot_stream *s, const struct snapshot *previous, enum view_streams which)
{
	const struct snapshot_stream *before;

	if (which != STREAMS_CHANGED)
		return which != STREAMS_NONE;
	before = snapshot_find(previous, &s->key);
	return !before || packets(before) != packets(s);
}
