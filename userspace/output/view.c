// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <time.h>

#include "userspace/output/view.h"

#define NSEC 1000000000u

struct view_time view_time(__u64 ns)
{
	time_t seconds = ns / NSEC;
	struct view_time t;
	struct tm tm;
	size_t length;

	gmtime_r(&seconds, &tm);
	length = strftime(t.text, sizeof(t.text), "%FT%T", &tm);
	snprintf(t.text + length, sizeof(t.text) - length, ".%09lluZ", ns % NSEC);
	return t;
}

bool view_wants(const struct snapshot_stream *s, const struct snapshot *previous, const struct view *v)
{
	const struct snapshot_stream *before;

	if (v->streams == STREAMS_NONE)
		return false;
	if (v->streams != STREAMS_CHANGED)
		return true;
	before = snapshot_find(previous, &s->key);
	return !before || snapshot_packets(&before->stream) != snapshot_packets(&s->stream);
}
