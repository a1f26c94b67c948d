// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/abi.h"
#include "userspace/maps.h"

#define BATCH 1024 /* streams fetched at once; more than a bucket of the kernel's hash table ever has */

int maps_read_totals(int totals_map, struct roce_counters *totals)
{
	int cpus = libbpf_num_possible_cpus(), result;
	struct roce_counters *each;
	__u32 zero = 0;

	if (cpus < 0) {
		errno = -cpus;
		return -1;
	}
	each = calloc(cpus, sizeof(*each));
	if (!each)
		return -1;
	result = bpf_map_lookup_elem(totals_map, &zero, each);
	for (int cpu = 0; !result && cpu < cpus; cpu++)
		for (int c = 0; c < ROCE_COUNTERS; c++)
			totals->value[c] += each[cpu].value[c];
	free(each);
	return result ? -1 : 0;
}

static int append(struct snapshot *s, const struct roce_key *keys, const struct stream_value *values, __u32 count)
{
	struct snapshot_stream *grown = realloc(s->streams, (s->stream_count + count) * sizeof(*grown));

	if (!grown)
		return -1;
	s->streams = grown;
	for (__u32 i = 0; i < count; i++)
		if (values[i].stream.used) /* not one that is being made at this moment */
			s->streams[s->stream_count++] =
				(struct snapshot_stream){ .key = keys[i], .stream = values[i].stream };
	return 0;
}

struct buffers {
	struct roce_key keys[BATCH];
	struct stream_value values[BATCH];
};

static int read_batches(int map, struct snapshot *s, struct buffers *b)
{
	LIBBPF_OPTS(bpf_map_batch_opts, locked, .elem_flags = BPF_F_LOCK);
	__u32 position, count;
	__u32 *from = NULL;
	int end;

	do {
		count = BATCH;
		end = bpf_map_lookup_batch(map, from, &position, b->keys, b->values, &count, &locked);
		if (end && errno != ENOENT)
			return -1;
		if (count && append(s, b->keys, b->values, count))
			return -1;
		from = &position;
	} while (!end);
	return 0;
}

int maps_read_streams(int streams_map, struct snapshot *s)
{
	struct buffers *b = malloc(sizeof(*b));
	int result = b ? read_batches(streams_map, s, b) : -1;

	free(b);
	return result;
}
