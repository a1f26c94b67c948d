/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Types that the kernel's programs and user space share: map values and settings. */
#ifndef BPF_ABI_H
#define BPF_ABI_H

#include <linux/bpf.h>

#include "roce/dialogue.h"
#include "roce/untracked.h"

/*
 * Maps may outlive the build that made them (userspace/live/pin.h). Changed types are detected. Increment this number if the
 * same types get another meaning: a different hash of keys, a different unit of a counter. All counts are lost then.
 */
#define ABI_MEANING 1

/* The longest frame whose ICRC is computed: MTU 9216 plus Ethernet and two VLAN tags. */
#define FRAME_MAX 9280
_Static_assert(FRAME_MAX <= FOLD_MAX, "the work area holds it");

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
 * takes 16 and a stream 1344, all of which are used. 16 more counters of streams make it 1472 and both 1488; 17 do not fit.
 * Counters of scope FRAME cost streams nothing. What few streams need at a time is in the pool of `extras`.
 */
_Static_assert(sizeof(struct stream_value) + sizeof(struct table_bucket) / 4 <= 93 * 16, "93 MiB");

/* Places of `streams` are assigned in order up to `given`. When all are assigned, idle ones are reused. */
struct table_state {
	struct bpf_spin_lock lock; /* guards `given` and the index against other writers; before Linux 5.17 every stream as well */
	__u32 given;
};

/* The place of a way whose stream is being created. */
#define TABLE_PENDING 0xffffffff

#define TICK_SHIFT 20 /* a tick is 2^20 ns, about a millisecond */

/* Value of the map `extras`. */
#define EXTRAS_MAX 2048
#define EXTRAS_BUSY (~0ull) /* the handle while the entry changes hands */

struct extra_value {
	__u64 handle; /* turn << 32 | its place + 1; 0: free */
	__u32 owner;  /* 1 + place of the stream that took it last */
	__u32 turn;   /* how often it was taken */
	struct roce_extra extra;
};

/* A stream that may be evicted. */
struct table_victim {
	__u32 bucket;
	__u32 way;
	__u32 place;
	__u8 found;
	__u8 trusted;
};

/* Each CPU's own state of the table. */
struct table_cpu {
	__u32 hand;  /* the next bucket to search for idle streams */
	__u32 tick;  /* of `fruitless` */
	__u32 fruitless; /* buckets searched in vain in this tick */
	__u32 way;   /* way of a new stream */
	__u32 extra; /* the next entry of `extras` to look at */
	struct table_victim victim; /* not on the stack: the verifier would follow each possible value */
};

/* Value of the map `totals`: one CPU's counts of all frames. */
struct totals_value {
	struct roce_totals totals;
	__u8 pad[63 - (sizeof(struct roce_totals) + 63) % 64]; /* no two CPUs write the same cache line */
};
_Static_assert(sizeof(struct totals_value) % 64 == 0, "lines of one CPU are of no other");

/* One entry per CPU, and one for user space: counts carried over from maps of another layout (userspace/live/carry.h). */
#define TOTALS_ENTRIES_FOR(cpus) ((cpus) + 1)

/* Value of the per-CPU map `scratches`. Only the clock and the table's state outlive a packet. */
struct scratch {
	struct fold_work work; /* the frame's beginning, or all of it */
	/* not on the stack, where the verifier would follow each possible value */
	struct roce_packet packet;
	struct roce_key key;
	struct roce_peer_info peer_info;
	struct table_cpu table;
	__u32 cpu;    /* 1 + the CPU's number, 0: not read yet */
	__u32 length; /* of the frame, on the wire */
	__u32 arrival; /* of struct roce_packet */
	__u32 tag;    /* VLAN tag that was already removed from the frame, with bit 16 set; 0: none */
	__u64 jiffies; /* at the last reading of the clock */
	__u64 now;     /* ns, CLOCK_MONOTONIC, at that time */
	__u64 again;   /* with dialogues: duplicates that this packet made its stream count */
	__u64 frames;  /* WATCH_CAPTURE: frames that this CPU has counted, this one included */
	__u32 place;   /* 1 + the place of the packet's stream, 0: none */
	struct roce_cm cm; /* of connection management, valid if `managed` */
	__u8 managed; /* the packet is connection management, and was parsed */
	__u8 wanted;  /* the ICRC is to be verified */
	__u8 icrc;    /* enum icrc_verdict, for global functions */
	__u8 linear;  /* the frame can be read in place; otherwise it is copied here, completely if its ICRC is wanted */
	__u8 cut;     /* WATCH_DECAP: the frame was in a tunnel, and a mirror may have cut it below `length` */
	__u8 trusted; /* with WATCH_CAPTURE: the stream before the packet, as in struct roce_before */
	__u8 unknown; /* with WATCH_CAPTURE: the stream was not looked at yet */
	__u32 expected;
	__u32 skipped; /* bytes of the tunnel before the frame */
	__u32 crc;     /* what folding returned for the frame */
};

/* Set before the program is loaded. maps_complete_settings() fills in the members below max_streams. */
struct monitor_settings {
	struct roce_ports ports;
	struct roce_blocks_by blocks;
	__u32 icrc_every; /* the ICRC of one frame in so many, drawn at random, is verified; 0: of none */
	__u32 drop;	  /* 1: drop incoming frames after they are counted */
	__u32 dialogues;  /* 1: requests and responses both pass here, and the map `dialogues` has an entry per stream */
	__u32 max_streams;
	__u32 extras;	    /* entries of the map */
	__u32 bucket_mask;  /* number of buckets (a power of two) - 1 */
	__u32 idle_ticks;   /* a stream without packets for so long may be evicted */
	__u32 plain_release; /* 1: stores become visible in program order, as on x86 */
	__u64 hash_seed;    /* random, so that nobody can aim at a bucket */
};

#endif
