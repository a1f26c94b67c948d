// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/abi.h"
#include "lib/clock.h"
#include "roce/dialogue/dialogue.h"
#include "userspace/observe/live/maps.h"

#define IDLE_MAX (1 << 21) /* s: 24 days, half the period of the ticks */
#define JIFFY_TICKS 10	   /* HZ is at least 100 */

void maps_complete_settings(struct monitor_settings *s, double interval)
{
	__u32 buckets = 1;

	while (buckets < TABLE_BUCKETS_FOR(s->max_streams))
		buckets *= 2;
	s->bucket_mask = buckets - 1;
	s->extras = s->max_streams < EXTRAS_MAX ? s->max_streams : EXTRAS_MAX;
	/*
	 * Rounded up, plus one for the partial tick. A CPU reads the clock once a jiffy (10 ms at most), so a packet may be
	 * that much younger than its tick.
	 */
	s->idle_ticks = (interval < IDLE_MAX ? interval : IDLE_MAX) * 1e9 / (1 << TICK_SHIFT) + 2 + JIFFY_TICKS;
#ifdef __x86_64__
	s->plain_release = 1;
#endif
	if (getrandom(&s->hash_seed, sizeof(s->hash_seed), 0) != sizeof(s->hash_seed))
		s->hash_seed = now_ns(); /* the best that is left */
}

int maps_read_totals(int totals_map, struct roce_totals *sum)
{
	struct bpf_map_info info;
	struct totals_value each;

	if (!maps_info(totals_map, &info))
		return -1;
	for (__u32 i = 0; i < info.max_entries; i++) {
		if (bpf_map_lookup_elem(totals_map, &i, &each))
			return -1;
		roce_add_totals(sum, &each.totals);
	}
	return 0;
}

#define COPY_TRIES 10000
#define UNTRACKED_TRIES 10
#define COPY_PAUSE 100 /* tries after which to wait for a gap between the stream's packets */

struct maps_piece {
	const void *from;
	void *to;
	size_t bytes;
};

/*
 * Copies pieces of a guarded stream consistently: no CPU worked on them from before the copy until after it. If the stream's
 * packets never leave such a gap, the last try is used.
 */
static void copy_guarded(const __u32 *sequence, const struct maps_piece *piece, size_t count)
{
	__u32 before, tries = 0;

	do {
		if (tries % COPY_PAUSE == COPY_PAUSE - 1)
			nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
		before = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);
		for (size_t i = 0; i < count; i++)
			memcpy(piece[i].to, piece[i].from, piece[i].bytes);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while ((before & 1 || before != __atomic_load_n(sequence, __ATOMIC_RELAXED)) && ++tries < COPY_TRIES);
}

void maps_copy_stream(const void *from, void *to, size_t bytes)
{
	copy_guarded(from, &(struct maps_piece){ from, to, bytes }, 1);
}

/* Copies the stream and its dialogue (NULL: none). */
static void copy_stream(const struct stream_value *from, struct stream_value *to, const struct roce_dialogue *dialogue,
			struct roce_dialogue *copy)
{
	const struct maps_piece pieces[] = { { from, to, sizeof(*to) }, { dialogue, copy, sizeof(*copy) } };

	copy_guarded(&from->sequence, pieces, dialogue ? 2 : 1);
}

/*
 * Whether this dialogue belongs to the stream, with responses seen. If so, accounts its time up to `now`, which is before the
 * copy: later packets cannot end a wait that was counted.
 */
static bool is_dialogue(struct roce_dialogue *d, const struct stream_value *v, __u64 now)
{
	if (v->key.kind != KEY_CONNECTED || v->key.side != SIDE_REQUEST || !d->heard || d->begun != v->stream.first_seen)
		return false;
	dialogue_wait(d, now);
	return true;
}

/* dialogues: parallel to the values; NULL: none. */
static int append(struct snapshot *s, const struct stream_value *values, const struct roce_dialogue *dialogues, __u32 count)
{
	struct snapshot_stream *grown = realloc(s->streams, (s->stream_count + count) * sizeof(*grown));
	struct roce_dialogue *d = NULL;
	struct stream_value v;
	__u64 now = now_ns();

	if (!grown)
		return -1;
	s->streams = grown;
	if (dialogues) {
		free(s->dialogues);
		s->dialogues = d = malloc(count * sizeof(*d));
		if (!d)
			return -1;
	}
	for (__u32 i = 0; i < count; i++) {
		struct snapshot_stream *to = &s->streams[s->stream_count];

		copy_stream(&values[i], &v, dialogues ? &dialogues[i] : NULL, d);
		if (v.key.kind == KEY_NONE || !v.stream.used) /* being created, or evicted */
			continue;
		*to = (struct snapshot_stream){ .key = v.key, .stream = v.stream };
		if (dialogues && is_dialogue(d, &v, now))
			to->dialogue = d++;
		s->stream_count++;
	}
	return 0;
}

static const void *map_memory(int map, size_t bytes)
{
	const void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, map, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void unmap_memory(const void *memory, size_t bytes)
{
	if (memory)
		munmap((void *)memory, bytes);
}

int maps_read_streams(int table_map, int streams_map, int dialogues_map, struct snapshot *s)
{
	const struct roce_dialogue *dialogues = NULL;
	const struct stream_value *values;
	struct table_state table;
	__u32 zero = 0;
	int result = -1;

	if (bpf_map_lookup_elem(table_map, &zero, &table))
		return -1;
	if (!table.given)
		return 0;
	values = map_memory(streams_map, table.given * sizeof(*values));
	if (dialogues_map >= 0)
		dialogues = map_memory(dialogues_map, table.given * sizeof(*dialogues));
	if (values && (dialogues || dialogues_map < 0))
		result = append(s, values, dialogues, table.given);
	unmap_memory(values, table.given * sizeof(*values));
	unmap_memory(dialogues, table.given * sizeof(*dialogues));
	return result;
}

/* Whether each CPU's copy is whole. If packets never leave a gap, the last try is used. */
static bool read_whole(int map, struct roce_untracked *each, int cpus)
{
	__u32 zero = 0;
	bool whole = false;

	for (int tries = 0; !whole && tries < UNTRACKED_TRIES; tries++) {
		if (bpf_map_lookup_elem(map, &zero, each))
			return false;
		whole = true;
		for (int cpu = 0; cpu < cpus; cpu++)
			whole &= each[cpu].begun == each[cpu].ended;
	}
	return true;
}

int maps_read_untracked(int untracked_map, struct untracked *u)
{
	int cpus = libbpf_num_possible_cpus();
	struct roce_untracked *each = cpus > 0 ? calloc(cpus, sizeof(*each)) : NULL;
	struct untracked_sum sum = { 0 };
	bool read = each && read_whole(untracked_map, each, cpus);

	for (int cpu = 0; read && cpu < cpus; cpu++)
		read = untracked_add(&sum, &each[cpu]);
	untracked_finish(&sum, u);
	free(each);
	return read ? 0 : -1;
}
