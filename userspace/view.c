// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/view.h"

static __u64 packets(const struct snapshot_stream *s)
{
	const __u64 *v = s->stream.counters.value;

	return v[COUNTER_roce_packets] + v[COUNTER_rocev1_packets] + v[COUNTER_udp_packets];
}

bool view_wants(const struct snapshot_stream *s, const struct snapshot *previous, const struct view *v)
{
	const struct snapshot_stream *before;

	if (v->streams == STREAMS_NONE || !filter_wants(v->filter, s))
		return false;
	if (v->streams != STREAMS_CHANGED)
		return true;
	before = snapshot_find(previous, &s->key);
	return !before || packets(before) != packets(s);
}

size_t view_filtered(const struct snapshot *now, const struct view *v)
{
	size_t count = 0;

	for (size_t i = 0; i < now->stream_count; i++)
		count += filter_wants(v->filter, &now->streams[i]);
	return count;
}
