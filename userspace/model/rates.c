// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/model/rates.h"

static double since(const struct roce_counters *now, const struct roce_counters *before, enum roce_counter c)
{
	__u64 earlier = before ? before->value[c] : 0;

	return now->value[c] > earlier ? now->value[c] - earlier : 0;
}

struct rates rates_of(const struct roce_counters *now, const struct roce_counters *before, double seconds)
{
	double a_second = seconds > 0 ? 1 / seconds : 0;

	return (struct rates){
		.gbps = since(now, before, COUNTER_bytes) * a_second * 8 / 1e9,
		.packets = (since(now, before, COUNTER_roce_packets) + since(now, before, COUNTER_rocev1_packets) +
			    since(now, before, COUNTER_udp_packets)) * a_second,
		.messages = since(now, before, COUNTER_messages) * a_second,
		.lost = since(now, before, COUNTER_psn_skipped) * a_second,
		.icrc_bad = since(now, before, COUNTER_icrc_bad) * a_second,
	};
}

static double interval(const struct snapshot *now, const struct snapshot *previous)
{
	return now->seconds - (previous ? previous->seconds : 0);
}

struct rates rates_of_totals(const struct snapshot *now, const struct snapshot *previous)
{
	return rates_of(&now->totals.counters, previous ? &previous->totals.counters : NULL, interval(now, previous));
}

struct rates rates_of_stream(const struct snapshot_stream *s, const struct snapshot *now, const struct snapshot *previous)
{
	const struct snapshot_stream *before = snapshot_find(previous, &s->key);

	return rates_of(&s->stream.counters, before ? &before->stream.counters : NULL, interval(now, previous));
}
