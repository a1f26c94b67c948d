// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "userspace/observe/host/marks.h"

static const struct snapshot_stream *most_marked(const struct snapshot *s)
{
	const struct snapshot_stream *most = NULL;
	__u64 marks = 0;

	for (size_t i = 0; i < s->stream_count; i++) {
		const struct snapshot_stream *one = &s->streams[i];

		if (one->key.kind != KEY_CONNECTED || one->key.side != SIDE_REQUEST ||
		    one->stream.counters.value[COUNTER_ecn_ce] <= marks)
			continue;
		marks = one->stream.counters.value[COUNTER_ecn_ce];
		most = one;
	}
	return most;
}

/* RNICs send CNPs for a host, not for each QP, so all between the two hosts count. */
static void count_back(struct marks *m, const struct snapshot *s)
{
	m->cnps = m->back = 0;
	for (size_t i = 0; i < s->stream_count; i++) {
		const struct snapshot_stream *one = &s->streams[i];

		if (one->key.kind != KEY_CONNECTED || memcmp(one->key.src, m->key.dst, sizeof(m->key.dst)) ||
		    memcmp(one->key.dst, m->key.src, sizeof(m->key.src)))
			continue;
		m->cnps += one->stream.counters.value[COUNTER_cnps];
		m->back += snapshot_packets(&one->stream) - one->stream.counters.value[COUNTER_cnps];
	}
}

void marks_update(struct marks *m, const struct snapshot *s)
{
	const struct snapshot_stream *most = most_marked(s);
	const struct roce_counters *now = most ? &most->stream.counters : NULL;
	double seconds = s->seconds - m->seconds;
	struct rates rates;

	if (!most || memcmp(&m->key, &most->key, sizeof(m->key)) || !m->seconds) {
		*m = (struct marks){ .seconds = s->seconds };
		if (most) {
			m->key = most->key;
			m->counters = *now;
		}
		return;
	}
	if (seconds < MARKS_SECONDS)
		return;
	rates = rates_of(now, &m->counters, seconds);
	m->gbps = rates.gbps;
	m->packets = rates.packets * seconds + 0.5;
	m->ecn_ce = now->value[COUNTER_ecn_ce] - m->counters.value[COUNTER_ecn_ce];
	if (!m->ecn_ce)
		m->readings = 0;
	else if (!m->readings++)
		m->first_gbps = m->gbps;
	count_back(m, s);
	m->seconds = s->seconds;
	m->counters = *now;
}
