// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/abi.h"
#include "lib/clock.h"
#include "userspace/maps.h"

#define BATCH 1024 /* streams fetched at once */

void maps_complete_settings(struct monitor_settings *s, double interval)
{
	__u32 buckets = 1;

	while (buckets < TABLE_BUCKETS_FOR(s->max_streams))
		buckets *= 2;
	s->bucket_mask = buckets - 1;
	/* rounded up, and one for the part of a tick that had passed */
	s->idle_ticks = interval * 1e9 / (1 << TICK_SHIFT) + 2;
	s->coarse_clock = libbpf_probe_bpf_helper(BPF_PROG_TYPE_XDP, BPF_FUNC_ktime_get_coarse_ns, NULL) == 1;
	if (getrandom(&s->hash_seed, sizeof(s->hash_seed), 0) != sizeof(s->hash_seed))
		s->hash_seed = now_ns(); /* as good as it gets */
}

int maps_read_totals(int scratches_map, struct roce_counters *totals)
{
	int cpus = libbpf_num_possible_cpus(), result;
	struct scratch *each;
	__u32 zero = 0;

	if (cpus < 0) {
		errno = -cpus;
		return -1;
	}
	each = calloc(cpus, sizeof(*each));
	if (!each)
		return -1;
	result = bpf_map_lookup_elem(scratches_map, &zero, each);
	for (int cpu = 0; !result && cpu < cpus; cpu++)
		for (int c = 0; c < ROCE_COUNTERS; c++)
			totals->value[c] += each[cpu].totals.value[c];
	free(each);
	return result ? -1 : 0;
}

static int append(struct snapshot *s, const struct stream_value *values, __u32 count)
{
	struct snapshot_stream *grown = realloc(s->streams, (s->stream_count + count) * sizeof(*grown));

	if (!grown)
		return -1;
	s->streams = grown;
	for (__u32 i = 0; i < count; i++)
		if (values[i].key.kind != KEY_NONE && values[i].stream.used) /* not one that is being made, or was evicted */
			s->streams[s->stream_count++] =
				(struct snapshot_stream){ .key = values[i].key, .stream = values[i].stream };
	return 0;
}

struct buffers {
	__u32 places[BATCH];
	struct stream_value values[BATCH];
};

/* Places 0..given-1; nobody has had the others. */
static int read_batches(int map, __u32 given, struct snapshot *s, struct buffers *b)
{
	LIBBPF_OPTS(bpf_map_batch_opts, locked, .elem_flags = BPF_F_LOCK);
	__u32 position, count;

	for (__u32 done = 0; done < given; done += count) {
		count = given - done < BATCH ? given - done : BATCH;
		if (bpf_map_lookup_batch(map, done ? &position : NULL, &position, b->places, b->values, &count, &locked) &&
		    errno != ENOENT)
			return -1;
		if (!count || append(s, b->values, count))
			return count ? -1 : 0;
	}
	return 0;
}

int maps_read_streams(int table_map, int streams_map, struct snapshot *s)
{
	struct table_state table;
	struct buffers *b;
	__u32 zero = 0;
	int result;

	if (bpf_map_lookup_elem(table_map, &zero, &table))
		return -1;
	b = malloc(sizeof(*b));
	result = b ? read_batches(streams_map, table.given, s, b) : -1;
	free(b);
	return result;
}
