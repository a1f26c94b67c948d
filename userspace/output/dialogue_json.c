// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "roce/dialogue.h"
#include "userspace/model/limit.h"
#include "userspace/output/dialogue_json.h"

static json_t *microseconds(bool known, __u64 ns)
{
	return known ? json_real(ns / 1e3) : json_null();
}

/* Those that are not empty. */
static json_t *buckets(const struct roce_latency *l)
{
	json_t *array = json_array();

	for (int i = 0; i < DIALOGUE_BUCKETS; i++)
		if (l->bucket[i])
			json_array_append_new(array, json_pack("[f, I]", dialogue_bucket(i) / 1e3,
							       (json_int_t)l->bucket[i]));
	return array;
}

static json_t *latency(const struct roce_latency *l)
{
	bool known = l->count;

	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "count", (json_int_t)l->count,
			 "p50", microseconds(known, dialogue_quantile(l, 0.5)),
			 "p90", microseconds(known, dialogue_quantile(l, 0.9)),
			 "p99", microseconds(known, dialogue_quantile(l, 0.99)),
			 "max", microseconds(known, l->most), "mean", microseconds(known, dialogue_mean(l)),
			 "buckets", buckets(l));
}

json_t *dialogue_json(const struct snapshot_stream *s, const struct snapshot *now, const struct snapshot *previous)
{
	const struct roce_dialogue *d = s->dialogue;
	json_t *back = json_pack("{s:I, s:I, s:I, s:I}", "nak", (json_int_t)d->back[DIALOGUE_NAK],
				 "rnr", (json_int_t)d->back[DIALOGUE_RNR], "gap", (json_int_t)d->back[DIALOGUE_GAP],
				 "timeout", (json_int_t)d->back[DIALOGUE_TIMEOUT]);

	return json_pack("{s:I, s:I, s:I, s:I, s:s, s:o, s:I, s:f, s:f, s:o, s:o}",
			 "outstanding", (json_int_t)d->outstanding, "outstanding_most", (json_int_t)d->outstanding_most,
			 "reads", (json_int_t)d->reads, "reads_most", (json_int_t)d->reads_most,
			 "limit", limit_names[limit_of(s, now, previous)], "back", back,
			 "back_packets", (json_int_t)d->back_packets, "waiting_seconds", d->waiting_ns / 1e9,
			 "full_seconds", d->full_ns / 1e9, "ack_us", latency(&d->ack), "read_us", latency(&d->read));
}
