/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Types that the kernel's programs and user space share: map values and settings. */
#ifndef BPF_ABI_H
#define BPF_ABI_H

#include <linux/bpf.h>

#include "roce/stream/stream.h"

/*
 * Maps may outlive the build that made them (userspace/observe/live/pin.h). Changed types are detected. Increment this number if the
 * same types get another meaning: a different hash of keys, a different unit of a counter. All counts are lost then.
 */
#define ABI_MEANING 1

/* The longest frame whose ICRC is computed: MTU 9216 plus Ethernet and two VLAN tags. */
#define FRAME_MAX 9280

/* Pairs of streams kept until a stream looks for them. User space enlarges the map if it adds more. */
#define PAIRS_MAX 16384

/*
 * The table of streams: an index of buckets, whose ways hold places of streams, and the streams themselves. A bucket is a cache
 * line, and half of the ways are used when all streams are: with 65,536 streams the index is 1 MiB, and four of them share each
 * line. A stream goes to the emptier one of two buckets, so practically none has more than seven (Azar et al., Balanced
 * allocations, 1999).
 */
#define TABLE_WAYS 8
#define TABLE_BUCKETS_FOR(streams) ((streams) / 4)

struct table_bucket {
	__u64 way[TABLE_WAYS]; /* a tag (part of the key's hash, never 0), above it the place in `streams`; 0: free */
};

/*
 * Value of the map `streams`, which user space maps into its memory. `sequence` is odd while a CPU works on the stream. It is
 * the lock, and shows readers whether their copy is consistent.
 */
struct stream_value {
	__u32 sequence;
	__u32 seen; /* tick of the last packet */
	struct roce_key key;
	struct roce_stream stream;
	__u8 pad[63 - (48 + sizeof(struct roce_stream) + 63) % 64];
};
#define LINE_OF(member) (offsetof(struct stream_value, member) / 64)
_Static_assert(LINE_OF(stream.psn.next) == 0, "found with the key");
_Static_assert(LINE_OF(stream.message) == LINE_OF(stream.lint_state), "a line");
_Static_assert(LINE_OF(stream.last) == LINE_OF(stream.by_ring), "a line");
_Static_assert(LINE_OF(stream.counters.value[COUNTER_roce_packets]) ==
	       LINE_OF(stream.counters.value[COUNTER_blocks]), "a line");
_Static_assert(sizeof(struct stream_value) % 64 == 0, "lines of one stream are of no other");
/*
 * 65,536 streams take 96 MiB, of which pairs and the rest take less than three: 1488 bytes for each stream. A quarter of a bucket
 * takes 16 and a stream 1472, of which 1440 are used: four more counters of streams fit, five do not.
 * Counters of scope FRAME cost streams nothing. What few streams need at a time is in the pool of `extras`.
 */
_Static_assert(sizeof(struct stream_value) + sizeof(struct table_bucket) / 4 <= 93 * 16, "93 MiB");

/* Places of `streams` are assigned in order up to `given`. When all are assigned, idle ones are reused. */
struct table_state {
	struct bpf_spin_lock lock; /* guards `given` and the index against other writers; before Linux 5.17 every stream as well */
	__u32 given;
};

#define TICK_SHIFT 20 /* a tick is 2^20 ns, about a millisecond */

#define EXTRAS_MAX 2048 /* entries of the map `extras`: what few streams need at a time */

/* Value of the map `totals`: one CPU's counts of all frames. */
struct totals_value {
	struct roce_totals totals;
	__u8 pad[63 - (sizeof(struct roce_totals) + 63) % 64]; /* no two CPUs write the same cache line */
};
_Static_assert(sizeof(struct totals_value) % 64 == 0, "lines of one CPU are of no other");

/* One entry per CPU, and one for user space: counts carried over from maps of another layout (userspace/observe/live/carry.h). */
#define TOTALS_ENTRIES_FOR(cpus) ((cpus) + 1)

/* Set before the program is loaded. maps_complete_settings() fills in the members below max_streams. */
struct monitor_settings {
	struct roce_ports ports;
	struct roce_blocks_by blocks;
	__u32 icrc_every; /* one frame in so many, drawn at random, has its ICRC verified; 0: no frame */
	__u32 drop;	  /* 1: drop incoming frames after they are counted */
	__u32 dialogues;  /* 1: requests and responses both pass here, and the map `dialogues` has an entry per stream */
	__u32 once;	  /* 1: copies of frames count nowhere but in captured_twice, and are not captured; not before Linux 5.17 */
	__u32 max_streams;
	__u32 extras;	    /* entries of the map */
	__u32 bucket_mask;  /* number of buckets (a power of two) - 1 */
	__u32 idle_ticks;   /* a stream without packets for so long may be evicted */
	__u32 plain_release; /* 1: stores become visible in program order, as on x86 */
	__u64 hash_seed;    /* random, so that nobody can aim at a bucket */
};

#endif
