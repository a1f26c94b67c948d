// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/abi.h"
#include "lib/clock.h"
#include "userspace/maps.h"

#define IDLE_MAX (1 << 21) /* s: 24 days, half of what the ticks count before they wrap */
#define JIFFY_TICKS 10	   /* HZ is 100 at the least */

void maps_complete_settings(struct monitor_settings *s, double interval)
{
	__u32 buckets = 1;

	while (buckets < TABLE_BUCKETS_FOR(s->max_streams))
		buckets *= 2;
	s->bucket_mask = buckets - 1;
	/*
	 * Rounded up, and one for the part of a tick that had passed. A CPU reads the clock once a jiffy, of 10 ms at the
	 * most: a packet may be that much younger than it looks.
	 */
	s->idle_ticks = (interval < IDLE_MAX ? interval : IDLE_MAX) * 1e9 / (1 << TICK_SHIFT) + 2 + JIFFY_TICKS;
#ifdef __x86_64__
	s->plain_release = 1;
#endif
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

#define COPY_TRIES 10000
#define COPY_PAUSE 100 /* tries after which the stream's packets may have to be waited out */

/*
 * A copy of the stream as it was at one moment: no CPU was at work on it before, nor has been since. Should its packets
 * come so thick that this is never so, the last try has to do.
 */
static void copy_stream(const struct stream_value *from, struct stream_value *to)
{
	__u32 before, tries = 0;

	do {
		if (tries % COPY_PAUSE == COPY_PAUSE - 1)
			nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
		before = __atomic_load_n(&from->sequence, __ATOMIC_ACQUIRE);
		memcpy(to, from, sizeof(*to));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while ((before & 1 || before != __atomic_load_n(&from->sequence, __ATOMIC_RELAXED)) && ++tries < COPY_TRIES);
}

static int append(struct snapshot *s, const struct stream_value *values, __u32 count)
{
	struct snapshot_stream *grown = realloc(s->streams, (s->stream_count + count) * sizeof(*grown));
	struct stream_value v;

	if (!grown)
		return -1;
	s->streams = grown;
	for (__u32 i = 0; i < count; i++) {
		copy_stream(&values[i], &v);
		if (v.key.kind != KEY_NONE && v.stream.used) /* not one that is being made, or was evicted */
			s->streams[s->stream_count++] = (struct snapshot_stream){ .key = v.key, .stream = v.stream };
	}
	return 0;
}

int maps_read_streams(int table_map, int streams_map, struct snapshot *s)
{
	struct table_state table;
	__u32 zero = 0;
	size_t bytes;
	void *values;
	int result;

	if (bpf_map_lookup_elem(table_map, &zero, &table))
		return -1;
	bytes = table.given * sizeof(struct stream_value);
	if (!bytes)
		return 0;
	values = mmap(NULL, bytes, PROT_READ, MAP_SHARED, streams_map, 0);
	if (values == MAP_FAILED)
		return -1;
	result = append(s, values, table.given);
	munmap(values, bytes);
	return result;
}
